"""Responses that the journal holds, read again: what only reads a reply is applied anew, and nothing is paid.

A setting that decides what is sent is part of a call's key, so changing it asks again. One that decides how the
response is read (where the text stands, what marks an error, whether a cut reply counts, what is blank) is not:
each time a call is answered from the journal, its adapter reads the kept response as if it had just come.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import orjson

from gateway.adapters import reading
from gateway.adapters.base import NothingKept, ReadsAgain, WireReply
from gateway.answers import decided
from gateway.endpoint import Endpoint
from gateway.errors import NO, CallFailed, Fault, explained
from gateway.prompt import Answer
from gateway.rows import answer_of
from runstore.journal import Journal
from runstore.problems import Problem
from runstore.records import Usage

_NO_RESPONSE = frozenset({"connection", "timeout"})


class Replay:
    """A way out that leads nowhere: gives stored responses in order, so that the adapter reads them as its own."""

    def __init__(self, replies: Iterable[WireReply]) -> None:
        self._replies = iter(replies)
        self.base_url = ""
        self.key: str | None = None

    async def post(self, path: str, body: bytes, headers: object = None) -> WireReply:  # noqa: ARG002 - a Wire
        return self._next()

    async def lend(self, path: str, body: bytes, use: object) -> WireReply:  # noqa: ARG002 - a Wire
        return self._next()

    async def fetch(self, method: str, url: str, headers: object, body: bytes) -> WireReply:  # noqa: ARG002 - a Wire
        return self._next()

    def hide(self, secret: str) -> None:
        """Nothing is sent, so nothing is secret."""

    def keep(self, made: bytes) -> None:
        """It is recorded already."""

    def _next(self) -> WireReply:
        reply = next(self._replies, None)
        if reply is None:
            raise NothingKept
        return reply


class NoAnswer(NamedTuple):
    """A response that was an answer once, and is read as a fault now."""

    endpoint: str
    fault: Fault
    attempts: int

    @property
    def is_final(self) -> bool:
        """Whether asking again would bring nothing else: a matter of settings, not of the service."""
        return self.fault.retry.again == "no" or self.fault.kind == "malformed"

    def failure(self) -> CallFailed:
        """The fault as the call's failure."""
        message = f"{self.fault.message} (read again from the journal)"
        return CallFailed(self.endpoint, self.fault.kind, message, self.attempts, self.fault.text)


async def recall(journal: Journal, target: Endpoint, sent: bytes, key: str) -> Answer | NoAnswer | None:
    """What came of the call, read by the endpoint's present settings; None where nothing is kept.

    Of a call that failed, a response that can be read now is its answer; any other failure is nothing.
    """
    if (row := journal.find(key)) is None:
        return await _recall_failed(journal, target, sent, key)
    if journal.is_new(key):
        return answer_of(row)
    answer = await _reread(target, sent, row, [_bytes_of(body) for body in row.get("response") or ()])
    if isinstance(answer, Fault):
        return NoAnswer(target.name, answer, len(row["faults"]) + 1)
    return _with_what_is_known(target, answer, row)


async def _recall_failed(journal: Journal, target: Endpoint, sent: bytes, key: str) -> Answer | None:
    if (row := journal.find_failure(key)) is None or not row["faults"]:
        return None
    last: dict[str, Any] = row["faults"][-1]
    status: int | None = last["status"]
    came = last["kind"] not in _NO_RESPONSE and (status is None or 200 <= status < 300)
    if not came or not last["bodies"] or not _reads_again(target):
        return None
    answer = await _reread(target, sent, row, [body.encode() for body in last["bodies"]])
    if isinstance(answer, Fault):
        return None
    usd = target.cost(answer.usage, batch="batch" in row)
    retried = tuple(fault["kind"] for fault in row["faults"][:-1])
    return answer._replace(
        latency_s=last["latency_s"], cost_usd=usd, request_id=last["request_id"], retried=retried
    )


def _reads_again(target: Endpoint) -> bool:
    """Only an adapter that says that it does nothing but through the wire, or how else it reads, is let near a
    response again.

    Each class says so for itself: one that is derived from another may well call a client of its own.
    """
    own = vars(type(target.adapter))
    return bool(own.get("reads_again", False)) or "read_again" in own


async def _reread(target: Endpoint, sent: bytes, row: Mapping[str, Any], bodies: list[bytes]) -> Answer | Fault:
    if not bodies or not _reads_again(target):
        return _as_kept(target, answer_of(row))
    adapter = target.adapter
    try:
        if isinstance(adapter, ReadsAgain):
            return decided(adapter.read_again(bodies))
        return decided(await adapter.send(sent, Replay(WireReply(200, {}, body) for body in bodies)))
    except Fault as fault:
        return fault
    except (NothingKept, Problem):
        return _as_kept(target, answer_of(row)) if "answer" in row else Fault("unexpected", "nothing was kept")
    except Exception as error:  # an adapter's fault is the call's, as where it was sent
        return Fault("unexpected", explained(error))


def _as_kept(target: Endpoint, kept: Answer) -> Answer | Fault:
    """An answer whose response cannot be read again: what was once read of it, as it counts now."""
    if kept.finish == "length" and not target.adapter.settings.accept_truncated:
        return Fault("truncated", "truncated: finish reason length", NO, text=kept.text, usage=kept.usage)
    return decided(kept)


def _with_what_is_known(target: Endpoint, answer: Answer, row: Mapping[str, Any]) -> Answer:
    """Time, number and attempts as they were; the cost too, unless other tokens are counted now."""
    is_same = answer.usage == Usage.of(row["answer"]["usage"])
    usd = row["cost_usd"] if is_same else target.cost(answer.usage, batch="batch" in row)
    return answer._replace(
        latency_s=row["latency_s"],
        cost_usd=usd,
        request_id=row["answer"]["request_id"],
        retried=tuple(fault["kind"] for fault in row["faults"]),
    )


def _bytes_of(body: object) -> bytes:
    """A kept body as it came. A text is a JSON string, or a body with what not every reader takes for JSON."""
    if not isinstance(body, str):
        return orjson.dumps(body)
    raw = body.encode()
    try:
        orjson.loads(raw)
    except orjson.JSONDecodeError:
        try:
            reading.loads(raw)
        except ValueError:
            return orjson.dumps(body)
        return raw
    return orjson.dumps(body)
