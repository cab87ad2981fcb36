"""Judges who never saw the personas guess them from what students wrote: ``guesses.jsonl``, and what it shows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from arena.blind import BlindJudge, Guess
from frontdesk.runner import plan, published
from frontdesk.runner.runfolder import RunFolder
from frontdesk.runner.stagework import StageWork, Stopping
from gateway.crowd import each
from runstore.ids import shuffled
from runstore.problems import Problem
from runstore.publish import read_records, stream_records, write_jsonl
from runstore.records import Dialogue
from simulator.realism.guessed import hits
from simulator.realism.talk import Talk, talk_of

FILE = "guesses.jsonl"
STAGE = "quality"


async def guess(pipeline: StageWork, judge: str, most: int) -> list[Guess]:
    """Ask a judge about at most ``most`` dialogues, drawn by id, and write its guesses beside other judges'.

    Raises InputProblem where there are no dialogues, Problem where students have no levels, Stopping.
    """
    folder, config = pipeline.folder, pipeline.config
    talks, factors = _drawn(folder, most, config.run.seed)
    reader = BlindJudge.load(judge, factors, config.run.language, pipeline.prompts, config.run.seed)
    gateway, progress = pipeline.opened(), pipeline.progress
    calls = sum(part.calls for part in plan.guesses_asked(judge, len(talks)))
    progress.start(STAGE, calls)

    ask = pipeline.overheard("guesses")

    async def ask_one(talk: Talk) -> Guess:
        said = [each_said.text for each_said in talk.said]
        return await reader.guess(ask, talk.id, said, talk.dialogue.levels)

    at_once = gateway.endpoints[judge].adapter.settings.concurrency
    gathered = await each(talks, ask_one, at_once=at_once, finished=progress.advance)
    pipeline.secure()
    if gathered.stopped is not None:
        raise Stopping(gathered.stopped, STAGE, len(gathered.done), len(talks))
    guesses = sorted(gathered.results(), key=lambda row: row.dialogue)
    others = [row for row in read_guesses(folder) if row.judge != judge]
    rows: list[Guess] = sorted([*others, *guesses], key=lambda row: (row.judge, row.dialogue))
    write_jsonl(folder.file(FILE), rows)
    published.record(folder.path, FILE)
    unread = sum(row.state != "answered" for row in guesses)
    progress.finish(f"{len(guesses)} of {len(talks)} dialogues read by {judge}, {unread} not whole")
    return guesses


def read_guesses(folder: RunFolder) -> list[Guess]:
    """The guesses of a run; none where nobody was asked."""
    return read_records(folder.file(FILE), Guess) if folder.file(FILE).is_file() else []


def asked_of(folder: RunFolder) -> dict[str, int]:
    """How many dialogues each judge was asked about."""
    counts: dict[str, int] = {}
    for row in read_guesses(folder):
        counts[row.judge] = counts.get(row.judge, 0) + 1
    return counts


def judged(guesses: Iterable[Guess], seed: int) -> list[dict[str, object]]:
    """Each judge's hits by factor, held against levels dealt out at random; what was unreadable is a miss."""
    by_judge: dict[str, list[Guess]] = {}
    for row in guesses:
        by_judge.setdefault(row.judge, []).append(row)
    told: list[dict[str, object]] = []
    for judge, rows in sorted(by_judge.items()):
        factors = list(dict.fromkeys(name for row in rows for name in row.truth))
        figures: dict[str, object] = {}
        for name in factors:
            known = [row for row in rows if name in row.truth]
            truth, said = [row.truth[name] for row in known], [row.levels.get(name) for row in known]
            figures[name] = asdict(hits(truth, said, seed, judge, name))
        unreadable = sum(row.state in ("unreadable", "cut off", "failed") for row in rows)
        told.append(
            {
                "judge": judge,
                "dialogues": len(rows) - unreadable,
                "of": len(rows),
                "unreadable": unreadable,
                "factors": figures,
            }
        )
    return told


def _drawn(folder: RunFolder, most: int, seed: int) -> tuple[list[Talk], dict[str, list[str]]]:
    path = folder.file("dialogues.jsonl")
    ids: list[str] = []
    levels: dict[str, set[str]] = {}
    for dialogue in stream_records(path, Dialogue):
        if talk_of(dialogue).said:
            ids.append(dialogue.id)
        for factor, level in dialogue.levels.items():
            levels.setdefault(factor, set()).add(level)
    factors = {factor: sorted(levels_of) for factor, levels_of in levels.items() if len(levels_of) > 1}
    if not factors:
        raise Problem(f"{folder.path}: found no factor with two levels, which a judge could tell apart")
    chosen = set(shuffled(((name, name) for name in ids), seed, "blind")[:most])
    talks = [talk_of(each_one) for each_one in stream_records(path, Dialogue) if each_one.id in chosen]
    return talks, factors
