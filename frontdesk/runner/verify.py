"""A run made again from its journal alone, offline, and compared byte for byte with what it published."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from frontdesk.runner import quality, score_plan
from frontdesk.runner.config import Config
from frontdesk.runner.pipeline import Pipeline
from frontdesk.runner.progress import Progress
from frontdesk.runner.quality import RunQuality
from frontdesk.runner.rating import rate_run
from frontdesk.runner.runfolder import RunFolder
from frontdesk.runner.score_files import Teller
from frontdesk.runner.scoring import perform
from gateway.adapters.catalog import build
from gateway.engine import Gateway
from runstore.journal import Journal
from runstore.records import Language

TOLD = ("human.json", "history.jsonl")
"""What people said and what refreshes did is no call, but the report shows it."""
SKIPPED = frozenset({"run.lock", "log.jsonl", "run.toml", "refresh.json", *TOLD})


@dataclass(frozen=True, slots=True)
class Publishing:
    """What is written about records by those who know how: the report of a rated run, of quality, of scores."""

    report: Callable[[RunFolder], object]
    quality: Callable[[RunFolder, RunQuality], None]
    teller: Callable[[Language], Teller]


@dataclass(frozen=True, slots=True)
class Compared:
    """One published file beside the one made again; ``why`` is empty where they are the same."""

    file: str
    same: bool
    why: str


def verify(folder: RunFolder, publishing: Publishing) -> list[Compared]:
    """Make a run again in a folder of its own and compare. Raises InputProblem where there is no run."""
    config = folder.config()
    with tempfile.TemporaryDirectory(prefix="tutor-arena-verify-") as scratch:
        again = RunFolder(Path(scratch), journal=folder.journal)
        recompute(folder, again, config, publishing)
        return compare(folder.path, again.path)


def recompute(folder: RunFolder, again: RunFolder, config: Config, publishing: Publishing) -> None:
    """Every stage file that ``folder`` has, made again in ``again`` from the journal alone, and published."""
    again.file("run.toml").write_bytes(folder.file("run.toml").read_bytes())
    for name in TOLD:
        if folder.file(name).is_file():
            again.file(name).write_bytes(folder.file(name).read_bytes())
    names = dict.fromkeys([*config.used_endpoints(), *score_plan.judges_of(folder.path)])
    adapters = {name: build(name, config.endpoints[name]) for name in names}
    journal = Journal(folder.journal, read_only=True)
    gateway = Gateway(adapters, journal=journal, offline=True)
    pipeline = Pipeline(again, config, gateway, Progress())
    try:
        asyncio.run(_stages(pipeline, folder, publishing))
    finally:
        journal.close()


async def _stages(pipeline: Pipeline, folder: RunFolder, publishing: Publishing) -> None:
    config, again = pipeline.config, pipeline.folder
    async with pipeline.gateway or Gateway({}):
        is_simulated = folder.file("dialogues.jsonl").is_file() and config.simulate is not None
        dialogues = await pipeline.simulate() if is_simulated else []
        if folder.file("subsets.jsonl").is_file():
            if is_simulated and not folder.given("subsets"):
                pipeline.cut(dialogues)
            else:
                again.take("subsets", folder.subsets(), config)
        if assessed := quality.again(folder, again):
            publishing.quality(again, assessed)
        if folder.file("replies.jsonl").is_file():
            if folder.given("replies"):
                again.take("replies", folder.replies(), config)
            else:
                await pipeline.collect(again.subsets())
        if folder.file("verdicts.jsonl").is_file():
            judgments, verdicts = await pipeline.judge(again.subsets(), again.replies())
            if folder.file("leaderboard.json").is_file():
                rate_run(again, config, judgments, verdicts)
                publishing.report(again)
        if folder.file(score_plan.PLAN).is_file():
            await perform(pipeline, *score_plan.read_plan(folder.path), publishing.teller(config.run.language))


def compare(one: Path, other: Path) -> list[Compared]:
    """Every published file of ``one`` that the recomputation makes, in order of names.

    Records that it makes and ``one`` lacks are a difference too.
    """
    rows: list[Compared] = []
    for path in sorted(one.iterdir()):
        made = other / path.name
        if not path.is_file() or path.name in SKIPPED or path.name.startswith("."):
            continue
        if not made.is_file():
            continue
        before, after = path.read_bytes(), made.read_bytes()
        why = "" if before == after else _first_difference(before, after)
        rows.append(Compared(path.name, before == after, why))
    missing = {path.name for path in other.glob("*.jsonl")} - {path.name for path in one.iterdir()} - SKIPPED
    rows += [Compared(name, False, "missing") for name in missing]
    return sorted(rows, key=lambda row: row.file)


def _first_difference(before: bytes, after: bytes) -> str:
    old, new = before.split(b"\n"), after.split(b"\n")
    for number, (left, right) in enumerate(zip(old, new, strict=False), 1):
        if left != right:
            return f"first in line {number}"
    return f"{len(old)} lines against {len(new)}"
