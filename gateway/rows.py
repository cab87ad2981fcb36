"""What the journal says about a call: its line, made without a second look at the bytes, and read back.

A line's members after key and state: ``endpoint``, ``repeat``, ``where`` (stage, item), ``at`` (seconds since the
epoch), then ``latency_s``, ``cost_usd``, ``answer``, ``faults``, ``request``, ``response`` of a call that was
answered, or ``failure``, ``faults``, ``request`` of one that was not. A ``sent`` line has ``endpoint``, ``at``
and, from a call's second attempt on, ``attempt``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from gateway.budget import NOTHING, Most
from gateway.errors import CallFailed, Fault
from gateway.prompt import Answer
from runstore.publish import clean_unicode
from runstore.records import Usage

LONGEST_KEPT = 1 << 16
"""Bytes kept of a body that came with a fault."""


@dataclass(slots=True)
class Call:
    """One call on its way: what is sent and why, and the attempts at it that failed.

    ``waited_s`` is the time spent in line before attempts, ``began`` when the first one could have started;
    ``most``: what an attempt can take, where that is known and matters; ``is_json``: what is sent is one line of
    JSON for sure.
    """

    sent: bytes
    key: str
    repeat: int
    stage: str
    item: str
    estimate: int
    began: float
    most: Most = NOTHING
    is_json: bool = False
    faults: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    waited_s: float = 0.0
    announced: int = 0
    is_out: bool = False
    is_over: bool = False


def sent_line(endpoint: bytes, wall: float, attempt: int = 1) -> bytes:
    """The rest of the line that goes out before an attempt; only those after a call's first have a number."""
    again = b',"attempt":%d' % attempt if attempt > 1 else b""
    return b'%b,"endpoint":%b,"at":%.3f' % (again, endpoint, wall)


def ok_line(endpoint: bytes, call: Call, answer: Answer, bodies: Sequence[bytes], wall: float) -> bytes:
    """The rest of an answered call's line. ``endpoint``: its name as JSON."""
    kept = {
        "text": answer.text,
        "finish": answer.finish,
        "usage": answer.usage.counts(),
        "model": answer.model,
        "request_id": answer.request_id,
        "warnings": answer.warnings,
    }
    return b'%b,"latency_s":%b,"cost_usd":%b,"answer":%b,"faults":%b,"request":%b,"response":[%b]' % (
        _labels(endpoint, call, wall),
        orjson.dumps(answer.latency_s),
        orjson.dumps(answer.cost_usd),
        orjson.dumps(kept),
        orjson.dumps(call.faults) if call.faults else b"[]",
        _request(call),
        b",".join([as_json(body) for body in bodies]),
    )


def failed_line(endpoint: bytes, call: Call, kind: str, message: str, text: str, wall: float) -> bytes:
    """The rest of a failed call's line; the request of one that was never sent is left out."""
    failure = {"kind": kind, "message": message, "text": clean_unicode(text)}
    return b'%b,"failure":%b,"faults":%b,"request":%b' % (
        _labels(endpoint, call, wall),
        orjson.dumps(failure),
        orjson.dumps(call.faults),
        _request(call) if call.announced else b"null",
    )


def fault_row(fault: Fault, latency_s: float, usd: float | None, bodies: Sequence[bytes]) -> dict[str, Any]:
    """One failed attempt, as it stands in its call's line."""
    return {
        "kind": fault.kind,
        "message": clean_unicode(fault.message),
        "status": fault.status,
        "latency_s": latency_s,
        "request_id": fault.request_id,
        "usage": fault.usage.counts() if fault.usage is not None else None,
        "cost_usd": usd,
        "bodies": [body[:LONGEST_KEPT].decode("utf-8", "replace") for body in bodies],
    }


def answer_of(row: Mapping[str, Any]) -> Answer:
    """The answer that a journal line holds."""
    kept = row["answer"]
    return Answer(
        kept["text"],
        kept["finish"],
        Usage.of(kept["usage"]),
        kept["model"],
        kept["request_id"],
        tuple(kept["warnings"]),
        row["latency_s"],
        row["cost_usd"],
        tuple(fault["kind"] for fault in row["faults"]),
    )


def failure_of(row: Mapping[str, Any] | None, endpoint: str) -> CallFailed:
    """The failure that a journal line holds; without a line, that this call was never finished."""
    if row is None:
        return CallFailed(endpoint, "not_in_journal", "the journal has no such call", 0)
    failure = row["failure"]
    return CallFailed(endpoint, failure["kind"], failure["message"], len(row["faults"]), failure["text"])


def _labels(endpoint: bytes, call: Call, wall: float) -> bytes:
    where = orjson.dumps((call.stage, call.item))
    return b',"endpoint":%b,"repeat":%d,"where":%b,"at":%.3f' % (endpoint, call.repeat, where, wall)


def _request(call: Call) -> bytes:
    return call.sent if call.is_json else as_json(call.sent)


def as_json(body: bytes) -> bytes:
    """JSON as it came, on one line; anything that is not JSON (or not for every reader), as a string."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return orjson.dumps(body.decode("utf-8", "replace"))
    return body if b"\n" not in body and b"\r" not in body else orjson.dumps(value)
