"""Asking a judge: judged material between fences, one call, one reading, and what can go wrong kept apart.

Pairwise rounds, sheets and the intent of agent runs all ask here. What comes of a question is one :class:`Asked`
in one of five states:

    answered         everything that was asked for could be read
    missing values   the reply was read, but lacks some of it
    unreadable       a whole reply from which nothing can be read
    cut off          the reply ended before its end (or was blocked), so nothing is read from it
    failed           no reply came at all
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar, get_args

from arena.reading.text import finished
from gateway.errors import CallFailed
from gateway.prompt import Answer, Ask, Prompt
from runstore.ids import digest
from runstore.records import Failure

Value = TypeVar("Value")
Value_co = TypeVar("Value_co", covariant=True)
State = Literal["answered", "missing values", "unreadable", "cut off", "failed"]
STATES: tuple[State, ...] = get_args(State)


@dataclass(frozen=True, slots=True)
class Reading(Generic[Value_co]):
    """What a reader made of a reply. ``reason``: why it is not readable, or not whole."""

    value: Value_co
    is_readable: bool
    is_whole: bool = True
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Asked(Generic[Value_co]):
    """What came of one question: the reader's ``value`` (None where the call failed) of what was written."""

    state: State
    value: Value_co | None = None
    raw: str = ""
    reason: str | None = None
    failure: CallFailed | None = None

    def failure_record(self, endpoint: str, stage: str, item: str) -> Failure | None:
        """None where it was answered, else the state as a failure: its kind is the call's own, or the state."""
        if self.state == "answered":
            return None
        if self.failure is not None:
            return self.failure.record(stage, item)
        kind, message = self.state, self.reason or self.state
        return Failure(stage=stage, item=item, endpoint=endpoint, kind=kind, message=message, attempts=1)


@dataclass(frozen=True, slots=True)
class Overheard:
    """An ``Ask`` beside which somebody hears, by judge and item, what :func:`ask_judge` made of each answer."""

    ask: Ask
    hear: Callable[[str, str, Asked[object]], None]

    async def __call__(
        self, endpoint: str, prompt: Prompt, *, repeat: int = 0, stage: str = "", item: str = ""
    ) -> Answer:
        return await self.ask(endpoint, prompt, repeat=repeat, stage=stage, item=item)


def fence(*texts: str) -> str:
    """A mark that none of the texts contains, drawn from the texts themselves: a replay sends the same bytes."""
    for attempt in range(1000):
        mark = f"=={digest(*texts, attempt, size=6)}=="
        if not any(mark in text for text in texts):
            return mark
    raise ValueError("no fence was found that the texts do not contain")


async def ask_judge(
    ask: Ask,
    judge: str,
    prompt: Prompt,
    read: Callable[[str, str], Reading[Value]],
    *,
    stage: str,
    item: str = "",
    repeat: int = 0,
) -> Asked[Value]:
    """One call, read by ``read(raw, finish)``. Raises Stopped where no new calls are made."""
    try:
        answer = await ask(judge, prompt, repeat=repeat, stage=stage, item=item)
        raw, finish = answer.text, answer.finish
    except CallFailed as failed:
        if failed.kind != "truncated":
            return Asked("failed", reason=failed.message, failure=failed)
        raw, finish = failed.partial, "length"
    reading = read(raw, finish)
    asked = Asked(_state(reading, finish), reading.value, raw, reading.reason)
    if isinstance(ask, Overheard):
        ask.hear(judge, item, asked)
    return asked


def _state(reading: Reading[Value], finish: str) -> State:
    if not finished(finish):
        return "cut off"
    if not reading.is_readable:
        return "unreadable"
    return "answered" if reading.is_whole else "missing values"
