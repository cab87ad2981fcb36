"""The batch interfaces of OpenAI, Anthropic and Gemini on the fake provider, each in its own shape.

A job is done after ``polls`` looks; its requests are then answered as they would have been one by one, and are
counted in the provider's ``received`` and ``delivered`` under the same keys. ``outcome`` decides otherwise for a
request: ``expired``, ``refused`` (for good), ``broken`` (passes on another try), ``cut`` (at the token limit).
``hang`` names places where the server does its work and then never answers: ``create``, ``look``, ``results``,
``upload``, ``list``; at ``before create`` it does nothing either. ``status`` is what looks are answered with
instead. Lists come in pages of two, results shuffled where a provider promises no order.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson

from tests.support import fake_shapes
from tests.support.fake_faults import Reply
from tests.support.fake_shapes import Asked, Shape

if TYPE_CHECKING:
    from tests.support.fake_provider import FakeProvider

Outcome = Callable[[Asked, int], "str | None"]
"""(what is asked, which try of this request, from 1) -> how it goes wrong, or None."""

PAGE = 2


@dataclass(slots=True)
class Request:
    """One request of a job: its name in the job, and what it would be if it were sent alone."""

    name: str | None
    path: str
    body: bytes


@dataclass(slots=True)
class BatchJob:
    id: str
    shape: Shape
    label: str | None
    requests: list[Request]
    created: float
    source: str | None = None
    looks: int = 0
    failed: str | None = None
    results: list[dict[str, Any]] | None = None
    counts: dict[str, int] = field(default_factory=dict)


class FakeBatches:
    """Files and jobs of one fake provider."""

    def __init__(self, provider: FakeProvider) -> None:
        self.provider = provider
        self.polls = 1
        self.outcome: Outcome = lambda asked, attempt: None
        self.hang: set[str] = set()
        self.failing: list[str] = []
        """Why the next jobs fail as a whole."""
        self.status: int | None = None
        self.keyless = 0
        """In how many of Gemini's next jobs results come without their keys, and in another order."""
        self.amend: Callable[[BatchJob], None] = lambda job: None
        """What is done to a job's results before anybody reads them."""
        self.short = 0
        """How many of the next files of results end after their first line."""
        self.files: dict[str, bytes] = {}
        self.jobs: dict[str, BatchJob] = {}
        self.log: list[str] = []
        self._tries: dict[str, int] = {}

    @staticmethod
    def is_batch(path: str) -> bool:
        names = ("/v1/files", "/v1/batches", "/v1/messages/batches", "/v1beta/batches")
        names += ("/v1beta/files/", "/upload/", "/download/")
        return path.startswith(names) or path.endswith(":batchGenerateContent")

    def count(self, event: str) -> int:
        return self.log.count(event)

    def respond(self, method: str, path: str, headers: dict[str, str], data: bytes) -> Reply:
        event, reply = self._served(method, path, headers, data)
        self.log.append(event)
        return Reply(b"", how="hang") if event in self.hang else reply

    def _served(self, method: str, path: str, headers: dict[str, str], data: bytes) -> tuple[str, Reply]:
        bare, _, query = path.partition("?")
        if "/files" in bare and method == "POST":
            return "upload", self._upload(bare, headers, data)
        if method == "POST":
            if "before create" in self.hang:
                return "before create", Reply(b"")
            return "create", self._create(bare, data)
        if "/files/" in bare or bare.endswith("/results"):
            reply = self._download(bare)
            if self.short:
                self.short -= 1
                reply.body = reply.body[: reply.body.index(b"\n") + 1]
            return "results", reply
        if bare.endswith("/batches"):
            return "list", self._list(bare, query)
        return "look", self._look(bare)

    # -- files

    def _upload(self, path: str, headers: dict[str, str], data: bytes) -> Reply:
        if path.startswith("/v1/"):
            boundary = re.search(r"boundary=(\S+)", headers["content-type"])
            assert boundary is not None
            part = next(part for part in data.split(b"--" + boundary[1].encode()) if b"filename=" in part)
            return self._kept(
                "file-", part.split(b"\r\n\r\n", 1)[1].removesuffix(b"\r\n"), lambda name: {"id": name}
            )
        if headers.get("x-goog-upload-command") == "start":
            address = f"{self.provider.url}/upload/v1beta/files?upload_id={len(self.files)}"
            return Reply(b"{}", headers={"X-Goog-Upload-URL": address})
        return self._kept("files/", data, lambda name: {"file": {"name": name}})

    def _kept(self, prefix: str, data: bytes, about: Callable[[str], Any]) -> Reply:
        name = f"{prefix}{len(self.files):04d}"
        self.files[name] = data
        return Reply(orjson.dumps(about(name)))

    def _download(self, path: str) -> Reply:
        if path.startswith("/v1/messages/batches/"):
            job = self.jobs.get(path.split("/")[4])
            return (
                _missing() if job is None else Reply(_lines(job.results or []), content_type="application/x-jsonl")
            )
        if path.startswith("/v1/"):
            name = path.split("/")[3]
        else:
            name = path.removeprefix("/download").removeprefix("/v1beta/").split(":")[0]
        if name not in self.files:
            return _missing()
        return Reply(self.files[name], content_type="application/octet-stream")

    # -- jobs

    def _create(self, path: str, data: bytes) -> Reply:
        body = orjson.loads(data)
        shape: Shape
        source: str | None = None
        if path.startswith("/v1beta/"):
            shape, label, config = "gemini", body["batch"]["displayName"], body["batch"]["inputConfig"]
            alone = path.replace(":batchGenerateContent", ":generateContent")
            source = config.get("fileName")
            rows = _rows(self.files[source]) if source else config["requests"]["requests"]
            requests = [
                Request(row.get("key") or row["metadata"]["key"], alone, orjson.dumps(row["request"]))
                for row in rows
            ]
        elif path.startswith("/v1/messages/"):
            shape, label = "anthropic", None
            requests = [
                Request(row["custom_id"], "/v1/messages", orjson.dumps(row["params"])) for row in body["requests"]
            ]
        else:
            shape, label, source = "openai", body["metadata"].get("tutor_arena"), body["input_file_id"]
            rows = _rows(self.files[source])
            requests = [Request(row["custom_id"], row["url"], orjson.dumps(row["body"])) for row in rows]
        prefix = {"openai": "batch_", "anthropic": "msgbatch_", "gemini": "batches/"}[shape]
        job = BatchJob(f"{prefix}{len(self.jobs):04d}", shape, label, requests, time.time(), source)
        job.failed = self.failing.pop(0) if self.failing else None
        self.jobs[job.id] = job
        return Reply(orjson.dumps(self._about(job)))

    def _look(self, path: str) -> Reply:
        name = path.removeprefix("/v1beta/") if path.startswith("/v1beta/") else path.rsplit("/", 1)[1]
        job = self.jobs.get(name)
        if job is None or self.status is not None:
            return _missing(self.status or 404)
        job.looks += 1
        if job.looks >= self.polls and job.results is None:
            self._run(job)
        return Reply(orjson.dumps(self._about(job)))

    def _list(self, path: str, query: str) -> Reply:
        shape = "gemini" if "v1beta" in path else "anthropic" if "messages" in path else "openai"
        jobs = [job for job in reversed(self.jobs.values()) if job.shape == shape]
        after = re.search(r"(?:after|after_id|pageToken)=([^&]+)", query)
        start = 0 if after is None else 1 + [job.id.rsplit("/")[-1] for job in jobs].index(after[1])
        page, more = jobs[start : start + PAGE], len(jobs) > start + PAGE
        shown = [self._about(job) for job in page]
        if shape == "gemini":
            token = {"nextPageToken": page[-1].id.rsplit("/")[-1]} if more else {}
            return Reply(orjson.dumps({"operations": shown} | token))
        return Reply(orjson.dumps({"data": shown, "has_more": more}))

    def _run(self, job: BatchJob) -> None:
        """Answer the requests, each counted as if it had been sent alone."""
        from tests.support.fake_provider import request_key

        job.results = []
        for request in job.requests if job.failed is None else []:
            key = request_key(request.path, request.body)
            asked = fake_shapes.read(request.path, orjson.loads(request.body), bytes.fromhex(key))
            self._tries[key] = self._tries.get(key, 0) + 1
            how = self.outcome(asked, self._tries[key])
            job.counts[how or "good"] = job.counts.get(how or "good", 0) + 1
            if how != "expired":
                self.provider.received[key] += 1
                self.provider.stats.calls += 1
            is_answered = how in (None, "cut")
            if is_answered:
                self.provider.delivered[key] += 1
                self.provider.stats.answered += 1
            finish = "length" if how == "cut" else "stop"
            body = self._answer(asked, finish) if is_answered else b"null"
            row = _ROWS[job.shape](self, job, request.name, None if is_answered else how, orjson.loads(body))
            job.results.append(row)
        if job.shape == "gemini" and self.keyless:
            self.keyless -= 1
            job.results.reverse()
        elif job.shape != "gemini":
            random.Random(job.id).shuffle(job.results)
        self.amend(job)

    def _answer(self, asked: Asked, finish: str) -> bytes:
        """What the same request gets alone."""
        scripted = self.provider.script(asked, 1) if self.provider.script is not None else None
        if isinstance(scripted, Reply):
            return scripted.body
        return fake_shapes.answer(asked, self.provider.text(asked), finish=finish)

    def _about(self, job: BatchJob) -> dict[str, Any]:
        return {"openai": self._openai, "anthropic": _anthropic, "gemini": self._gemini}[job.shape](job)

    def _openai(self, job: BatchJob) -> dict[str, Any]:
        about: dict[str, Any] = {
            "id": job.id,
            "object": "batch",
            "status": "in_progress",
            "created_at": int(job.created),
            "metadata": {"tutor_arena": job.label},
            "request_counts": {"total": len(job.requests), "completed": job.counts.get("good", 0), "failed": 0},
            "output_file_id": None,
            "error_file_id": None,
        }
        if job.results is None:
            return about
        if job.failed is not None:
            error = {"code": job.failed, "message": "the file was not taken", "line": 1, "param": None}
            return about | {"status": "failed", "errors": {"object": "list", "data": [error]}}
        good: list[Any] = []
        bad: list[Any] = []
        for row in job.results:
            (good if row["response"] and row["response"]["status_code"] == 200 else bad).append(row)
        for name, rows in (("output_file_id", good), ("error_file_id", bad)):
            if rows:
                self.files[f"{job.id}-{name}"] = _lines(rows)
                about[name] = f"{job.id}-{name}"
        return about | {"status": "expired" if "expired" in job.counts else "completed"}

    def _gemini(self, job: BatchJob) -> dict[str, Any]:
        done = job.results is not None
        state = "PARTIALLY_SUCCEEDED" if set(job.counts) - {"good"} else "SUCCEEDED"
        state = "FAILED" if job.failed else state
        about: dict[str, Any] = {
            "@type": "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch",
            "displayName": job.label,
            "state": f"BATCH_STATE_{state if done else 'RUNNING'}",
            "createTime": _stamp(job.created),
            "batchStats": {"requestCount": str(len(job.requests))},
        }
        if not done:
            return {"name": job.id, "metadata": about}
        if job.failed:
            return {"name": job.id, "metadata": about, "done": True, "error": {"code": 13, "message": job.failed}}
        about["batchStats"]["successfulRequestCount"] = str(job.counts.get("good", 0))
        if job.source is not None:
            self.files[f"files/{job.id[8:]}-out"] = _lines(job.results or [])
            output: dict[str, Any] = {"responsesFile": f"files/{job.id[8:]}-out"}
        else:
            output = {"inlinedResponses": {"inlinedResponses": job.results}}
        return {"name": job.id, "metadata": about | {"output": output}, "done": True, "response": output}


