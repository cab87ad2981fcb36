"""What the driver does when workers have ended: segments in, answers out, published; how fast, in what memory."""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from arena.judge import judge_match
from arena.matches import matches
from bench.cluster_work import collecting, in_process, peak_bytes, subsets
from frontdesk.runner import prepare
from frontdesk.runner.pipeline import Pipeline
from frontdesk.runner.progress import Progress
from frontdesk.runner.runfolder import RunFolder
from frontdesk.runner.session import opened
from gateway.engine import Gateway
from gateway.prompt import Answer, Ask, Prompt
from gateway.rows import Call, ok_line
from runstore.journal import new_segment
from runstore.publish import write_jsonl
from runstore.records import Reply, Subset, Usage
from runstore.segments import header, sealed
from runstore.stored import Stored
from simulator.collect import reply_to

COMMITS = 5_000
GROWTH = 1.25
FEW = 10_000
ROUNDS = 3
SAID = "What happens to the number of elements after one step, and after two? Try it with sixteen."
DECIDED = "Both ask back; the first keeps to what the student said.\n\n### (A)"
DRIVER = """
import sys
from pathlib import Path
from bench.cluster_driver import driver_once
from frontdesk.runner.session import run_interruptibly
run_interruptibly(lambda: driver_once(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])), lambda: None)
"""


def recording(gateway: Gateway, out: BinaryIO, text: str) -> Ask:
    """An ``ask`` that writes what a worker's journal would hold of the call, and makes none."""
    body = {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 300, "completion_tokens": 20}, "model": "m", "id": "r"}  # fmt: skip
    answer = Answer(text, "stop", Usage(input=300, output=20), "m", "r", (), 0.2, None, ())

    async def ask(endpoint: str, prompt: Prompt, *, repeat: int = 0, stage: str = "", item: str = "") -> Answer:
        target = gateway.endpoints[endpoint]
        sent = target.adapter.compose(prompt)
        key = target.key(sent, repeat)
        line = ok_line(target.name_json, Call(sent, key, repeat, stage, item, 0, 0.0), answer,
                       [orjson.dumps(body)], 0.0)  # fmt: skip
        out.write(sealed(b'{"key":"%b","state":"ok"%b' % (key.encode(), line)))
        return answer

    return ask


async def recorded(pipeline: Pipeline, stage: str, given: Stored[Subset], replies: Stored[Reply]) -> None:
    """A segment with every call of the stage, as workers leave it."""
    path, begun, handle = new_segment(pipeline.folder.journal)
    with os.fdopen(handle, "wb") as out:
        out.write(header(pid=1))
        ask = recording(pipeline.opened(), out, SAID if stage == "collect" else DECIDED)
        if stage == "collect":
            roles, settings = prepare.teachers(pipeline.config)
            for subset in given:
                await reply_to(ask, subset, "tutor", roles, settings["tutor"])
        else:
            panel = prepare.panel(pipeline.config)
            played, _ = matches(given, replies, prepare.pairs(pipeline.config))
            for match in played:
                await judge_match(ask, panel, match, "overall")
    begun.rename(path)


def reply(subset: Subset, endpoint: str) -> Reply:
    return Reply(subset=subset.id, dialogue=subset.dialogue, endpoint=endpoint, text=f"{SAID} ({endpoint})",
                 finish="stop", usage=Usage(), latency_s=0.2, cost_usd=None)  # fmt: skip


async def driver_once(folder: Path, stage: str, count: int) -> int:
    """One stage of so many calls, all of them made by workers before; run as commands are."""
    endpoint = {"kind": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1"}
    config = collecting(endpoint, None, judged=stage == "judge", rounds=ROUNDS)
    run, size = RunFolder(folder / "run"), count if stage == "collect" else count // ROUNDS
    write_jsonl(run.file("subsets.jsonl"), subsets(size))
    given = Stored(run.file("subsets.jsonl"), Subset)
    sides = config.require_collect().endpoints if stage == "judge" else ()
    write_jsonl(run.file("replies.jsonl"), (reply(subset, name) for subset in given for name in sides))
    replies = Stored(run.file("replies.jsonl"), Reply)
    quiet = Progress((folder / "progress.txt").open("w"))
    async with opened(run, config, list(config.endpoints), progress=quiet) as pipeline:
        gateway = pipeline.opened()
        await recorded(pipeline, stage, given, replies)
        import_module("arena.ratings.models")  # scipy: once a process, whatever the number of calls
        before = peak_bytes()
        began, cpu = time.perf_counter(), time.process_time()
        assert gateway.journal is not None
        gateway.journal.catch_up()
        taken = time.process_time() - cpu
        if stage == "collect":
            made = len(await pipeline.collect(given))
        else:
            made = len((await pipeline.judge(given, replies))[0])
        assert made == size * (ROUNDS if stage == "judge" else 1)
        assert gateway.budget.total.calls == 0
        both = time.process_time() - cpu
        print(json.dumps({
            "count": made, "merge_s": taken, "publish_s": both - taken, "wall_s": time.perf_counter() - began,
            "before_mb": before / 2**20, "peak_mb": peak_bytes() / 2**20,
        }))  # fmt: skip
    return 0


def driven(stage: str, count: int) -> dict[str, Any]:
    """What a driver in a process of its own took for so many calls."""
    with tempfile.TemporaryDirectory(prefix="tutor-arena-bench-") as name:
        told = in_process(DRIVER, name, stage, str(count))
    rate = told["count"] / (told["merge_s"] + told["publish_s"])
    print(
        f"driver, {stage}, {told['count']:,} calls: merges {told['count'] / told['merge_s']:,.0f}/s, "
        f"publishes {told['count'] / told['publish_s']:,.0f}/s, together {rate:,.0f}/s "
        f"(limit {COMMITS:,}); peak {told['peak_mb']:.0f} MB"
    )
    return {**told, "rate": rate}


def driver(args: argparse.Namespace) -> bool:
    """Whether both stages keep the limits."""
    kept = True
    for stage in ("collect", "judge"):
        few, most = (driven(stage, count) for count in (FEW, args.most))
        grown = most["peak_mb"] / few["peak_mb"]
        print(
            f"memory of the driver, {stage}, from {FEW:,} to {args.most:,} calls: x {grown:.2f} (limit {GROWTH})"
        )
        kept = kept and grown <= GROWTH and min(few["rate"], most["rate"]) >= COMMITS
    return kept
