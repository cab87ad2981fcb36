"""An endpoint as the judge of agent runs: its trial, and its questions as a file where others ask them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, cast

from arena.agent_runs.judging import EndpointJudge, question_id
from arena.asking import Asked
from frontdesk.runner.stagework import MOST_AT_ONCE, StageWork
from gateway.crowd import stream
from runstore.publish import read_json, write_json, write_jsonl
from runstore.records import Language, Record
from runstore.stored import Stored

QUESTIONS, HOW = "intent.jsonl", "intent.json"
UNIT = "scores"


class Question(Record):
    """One item without a valid score; ``id`` is of what it holds."""

    id: str
    query: str
    expected: str
    response: str


class TriedJudge:
    """An ``IntentJudge`` that is asked no more where too little of what it writes can be read."""

    def __init__(self, pipeline: StageWork, endpoint: str, language: Language) -> None:
        self._judge = EndpointJudge.load(pipeline.overheard(UNIT), endpoint, language, pipeline.prompts)
        self.settled = 0

    async def __call__(self, query: str, expected: str, response: str) -> Asked[int | None]:
        """Raises Stopped where the run is stopping."""
        said = await self._judge(query, expected, response)
        self.settled += 1
        return said


def write_questions(folder: Path, questions: Iterable[tuple[str, str, str]], language: Language) -> int:
    """The questions as a file that machines share; how many there are."""
    write_json(folder / HOW, {"language": language})
    return write_jsonl(
        folder / QUESTIONS,
        (
            Question(id=question_id(*texts), query=texts[0], expected=texts[1], response=texts[2])
            for texts in questions
        ),
    )


def forget_questions(folder: Path) -> None:
    """They are made of the tables again whenever they are needed."""
    for name in (QUESTIONS, HOW):
        (folder / name).unlink(missing_ok=True)


async def ask_all(pipeline: StageWork, source: Path) -> None:
    """Ask the questions of the pipeline's share, of the one endpoint that is open. Raises Stopped."""
    asked: Sequence[Question] = Stored(source / QUESTIONS, Question)
    mine = [at for at, question in enumerate(asked) if pipeline.share.has(question.id)]
    language = cast("dict[str, Any]", read_json(source / HOW))["language"]
    judge = TriedJudge(pipeline, next(iter(pipeline.opened().endpoints)), language)
    pipeline.progress.start("intent", len(mine))

    async def one(at: int) -> object:
        question = asked[at]
        return await judge(question.query, question.expected, question.response)

    def take(_: int, said: object) -> None:
        """The journal has it."""

    flow = await stream(mine, one, take, at_once=MOST_AT_ONCE, finished=pipeline.progress.advance)
    if flow.stopped is not None:
        raise flow.stopped
