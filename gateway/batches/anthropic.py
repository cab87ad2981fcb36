"""Anthropic's message batches: one request makes the job, one file comes down, in any order."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any
from urllib.parse import quote

from gateway.adapters import reading
from gateway.batches.base import Look, Mark, Order, Result, named, ok, rows
from gateway.batches.desk import Desk

_PATH = "/v1/messages/batches"
_UNFINISHED = {"expired": "the batch expired first", "canceled": "the batch was cancelled first"}
_SKEW_S = 900.0


class AnthropicBatches:
    """``POST /v1/messages/batches``; the key is each request's custom_id.

    A job carries no label, so :meth:`find` gives those made since of the same size; their results tell which.
    """

    most = 100_000
    is_named = False

    def line(self, key: str, sent: bytes) -> bytes:
        return b'{"custom_id":"%b","params":%b}' % (key.encode(), sent)

    async def submit(self, desk: Desk, order: Order) -> str:
        body = b'{"requests":[%b]}' % b",".join(order.lines)
        return named(reading.load(await desk.create(_PATH, body)), "id")

    async def find(self, desk: Desk, mark: Mark) -> list[str]:
        ids: list[str] = []
        after = ""
        while True:
            page = reading.load(await desk.get(f"{_PATH}?limit=1000{after}"))
            jobs = [reading.as_dict(job) for job in reading.as_list(page.get("data"))]
            recent = [job for job in jobs if _made(job) >= mark.since - _SKEW_S]
            ids += [named(job, "id") for job in recent if sum(_counts(job).values()) == mark.size]
            if not page.get("has_more") or not jobs or len(recent) < len(jobs):
                return ids[::-1]
            after = f"&after_id={quote(named(jobs[-1], 'id'))}"

    async def look(self, desk: Desk, job: str) -> Look:
        raw = reading.load(await desk.get(f"{_PATH}/{quote(job)}"))
        counts = _counts(raw)
        finished = sum(counts.values()) - counts.get("processing", 0)
        return Look(raw.get("processing_status") == "ended", finished, None, raw)

    async def fetch(self, desk: Desk, look: Look) -> Iterator[Result]:
        reply = await desk.get(f"{_PATH}/{quote(named(look.raw, 'id'))}/results", is_large=True)
        return map(_result, rows(reply.body))


def _counts(job: dict[str, Any]) -> dict[str, int]:
    counts = reading.as_dict(job.get("request_counts"))
    return {name: reading.count(value) or 0 for name, value in counts.items()}


def _made(job: dict[str, Any]) -> float:
    """When a job was made, in seconds since the epoch; one that does not say counts as new."""
    try:
        return datetime.fromisoformat(str(job.get("created_at"))).timestamp()
    except (ValueError, OverflowError, OSError):
        return float("inf")


def _result(row: dict[str, Any]) -> Result:
    key, result = reading.word(row.get("custom_id")), reading.as_dict(row.get("result"))
    kind = reading.word(result.get("type"))
    if kind in _UNFINISHED:
        return Result(key, None, _UNFINISHED[kind])
    if kind == "succeeded":
        return Result(key, ok(result.get("message")))
    return Result(key, ok({"error": result.get("error") or {"message": f"result of type {kind}"}}))
