"""Any work over a gateway, by batch: what it asks is gathered, submitted, awaited, written to the journal.

The work is run again and again. A call whose answer the journal holds is answered; any other is kept, and ends its
item for now. When nothing is left to keep, the last run of the work is its result, made by the same code and from
the same journal lines as in real time. Questions that depend on earlier answers come up in a later wave.
"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from gateway.batches.catalog import service_of
from gateway.batches.desk import Desk
from gateway.batches.jobs import Lane, Piece, carry_through
from gateway.batches.ledger import Job, Ledger
from gateway.batches.plan import affordable, jobs_of
from gateway.crowd import each
from gateway.engine import Gateway
from gateway.errors import EndpointStopped, Stopped
from gateway.prompt import Answer, Ask, Prompt
from gateway.rereading import recall
from gateway.rows import Call
from runstore.problems import Problem

POLL_S = 30.0
MOST_KEPT = 512 << 20
"""Bytes of requests gathered before they are submitted; the rest waits for the next wave."""

Result = TypeVar("Result")


class Waiting(Exception):
    """The call's answer is not there yet; it will be, when the work is run again."""


class BatchRunner:
    """Asks every endpoint of ``endpoints`` by its provider's batch interface.

    ``poll_s``: the longest wait between two looks at a job. Raises Problem for a gateway without a journal, and
    for an endpoint of a kind that has no batch interface.
    """

    def __init__(self, gateway: Gateway, endpoints: Iterable[str], *, poll_s: float = POLL_S) -> None:
        if gateway.journal is None:
            raise Problem("batches need a journal: without one, what was submitted could not be found again")
        self._gateway, self._journal, self._poll_s = gateway, gateway.journal, poll_s
        self.ledger = Ledger(gateway, gateway.journal)
        self._lanes = {name: self._lane(name) for name in endpoints}
        self._kept: dict[str, dict[str, Call]] = {name: {} for name in self._lanes}
        self._kept_size = 0
        self._stop: Stopped | None = None
        self._waves = 0

    @property
    def is_under_way(self) -> bool:
        """Whether an earlier process left jobs whose results are still to come."""
        return any(self.ledger.open_jobs(name) for name in self._lanes)

    def _lane(self, name: str) -> Lane:
        target = self._gateway.endpoints[name]
        service = service_of(name, target.adapter.settings)
        desk = Desk(self._gateway, target)
        return Lane(self._gateway, self.ledger, desk, service, self._poll_s)

    async def whole(self, work: Callable[[Ask], Awaitable[Result]]) -> Result:
        """The work's result when nothing is left to wait for, or when the run was stopped.

        ``work`` is given an ``ask`` like the gateway's; it must not end because one of its items did.
        """
        while True:
            self._kept = {name: {} for name in self._lanes}
            self._kept_size = 0
            result = await work(self.ask)
            if self._stop is not None:
                return result
            if not any(self._kept.values()):
                await self.ledger.run_ended()
                return result
            try:
                await self._wave()
            except Stopped as reason:
                self._stop = reason

    async def ask(
        self, endpoint: str, prompt: Prompt, *, repeat: int = 0, stage: str = "", item: str = ""
    ) -> Answer:
        """The answer that the journal holds. Raises the failure it ended in, Stopped, or Waiting.

        An endpoint that the runner was not made for is asked in real time.
        """
        if endpoint not in self._lanes:
            return await self._gateway.ask(endpoint, prompt, repeat=repeat, stage=stage, item=item)
        target = self._gateway.endpoints[endpoint]
        sent = target.adapter.compose(prompt)
        key = target.key(sent, repeat)
        if (recalled := await recall(self._journal, target, sent, key)) is not None:
            if not isinstance(recalled, Answer):
                raise recalled.failure()
            target.spent.served += not self._waves  # what is met again in later waves was not there before
            return recalled
        if (failure := self.ledger.failures.get(key)) is not None:
            raise failure
        if self._stop is not None:
            raise self._stop
        if (reason := target.health.reason) is not None:
            raise EndpointStopped(endpoint, "endpoint_stopped", reason, 0)
        if self._kept_size <= MOST_KEPT and key not in self._kept[endpoint]:
            self._kept[endpoint][key] = Call(sent, key, repeat, stage, item, 0, 0.0)
            self._kept_size += len(sent)
        raise Waiting(key)

    async def _wave(self) -> None:
        """Every kept call goes through a job. Raises Stopped, and what nobody expected."""
        self._waves += 1
        pieces = [piece for name in self._lanes for piece in self._resumed(name)]
        out = sum(len(piece.calls) for piece in pieces)
        for name, lane in self._lanes.items():
            chosen = affordable(self._gateway.budget, lane.target, list(self._kept[name].values()), out)
            out += len(chosen)
            for group in jobs_of(chosen, lane.service.most):
                job = Job(uuid.uuid4().hex, name, [call.key for call in group], self._gateway.clocks.wall())
                pieces.append(Piece(lane, job, {call.key: call for call in group}))
        outcome = await each(pieces, carry_through, at_once=max(1, len(pieces)))
        if outcome.stopped is not None:
            raise outcome.stopped
        if outcome.failed:
            raise outcome.failed[0][1]

    def _resumed(self, name: str) -> Iterable[Piece]:
        """Jobs of an earlier process that hold calls which are waited for now."""
        for job in self.ledger.open_jobs(name):
            kept = self._kept[name]
            if calls := {key: kept.pop(key) for key in job.keys if key in kept}:
                yield Piece(self._lanes[name], job, calls, may_exist=job.id is None)
