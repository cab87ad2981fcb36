"""Ratings against their peers: one command, every figure from the same run on the same data.

    python bench/ratings.py [--quick] [--part peers|sizes] [--env DIR]

Installs arena-rank, evalica and choix into an environment of its own (a temporary folder, or DIR to keep it),
makes battles of known strengths, and runs every library in a process of its own with one BLAS thread. "fastchat"
is the method that FastChat publishes (unique rows, then L-BFGS on the logistic loss), written here anew. Times are
minima of repeats, in seconds waited (each library may use the machine's cores as it does) and in seconds of CPU
(which neighbours on a shared machine hardly touch), from a data frame of strings to ratings; ours with jackknife
intervals. Peak memory is the whole process, imports and data frame included.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PEERS = ["arena-rank==0.1.1", "evalica==0.4.2", "choix==0.4.1", "pandas>=3", "pyarrow>=17"]
OWN = ["numpy>=2", "scipy>=1.14", "threadpoolctl>=3.5", "orjson", "pydantic", "psutil"]
CLUSTERS, FINE = 500, 100_000
SECONDS = 2.0
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def make(folder: Path, battles: int, models: int) -> Path:
    """Davidson battles (nu .6, strengths of sd .8) as Parquet, in row groups of a million."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as parquet

    path = folder / f"b_{battles}_{models}.parquet"
    if path.exists():
        return path
    generator = np.random.default_rng(models)
    theta = generator.normal(0, 0.8, models)
    names = pa.array([f"model-{k:03d}" for k in range(models)])
    words = pa.array(["model_a", "model_b", "tie"])
    dialogues = pa.array([f"d{k}" for k in range(FINE)])
    writer: Any = None
    for at in range(0, battles, 1_000_000):
        n = min(1_000_000, battles - at)
        a = generator.integers(0, models, n)
        b = (a + generator.integers(1, models, n)) % models
        up, down = np.exp(theta[a]), np.exp(theta[b])
        both = 0.6 * np.sqrt(up * down)
        u = generator.random(n) * (up + down + both)
        outcome = np.where(u < up, 0, np.where(u < up + down, 1, 2))
        table = pa.table(
            {
                "model_a": names.take(pa.array(a)),
                "model_b": names.take(pa.array(b)),
                "winner": words.take(pa.array(outcome)),
                "cluster": dialogues.take(pa.array(generator.integers(0, CLUSTERS, n))),
                "fine": dialogues.take(pa.array(generator.integers(0, FINE, n))),
            }
        )
        writer = writer or parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()
    return path


@dataclass(frozen=True)
class Shortest:
    """The shortest of repeated times, in seconds waited and in seconds of CPU, and the ``last`` result."""

    last: Any
    waited: float
    cpu: float

    def named(self, name: str = "seconds") -> dict[str, float]:
        """As a task tells it."""
        return {name: self.waited, f"{name}_cpu": self.cpu}


def timed(work: Callable[[], Any], repeats: int) -> Shortest:
    """Short tasks are repeated for some seconds (the machine is shared)."""
    waited, used = list[float](), list[float]()
    last: Any = None
    while len(waited) < repeats or sum(waited) < SECONDS:
        start, cpu = time.perf_counter(), time.process_time()
        last = work()
        used.append(time.process_time() - cpu)
        waited.append(time.perf_counter() - start)
    return Shortest(last, min(waited), min(used))


def ours(path: Path, repeats: int) -> dict[str, float]:
    """Names in, ratings and default intervals out; and 1,000 one-step cluster resamples on top of such a fit."""
    import pandas as pd

    from arena.ratings.battles import from_columns
    from arena.ratings.bootstrap import one_step
    from arena.ratings.estimate import estimate
    from arena.ratings.sandwich import score_units
    from arena.ratings.settings import Settings

    frame = pd.read_parquet(path)
    plain = [frame[name] for name in ("model_a", "model_b", "winner")]
    jackknife = Settings()
    plainly = timed(lambda: estimate(from_columns(*plain), jackknife), repeats)
    memory = peak()
    battles = from_columns(*plain, cluster=frame["cluster"])
    found = estimate(battles, jackknife)
    assert found.fitted is not None

    # The fit that the resamples follow has read the clusters and has their scores, for its intervals.
    units = score_units(battles, found.design, found.fitted, clustered=True)
    resampling = timed(lambda: one_step(found.fitted, units, battles, 1000, 1), repeats)
    by = {name: frame[name] for name in ("cluster", "fine")}
    clustered, fine = (
        timed(lambda column=column: estimate(from_columns(*plain, cluster=column), jackknife), repeats)
        for column in by.values()
    )
    told = plainly.named() | clustered.named("clustered") | fine.named("fine")
    return told | resampling.named("resamples_1000") | {"mb_in_memory": memory}


