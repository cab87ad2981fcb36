"""What the journal knows of batch jobs, and what it is told: enough to go on after a kill at any point.

A job leaves three notes: ``intent`` (its token and keys) before it is submitted, then ``submitted`` (its id), and
``ended``. Each of its requests leaves the line of an ordinary call, with ``batch`` naming the job, so that nothing
that reads the journal has to know of batches. ``run_ended`` says that nothing was left to wait for: failures that
came before it do not stand in the way of the next run.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import orjson

from gateway.adapters.base import WireReply
from gateway.endpoint import Endpoint
from gateway.engine import Gateway
from gateway.errors import CallFailed, Fault, JournalLost
from gateway.prompt import Answer
from gateway.rows import Call, failed_line, failure_of, fault_row, ok_line
from runstore.journal import Journal, State
from runstore.records import Usage

LINES_AT_ONCE = 256
"""Result lines after which the event loop gets its turn, and they are written."""


@dataclass(slots=True)
class Job:
    """One batch job. ``keys`` in the order of its requests; ``id`` once the provider has named it."""

    token: str
    endpoint: str
    keys: list[str]
    at: float
    id: str | None = None
    has_ended: bool = False


class Ledger:
    """The jobs of one journal, by token. ``failures``: calls that ended without an answer in this run."""

    def __init__(self, gateway: Gateway, journal: Journal) -> None:
        self._gateway, self._journal = gateway, journal
        self.jobs: dict[str, Job] = {}
        self.failures: dict[str, CallFailed] = {}
        self.tries: Counter[str] = Counter()
        self._seen: set[tuple[str, str]] = set()
        self._unwritten = 0
        for row in journal.rows():
            self._recall(row)

    def _recall(self, row: dict[str, Any]) -> None:
        about = row.get("batch")
        if about is None:
            return
        if row["state"] != "note":
            if row["state"] != "ok":
                self._failed(row["key"], about, failure_of(row, row["endpoint"]))
            return
        if about == "intent":
            self.jobs[row["token"]] = Job(row["token"], row["endpoint"], row["keys"], row["at"])
        elif about == "submitted":
            self.jobs[row["token"]].id = row["job"]
        elif about == "ended":
            self.jobs[row["token"]].has_ended = True
        elif about == "run_ended":
            self._forget_failures()

    def _forget_failures(self) -> None:
        self.failures.clear()
        self.tries.clear()

    def _failed(self, key: str, about: dict[str, Any], failure: CallFailed) -> None:
        if about["again"]:
            self.tries[key] += 1
        else:
            self.failures[key] = failure
        if not about["unread"]:
            self._seen.add((key, about["job"]))

    def open_jobs(self, endpoint: str) -> Iterable[Job]:
        """Jobs that were meant to be submitted, or were, and whose results have not been read to their end."""
        return [job for job in self.jobs.values() if job.endpoint == endpoint and not job.has_ended]

    def has_result(self, key: str, job: Job) -> bool:
        """Whether what this job gave for the request has been written."""
        return self._journal.has(key) or (key, job.token) in self._seen

    # -- notes

    async def intend(self, job: Job) -> None:
        """On the disk before anything is submitted: without it, a job could be paid for and forgotten."""
        self.jobs[job.token] = job
        about = {"endpoint": job.endpoint, "keys": job.keys, "at": job.at}
        await self._note("intent", token=job.token, **about)

    async def submitted(self, job: Job, name: str) -> None:
        job.id = name
        await self._note("submitted", token=job.token, job=name, at=self._now())

    async def ended(self, job: Job, outcome: str) -> None:
        job.has_ended = True
        await self._note("ended", token=job.token, outcome=self._gateway.redactor.text(outcome), at=self._now())

    async def run_ended(self) -> None:
        if self.failures or self.tries:
            self._forget_failures()
            await self._note("run_ended", at=self._now())

    async def _note(self, batch: str, **fields: object) -> None:
        try:
            self._journal.note(batch=batch, **fields)
            self._journal.sync()
        except OSError as error:
            raise self._lost(error) from None

    # -- results

    async def answered(self, target: Endpoint, call: Call, answer: Answer, body: bytes, job: Job) -> None:
        """An answer as an ordinary call's line, at the batch price; its ``latency_s`` is null."""
        usd = target.cost(answer.usage, batch=True)
        self._count(target, answer.usage, usd)
        line = ok_line(target.name_json, call, answer._replace(cost_usd=usd), [body], self._now())
        await self._put(call.key, "ok", line + b',"batch":%b' % orjson.dumps({"job": job.token}))

    async def failed(
        self,
        target: Endpoint,
        call: Call,
        fault: Fault,
        job: Job,
        *,
        reply: WireReply | None = None,
        again: bool = False,
        unread: bool = False,
    ) -> None:
        """A request that got no answer from this job.

        ``again``: another job of this run will ask. ``unread``: the job may have an answer that could not be read.
        """
        redactor, usage = self._gateway.redactor, fault.usage
        message, text = redactor.text(fault.message), redactor.text(fault.text)
        usd = None if usage is None else target.cost(usage, batch=True)
        self._count(target, usage or Usage(), usd, failed=not again)
        bodies = [] if reply is None else [reply.body]
        call.faults = [fault_row(fault, 0.0, usd, bodies)]
        call.announced = int(job.id is not None)
        line = failed_line(target.name_json, call, fault.kind, message, text, self._now())
        about = {"job": job.token, "again": again, "unread": unread}
        self._failed(call.key, about, CallFailed(target.name, fault.kind, message, 1, text))
        state: State = "truncated" if fault.kind == "truncated" else "failed"
        await self._put(call.key, state, line + b',"batch":%b' % orjson.dumps(about))

    def _count(self, target: Endpoint, usage: Usage, usd: float | None, *, failed: bool = False) -> None:
        total = self._gateway.budget.total
        for spent in (target.spent, total):
            spent.calls += 1
            spent.failed += failed
        target.spent.add(usage, usd)
        self._gateway.budget.spend(usage, usd)

    async def _put(self, key: str, state: State, line: bytes) -> None:
        try:
            self._journal.put(key, state, self._gateway.redactor.record(line))
            self._unwritten += 1
            if self._unwritten >= LINES_AT_ONCE:
                self._unwritten = 0
                if (written := self._journal.written()) is not None:
                    await asyncio.shield(written)
        except OSError as error:
            raise self._lost(error) from None

    def _lost(self, error: OSError) -> Exception:
        return self._gateway.stop(JournalLost.of(error))

    def _now(self) -> float:
        return round(self._gateway.clocks.wall(), 3)