def _anthropic(job: BatchJob) -> dict[str, Any]:
    done = job.results is not None
    names = {
        "good": "succeeded",
        "cut": "succeeded",
        "expired": "expired",
        "refused": "errored",
        "broken": "errored",
    }
    counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
    counts["processing"] = 0 if done else len(job.requests)
    for how, count in job.counts.items():
        counts[names[how]] += count
    return {
        "id": job.id,
        "type": "message_batch",
        "processing_status": "ended" if done else "in_progress",
        "request_counts": counts,
        "created_at": _stamp(job.created),
        "results_url": f"https://api.anthropic.com/v1/messages/batches/{job.id}/results" if done else None,
    }


def _openai_row(fake: FakeBatches, job: BatchJob, name: str | None, how: str | None, body: Any) -> dict[str, Any]:
    row: dict[str, Any] = {"id": f"batch_req_{name}", "custom_id": name, "response": None, "error": None}
    if how == "expired":
        return row | {"error": {"code": "batch_expired", "message": "not executed in time"}}
    status = {None: 200, "refused": 400, "broken": 500}[how]
    body = body if how is None else fake_shapes.error("openai", status, f"this one is {how}")
    return row | {"response": {"status_code": status, "request_id": f"req-{name}", "body": body}}


def _anthropic_row(
    fake: FakeBatches, job: BatchJob, name: str | None, how: str | None, body: Any
) -> dict[str, Any]:
    if how is None:
        return {"custom_id": name, "result": {"type": "succeeded", "message": body}}
    if how == "expired":
        return {"custom_id": name, "result": {"type": "expired"}}
    error = fake_shapes.error("anthropic", 400 if how == "refused" else 500, f"this one is {how}")
    return {"custom_id": name, "result": {"type": "errored", "error": error}}


def _gemini_row(fake: FakeBatches, job: BatchJob, name: str | None, how: str | None, body: Any) -> dict[str, Any]:
    code = {"refused": 3, "broken": 13, "expired": 4}.get(how or "")
    result = {"response": body} if how is None else {"error": {"code": code, "message": f"this one is {how}"}}
    if fake.keyless:
        return result
    return {"key": name} | result if job.source is not None else result | {"metadata": {"key": name}}


_ROWS = {"openai": _openai_row, "anthropic": _anthropic_row, "gemini": _gemini_row}


def _rows(data: bytes) -> list[Any]:
    return [orjson.loads(line) for line in data.splitlines() if line]


def _lines(rows: Sequence[Any]) -> bytes:
    return b"".join(orjson.dumps(row) + b"\n" for row in rows)


def _missing(status: int = 404) -> Reply:
    return Reply(b'{"error":{"message":"no such job for this key"}}', status)


def _stamp(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")
