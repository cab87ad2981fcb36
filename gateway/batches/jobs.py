"""One job from its intent to its last result."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from gateway.adapters.base import WireReply
from gateway.batches.base import Look, Mark, Order, Result, Service
from gateway.batches.desk import Desk
from gateway.batches.ledger import Job, Ledger
from gateway.engine import Gateway
from gateway.errors import NO, TRANSIENT, Fault
from gateway.rereading import Replay
from gateway.rows import Call

MOST_JOBS = 3
"""Jobs that a request may be part of before it counts as failed."""
MOST_FETCHES = 3
"""Times that the results of a job are fetched if they cannot be read."""
RESULTS_AT_ONCE = 256
"""Results that are read before the event loop gets its turn."""
FIRST_LOOK_S = 2.0
SLOWER = 1.5
_TWO_RESULTS = "the batch gave two results for this request that differ"


class Lane:
    """One endpoint's jobs: its desk, its provider's interface, the ledger, and how often to look."""

    def __init__(self, gateway: Gateway, ledger: Ledger, desk: Desk, service: Service, poll_s: float) -> None:
        self.gateway, self.ledger, self.desk, self.service = gateway, ledger, desk, service
        self.target, self.poll_s = desk.target, poll_s

    def say(self, job: Job, line: str) -> None:
        self.gateway.notify(f"batch: {self.target.name}: {job.id or 'a new job'}: {line}")


@dataclass(slots=True)
class Piece:
    """A job, with the calls of it that are waited for.

    ``may_exist``: it may have been created at the provider, though its id is not known.
    """

    lane: Lane
    job: Job
    calls: dict[str, Call]
    may_exist: bool = False


async def carry_through(piece: Piece) -> None:
    """Submit (or find) the job, wait for it, write its results. Raises Stopped."""
    lane, job = piece.lane, piece.job
    try:
        if job.id is None:
            await _place(piece)
        else:
            lane.say(job, f"going on with a job of {len(job.keys)} requests")
        await _collect(piece, await _until_done(lane, job))
    except Fault as fault:
        await _give_up(piece, fault)


async def _place(piece: Piece) -> None:
    """Make sure that the job exists, once. Raises Fault where the provider refuses it."""
    lane, job = piece.lane, piece.job
    attempts = 0
    while True:
        if piece.may_exist and (job_id := await _find(lane, job)) is not None:
            await lane.ledger.submitted(job, job_id)
            lane.say(job, f"found a job of {len(job.keys)} requests that had been submitted")
            return
        if lane.gateway.stopped is not None:
            raise lane.gateway.stopped
        if not attempts:
            job.keys = list(piece.calls)
            await lane.ledger.intend(job)
        attempts += 1
        try:
            lines = [lane.service.line(key, call.sent) for key, call in piece.calls.items()]
            name = await lane.service.submit(lane.desk, Order(job.token, job.keys, lines))
        except Fault as fault:
            # what was refused or turned away does not exist; after anything else it may
            piece.may_exist = piece.may_exist or fault.retry.again == "transient"
            await lane.desk.wait_after(fault, job.token, attempts)
            continue
        await lane.ledger.submitted(job, name)
        lane.say(job, f"submitted {len(job.keys)} requests")
        return


async def _find(lane: Lane, job: Job) -> str | None:
    """The job at the provider, if it was created. Where jobs have no label, its results tell."""
    known = {other.id for other in lane.ledger.jobs.values()}
    for name in await lane.service.find(lane.desk, Mark(job.token, len(job.keys), job.at)):
        if name in known:
            continue
        if lane.service.is_named:
            return name
        candidate = Job(job.token, job.endpoint, job.keys, job.at, name)
        lane.say(candidate, "may be a job that was submitted before; its results will tell")
        look = await _until_done(lane, candidate)
        if {result.key for result in await lane.service.fetch(lane.desk, look)} == set(job.keys):
            return name
    return None


async def _until_done(lane: Lane, job: Job) -> Look:
    """Look at the job until it is done, ever less often. Raises Fault for one that is not to be had, Stopped."""
    wait = min(FIRST_LOOK_S, lane.poll_s)
    said: int | None = None
    while True:
        try:
            look = await lane.service.look(lane.desk, job.id or "")
        except Fault as fault:
            if fault.retry.again == "no":
                raise
            lane.say(job, f"cannot be looked at for now: {fault.message}")
        else:
            if look.finished != said:
                said = look.finished
                lane.say(job, f"{look.finished} of {len(job.keys)} requests done")
            if look.is_done:
                return look
        await lane.gateway.pause(wait)
        if lane.gateway.stopped is not None:
            raise lane.gateway.stopped
        wait = min(lane.poll_s, wait * SLOWER)


async def _give_up(piece: Piece, fault: Fault) -> None:
    """The provider refuses the job, or does not let it be read: what is left of its requests fails in this run.

    A job that is gone, or was never made, is over. Any other stays open, so that the next run reads it and does
    not pay again.
    """
    lane, job = piece.lane, piece.job
    is_gone = fault.status in (404, 410)
    if job.id is None:
        message = f"the batch was not accepted: {fault.message}"
    else:
        then = "submit its requests anew" if is_gone else "read it again"
        message = f"the batch job {job.id} cannot be read: {fault.message}; run again to {then}"
    lane.say(job, message)
    is_over = is_gone or (job.id is None and not piece.may_exist)
    for call in _left(piece).values():
        refused = Fault(fault.kind, message, NO, status=fault.status)
        await lane.ledger.failed(lane.target, call, refused, job, unread=not is_over)
    if is_over:
        await lane.ledger.ended(job, message)


async def _collect(piece: Piece, look: Look) -> None:
    """Write what the job gave; what it left undone will be asked again, or has failed. Raises Fault, Stopped."""
    lane, job = piece.lane, piece.job
    results: dict[str, Result | None] = {}
    try:
        await _read(piece, look, results)
    finally:
        new = {key: result for key, result in results.items() if result and not lane.ledger.has_result(key, job)}
        ends = [await _record(piece, piece.calls[key], result) for key, result in new.items()]
        _listened(lane, ends)
    left = _left(piece)
    for key, call in left.items():
        why = _TWO_RESULTS if key in results else "the batch gave no result for this request"
        await _failed(piece, call, look.fault or Fault("server", why, TRANSIENT), None)
    lane.say(job, f"fetched {len(piece.calls) - len(left)} of {len(piece.calls)} results")
    await lane.ledger.ended(job, look.fault.message if look.fault is not None else "fetched")


async def _read(piece: Piece, look: Look, results: dict[str, Result | None]) -> None:
    """Fill ``results`` by key, None for a key with two results that differ: neither can be told to be its own.

    A file that cannot be read, or holds fewer results than the job counts, is fetched again. Raises Fault,
    Stopped.
    """
    lane, attempts = piece.lane, 0
    while True:
        came = 0
        try:
            for came, result in enumerate(await lane.service.fetch(lane.desk, look), 1):
                if result.key in piece.calls and results.setdefault(result.key, result) != result:
                    results[result.key] = None
                if came % RESULTS_AT_ONCE == 0:
                    await asyncio.sleep(0)
            fault = Fault("malformed", f"the file holds {came} of {look.finished} results", TRANSIENT)
        except Fault as unread:
            fault = unread
        else:
            if came >= (look.finished or 0) or attempts + 1 == MOST_FETCHES:
                return
        attempts += 1
        if attempts == MOST_FETCHES:
            raise fault
        await lane.desk.wait_after(fault, piece.job.token, attempts)


def _left(piece: Piece) -> dict[str, Call]:
    ledger = piece.lane.ledger
    return {key: call for key, call in piece.calls.items() if not ledger.has_result(key, piece.job)}


def _listened(lane: Lane, ends: Sequence[Fault | None]) -> None:
    """Give up an endpoint that never says anything, by all that a job brought: its next jobs are not bought."""
    health = lane.target.health
    if None in ends:
        health.worked()
    for fault in ends:
        if fault is None or fault.text:
            continue
        if health.brought_nothing(fault.kind, fault.message, lane.gateway.budget.trial_calls):
            lane.gateway.gave_up(lane.target)


async def _record(piece: Piece, call: Call, result: Result) -> Fault | None:
    """Write what a result comes to; its fault, where it is no answer."""
    if result.reply is None:
        fault = Fault("timeout", result.unfinished, TRANSIENT)
        await _failed(piece, call, fault, None)
        return fault
    target = piece.lane.target
    try:
        answer = await target.adapter.send(call.sent, Replay([result.reply]))
    except Fault as fault:
        await _failed(piece, call, fault, result.reply)
        return fault
    except Exception as error:  # an adapter's fault fails one call, not the batch
        unexpected = Fault("unexpected", f"{type(error).__name__}: {error}")
        await _failed(piece, call, unexpected, result.reply)
        return unexpected
    await piece.lane.ledger.answered(target, call, answer, result.reply.body, piece.job)
    return None


async def _failed(piece: Piece, call: Call, fault: Fault, reply: WireReply | None) -> None:
    ledger = piece.lane.ledger
    most = min(MOST_JOBS, 1 + piece.lane.target.adapter.settings.retries)
    again = fault.retry.again != "no" and ledger.tries[call.key] + 1 < most
    await ledger.failed(piece.lane.target, call, fault, piece.job, reply=reply, again=again)
