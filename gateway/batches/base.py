"""What a provider's batch interface is to the runner: submit, find, look, fetch. No waiting, no journal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from gateway.adapters import reading
from gateway.adapters.base import WireReply
from gateway.batches.desk import Desk
from gateway.errors import TRANSIENT, Fault

LARGEST_JOB = 64 << 20
"""Bytes of one job's requests. Providers take more; smaller jobs end sooner and lose less when one fails."""


@dataclass(frozen=True, slots=True)
class Order:
    """One job to submit: the client's own ``token`` for it, and each request (``keys``) as a line of JSON."""

    token: str
    keys: Sequence[str]
    lines: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Mark:
    """What tells a job that may have been created: its token, how many requests, and since when (epoch s)."""

    token: str
    size: int
    since: float


@dataclass(frozen=True, slots=True)
class Look:
    """How a job stands. ``fault``: why it failed as a whole; ``raw``: the job as the provider describes it."""

    is_done: bool
    finished: int | None = None
    fault: Fault | None = None
    raw: dict[str, Any] = field(default_factory=dict[str, Any])


class Result(NamedTuple):
    """What became of one request: the response it would have had alone, or why it was not done.

    ``key`` is None where the provider left it out: such a result is nobody's, and counts as missing.
    """

    key: str | None
    reply: WireReply | None
    unfinished: str = ""


class Service(Protocol):
    """One provider. ``most``: requests of one job; ``is_named``: jobs carry the client's token."""

    most: int
    is_named: bool

    def line(self, key: str, sent: bytes) -> bytes:
        """One request of a job, from what the adapter composed."""
        ...

    async def submit(self, desk: Desk, order: Order) -> str:
        """Create the job; its id. Raises Fault; after one that is not a refusal the job may exist."""
        ...

    async def find(self, desk: Desk, mark: Mark) -> list[str]:
        """Ids of the jobs that may be the one with that mark. Raises Fault, Stopped."""
        ...

    async def look(self, desk: Desk, job: str) -> Look:
        """How the job stands. Raises Fault."""
        ...

    async def fetch(self, desk: Desk, look: Look) -> Iterator[Result]:
        """The results of a job that is done, in any order. Raises Fault."""
        ...


def ok(body: object) -> WireReply:
    """A response of status 200 with that JSON; an error object inside is for the adapter to read."""
    return WireReply(200, {}, reading.dumps(body))


def rows(data: bytes) -> Iterator[dict[str, Any]]:
    """The objects of JSON lines, one at a time. Raises Fault ``malformed``."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        line, start = data[start:end].strip(), end + 1
        if not line:
            continue
        try:
            row = reading.loads(line)
        except ValueError:
            raise Fault("malformed", f"a line of results is not JSON: {reading.shown(line)}", TRANSIENT) from None
        yield reading.as_dict(row)


def named(row: dict[str, Any], name: str) -> str:
    """A text that the provider's object must have. Raises Fault ``malformed``."""
    value = row.get(name)
    if not isinstance(value, str) or not value:
        raise Fault("malformed", f"expected {name} in {reading.shown(reading.dumps(row))}", TRANSIENT)
    return value
