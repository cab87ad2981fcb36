"""How close a whole run comes to the shortest time it could take.  python bench/makespan.py

Calls of one dialogue wait for each other; everything else may go out together, up to the endpoints' concurrency.
With every call taking the same time, the bound is that time times the longest chain of calls: 2t - 1 for dialogues
of t turns, then as many rounds of replies and of judgments as the concurrency makes of them. Printed is the time
of the stages (simulate, cut, collect, judge) over that bound; limit 1.05.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import time
from pathlib import Path

import uvloop

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.gateway import provider
from frontdesk.runner import config_file as configuration
from frontdesk.runner.config import Config
from frontdesk.runner.progress import Progress
from frontdesk.runner.runfolder import RunFolder
from frontdesk.runner.session import opened

LIMIT = 1.05


def config(port: int, dialogues: int, turns: int, concurrency: int) -> Config:
    endpoint = {
        "kind": "openai",
        "model": "m",
        "base_url": f"http://127.0.0.1:{port}/v1",
        "concurrency": concurrency,
    }
    return configuration.parse(
        {
            "endpoints": {"one": endpoint, "two": {**endpoint, "identity": "two"}},
            "simulate": {"dialogues": dialogues, "turns": turns, "student": "one", "teacher": "one"},
            "cut": {"subsets": 2 * dialogues},
            "collect": {"endpoints": ["one", "two"]},
            "judge": {"endpoints": ["one"], "rounds": 3},
        }
    )


async def stages(folder: Path, settings: Config) -> float:
    quiet = Progress((folder / "progress.txt").open("w"))
    async with opened(RunFolder(folder / "run"), settings, settings.used_endpoints(), progress=quiet) as pipeline:
        began, cpu = time.perf_counter(), time.process_time()
        subsets = pipeline.cut(await pipeline.simulate())
        await pipeline.judge(subsets, await pipeline.collect(subsets))
        print(f"{time.process_time() - cpu:.2f} s of CPU")
        return time.perf_counter() - began


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dialogues", type=int, default=64)
    parser.add_argument("--turns", type=int, default=4)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--latency-ms", type=float, default=2000.0)
    args = parser.parse_args()
    dialogues, at_once = args.dialogues, args.concurrency
    chain = math.ceil(dialogues / at_once) * (2 * args.turns - 1)
    rounds = chain + math.ceil(2 * dialogues / at_once) + math.ceil(6 * dialogues / at_once)
    bound = rounds * args.latency_ms / 1000
    with (
        provider("--latency-ms", str(args.latency_ms)) as port,
        tempfile.TemporaryDirectory(prefix="tutor-arena-bench-") as folder,
    ):
        took = uvloop.run(stages(Path(folder), config(port, dialogues, args.turns, at_once)))
    print(f"bound {bound:.2f} s ({rounds} rounds of calls), took {took:.2f} s: {took / bound:.3f} (limit {LIMIT})")
    return 0 if took / bound <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
