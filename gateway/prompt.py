"""What stages and the gateway say to each other: a prompt out, an answer back, and how to ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from runstore.records import Usage, Utterance


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat, in the roles every provider has."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Schema:
    """A JSON schema that the answer must follow. ``name``: at most 64 of [A-Za-z0-9_-]."""

    name: str
    schema: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is asked of a model.

    ``messages`` is the chat form every chat endpoint sends: at most one system message, first; then user and
    assistant in turn, beginning and ending with user. ``transcript`` and ``fields`` say the same in pieces, for
    adapters with a form of their own (templates of a tutor service, few-shot completion of a tiny model):
    ``fields`` may hold persona, topic, style, dialogue_id, subset_id, response_a, response_b; words (how many a
    message is to have), asks and ends (yes or no: whether it does) and sample (which of several candidates it is).
    """

    role: Literal["student", "teacher", "judge", "score"]
    messages: tuple[Message, ...]
    transcript: tuple[Utterance, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict[str, str])
    schema: Schema | None = None


class Answer(NamedTuple):
    """What came back. ``finish`` is ``stop`` or ``length`` (the latter only where the endpoint accepts it).

    ``latency_s`` (of the attempt that answered, without waiting in line) and ``cost_usd`` are
    the engine's to fill, and so is ``retried``: the kinds of the attempts that failed before this one.
    """

    text: str
    finish: str = "stop"
    usage: Usage = Usage()
    model: str | None = None
    request_id: str | None = None
    warnings: tuple[str, ...] = ()
    latency_s: float | None = None
    cost_usd: float | None = None
    retried: tuple[str, ...] = ()


class Ask(Protocol):
    """How stages ask a model: the gateway's ``ask``, or anything that asks like it.

    Raises CallFailed where no answer is to be had, Stopped where no new calls are made.
    """

    async def __call__(
        self, endpoint: str, prompt: Prompt, *, repeat: int = 0, stage: str = "", item: str = ""
    ) -> Answer: ...