def streamed(path: Path, repeats: int) -> dict[str, float]:
    """From a file on disk, chunk by chunk, to ratings and default intervals."""
    from arena.ratings.estimate import estimate
    from arena.ratings.reading import Columns, read_battles
    from arena.ratings.settings import Settings

    columns = Columns(cluster=None)
    return timed(lambda: estimate(read_battles(path, columns), Settings()), repeats).named()


def fastchat(path: Path, repeats: int) -> dict[str, float]:
    """Unique (a, b, outcome) rows with counts, then L-BFGS on the weighted logistic loss."""
    import numpy as np
    import pandas as pd
    from scipy.optimize import minimize
    from scipy.special import expit

    frame = pd.read_parquet(path)

    def fit() -> Any:
        n = len(frame)
        codes, names = pd.factorize(pd.concat([frame["model_a"], frame["model_b"]]), sort=True)
        rows = np.full((n, 3), 1, np.int32)
        rows[:, 0], rows[:, 1] = codes[:n], codes[n:]
        rows[frame["winner"] == "model_a", 2] = 2
        rows[frame["winner"] == "model_b", 2] = 0
        unique, counts = np.unique(rows, return_counts=True, axis=0)
        a, b, outcome, weight = unique[:, 0], unique[:, 1], unique[:, 2] / 2, counts.astype(float)

        def loss(theta: Any) -> tuple[float, Any]:
            p = expit(theta[a] - theta[b])
            value = -(weight * (outcome * np.log(p) + (1 - outcome) * np.log1p(-p))).sum()
            slope = weight * (p - outcome)
            gradient = np.bincount(a, slope, len(names)) - np.bincount(b, slope, len(names))
            return value, gradient

        return minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B", options={"gtol": 1e-6}).x

    return timed(fit, repeats).named()


def evalica(path: Path, repeats: int) -> dict[str, float]:
    """Its compiled Bradley-Terry, winners mapped to its enumeration."""
    import evalica as library
    import pandas as pd

    frame = pd.read_parquet(path)
    words = {"model_a": library.Winner.X, "model_b": library.Winner.Y, "tie": library.Winner.Draw}

    def fit() -> Any:
        winners = [words[word] for word in frame["winner"]]
        return library.bradley_terry(frame["model_a"], frame["model_b"], winners)

    return timed(fit, repeats).named()


def arena_rank(path: Path, repeats: int) -> dict[str, float]:
    """Its fit, and its fit with sandwich intervals; warm, that is, after one call that compiles."""
    import numpy as np
    import pandas as pd
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    frame = pd.read_parquet(path)

    def fit() -> Any:
        data = PairDataset.from_pandas(frame)
        model = BradleyTerry(n_competitors=len(data.competitors))
        model.fit(data)
        return np.asarray(model.params["ratings"])

    def intervals() -> Any:
        data = PairDataset.from_pandas(frame)
        return BradleyTerry(n_competitors=len(data.competitors)).compute_ratings_and_cis(data)

    fit()
    fitting = timed(fit, max(repeats - 1, 1))
    intervals()
    return fitting.named() | timed(intervals, max(repeats - 1, 1)).named("with_intervals")


def choix_dense(path: Path, repeats: int) -> dict[str, float]:
    """I-LSR on a matrix of wins that pandas and numpy aggregate first."""
    import choix
    import numpy as np
    import pandas as pd

    frame = pd.read_parquet(path)

    def fit() -> Any:
        n = len(frame)
        codes, names = pd.factorize(pd.concat([frame["model_a"], frame["model_b"]]), sort=True)
        size = len(names)
        share = np.where(frame["winner"] == "model_a", 1.0, np.where(frame["winner"] == "model_b", 0.0, 0.5))
        a, b = codes[:n], codes[n:]
        wins = np.bincount(a * size + b, share, size * size) + np.bincount(b * size + a, 1 - share, size * size)
        return choix.ilsr_pairwise_dense(wins.reshape(size, size))

    return timed(fit, repeats).named()


TASKS = {
    "ours": ours,
    "streamed": streamed,
    "fastchat": fastchat,
    "evalica": evalica,
    "arena-rank": arena_rank,
    "choix": choix_dense,
}


