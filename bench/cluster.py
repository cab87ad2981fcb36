"""What several machines bring, and where each part ends.

    python bench/cluster.py makespan     # one and four workers at 200 ms: ratio to one, limit 3.6; 3 minutes
    python bench/cluster.py driver       # results a second that the driver takes in and publishes; its memory
    python bench/cluster.py minute       # 100 requests a minute shared by four workers, over two minutes
    python bench/cluster.py desk         # calls a second that the scheduler's desk lends to, without the way to it
    python bench/cluster.py lending      # messages a second over that way, from one worker and from four
    python bench/cluster.py battles      # 10^8 battles from Parquet shards (--millions 100): time and memory
    python bench/cluster.py dialogues    # 10,000 and 100,000 scripted dialogues (--thousands 100): time, memory
    python bench/cluster.py outlook      # the model of it all, held to the measured makespans, out to 10^9 calls

Workers are processes of this machine, the provider another one on loopback. Few calls at once for each worker, so
that the provider's 200 ms are the limit and not two cores; their start (each loads the program) is not counted.
Run it on an idle machine: what else takes the cores is no latency. Exit code 1 where a limit is not kept.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import random
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from importlib import import_module
from pathlib import Path
from typing import Any, cast

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import orjson

from bench.cluster_driver import COMMITS, FEW, driven, driver
from bench.cluster_large import battles, dialogues
from bench.cluster_lending import lent
from bench.cluster_outlook import LATENCY_S, LENT_AT_ONCE, Measured, Parts, fitted, outlook
from bench.cluster_work import collecting, subsets
from bench.gateway import provider
from frontdesk.runner.cluster.desk import Desk
from frontdesk.runner.config import Config
from frontdesk.runner.progress import Progress
from frontdesk.runner.runfolder import RunFolder
from frontdesk.runner.session import opened, run_interruptibly
from gateway.budget import NOTHING, Budget
from runstore.records import Subset
from runstore.segments import lines_in, segments

SPEED_UP = 3.6
SHORT_ROUNDS = 8
CONCURRENCY = 8
"""Calls at once of each worker: so few that the provider's 200 ms are the limit, not the cores."""


def loaded() -> None:
    """On a worker: the program, as its first share would load it."""
    for module in ("uvloop", "frontdesk.runner.cluster.shard"):
        import_module(module)


async def collected(folder: Path, config: Config, given: list[Subset], workers: int) -> Measured:
    """What the stage took until the workers' calls were in, and until the replies were published."""
    from frontdesk.runner.cluster.watch import Watch

    ended: list[tuple[float, float]] = []
    merge = Watch.merge

    def merged(watch: Any) -> None:
        ended.append((time.perf_counter(), time.process_time()))
        merge(watch)

    Watch.merge = merged  # type: ignore[method-assign]
    quiet = Progress((folder / "progress.txt").open("w"))
    run = RunFolder(folder / "run")
    async with opened(run, config, ["tutor"], progress=quiet) as pipeline:
        run.take("subsets", given, config)
        crew = cast("Any", pipeline).crew
        client = await crew.ready()
        await client.run(loaded)
        used = sum((await client.run(time.process_time)).values())
        began, cpu = time.perf_counter(), time.process_time()
        replies = await pipeline.collect(given)
        assert len(replies) == len(given)
        whole = time.perf_counter() - began
        used = sum((await client.run(time.process_time)).values()) - used
        at, driver_cpu = ended[0]
        held = call_s(run.journal, concurrency=CONCURRENCY)
        return Measured(workers, len(given), at - began, whole, used, driver_cpu - cpu, held)


def call_s(journal: Path, concurrency: int) -> float:
    """What a call held a place for with the worker that took longest: from its first to its last, by rounds."""
    spans: list[float] = []
    for path in segments(journal):
        rows = [orjson.loads(line) for _, line in lines_in(path, [])]
        sent, came = ([row["at"] for row in rows if row["state"] == state] for state in ("sent", "ok"))
        if came:
            spans.append((max(came) - min(sent)) / math.ceil(len(came) / concurrency))
    return max(spans)


def run_once(port: int, workers: int, calls: int) -> Measured:
    endpoint = {
        "kind": "openai",
        "model": "m",
        "base_url": f"http://127.0.0.1:{port}/v1",
        "concurrency": CONCURRENCY,
    }
    with tempfile.TemporaryDirectory(prefix="tutor-arena-bench-") as name:
        config = collecting(endpoint, f"local:{workers}")
        return as_commands(lambda: collected(Path(name), config, list(subsets(calls)), workers))


