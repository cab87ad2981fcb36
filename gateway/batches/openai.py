"""OpenAI's batches: a file of requests goes up, a job is made of it, and two files come down."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from gateway.adapters import classify, reading
from gateway.adapters.base import WireReply
from gateway.batches.base import Look, Mark, Order, Result, named, ok, rows
from gateway.batches.desk import Desk
from gateway.errors import NO, Fault

_DONE = frozenset({"completed", "failed", "expired", "cancelled"})
_PERMANENT = ("invalid", "model_not_found", "mismatched_model", "billing", "duplicate", "empty", "unsupported")
_UNFINISHED = {"batch_expired": "the batch expired first", "batch_cancelled": "the batch was cancelled first"}
_TOKEN = "tutor_arena"  # noqa: S105 - the name of a label
_PAGE = 100


class OpenAIBatches:
    """``POST /files``, ``POST /batches``; the token is the job's metadata, the key each request's custom_id."""

    most = 50_000
    is_named = True

    def line(self, key: str, sent: bytes) -> bytes:
        return b'{"custom_id":"%b","method":"POST","url":"/v1/chat/completions","body":%b}' % (key.encode(), sent)

    async def submit(self, desk: Desk, order: Order) -> str:
        boundary = f"batch-{order.token}"
        form = _form(boundary, f"{order.token}.jsonl", b"\n".join(order.lines) + b"\n")
        headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        file = named(reading.load(await desk.upload("/files", form, headers)), "id")
        wish = {
            "input_file_id": file,
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "metadata": {_TOKEN: order.token},
        }
        return named(reading.load(await desk.create("/batches", reading.dumps(wish))), "id")

    async def find(self, desk: Desk, mark: Mark) -> list[str]:
        after = ""
        while True:
            page = reading.load(await desk.get(f"/batches?limit={_PAGE}{after}"))
            jobs = [reading.as_dict(job) for job in reading.as_list(page.get("data"))]
            for job in jobs:
                if reading.as_dict(job.get("metadata")).get(_TOKEN) == mark.token:
                    return [named(job, "id")]
            if not page.get("has_more") or not jobs or _is_before(jobs[-1], mark.since):
                return []
            after = f"&after={quote(named(jobs[-1], 'id'))}"

    async def look(self, desk: Desk, job: str) -> Look:
        raw = reading.load(await desk.get(f"/batches/{quote(job)}"))
        counts = reading.as_dict(raw.get("request_counts"))
        finished = sum(reading.count(counts.get(name)) or 0 for name in ("completed", "failed"))
        fault = _failure(raw) if raw.get("status") == "failed" else None
        return Look(reading.word(raw.get("status")) in _DONE, finished, fault, raw)

    async def fetch(self, desk: Desk, look: Look) -> Iterator[Result]:
        files = [look.raw.get(name) for name in ("output_file_id", "error_file_id")]
        bodies = [
            (await desk.get(f"/files/{quote(file)}/content", is_large=True)).body
            for file in files
            if isinstance(file, str) and file
        ]
        return map(_result, itertools.chain.from_iterable(rows(body) for body in bodies))


def _form(boundary: str, name: str, data: bytes) -> bytes:
    mark = boundary.encode()
    return (
        b'--%b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n' % mark
        + b'--%b\r\nContent-Disposition: form-data; name="file"; filename="%b"\r\n' % (mark, name.encode())
        + b"Content-Type: application/jsonl\r\n\r\n%b\r\n--%b--\r\n" % (data, mark)
    )


def _is_before(job: dict[str, Any], since: float) -> bool:
    """Lists begin with the newest; an hour is left for clocks that differ."""
    made = job.get("created_at")
    return isinstance(made, (int, float)) and made < since - 3600


def _result(row: dict[str, Any]) -> Result:
    key = reading.word(row.get("custom_id"))
    answer, error = reading.as_dict(row.get("response")), reading.as_dict(row.get("error"))
    status = reading.count(answer.get("status_code"))
    if status is not None and answer.get("body") is not None:
        request = answer.get("request_id")
        headers = {"x-request-id": request} if isinstance(request, str) else {}
        return Result(key, WireReply(status, headers, reading.dumps(answer["body"])))
    if (code := reading.word(error.get("code"))) in _UNFINISHED:
        return Result(key, None, _UNFINISHED[code])
    return Result(key, ok({"error": error or {"message": "the result holds no response"}}))


def _failure(raw: dict[str, Any]) -> Fault:
    error = reading.first(reading.as_dict(raw.get("errors")).get("data"))
    if not error:
        return Fault("server", "the job failed without a word", NO)
    line = f" (line {error['line']})" if error.get("line") else ""
    fault = classify.embedded_fault(error, ok(raw), float)
    code = str(error.get("code") or "")
    if any(code.startswith(start) for start in _PERMANENT):
        fault.retry = NO
    fault.message = f"the job failed: {code}{line}: {reading.shown(str(error.get('message') or ''))}"
    return fault
