"""Judging as records go by: what is kept of a match is where its records stand."""

import asyncio
import json
import tracemalloc
from io import StringIO
from pathlib import Path

from frontdesk.runner import config_file as configuration
from frontdesk.runner.config import Config
from frontdesk.runner.progress import Progress
from frontdesk.runner.runfolder import RunFolder
from frontdesk.runner.session import opened
from runstore.publish import write_jsonl
from runstore.records import Reply, Subset, Usage, Utterance

LONG = 20_000


def prepared(folder: Path, matches: int, judged: str) -> tuple[RunFolder, Config]:
    """A run of so many subsets with two replies each, and a judge that says ``judged`` of all of them."""
    folder.mkdir(exist_ok=True)
    (folder / "said.jsonl").write_text(json.dumps({"reply": judged}))
    stub = {"kind": "scripted", "replies": str(folder / "said.jsonl"), "concurrency": 4}
    config = configuration.parse(
        {
            "endpoints": {name: {**stub, "identity": name} for name in ("a", "b", "judge")},
            "collect": {"endpoints": ["a", "b"]},
            "judge": {"endpoints": ["judge"], "rounds": 1},
        }
    )
    run = RunFolder(folder / "run")
    said = (Utterance(role="student", text="why? " * (LONG // 5)),)
    write_jsonl(
        run.file("subsets.jsonl"),
        (
            Subset(
                id=f"s-{n}",
                dialogue=f"d-{n}",
                persona="p",
                question="q",
                subject="s",
                cut=1,
                depth=1,
                history=said,
            )
            for n in range(matches)
        ),
    )
    write_jsonl(
        run.file("replies.jsonl"),
        (
            Reply(
                subset=f"s-{n}",
                dialogue=f"d-{n}",
                endpoint=name,
                text=name * LONG,
                finish="stop",
                usage=Usage(),
                latency_s=None,
                cost_usd=None,
            )
            for n in range(matches)
            for name in "ab"
        ),
    )
    return run, config


async def judge(run: RunFolder, config: Config) -> tuple[int, int]:
    async with opened(run, config, ["judge"], progress=Progress(StringIO())) as pipeline:
        judgments, verdicts = await pipeline.judge(run.subsets(), run.replies())
        return len(judgments), len(verdicts)


def peak(folder: Path, matches: int) -> int:
    run, config = prepared(folder, matches, "x" * LONG + "\n### (A)")
    tracemalloc.start()
    assert asyncio.run(judge(run, config)) == (matches, matches)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def test_memory_does_not_grow_with_the_number_of_matches(tmp_path):
    peak(tmp_path / "first", 8)
    few, many = peak(tmp_path / "few", 60), peak(tmp_path / "many", 240)
    assert many < 1.5 * few, (few, many)


def test_what_was_judged_stands_in_the_order_of_subsets_whatever_came_first(tmp_path):
    run, config = prepared(tmp_path, 40, "### (B)")
    asyncio.run(judge(run, config))
    assert [one.subset for one in run.judgments()] == [f"s-{n}" for n in range(40)]
    assert [one.subset for one in run.verdicts()] == [f"s-{n}" for n in range(40)]
    assert not list(run.path.glob(".*.tmp"))
