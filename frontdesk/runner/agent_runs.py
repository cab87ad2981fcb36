"""Tables of agent runs scored: with the tables' own scores, a stated heuristic, or an endpoint as the judge."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from arena.agent_runs.intent import IntentJudge, csv_score
from arena.agent_runs.judging import STAGE
from arena.agent_runs.result import BeforeAfter
from arena.agent_runs.scored import Options, Scored
from arena.agent_runs.scoring import Analysis, analyse, questions, score_tables
from arena.agent_runs.state import Spool
from arena.agent_runs.tables import Layout, Table, open_table
from arena.asking import Asked
from frontdesk.runner import session
from frontdesk.runner.config import Config
from frontdesk.runner.config_file import load
from frontdesk.runner.intent import TriedJudge, forget_questions, write_questions
from frontdesk.runner.progress import Progress
from frontdesk.runner.runfolder import RunFolder
from frontdesk.runner.stagework import StageWork
from gateway.errors import Stopped
from runstore.problems import InputProblem
from runstore.publish import write_json
from runstore.records import Failure, Language
from runstore.tables import shards_of

_EVERY = 100_000


@dataclass(frozen=True, slots=True)
class Job:
    """``tables`` are scored, and tested against the tables of the runs ``before`` where there are any."""

    tables: Sequence[Table]
    before: Sequence[Table]
    options: Options
    folder: Path


@dataclass(frozen=True, slots=True)
class Judge:
    """An endpoint of the configuration, and the language of the prompt."""

    endpoint: str
    config: Config
    language: Language

    @classmethod
    def of(cls, file: Path, endpoint: str, language: Language, on: str | None = None) -> Judge:
        """The endpoint as a configuration file describes it; ``on``: where it is asked. Raises InputProblem."""
        config = load(file)
        if on is not None:
            config = config.model_copy(update={"run": config.run.model_copy(update={"on": on})})
        if endpoint not in config.endpoints:
            raise InputProblem(file, f"one of {', '.join(config.endpoints)}", found=endpoint, field="endpoints")
        return cls(endpoint, config, language)


def open_tables(
    files: Sequence[Path | str], before: Sequence[Path | str], layout: Layout
) -> tuple[list[Table], list[Table]]:
    """The tables of these runs and of the runs before; a folder, a pattern or an address stands for all its files.

    Raises InputProblem, also for a file given twice.
    """
    of_both = [[shard for source in sources for shard in shards_of(source)] for sources in (files, before)]
    seen: set[Path] = set()
    for path in (shard.path.resolve() for shards in of_both for shard in shards):
        if path in seen:
            raise InputProblem(path, "each file once", found="the same file twice")
        seen.add(path)
    now, then = ([open_table(shard, layout) for shard in shards] for shards in of_both)
    return now, then


def describe(tables: Sequence[Table]) -> list[dict[str, object]]:
    """What would be read, without scoring: file, encoding, columns, rows, and rows without a valid LLM score."""
    described: list[dict[str, object]] = []
    for table in tables:
        index = table.columns.index
        score, status = index.get("llm_score"), index.get("llm_status")
        rows = malformed = missing = 0
        for _, cells in table.rows():
            rows += 1
            if cells is None:
                malformed += 1
            elif score is None or csv_score(cells[score], "" if status is None else cells[status]) is None:
                missing += 1
        described.append({**table.describe(), "rows": rows, "malformed": malformed, "without_llm_score": missing})
    return described


def run(job: Job, judge: Judge | None, conclude: Callable[[Analysis], int]) -> int:
    """Score, write the records, and hand the analysis on; returns the exit code that ``conclude`` gives.

    The judge's journal is in the output folder, so a rerun pays nothing; ``failures.jsonl`` has the rows that it
    gave no score, each with its kind. Raises Problem.
    """
    if judge is None:
        return asyncio.run(_without_judge(job, conclude))
    running: list[StageWork] = []

    async def work() -> int:
        folder = RunFolder(job.folder)
        async with session.opened(folder, judge.config, [judge.endpoint], change=True) as pipeline:
            running.append(pipeline)
            return await _with_judge(job, judge, pipeline, conclude)

    return session.run_interruptibly(work, lambda: running[0].gateway if running else None)


async def _without_judge(job: Job, conclude: Callable[[Analysis], int]) -> int:
    analysis, _ = await _score(job, None, _RowsRead())
    return conclude(analysis)


async def _with_judge(job: Job, judge: Judge, pipeline: StageWork, conclude: Callable[[Analysis], int]) -> int:
    endpoint = TriedJudge(pipeline, judge.endpoint, judge.language)
    try:
        async with _asked_elsewhere(job, judge, pipeline):
            analysis, unscored = await _score(job, endpoint, _RowsRead(lambda: pipeline.progress.note))
    except Stopped as reason:
        pipeline.progress.say(f"stopped: {reason}; {endpoint.settled} scores of intent are in the journal")
        pipeline.progress.say("to go on: run the same command again")
        return reason.exit_code
    pipeline.folder.replace_failures(STAGE, _failures(unscored, judge.endpoint))
    return conclude(analysis)


@asynccontextmanager
async def _asked_elsewhere(job: Job, judge: Judge, pipeline: StageWork) -> AsyncGenerator[None]:
    """Where the run is on several machines, they are sent the questions first; none are left there."""
    try:
        if judge.config.run.on is None:
            yield
            return
        every = questions([*job.tables, *job.before], job.options)
        count = write_questions(job.folder, every, judge.language)
        async with pipeline.elsewhere(STAGE, count):
            yield
    finally:
        forget_questions(job.folder)


def _failures(unscored: Sequence[tuple[str, Asked[int | None]]], endpoint: str) -> list[Failure]:
    records = (said.failure_record(endpoint, STAGE, place) for place, said in unscored)
    return [record for record in records if record is not None]


async def _score(
    job: Job, judge: IntentJudge | None, rows_read: _RowsRead
) -> tuple[Analysis, list[tuple[str, Asked[int | None]]]]:
    """The analysis, written as ``agent_runs.json`` and ``items.csv``, and what the judge gave no score."""
    with ExitStack() as stack:
        spool = Spool(job.folder)
        stack.callback(spool.close)
        scored = await score_tables(job.tables, job.options, judge=judge, spool=spool, progress=rows_read)
        unscored = list(scored.unscored)
        before: Scored | None = None
        if job.before:
            before = await score_tables(job.before, job.options, judge=judge, progress=rows_read)
            unscored += before.unscored
        compared, changed = _compared(before, scored) if before else (None, None)
        analysis = analyse(scored, job.folder / "items.csv", also_show=changed)
    if compared:
        figures = analysis.figures.model_copy(update={"comparison": compared})
        analysis = replace(analysis, figures=figures)
    write_json(job.folder / "agent_runs.json", analysis.figures)
    return analysis, unscored


def _compared(before: Scored, after: Scored) -> tuple[BeforeAfter, dict[str, list[int]]]:
    # Imported here alone: the tests bring SciPy, which nothing else of this command needs.
    from arena.agent_runs.compare import compare

    return compare(before, after)


class _RowsRead:
    """A line on stderr for every 100,000 rows read; ``note``: what else to say in it."""

    def __init__(self, note: Callable[[], str] = lambda: "") -> None:
        self._progress, self._note = Progress(), note
        self._rows = 0

    def __call__(self, rows: int) -> None:
        already, self._rows = self._rows, self._rows + rows
        if already // _EVERY != self._rows // _EVERY:
            note = self._note()
            self._progress.say(f"{self._rows:,} rows read" + (f" ({note})" if note else ""))
