"""Coverage of agreement intervals, and what a large table costs.  python bench/agreement.py [--draws 2000]

Tables of raters on a scale are drawn from a normal truth with noise, cut into categories; the true coefficient is
that of 200,000 items. A cell is the share of nominal 95 % intervals that hold it, of the draws that have one, and
in brackets the share of draws that have one; "null" where under one draw in ten has. Exit code 1 where a cell is
under the limit by more than two standard errors.
"""

from __future__ import annotations

import argparse
import math
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import stats

from arena.agreement.alpha import MEASUREMENTS, krippendorff
from arena.agreement.icc import icc
from arena.agreement.kappa import (
    category_counts,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac2,
    percent_agreement,
)
from arena.agreement.result import FloatArray, Statistic
from runstore.ids import draw_seed

ITEMS = (5, 8, 10, 20, 50)
LIMIT, SHOWN = 0.92, 0.1
TRUTH_ITEMS = 200_000


@dataclass(frozen=True)
class Design:
    """Raters' latent values have a ``correlation``; ``cuts`` make categories; ``per_cluster`` share an effect."""

    name: str
    raters: int
    correlation: float
    cuts: tuple[float, ...]
    per_cluster: int = 1
    gaps: float = 0.0

    def draw(self, items: int, rng: np.random.Generator) -> tuple[FloatArray, list[str] | None]:
        size = items * self.per_cluster
        shared = np.repeat(rng.normal(size=(items, 1)), self.per_cluster, axis=0)
        own = rng.normal(size=(size, 1))
        truth = shared if self.per_cluster == 1 else math.sqrt(0.5) * (shared + own)
        noise = rng.normal(size=(size, self.raters))
        latent = math.sqrt(self.correlation) * truth + math.sqrt(1 - self.correlation) * noise
        names = None if self.per_cluster == 1 else [str(at // self.per_cluster) for at in range(size)]
        table = np.asarray(np.digitize(latent, self.cuts) + 1, dtype=np.float64)
        if self.gaps:
            table[rng.random(table.shape) < self.gaps] = np.nan
        return table, names


FIVE = (-1.2, -0.4, 0.4, 1.2)
DESIGNS = (
    Design("5 points, 3 raters, r .5", 3, 0.5, FIVE),
    Design("5 points, 2 raters, r .8", 2, 0.8, FIVE),
    Design("5 points heaped at the top, 3 raters, r .5", 3, 0.5, (-2.0, -1.5, -1.0, 0.2)),
    Design("5 points heaped at the top, 5 raters, r .5", 5, 0.5, (-2.0, -1.5, -1.0, 0.2)),
    Design("5 points heaped at the top, 2 raters, r .8", 2, 0.8, (-2.0, -1.5, -1.0, 0.2)),
    Design("5 points, 3 in 4 at the top, 3 raters, r .5", 3, 0.5, (-2.5, -2.0, -1.5, -0.7)),
    Design("5 points heaped at the bottom, 3 raters, r .3", 3, 0.3, (0.0, 1.0, 1.6, 2.2)),
    Design("7 points heaped at the top, 3 raters, r .6", 3, 0.6, (-2.4, -2.0, -1.6, -1.2, -0.8, 0.0)),
    Design("5 points, nearly perfect, 3 raters, r .97", 3, 0.97, FIVE),
    Design("5 points, hardly any agreement, 2 raters, r .1", 2, 0.1, FIVE),
    Design("5 points, 3 raters, r .5, a fifth missing", 3, 0.5, FIVE, gaps=0.2),
    Design("2 categories 70:30, 3 raters, r .7", 3, 0.7, (float(stats.norm.ppf(0.7)),)),
    Design("2 categories 90:10, 2 raters, r .8", 2, 0.8, (float(stats.norm.ppf(0.9)),)),
    Design("3 categories, 2 judges, 12 matches a dialogue", 2, 0.6, (-0.3, 0.3), 12),
)


def figures(table: FloatArray, scale: list[float], clusters: list[str] | None) -> list[Statistic]:
    """Every coefficient that has an interval of its own."""
    counts, _ = category_counts(table, scale)
    found = [krippendorff(table, kind, clusters=clusters) for kind in MEASUREMENTS]
    found += [make(counts, clusters=clusters) for make in (fleiss_kappa, gwet_ac1)]
    found += [gwet_ac2(counts, "quadratic", clusters=clusters), percent_agreement(table, clusters=clusters)]
    if table.shape[1] == 2:
        kinds = ("none", "quadratic")
        found += [
            cohen_kappa(table[:, 0], table[:, 1], scale=scale, weights=kind, clusters=clusters) for kind in kinds
        ]
    return found if clusters else [*found, *icc(table)[:3]]


def coverage(design: Design, draws: int, show: Callable[[str], None]) -> bool:
    """Print one design's table; whether no cell is under the limit."""
    scale = [float(value) for value in range(1, len(design.cuts) + 2)]
    large, names = design.draw(TRUTH_ITEMS // design.per_cluster, np.random.default_rng(draw_seed(0, design.name)))
    truth = {one.key: one.value for one in figures(large, scale, names)}
    cells = {items: _cells(design, items, draws, scale, truth) for items in ITEMS}
    show(f"\n{design.name}\n{'':24}" + "".join(f"{items:>14}" for items in ITEMS))
    good = True
    for key, value in truth.items():
        row: list[str] = []
        for items in ITEMS:
            hits, made = cells[items][key]
            if made < SHOWN * draws:
                row.append("null")
                continue
            rate = hits / made
            good &= rate + 2 * math.sqrt(LIMIT * (1 - LIMIT) / made) >= LIMIT
            row.append(f"{100 * rate:.1f} ({100 * made / draws:.0f})")
        show(f"{key:24}" + "".join(f"{cell:>14}" for cell in row) + f"   true {value:.2f}")
    return good


def _cells(
    design: Design, items: int, draws: int, scale: list[float], truth: Mapping[str, float | None]
) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = dict.fromkeys(truth, (0, 0))
    for draw in range(draws):
        rng = np.random.default_rng(draw_seed(0, design.name, str(items), str(draw)))
        table, names = design.draw(items, rng)
        for one in figures(table, scale, names):
            if one.interval is not None:
                hits, made = found[one.key]
                held = one.interval[0] - 1e-9 <= (truth[one.key] or 0.0) <= one.interval[1] + 1e-9
                found[one.key] = hits + held, made + 1
    return found


def size(items: int, show: Callable[[str], None]) -> None:
    """Seconds of each alpha on a large table with three decimals, and the memory at its height."""
    rng = np.random.default_rng(0)
    table = np.abs(np.round(rng.normal(50, 10, (items, 1)) + rng.normal(0, 5, (items, 3)), 3))
    parts: list[str] = []
    for kind in MEASUREMENTS:
        began = time.perf_counter()
        krippendorff(table, kind)
        parts.append(f"{kind} {time.perf_counter() - began:.2f} s")
    height = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    show(f"{items} items x 3 raters, 3 decimals: {', '.join(parts)}; {height:.0f} MB at most")


def command(items: int, show: Callable[[str], None]) -> None:
    """The whole command on a file of items x 3 raters: start, reading, every figure, three files written."""
    with tempfile.TemporaryDirectory() as folder:
        path, rng = Path(folder) / "ratings.csv", np.random.default_rng(draw_seed(0, "command"))
        values = rng.integers(1, 6, (items, 3))
        lines = (
            f"{item},{rater},{row[at]}\n" for item, row in enumerate(values) for at, rater in enumerate("abc")
        )
        path.write_text("".join(["item,rater,value\n", *lines]), encoding="utf-8")
        asked = ["tutor-arena", "agree", "--ratings", str(path), "--out", folder]
        code = f"import sys; sys.argv = {asked!r}; from frontdesk.cli import main; sys.exit(main())"
        subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    show(
        f"agree on {items} items x 3 raters: {used.ru_utime:.1f} s of CPU, {used.ru_maxrss / 1024:.0f} MB at most"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Coverage of agreement intervals.")
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--only", default="", help="designs whose name holds this")
    args = parser.parse_args()
    command(100_000, print)
    size(100_000, print)
    good = [coverage(design, args.draws, print) for design in DESIGNS if args.only in design.name]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
