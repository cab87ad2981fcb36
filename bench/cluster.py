"""What several machines bring, and where each part ends.

    python bench/cluster.py makespan     # one, two and four workers at 200 ms: ratio to one, limit 3.6 with four
    python bench/cluster.py driver       # results a second that the driver takes in and publishes; its memory
    python bench/cluster.py minute       # 100 requests a minute shared by four workers, over two minutes
    python bench/cluster.py desk         # messages a second of the scheduler's desk: leases and beats
    python bench/cluster.py battles      # 10^8 battles from Parquet shards (--millions 100): time and memory
    python bench/cluster.py dialogues    # 100,000 scripted dialogues to an export (--thousands 100): memory
    python bench/cluster.py outlook      # the model of it all, held to the measured makespans, out to 10^9 calls

Workers are processes of this machine, the provider another one on loopback. Ends with exit code 1 where a limit is
not kept.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.gateway import provider
from frontdesk.runner import config_file as configuration
from frontdesk.runner.cluster.desk import Desk
from frontdesk.runner.config import Config
from frontdesk.runner.progress import Progress
from frontdesk.runner.runfolder import RunFolder
from frontdesk.runner.session import opened
from gateway.budget import NOTHING, Budget
from runstore.publish import write_jsonl
from runstore.records import Subset, Utterance

LATENCY_S = 0.2
SPEED_UP = 3.6
COMMITS = 5_000
GIGABYTE = 1 << 30
REPOSITORY = Path(__file__).resolve().parents[1]


def subsets(count: int) -> Iterator[Subset]:
    """Histories of two turns, all different."""
    talk = ("Why is it logarithmic, and not linear? {}", "What is left after one step?", "Half of them, I think.")
    roles = ("student", "teacher", "student")
    for number in range(count):
        yield Subset(
            id=f"s-{number:07d}",
            dialogue=f"d-{number:07d}",
            persona="p",
            levels={},
            question="q",
            subject="algorithms",
            cut=3,
            depth=2,
            history=tuple(
                Utterance(role=role, text=text.format(number))  # type: ignore[arg-type]
                for role, text in zip(roles, talk, strict=True)
            ),
        )


def collecting(endpoint: Mapping[str, Any], on: str | None) -> Config:
    return configuration.parse(
        {
            "run": {"on": on} if on else {},
            "endpoints": {"tutor": dict(endpoint)},
            "collect": {"endpoints": ["tutor"]},
        }
    )


@dataclass(frozen=True)
class Measured:
    workers: int
    calls: int
    elsewhere_s: float
    whole_s: float


async def collected(folder: Path, config: Config, given: list[Subset]) -> tuple[float, float]:
    """Seconds until the workers' calls were in, and until the replies were published."""
    from frontdesk.runner.cluster.watch import Watch

    ended: list[float] = []
    merge = Watch.merge

    def merged(watch: Any) -> None:
        ended.append(time.perf_counter())
        merge(watch)

    Watch.merge = merged  # type: ignore[method-assign]
    quiet = Progress((folder / "progress.txt").open("w"))
    run = RunFolder(folder / "run")
    async with opened(run, config, ["tutor"], progress=quiet) as pipeline:
        run.take("subsets", given, config)
        await pipeline.crew.ready()  # type: ignore[attr-defined]
        began = time.perf_counter()
        replies = await pipeline.collect(given)
        assert len(replies) == len(given)
        return ended[0] - began, time.perf_counter() - began


def run_once(port: int, workers: int, calls: int, concurrency: int) -> Measured:
    import uvloop

    endpoint = {
        "kind": "openai",
        "model": "m",
        "base_url": f"http://127.0.0.1:{port}/v1",
        "concurrency": concurrency,
    }
    with tempfile.TemporaryDirectory(prefix="tutor-arena-bench-") as name:
        config = collecting(endpoint, f"local:{workers}")
        elsewhere, whole = uvloop.run(collected(Path(name), config, list(subsets(calls))))
    return Measured(workers, calls, elsewhere, whole)