def peak() -> float:
    """Peak resident memory of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class Bench:
    """Runs tasks in the peers' environment."""

    def __init__(self, environment: Path, data: Path) -> None:
        self.python = environment / "bin" / "python"
        self.data = data
        if not self.python.exists():
            print("installing the peers …", file=sys.stderr)
            subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
            install = [str(self.python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
            subprocess.run([*install, *PEERS, *OWN], check=True)

    def run(self, task: str, battles: int, models: int, repeats: int = 3) -> dict[str, float]:
        """One task's figures; empty where the library failed (the reason goes to stderr)."""
        self._python("make", battles, models, 1)
        result = self._python(task, battles, models, repeats)
        if result.returncode:
            print(f"{task} failed: {result.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
            return {}
        return json.loads(result.stdout.splitlines()[-1])

    def _python(self, task: str, battles: int, models: int, repeats: int) -> subprocess.CompletedProcess[str]:
        words = [
            str(self.python),
            __file__,
            "--task",
            task,
            str(self.data),
            str(battles),
            str(models),
            str(repeats),
        ]
        environment = os.environ | ONE_THREAD | {"PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
        return subprocess.run(words, capture_output=True, text=True, check=False, env=environment)


def against_peers(bench: Bench, battles: int) -> None:
    print(
        f"\n{battles:,} battles x 100 models, from a data frame of strings (ours: ratings and jackknife intervals)"
    )
    own = bench.run("ours", battles, 100, 5)
    peers: dict[str, dict[str, float]] = {}
    for task in ("fastchat", "evalica", "arena-rank", "choix"):
        peers[task] = bench.run(task, battles, 100, 3)
        again = bench.run("ours", battles, 100, 5)  # so that a quiet moment is not ours or theirs alone
        own = {key: min(own[key], again[key]) for key in own}
    print(f"  {'ours':<24}{own['seconds']:8.3f} s   1.0x   {own['mb_in_memory']:.0f} MB")
    for task, wanted in (("fastchat", 12), ("evalica", 20), ("arena-rank", 30), ("choix", None)):
        found = peers[task]
        for key, label in (("seconds", task), ("with_intervals", f"{task} + intervals")):
            if key in found:
                goal = f"   (wanted: {wanted}x)" if wanted and key == "seconds" and battles >= 1_000_000 else ""
                print(f"  {label:<24}{found[key]:8.3f} s {_times(found, own, key)}   {found['mb']:.0f} MB{goal}")
    for key, count in (("clustered", CLUSTERS), ("fine", FINE)):
        against = ", ".join(f"{_times(peers[task], own, by=key)} {task}" for task in peers if peers[task])
        print(f"  ours by {count:,} clusters {own[key]:.3f} s: {against}")
    share = own["resamples_1000"] / own["clustered"]
    print(f"  clustered fit {own['clustered']:.3f} s, then 1,000 resamples {own['resamples_1000']:.3f} s")
    print(f"  = {share:.2f} of the fit (wanted: below 0.5)")


def _times(theirs: dict[str, float], own: dict[str, float], key: str = "seconds", by: str = "seconds") -> str:
    """How many times as long a peer takes: waited, and of CPU."""
    return f"{theirs[key] / own[by]:.1f}x (CPU {theirs[f'{key}_cpu'] / own[f'{by}_cpu']:.1f}x)"


def by_size(bench: Bench, sizes: list[int], models: list[int]) -> None:
    print("\nours, streamed from Parquet: seconds and peak MB of the process")
    print("  battles      " + "".join(f"{f'{count} models':>22}" for count in models))
    for battles in sizes:
        found = [bench.run("streamed", battles, count, 3) for count in models]
        print(f"  {battles:<13,}" + "".join(f"{row['seconds']:>12.3f} s {row['mb']:>5.0f} MB" for row in found))
    if sizes[-1] >= 10 * sizes[-2]:
        small, large = (bench.run("streamed", battles, 100, 3) for battles in sizes[-2:])
        ratio = large["seconds"] / small["seconds"]
        goal = "(wanted: at most 10x, 1,000 MB)"
        print(f"  {sizes[-1]:,} take {ratio:.1f}x the time of {sizes[-2]:,} and {large['mb']:.0f} MB {goal}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="at most 100,000 battles")
    parser.add_argument("--part", choices=("peers", "sizes", "all"), default="all")
    parser.add_argument("--env", type=Path, help="keep (and reuse) the peers' environment here")
    parser.add_argument("--task", nargs=5, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.task:
        task, folder, battles, models, repeats = args.task
        path = make(Path(folder), int(battles), int(models))
        if task != "make":
            found = TASKS[task](path, int(repeats))
            print(json.dumps(found | {"mb": peak()}))
        return
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(args.env or Path(scratch) / "peers", Path(scratch))
        if args.part != "sizes":
            against_peers(bench, 100_000 if args.quick else 1_000_000)
        if args.part == "peers":
            return
        sizes = [10_000, 100_000] if args.quick else [10_000, 100_000, 1_000_000, 10_000_000]
        by_size(bench, sizes, [20, 100, 300])


if __name__ == "__main__":
    main()