def as_commands(work: Callable[[], Awaitable[Measured]]) -> Measured:
    """What comes of ``work`` when it is run as commands are: their loop, their patience with the collector."""
    came: list[Measured] = []

    async def kept() -> int:
        came.append(await work())
        return 0

    run_interruptibly(kept, lambda: None)
    return came[0]


def measured(*sizes: tuple[int, int]) -> list[Measured]:
    """The runs of so many workers and calls each."""
    spans: list[Measured] = []
    with provider("--latency-ms", str(1000 * LATENCY_S)) as port:
        for workers, calls in sizes:
            spans.append(run_once(port, workers, calls))
            print(
                f"{workers} workers, {CONCURRENCY} calls at once each: {calls} calls at 200 ms in "
                f"{spans[-1].elsewhere_s:.2f} s ({spans[-1].call_s:.3f} s a call), published after "
                f"{spans[-1].whole_s:.2f} s"
            )
    return spans


def makespan(args: argparse.Namespace) -> bool:
    args.calls = args.calls or 5400
    one, four = measured((1, args.calls), (4, args.calls))
    ratio, alone = (getattr(one, part) / getattr(four, part) for part in ("whole_s", "elsewhere_s"))
    print(f"four workers: {ratio:.2f} x one (limit {SPEED_UP}); their calls alone: {alone:.2f} x")
    return ratio >= SPEED_UP


def minute(_: argparse.Namespace) -> bool:
    """100 requests a minute, shared by four workers, in a real minute and what follows."""
    from runstore.journal import read_rows

    with provider("--fixed") as port, tempfile.TemporaryDirectory(prefix="tutor-arena-bench-") as name:
        address = f"http://127.0.0.1:{port}/v1"
        endpoint = {"kind": "openai", "model": "m", "base_url": address, "requests_per_minute": 100}
        as_commands(lambda: collected(Path(name), collecting(endpoint, "local:4"), list(subsets(205)), 4))
        sent = sorted(row["at"] for row in read_rows(Path(name) / "run" / "journal") if row["state"] == "sent")
    fullest = max(sum(at <= other < at + 60 for other in sent) for at in sent)
    first = sum(at < sent[0] + 60 for at in sent)
    second = sum(sent[0] + 60 <= at < sent[0] + 120 for at in sent)
    print(f"100 a minute, four workers: at most {fullest} in any minute, {first} and {second} in the first two")
    return fullest <= 100 and min(first, second) >= 98


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


def lending(_: argparse.Namespace) -> tuple[bool, float]:
    """The scheduler's messages, by one worker and by four."""
    rate = 0.0
    for workers in (1, 4):
        with tempfile.TemporaryDirectory(prefix="tutor-arena-bench-") as name:
            rate = asyncio.run(lent(Path(name), workers))
        print(f"{workers} workers: {rate:,.0f} messages a second, each with sixteen start times")
    return LENT_AT_ONCE * rate > COMMITS, rate


def _outlook(args: argparse.Namespace) -> bool:
    """Short runs of one, two and four workers before, between and after the long ones."""
    args.calls = args.calls or 1350
    few = [(workers, SHORT_ROUNDS * CONCURRENCY * workers) for workers in (1, 2, 4)]
    spans = measured(*few, (1, args.calls), *few, (4, args.calls), (2, args.calls), *few)
    long = {span.workers: span for span in spans if span.calls == args.calls}
    _, rate = lending(args)
    told = driven("collect", FEW)
    parts = Parts(
        merge=told["merge_s"] / told["count"],
        publish=told["publish_s"] / told["count"],
        message=1 / rate,
        busy=told["wall_s"] / (told["merge_s"] + told["publish_s"]),
    )
    short = [span for span in spans if span.calls != args.calls]
    return outlook(fitted(short, long[1], CONCURRENCY, parts), [long[2], long[4]], CONCURRENCY)


PARTS: dict[str, Callable[[argparse.Namespace], Any]] = {
    "makespan": makespan,
    "driver": driver,
    "minute": minute,
    "desk": desk,
    "lending": lending,
    "battles": battles,
    "dialogues": dialogues,
    "outlook": _outlook,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--calls", type=int, help="at 200 ms (makespan: 5400, outlook: 1350)")
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