def makespan(args: argparse.Namespace) -> tuple[bool, list[Measured]]:
    found: list[Measured] = []
    with provider("--latency-ms", str(1000 * LATENCY_S)) as port:
        for workers in (1, 2, 4):
            done = run_once(port, workers, args.calls, args.concurrency)
            found.append(done)
            print(
                f"{workers} workers, {args.concurrency} calls at once each: {args.calls} calls at 200 ms in "
                f"{done.elsewhere_s:.2f} s, published after {done.whole_s:.2f} s "
                f"({found[0].whole_s / done.whole_s:.2f} x one)"
            )
    ratio = found[0].whole_s / found[-1].whole_s
    print(f"four workers: {ratio:.2f} x one (limit {SPEED_UP})")
    return ratio >= SPEED_UP, found


def minute(_: argparse.Namespace) -> bool:
    """100 requests a minute, shared by four workers, in a real minute and what follows."""
    import uvloop

    from runstore.journal import read_rows

    with provider("--fixed") as port, tempfile.TemporaryDirectory(prefix="tutor-arena-bench-") as name:
        address = f"http://127.0.0.1:{port}/v1"
        endpoint = {"kind": "openai", "model": "m", "base_url": address, "requests_per_minute": 100}
        uvloop.run(collected(Path(name), collecting(endpoint, "local:4"), list(subsets(205))))
        sent = sorted(row["at"] for row in read_rows(Path(name) / "run" / "journal") if row["state"] == "sent")
    fullest = max(sum(at <= other < at + 60 for other in sent) for at in sent)
    first = sum(at < sent[0] + 60 for at in sent)
    second = sum(sent[0] + 60 <= at < sent[0] + 120 for at in sent)
    print(f"100 a minute, four workers: at most {fullest} in any minute, {first} and {second} in the first two")
    return fullest <= 100 and min(first, second) >= 98


DRIVER = """
import sys, time, resource
from pathlib import Path
import uvloop
from bench.cluster import collecting, driver_once
count = int(sys.argv[2])
uvloop.run(driver_once(Path(sys.argv[1]), count))
"""


