"""``tutor-arena verify``: recompute everything after the journal, offline, and compare byte for byte."""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from pathlib import Path

from frontdesk import quality, score_plan
from frontdesk.cli import stages
from frontdesk.config import Config
from frontdesk.pipeline import Pipeline
from frontdesk.progress import Progress
from frontdesk.runfolder import RunFolder
from frontdesk.scoring import perform
from gateway.adapters.catalog import build
from gateway.engine import Gateway
from runstore.journal import Journal
from runstore.publish import to_json

TOLD = ("human.json", "history.jsonl")
"""What people said and what refreshes did is no call, but the report shows it."""
SKIPPED = frozenset({"run.lock", "log.jsonl", "run.toml", "refresh.json", *TOLD})


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--run", dest="folder", metavar="DIR", required=True, help="the run folder")
    parser.add_argument("--json", action="store_true", help="print the comparison as JSON")


def run(args: argparse.Namespace) -> int:
    folder = RunFolder(Path(args.folder))
    config = folder.config()
    with tempfile.TemporaryDirectory(prefix="tutor-arena-verify-") as scratch:
        again = RunFolder(Path(scratch), journal=folder.journal)
        recompute(folder, again, config)
        rows = compare(folder.path, again.path)
    if args.json:
        print(to_json({"files": [{"file": name, "same": same, "why": why} for name, same, why in rows]}).decode())
    else:
        for name, same, why in rows:
            print(f"{'same     ' if same else 'DIFFERENT'}  {name}{f'  ({why})' if why else ''}")
    return 0 if all(same for _, same, _ in rows) else 1


def recompute(folder: RunFolder, again: RunFolder, config: Config) -> None:
    """Every stage file that ``folder`` has, made again in ``again`` from the journal alone."""
    again.file("run.toml").write_bytes(folder.file("run.toml").read_bytes())
    for name in TOLD:
        if folder.file(name).is_file():
            stages.copy_in(folder.file(name), again.file(name))
    names = dict.fromkeys([*config.used_endpoints(), *score_plan.judges_of(folder.path)])
    adapters = {name: build(name, config.endpoints[name]) for name in names}
    journal = Journal(folder.journal, read_only=True)
    gateway = Gateway(adapters, journal=journal, offline=True)
    pipeline = Pipeline(again, config, gateway, Progress())
    try:
        asyncio.run(_stages(pipeline, folder, again))
    finally:
        journal.close()


async def _stages(pipeline: Pipeline, folder: RunFolder, again: RunFolder) -> None:
    async with pipeline.gateway or Gateway({}):
        if folder.file("dialogues.jsonl").is_file() and pipeline.config.simulate is not None:
            dialogues = await pipeline.simulate()
            if folder.file("subsets.jsonl").is_file():
                pipeline.cut(dialogues)
        elif folder.file("subsets.jsonl").is_file():
            stages.copy_in(folder.file("subsets.jsonl"), again.file("subsets.jsonl"))
        quality.again(folder, again)
        if folder.file("replies.jsonl").is_file():
            await pipeline.collect(again.subsets())
        if folder.file("verdicts.jsonl").is_file():
            judgments, verdicts = await pipeline.judge(again.subsets(), again.replies())
            if folder.file("leaderboard.json").is_file():
                stages.rate_and_report(again, pipeline.config, judgments, verdicts)
        if folder.file(score_plan.PLAN).is_file():
            await perform(pipeline, *score_plan.read_plan(folder.path))


def compare(one: Path, other: Path) -> list[tuple[str, bool, str]]:
    """(name, same, why not) of every published file of ``one`` that the recomputation makes."""
    rows: list[tuple[str, bool, str]] = []
    for path in sorted(one.iterdir()):
        made = other / path.name
        if not path.is_file() or path.name in SKIPPED or path.name.startswith("."):
            continue
        if not made.is_file():
            continue
        before, after = path.read_bytes(), made.read_bytes()
        rows.append((path.name, before == after, "" if before == after else _first_difference(before, after)))
    return rows


def _first_difference(before: bytes, after: bytes) -> str:
    old, new = before.split(b"\n"), after.split(b"\n")
    for number, (left, right) in enumerate(zip(old, new, strict=False), 1):
        if left != right:
            return f"first in line {number}"
    return f"{len(old)} lines against {len(new)}"
