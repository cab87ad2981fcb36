"""Gemini's batches: a job names a file of requests, each with its key, and its results are told by that key.

The requests are those that the adapter sends one by one, so nothing of them is built a second time. Requests that
travel inside the call are not used: their results have come in another order and without their keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast
from urllib.parse import quote, urlsplit

from gateway.adapters import classify, reading
from gateway.adapters.gemini import GeminiAdapter
from gateway.batches.base import Look, Mark, Order, Result, named, ok, rows
from gateway.batches.desk import Desk
from gateway.errors import NO, TRANSIENT, Fault

_DONE = frozenset({"SUCCEEDED", "PARTIALLY_SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED"})
_STATUS_OF_CODE = {3: 400, 5: 404, 7: 403, 8: 429, 9: 400, 13: 500, 14: 503, 16: 401}
"""HTTP's status for the codes of google.rpc.Code that a failed operation gives."""


class GeminiBatches:
    """``POST MODEL:batchGenerateContent``; the token is the job's display name."""

    most = 50_000
    is_named = True

    def line(self, key: str, sent: bytes) -> bytes:
        body = sent[sent.index(b',"body":') + len(b',"body":') : -1]
        return b'{"key":"%b","request":%b}' % (key.encode(), body)

    async def submit(self, desk: Desk, order: Order) -> str:
        source = {"fileName": await self._file(desk, order)}
        body = reading.dumps({"batch": {"displayName": order.token, "inputConfig": source}})
        model = cast("GeminiAdapter", desk.adapter).resource
        return named(reading.load(await desk.create(f"{model}:batchGenerateContent", body)), "name")

    async def _file(self, desk: Desk, order: Order) -> str:
        data = b"\n".join(order.lines) + b"\n"
        kind = "application/jsonl"
        start = {
            "X-Goog-Upload-Protocol": "resumable",
            "X-Goog-Upload-Command": "start",
            "X-Goog-Upload-Header-Content-Length": str(len(data)),
            "X-Goog-Upload-Header-Content-Type": kind,
        }
        wish = reading.dumps({"file": {"displayName": order.token, "mimeType": kind}})
        begun = await desk.upload("/upload/v1beta/files", wish, start)
        where = begun.headers.get("x-goog-upload-url", "")
        _check_host(where, desk.target.lanes[0].base_url)
        finish = {"X-Goog-Upload-Offset": "0", "X-Goog-Upload-Command": "upload, finalize", "Content-Type": kind}
        made = reading.load(await desk.upload(where, data, finish))
        return named(reading.as_dict(made.get("file")), "name")

    async def find(self, desk: Desk, mark: Mark) -> list[str]:
        more = ""
        while True:
            page = reading.load(await desk.get(f"/v1beta/batches?pageSize=100{more}"))
            for job in map(reading.as_dict, reading.as_list(page.get("operations"))):
                if reading.as_dict(job.get("metadata")).get("displayName") == mark.token:
                    return [named(job, "name")]
            if not page.get("nextPageToken"):
                return []
            more = f"&pageToken={quote(str(page['nextPageToken']))}"

    async def look(self, desk: Desk, job: str) -> Look:
        raw = reading.load(await desk.get(f"/v1beta/{quote(job)}"))
        about = reading.as_dict(raw.get("metadata"))
        state = str(about.get("state") or "").removeprefix("BATCH_STATE_").removeprefix("JOB_STATE_")
        counts = reading.as_dict(about.get("batchStats"))
        finished = sum(_number(counts.get(f"{name}RequestCount")) for name in ("successful", "failed"))
        has_failed = state == "FAILED" or bool(raw.get("error"))
        return Look(
            state in _DONE or raw.get("done") is True, finished, _failure(raw) if has_failed else None, raw
        )

    async def fetch(self, desk: Desk, look: Look) -> Iterator[Result]:
        places = [reading.as_dict(look.raw.get("response")), reading.as_dict(look.raw.get("metadata"))]
        places += [reading.as_dict(place.get("output")) for place in places]
        for place in places:
            if isinstance(file := place.get("responsesFile"), str):
                path = f"/download/v1beta/{quote(file)}:download?alt=media"
                return map(_result, rows((await desk.get(path, is_large=True)).body))
            inline = place.get("inlinedResponses")
            inline = reading.as_dict(inline).get("inlinedResponses") or inline
            if reading.as_list(inline):
                return (_result(reading.as_dict(row)) for row in reading.as_list(inline))
        return iter(())


def _result(row: dict[str, Any]) -> Result:
    key = reading.word(row.get("key") or reading.as_dict(row.get("metadata")).get("key"))
    if row.get("response") is not None:
        return Result(key, ok(row["response"]))
    error = reading.as_dict(row.get("error")) or {"message": "the result holds no response"}
    return Result(key, ok({"error": _with_status(error)}))


def _with_status(error: dict[str, Any]) -> dict[str, Any]:
    code = error.get("code")
    status = _STATUS_OF_CODE.get(code) if isinstance(code, int) else None
    return error if status is None else {**error, "code": status}


def _failure(raw: dict[str, Any]) -> Fault:
    error = reading.as_dict(raw.get("error"))
    if not error:
        return Fault("server", "the job failed without a word", NO)
    fault = classify.embedded_fault(_with_status(error), ok(raw), float)
    fault.message = f"the job failed: {reading.shown(str(error.get('message') or error))}"
    return fault


def _number(value: object) -> int:
    """Counts come as texts."""
    if isinstance(value, str) and value.isdecimal() and len(value) < 12:
        value = int(value)
    return reading.count(value) or 0


def _check_host(address: str, base: str) -> None:
    """The key goes along, so the file goes only where the provider is. Raises Fault."""
    host, own = urlsplit(address).hostname or "", urlsplit(base).hostname or ""
    if host != own and not host.endswith(".googleapis.com"):
        raise Fault("malformed", f"the file should be uploaded to {host or 'nowhere'}, not to {own}", TRANSIENT)
