"""A run made again from its journal alone, offline, and compared byte for byte with what it published."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from arena.ratings.result import Leaderboard
from frontdesk.runner import before, blind, held, inputs, published, quality, score_plan
from frontdesk.runner import leaderboard_history as history
from frontdesk.runner.compared import TOLD, Compared, State, compare, known_of
from frontdesk.runner.config import Config
from frontdesk.runner.config_file import read_toml
from frontdesk.runner.held import Short
from frontdesk.runner.leaderboard_history import Pending
from frontdesk.runner.pipeline import Pipeline
from frontdesk.runner.progress import Progress
from frontdesk.runner.quality import RunQuality
from frontdesk.runner.rating import as_configured, as_rated, rate_run
from frontdesk.runner.runfolder import RunFolder
from frontdesk.runner.score_files import Teller
from frontdesk.runner.scoring import perform
from frontdesk.runner.stagework import Stopping
from gateway.adapters.catalog import build
from gateway.engine import Gateway
from runstore.journal import Journal
from runstore.languages import languages
from runstore.problems import Problem
from runstore.records import Language

STAGE_FILES = {
    "simulate": "dialogues.jsonl",
    "collect": "replies.jsonl",
    "judge": "verdicts.jsonl",
    "student": "student.json",
}


@dataclass(frozen=True, slots=True)
class Publishing:
    """What is written about records by those who know how: of a rated run, of quality, a table, of scores."""

    report: Callable[[RunFolder, Language], object]
    quality: Callable[[RunFolder, RunQuality], None]
    board: Callable[[Path, Leaderboard, Language, Language], object]
    teller: Callable[[Language], Teller]


def verify(folder: RunFolder, publishing: Publishing) -> list[Compared]:
    """Make a run again in a folder of its own and compare. Raises InputProblem where there is no run."""
    config = folder.config()
    brought = _inputs(folder)
    if not all(row.is_right for row in brought):
        return brought
    with tempfile.TemporaryDirectory(prefix="tutor-arena-verify-") as scratch:
        again = RunFolder(Path(scratch), folder.journal, folder.home)
        lacking = recompute(folder, again, config, publishing)
        rows = [_rated_otherwise(row, folder, config) for row in compare(folder.path, again.path)]
    if (begun := history.pending(folder)) is not None:
        rows = _during(folder, begun, rows, publishing)
    elif published.CHANGE in known_of(folder.path).under_way and before.kept(folder).path.is_dir():
        rows, kept = _beside(before.kept(folder), folder, rows, f"the {published.CHANGE}", publishing)
        rows += kept
    return [*brought, *map(_lacking, lacking), *rows]


def _lacking(row: Short) -> Compared:
    """A segment of the journal that has lost answers since files were made of them."""
    state: State = "missing" if row.found is None else "different"
    return Compared(f"journal/{row.segment}", state, row.told)


def _rated_otherwise(row: Compared, folder: RunFolder, config: Config) -> Compared:
    """Ratings may be made in another way than configured, and are made again so; it is said where they are."""
    if row.file != "leaderboard.json" or row.state != "same":
        return row
    was, configured = as_rated(folder, config).settings, as_configured(config).settings
    told = [
        f"{name} {getattr(was, name)}, configured {getattr(configured, name)}"
        for name in asdict(was)
        if getattr(was, name) != getattr(configured, name)
    ]
    return replace(row, why=f"rated with {'; '.join(told)}") if told else row


def _during(folder: RunFolder, begun: Pending, rows: list[Compared], publishing: Publishing) -> list[Compared]:
    """While a refresh is under way a file may still be the one before it, which is made again for itself."""
    earlier = before.kept(folder)
    if not earlier.path.is_dir():
        return [*rows, Compared(history.PENDING, "unfinished", begun.told)]
    rows, kept = _beside(earlier, folder, rows, begun.told, publishing)
    is_fitting = begun == history.standing(earlier, begun.change)
    told = Compared(history.PENDING, "unfinished", f"{begun.told} is under way")
    wrong = Compared(history.PENDING, "different", f"does not tell what {before.FOLDER} holds")
    return [*rows, told if is_fitting else wrong, *kept]


def _beside(
    earlier: RunFolder, folder: RunFolder, rows: list[Compared], change: str, publishing: Publishing
) -> tuple[list[Compared], list[Compared]]:
    """The rows, where a file may still be the one before the change; and those of the files that were kept."""
    old = {row.file: row for row in verify(earlier, publishing)}

    def settled(row: Compared) -> Compared:
        is_old = row.file in old and old[row.file].is_right
        if row.is_right or not is_old or published.hash_of(folder.file(row.file)) is None:
            return row
        if published.hash_of(folder.file(row.file)) != published.hash_of(earlier.file(row.file)):
            return row
        return Compared(row.file, "unfinished", f"as before {change}, which is under way")

    kept = [Compared(f"{before.FOLDER}/{row.file}", row.state, row.why) for row in old.values()]
    return [*map(settled, rows)], kept


def _inputs(folder: RunFolder) -> list[Compared]:
    """The files that the configuration names: each has the hash that it is kept under."""
    data, _ = read_toml(folder.file("run.toml"))
    rows: list[Compared] = []
    for name in sorted(set(inputs.named(data))):
        held = inputs.place_of(folder.home / name)
        if held is None:
            rows.append(Compared(name, "missing", "nothing can be made again without it"))
        elif held != name:
            rows.append(Compared(name, "different", "changed since; nothing can be made again from it"))
        else:
            rows.append(Compared(name, "not made here", "as it was brought"))
    return rows


def recompute(folder: RunFolder, again: RunFolder, config: Config, publishing: Publishing) -> list[Short]:
    """Every stage file that ``folder`` has published, made again in ``again`` from the journal alone.

    Returns the segments of the journal that lack answers of which there were files.
    """
    again.file("run.toml").write_bytes(folder.file("run.toml").read_bytes())
    for name in TOLD:
        if folder.file(name).is_file():
            again.file(name).write_bytes(folder.file(name).read_bytes())
            published.record(again.path, name)
    names = dict.fromkeys([*config.used_endpoints(), *score_plan.judges_of(folder.path), *blind.asked_of(folder)])
    adapters = {name: build(name, config.endpoints[name]) for name in names}
    known = known_of(folder.path)
    journal = Journal(folder.journal, read_only=True)
    gateway = Gateway(adapters, journal=journal, offline=True, under_way=bool(known.under_way))
    pipeline = Pipeline(again, config, gateway, Progress())
    begun = {STAGE_FILES[stage] for stage in known.under_way if stage in STAGE_FILES}
    had = {*known.files, *begun, *(path.name for path in folder.path.iterdir())}
    try:
        asyncio.run(_Stages(pipeline, folder, publishing, had).all())
        return held.short(folder.path, journal)
    finally:
        journal.close()


@dataclass(frozen=True)
class _Stages:
    """The stages whose files ``folder`` has, or says that it published, in their order."""

    pipeline: Pipeline
    folder: RunFolder
    publishing: Publishing
    had: set[str]

    async def all(self) -> None:
        async with self.pipeline.gateway or Gateway({}):
            await self._students()
            for judge, asked in blind.asked_of(self.folder).items():
                await _as_far_as_it_came(blind.guess(self.pipeline, judge, asked))
            if assessed := quality.again(self.folder, self.pipeline.folder):
                self.publishing.quality(self.pipeline.folder, assessed)
            await self._tutors()
            if self.folder.file(score_plan.PLAN).is_file():
                language = self.pipeline.config.run.language
                plan, material = score_plan.read_plan(self.folder.path)
                await _as_far_as_it_came(perform(self.pipeline, plan, material, self.publishing.teller(language)))

    async def _students(self) -> None:
        config, folder, again = self.pipeline.config, self.folder, self.pipeline.folder
        is_simulated = "dialogues.jsonl" in self.had and config.simulate is not None
        if is_simulated:
            await _as_far_as_it_came(self.pipeline.simulate())
        if "subsets.jsonl" in self.had:
            if is_simulated and not folder.given("subsets"):
                self.pipeline.cut(again.dialogues())
            elif folder.file("subsets.jsonl").is_file():
                again.take("subsets", folder.subsets(), config)

    async def _tutors(self) -> None:
        config, folder, again = self.pipeline.config, self.folder, self.pipeline.folder
        if "replies.jsonl" in self.had and again.file("subsets.jsonl").is_file():
            if not folder.given("replies"):
                await _as_far_as_it_came(self.pipeline.collect(again.subsets()))
            elif folder.file("replies.jsonl").is_file():
                again.take("replies", folder.replies(), config)
        is_rated = any(name.partition(".")[0] in ("leaderboard", "report") for name in self.had)
        is_judged = bool({"judgments.jsonl", "verdicts.jsonl"} & self.had) or is_rated
        if is_judged and config.judge is not None and again.file("replies.jsonl").is_file():
            await _as_far_as_it_came(self.pipeline.judge(again.subsets(), again.replies()))
        if "student.json" in self.had and config.student is not None and again.file("replies.jsonl").is_file():
            await _as_far_as_it_came(self.pipeline.student(again.subsets(), again.replies()))
        if is_judged and is_rated and again.file("verdicts.jsonl").is_file():
            self._rate()

    def _rate(self) -> None:
        again, config = self.pipeline.folder, self.pipeline.config
        judged = again.judgments(), again.verdicts()
        try:
            board = rate_run(again, config, *judged, as_rated(self.folder, config))
        except Problem:  # no such ratings can be made: what is there says so of itself
            board = rate_run(again, config, *judged)
        reports = {name.split(".")[1] for name in self.had if name.startswith("report.") and name.count(".") == 2}
        own = self.pipeline.config.run.language
        if any(name in self.had for name in ("report.md", "report.html", "leaderboard.md")):
            self.publishing.report(again, own)
        for language in sorted(reports - {own}):
            with suppress(FileNotFoundError):
                self.publishing.report(again, language)
        for language in sorted(set(languages()) - {own}):
            if f"leaderboard.{language}.md" in self.had:
                self.publishing.board(again.path, board, language, own)


async def _as_far_as_it_came(stage: Awaitable[object]) -> None:
    """A stage that is under way is made again up to where the journal ends."""
    with suppress(Stopping):
        await stage