async def driver_once(folder: Path, count: int) -> None:
    """What the driver does when workers have ended: take in their segments, answer, publish."""
    import orjson

    from gateway.prompt import Answer
    from gateway.rows import Call, ok_line
    from runstore.ids import hashed_number
    from runstore.journal import new_segment
    from runstore.records import Usage
    from runstore.segments import header, sealed
    from runstore.stored import Stored
    from simulator.collect import styles_of
    from simulator.roles import Roles

    endpoint = {"kind": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1"}
    config = collecting(endpoint, None)
    run = RunFolder(folder / "run")
    write_jsonl(run.file("subsets.jsonl"), subsets(count))
    given = Stored(run.file("subsets.jsonl"), Subset)
    quiet = Progress((folder / "progress.txt").open("w"))
    async with opened(run, config, ["tutor"], progress=quiet) as pipeline:
        gateway = pipeline.opened()
        target = gateway.endpoints["tutor"]
        roles = Roles.load("en", None, styles_of({}))
        path, begun, handle = new_segment(run.journal)
        text = "What happens to the number of elements after one step, and after two? Try it with sixteen."
        body = {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 300, "completion_tokens": 20}, "model": "m", "id": "r"}  # fmt: skip
        answer = Answer(text, "stop", Usage(input=300, output=20), "m", "r", (), 0.2, None, ())
        with os.fdopen(handle, "wb") as out:
            out.write(header(pid=1))
            for subset in given:
                fields = {"dialogue_id": subset.dialogue, "subset_id": subset.id, "topic": subset.subject}
                sent = target.adapter.compose(roles.teacher_prompt(subset.history, "simple", fields, None))
                repeat = hashed_number(subset.id)
                key = target.key(sent, repeat)
                call = Call(sent, key, repeat, "collect", subset.id, 0, 0.0)
                line = ok_line(target.name_json, call, answer, [orjson.dumps(body)], 0.0)
                out.write(sealed(b'{"key":"%b","state":"ok"%b' % (key.encode(), line)))
        begun.rename(path)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        began, cpu = time.perf_counter(), time.process_time()
        assert gateway.journal is not None
        gateway.journal.catch_up()
        taken = time.process_time() - cpu
        replies = await pipeline.collect(given)
        assert len(replies) == count and gateway.budget.total.calls == 0
        both = time.process_time() - cpu
        print(json.dumps({
            "count": count, "merge_s": taken, "publish_s": both - taken, "wall_s": time.perf_counter() - began,
            "before_mb": before / 1024, "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }))  # fmt: skip


def in_process(code: str, *arguments: str) -> dict[str, Any]:
    """A fresh process, whose peak of memory is its own."""
    environ = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False, env=environ
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def driver(args: argparse.Namespace) -> tuple[bool, dict[int, dict[str, Any]]]:
    found: dict[int, dict[str, Any]] = {}
    for count in (10_000, args.most):
        with tempfile.TemporaryDirectory(prefix="tutor-arena-bench-") as name:
            found[count] = told = in_process(DRIVER, name, str(count))
        print(
            f"driver, {count:,} calls: merges {count / told['merge_s']:,.0f}/s, publishes "
            f"{count / told['publish_s']:,.0f}/s, together {count / (told['merge_s'] + told['publish_s']):,.0f}/s "
            f"(limit {COMMITS:,}); peak {told['peak_mb']:.0f} MB"
        )
    slow = min(count / (told["merge_s"] + told["publish_s"]) for count, told in found.items())
    grown = found[args.most]["peak_mb"] / found[10_000]["peak_mb"]
    print(f"memory of the driver from 10,000 to {args.most:,} calls: x {grown:.2f} (limit 1.25)")
    return slow >= COMMITS and grown <= 1.25, found


def desk(_: argparse.Namespace) -> tuple[bool, float]:
    """The desk's own work, without the way to it."""
    board = Desk()
    state = Budget().state()
    board.open("collect", {"e": (6e7, None)}, {"usd": None, "calls": 10**9, "tokens": None}, state, (30, "rounds"))
    for worker in range(1000):
        board.start("collect", f"w{worker}", f"tcp://{worker}")
    began = time.perf_counter()
    for round_number in range(3):
        for worker in range(1000):
            board.places(f"w{worker}", "e", [0] * 16, [], 0)
            granted, _why = board.permits(f"w{worker}", [NOTHING] * 16, [], [], [])
            board.permits(f"w{worker}", [], [(NOTHING, None, None)] * granted, [True] * granted, [])
            if round_number == 0:
                board.beat(f"w{worker}", {"done": 1, "of": 2, "spent": {}}, [])
    rate = 3 * 1000 * 16 / (time.perf_counter() - began)
    print(f"desk: {rate:,.0f} calls a second lent (places and permits in messages of 16) to 1,000 workers")
    return rate > COMMITS, rate


BATTLES = """
import sys, time, resource, json
from pathlib import Path
from arena.ratings.leaderboard import build
from arena.ratings.reading import Columns, read_battles
began = time.perf_counter()
cluster = None if sys.argv[2] == "none" else "cluster"
battles = read_battles(Path(sys.argv[1]), Columns(cluster=cluster))
counted = time.perf_counter()
board = build(battles)
print(json.dumps({"total": battles.total, "count_s": counted - began, "fit_s": time.perf_counter() - counted,
    "rated": [model.rating is not None and model.lower is not None for model in board.models],
    "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))
"""


def battles(args: argparse.Namespace) -> bool:
    import pyarrow as pa
    from pyarrow import parquet

    names = np.array([f"model-{number:02d}" for number in range(20)])
    size, kept = 1_000_000, True
    with tempfile.TemporaryDirectory(prefix="tutor-arena-bench-") as name:
        generator = np.random.default_rng(1)
        for shard in range(args.millions):
            a = generator.integers(0, 20, size)
            b = (a + generator.integers(1, 20, size)) % 20
            ahead = 1 / (1 + np.exp(0.1 * (a - b)))
            won = np.where(generator.random(size) < 0.1, 2, (generator.random(size) > ahead).astype(int))
            talks = shard * args.dialogues // args.millions + generator.integers(
                0, max(1, args.dialogues // args.millions), size
            )
            winner = pa.DictionaryArray.from_arrays(won.astype(np.int8), ["model_a", "model_b", "tie"])
            sides = [pa.DictionaryArray.from_arrays(side.astype(np.int8), names) for side in (a, b)]
            columns = {"model_a": sides[0], "model_b": sides[1], "winner": winner, "cluster": talks}
            parquet.write_table(pa.table(columns), Path(name) / f"{shard:05d}.parquet")
        for cluster in ("none", "cluster"):
            told = in_process(BATTLES, name, cluster)
            clustered = f"clustered by {args.dialogues:,} dialogues" if cluster == "cluster" else "not clustered"
            shards = f"{told['total']:,} battles in {args.millions} shards"
            print(
                f"{shards}, {clustered}: counted in {told['count_s']:.1f} s "
                f"({told['total'] / told['count_s'] / 1e6:.1f} million/s), rated in {told['fit_s']:.1f} s, "
                f"peak {told['peak'] / GIGABYTE:.2f} GB (limit 2)"
            )
            kept = kept and all(told["rated"]) and told["peak"] < 2 * GIGABYTE
    return kept


REPLIES = [
    {
        "role": "student",
        "reply": "I think it halves each time, but why does that make it logarithmic, not linear?",
    },
    {
        "role": "teacher",
        "reply": "What is left after one step, and after two? Try it with sixteen and write it down.",
    },
]


SCRIPTED = """
[run]
seed = 7
[endpoints.stub]
kind = "scripted"
replies = "replies.jsonl"
[simulate]
turns = 4
dialogues = {}
student = "stub"
teacher = "stub"
"""
COMMAND = """
import sys, resource, json
from frontdesk.cli import main
code = main(sys.argv[1:])
print(json.dumps({"code": code, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))
"""


def dialogues(args: argparse.Namespace) -> bool:
    """Every command in a process of its own; the peak of each is looked at."""
    kept = True
    with tempfile.TemporaryDirectory(prefix="tutor-arena-bench-") as name:
        folder = Path(name)
        write_jsonl(folder / "replies.jsonl", REPLIES)
        (folder / "c.toml").write_text(SCRIPTED.format(1000 * args.thousands))
        for command in (["simulate", "c.toml", "--run", "run"], ["export", "run", "--as", "hf"]):
            began = time.perf_counter()
            here = Path.cwd()
            os.chdir(folder)
            told = in_process(COMMAND, *command)
            os.chdir(here)
            print(
                f"{command[0]}, {args.thousands},000 dialogues of 4 turns: {time.perf_counter() - began:.0f} s, "
                f"peak {told['peak'] / GIGABYTE:.2f} GB (limit 1)"
            )
            kept = kept and told["code"] == 0 and told["peak"] < GIGABYTE
    return kept


# -- the model


@dataclass(frozen=True)
class Parts:
    """What each part takes, in seconds: a worker's CPU a call, the driver's a call, a stage's start and end."""

    worker_cpu: float = 0.0009
    merge: float = 0.000006
    publish: float = 0.00014
    start: float = 0.35
    beat: float = 0.2
    desk: float = 0.00002


def largest_share(calls: int, workers: int, seed: int = 1) -> int:
    """Calls of the fullest share where every item falls into one by chance."""
    if workers == 1:
        return calls
    generator = np.random.default_rng(seed)
    return int(generator.multinomial(calls, np.full(workers, 1 / workers)).max())


def simulated(
    calls: int,
    workers: int,
    concurrency: int,
    parts: Parts,
    *,
    a_minute: float = math.inf,
) -> dict[str, float]:
    """Seconds that each part of a stage needs; the workers' parts run side by side, the driver's after them.

    A worker is a queue of ``concurrency`` places and one core; a stage's calls do not wait for each other.
    """
    fullest = largest_share(calls, workers)
    waiting = math.ceil(fullest / concurrency) * LATENCY_S
    computing = fullest * parts.worker_cpu
    limit = calls / (a_minute / 60)
    lending = calls * parts.desk if a_minute < math.inf else 0.0
    beats = workers / parts.beat * parts.desk
    working = max(waiting, computing, limit, lending) * (1 + max(0.0, beats - 0.5))
    return {
        "latency": waiting,
        "worker CPU": computing,
        "limit a minute": limit,
        "desk": lending,
        "merge": calls * parts.merge,
        "publish": calls * parts.publish,
        "elsewhere": parts.start + working,
        "whole": parts.start + working + calls * (parts.merge + parts.publish),
    }


def waited(one: Measured, concurrency: int) -> float:
    """Seconds that the fullest share of a measured run waits for its calls at least."""
    return math.ceil(largest_share(one.calls, one.workers) / concurrency) * LATENCY_S


def outlook(args: argparse.Namespace) -> bool:
    """The model with what this machine measures, held to its makespans; then far out."""
    _, spans = makespan(args)
    _, driven = driver(args)
    told = driven[args.most]
    parts = Parts(
        merge=told["merge_s"] / args.most,
        publish=told["publish_s"] / args.most,
        start=statistics.median(
            [
                one.elsewhere_s - largest_share(one.calls, one.workers) / args.concurrency * LATENCY_S
                for one in spans
            ]
        ),
    )
    worst = 0.0
    for one in spans:
        model = simulated(one.calls, one.workers, args.concurrency, parts)["elsewhere"]
        worst = max(worst, abs(model / one.elsewhere_s - 1))
        print(f"{one.workers} workers: measured {one.elsewhere_s:.2f} s, model {model:.2f} s")
    print(f"largest difference of the model: {100 * worst:.0f} % (limit 15 %)")
    print("calls          workers  limit/min   elsewhere      published   bound by")
    for calls, workers, a_minute in (
        (10**5, 4, math.inf),
        (10**6, 16, math.inf),
        (10**7, 64, math.inf),
        (10**8, 256, math.inf),
        (10**9, 1024, math.inf),
        (10**9, 1024, 10_000_000),
    ):
        told = simulated(calls, workers, 256, parts, a_minute=a_minute)
        names = ("latency", "worker CPU", "limit a minute", "desk", "publish")
        bound = max(names, key=lambda name: told[name])
        rate = "none" if a_minute == math.inf else f"{a_minute:,.0f}"
        print(
            f"{calls:<14,} {workers:<8} {rate:<11} {span(told['elsewhere']):<14} {span(told['whole']):<11} {bound}"
        )
    return worst <= 0.15


def span(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 600 else f"{seconds / 3600:.1f} h"


PARTS: dict[str, Callable[[argparse.Namespace], Any]] = {
    "makespan": makespan,
    "driver": driver,
    "minute": minute,
    "desk": desk,
    "battles": battles,
    "dialogues": dialogues,
    "outlook": outlook,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--calls", type=int, default=3200)
    parser.add_argument("--concurrency", type=int, default=16, help="of each worker")
    parser.add_argument("--most", type=int, default=200_000, help="calls of the larger driver")
    parser.add_argument("--millions", type=int, default=100, help="battles")
    parser.add_argument("--dialogues", type=int, default=10_000, help="that battles are clustered by")
    parser.add_argument("--thousands", type=int, default=100, help="dialogues")
    args = parser.parse_args()
    random.seed(0)
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}")
    found = PARTS[args.part](args)
    return int(not (found[0] if isinstance(found, tuple) else found))


if __name__ == "__main__":
    raise SystemExit(main())
