"""What an adapter is: it translates one prompt into one request and one response into one answer.

It never loops, sleeps or retries; it raises a classified :class:`gateway.errors.Fault`. Adding a kind of endpoint
is one file with a ``Settings`` and an adapter class, and one line in ``catalog.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict, Field

from runstore.numbers import NotNegative, Real, Whole, YesNo
from runstore.records import Utterance


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
    ``fields`` may hold persona, topic, style, dialogue_id, subset_id, response_a, response_b.
    """

    role: Literal["student", "teacher", "judge", "score"]
    messages: tuple[Message, ...]
    transcript: tuple[Utterance, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict[str, str])
    schema: Schema | None = None


class Tokens(NamedTuple):
    """Usage as the provider counted it; None where it did not say. ``input`` includes ``cached``."""

    input: int | None = None
    output: int | None = None
    thinking: int | None = None
    cached: int | None = None


class Answer(NamedTuple):
    """What came back. ``finish`` is ``stop`` or ``length`` (the latter only where the endpoint accepts it).

    ``latency_s`` (of the attempt that answered, without waiting in line) and ``cost_usd`` are
    the engine's to fill, and so is ``retried``: the kinds of the attempts that failed before this one.
    """

    text: str
    finish: str = "stop"
    usage: Tokens = Tokens()
    model: str | None = None
    request_id: str | None = None
    warnings: tuple[str, ...] = ()
    latency_s: float | None = None
    cost_usd: float | None = None
    retried: tuple[str, ...] = ()


class WireReply(NamedTuple):
    """A response as it came: status, headers with lower-case names, body bytes."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Wire(Protocol):
    """One attempt's way out: the lane (address and key) chosen for it, with the attempt's timeout.

    Raises Fault ``timeout``, ``connection`` or ``malformed`` (cut body); never an aiohttp exception.
    """

    base_url: str
    key: str | None

    async def post(self, path: str, body: bytes, headers: Mapping[str, str] | None = None) -> WireReply:
        """POST JSON bytes to ``path`` (added to ``base_url``; a full address is taken as it is)."""
        ...


class Ask(Protocol):
    """How stages ask a model: the gateway's ``ask``, or anything that asks like it.

    Raises CallFailed where no answer is to be had, Stopped where no new calls are made.
    """

    async def __call__(
        self, endpoint: str, prompt: Prompt, *, repeat: int = 0, stage: str = "", item: str = ""
    ) -> Answer: ...


class EndpointSettings(BaseModel):
    """The keys that every kind of endpoint has. A kind adds its own in a subclass."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str
    model: str | None = None
    base_url: str | list[str] | None = None
    api_key_env: str | list[str] | None = None
    identity: str | None = None
    family: str | None = None
    temperature: Real | None = None
    top_p: Real | None = None
    seed: Whole | None = None
    max_output_tokens: Whole | None = Field(default=None, gt=0)
    accept_truncated: YesNo = False
    system: str | None = None
    style: str | None = None
    concurrency: Whole = Field(default=64, gt=0)
    requests_per_minute: Real | None = Field(default=None, gt=0)
    tokens_per_minute: Real | None = Field(default=None, gt=0)
    timeout_s: Real = Field(default=60.0, gt=0)
    retries: Whole = Field(default=5, ge=0)
    longest_wait_s: Real = Field(default=120.0, ge=0)
    total_s: Real = Field(default=900.0, gt=0)
    price: dict[Literal["input", "output", "cached_input"], NotNegative] | None = None


class Adapter(Protocol):
    """One kind of endpoint. Built once per endpoint from its settings."""

    Settings: ClassVar[type[EndpointSettings]]
    settings: Any

    @property
    def address(self) -> str:
        """The default base address: part of the journal's key unless ``identity`` stands for it."""
        ...

    def headers(self, key: str | None) -> dict[str, str]:
        """Headers of every request of a lane, the key among them (never in the address)."""
        ...

    def compose(self, prompt: Prompt) -> bytes:
        """Everything that will be sent, as bytes: the request body, or for several steps all they depend on.

        Equal prompts give equal bytes. These bytes (with endpoint, address and repeat) are the journal's key.
        """
        ...

    async def send(self, sent: bytes, wire: Wire) -> Answer:
        """One attempt at sending what :meth:`compose` made. Raises Fault."""
        ...
