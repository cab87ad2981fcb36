"""One call, whole: journal -> limits -> adapter over the wire -> journal. Every model call goes through here.

    async with Gateway.open({"tutor": {"kind": "openai", "model": "gpt-5-mini"}}) as gateway:
        answer = await gateway.ask("tutor", prompt)

A finished call is answered from the journal; identical calls in flight share one request; repeats are calls of
their own, by number. A call is written before its result is used.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from typing import Any, NoReturn, cast

from gateway import notices
from gateway.adapters.base import Adapter
from gateway.answers import decided
from gateway.bodies import LARGE
from gateway.budget import NOTHING, Budget
from gateway.clocks import Clocks, Term
from gateway.endpoint import LATE_S, Endpoint, redactor_of
from gateway.errors import (
    NO,
    TRANSIENT,
    Fault,
    Interrupted,
    JournalLost,
    NotAsked,
    Retry,
    Stopped,
    explained,
    failure_named,
)
from gateway.events import EventLog
from gateway.leases import Place
from gateway.prompt import Answer, Prompt
from gateway.recording import Recorder
from gateway.rereading import recall
from gateway.retry import GiveUp, wait_before
from gateway.rows import Call, failure_of, fault_row
from gateway.secrets import words_of
from gateway.sharing import Flying
from gateway.telemetry import Telemetry
from gateway.transport import Transport
from gateway.wire import Attempt, Deadlines
from runstore.ids import draw
from runstore.journal import Journal
from runstore.records import Usage

_NOT_THERE = (404, 405)
"""Statuses that more often mean a wrong address than a wrong request, so the failure names the address."""


class Gateway:
    """The only door to any model. Use as an async context manager; :meth:`ask` may be called from any task.

    ``notify`` is told what a person should know at once, in one line each: an endpoint that was given up.
    ``probing``: nobody waits for a server to come up, so what gets no response is not tried again.
    ``words``: names and texts of the configuration beyond the endpoints' own. Raises Problem for a key that could
    not be told from them.
    """

    def __init__(
        self,
        endpoints: Mapping[str, Adapter],
        *,
        journal: Journal | None = None,
        budget: Budget | None = None,
        events: EventLog | None = None,
        environ: Mapping[str, str] | None = None,
        clocks: Clocks | None = None,
        offline: bool = False,
        under_way: bool = False,
        probing: bool = False,
        words: Collection[str] = (),
    ) -> None:
        self.clocks = clocks or Clocks()
        self.offline, self.under_way, self.probing = offline, under_way, probing
        self.journal, self.budget = journal, budget or Budget()
        self.events = events or EventLog(None)
        self.notify: Callable[[str], None] = lambda _: None
        self.telemetry: Telemetry | None = None
        self.endpoints = {
            name: Endpoint(name, adapter, self.clocks.ticks, {} if offline else environ, keyless=offline)
            for name, adapter in endpoints.items()
        }
        said = words_of({name: adapter.settings.model_dump() for name, adapter in endpoints.items()})
        self.redactor = redactor_of(self.endpoints.values(), {*words, *said})
        self._recorder = Recorder(self)
        self.answers_only = False
        self._flying = Flying()
        self._deadlines = Deadlines(self.clocks.ticks)
        self.transport, self.term = Transport(), Term()
        self._stop: Stopped | None = None
        self._stopping: asyncio.Future[None] | None = None
        self._is_capped = self.budget.is_capped

    @classmethod
    def open(cls, endpoints: Mapping[str, Mapping[str, Any]], **options: Any) -> Gateway:
        """A gateway from plain settings: ``{name: {"kind": ..., "model": ...}}``. Raises Problem."""
        from gateway.adapters.catalog import build

        return cls({name: build(name, settings) for name, settings in endpoints.items()}, **options)

    async def __aenter__(self) -> Gateway:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.transport.close()
        self.sync()

    def sync(self) -> None:
        """All that is recorded, on the disk: at the end of a stage. Raises JournalLost, once."""
        if not isinstance(self._stop, JournalLost):
            self._recorder.sync()

    # -- stopping

    def stop(self, reason: Stopped | None = None) -> Stopped:
        """No new attempts from now on, and no more waiting for one; those in flight go on."""
        self._stop = self._stop or reason or Interrupted("interrupted")
        if self._stopping is not None and not self._stopping.done():
            self._stopping.set_result(None)
        return self._stop

    def give_up(self) -> None:
        """After a stop: those in flight have had time enough. They end as interrupted, and may be paid for."""
        self.stop()
        self._deadlines.strike()

    @property
    def stopped(self) -> Stopped | None:
        """Why no new attempts are made, if the run is stopping."""
        return self._stop

    @property
    def in_flight(self) -> int:
        return self.budget.in_flight

    async def pause(self, seconds: float) -> None:
        """Sleep, but not on after a stop."""
        if self._stop is not None or seconds <= 0:
            return
        if self._stopping is None:
            self._stopping = asyncio.get_running_loop().create_future()
        sleeping = asyncio.ensure_future(self.clocks.sleep(seconds))
        try:
            await asyncio.wait((sleeping, self._stopping), return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeping.cancel()

    # -- asking

    async def ask(
        self, endpoint: str, prompt: Prompt, *, repeat: int = 0, stage: str = "", item: str = ""
    ) -> Answer:
        """The endpoint's answer to the prompt: from the journal if it was ever given, else by a call.

        Raises CallFailed (EndpointStopped, Forbidden) or Stopped (BudgetReached, Interrupted, JournalLost).
        """
        target = self.endpoints[endpoint]
        sent = target.adapter.compose(prompt)
        key = target.key(sent, repeat)
        flying, journal = self._flying, self.journal
        while True:
            if journal is not None and (self.offline or journal.knows(key)):
                answer = await self._known(journal, target, sent, key)
                if answer is not None:
                    return answer
            if key not in flying:
                break
            if (answer := await flying.join(key)) is not None:
                return answer
        flying.start(key)
        began = self.clocks.ticks()
        try:
            most = target.most(sent) if self._is_capped else NOTHING
            call = Call(sent, key, repeat, stage, item, target.estimate(sent), began, most, target.is_json)
            answer = await self._call(target, call)
        except BaseException as error:  # a cancelled call, too, leaves those who wait for it
            flying.end(key, None, error)
            raise
        flying.end(key, answer)
        return answer

    async def _known(self, journal: Journal, target: Endpoint, sent: bytes, key: str) -> Answer | None:
        """The answer that the journal holds, as it is read now. Offline, raises the failure that it holds, if any.

        What was an answer and is none any more is asked again, or raises CallFailed where the same would come.
        Offline and ``under_way``, a call that was never finished raises NotAsked: it is still to come.
        """
        recalled = await recall(journal, target, sent, key)
        if isinstance(recalled, Answer):
            target.spent.served += 1
            return recalled
        if recalled is not None and recalled.is_final:
            raise recalled.failure()
        if (settled := journal.settled_failure(key)) is not None:
            raise failure_of(settled, target.name)
        if self.offline:
            failure = journal.find_failure(key)
            if failure is None and recalled is not None:
                raise recalled.failure()
            if self.under_way and (failure is None or failure["failure"]["kind"] == "interrupted"):
                raise NotAsked("not asked yet")
            raise failure_of(failure, target.name)
        return None

    async def _call(self, target: Endpoint, call: Call) -> Answer:
        """Attempts until there is an answer, or none is to be had; then the journal."""
        try:
            while True:
                reserved = 0 if self._goes_at_once(target) else await self._admit(target, call)
                ended = await self._attempt(target, call, reserved)
                if isinstance(ended, Answer):
                    return ended
                await self.pause(ended)
        except (Stopped, asyncio.CancelledError):
            if call.faults and not (call.is_out or call.is_over) and not isinstance(self._stop, JournalLost):
                self._recorder.interrupted(target, call)
            raise

    def _goes_at_once(self, target: Endpoint) -> bool:
        """Whether nothing holds an attempt back; then its place at the gate is taken."""
        is_open = self._stop is None and target.health.reason is None and not self.term.is_over
        return is_open and not self._is_capped and not target.has_line and target.gate.take_now()

    async def _admit(self, target: Endpoint, call: Call) -> int:
        """Wait in line until an attempt may start; returns the tokens reserved for it."""
        since = self.clocks.ticks()
        await self._check_open(target, call)
        await target.gate.take()
        place: Place | None = None
        try:
            while True:
                place, wait, reserved = await target.place(call.estimate, place)
                due = self.clocks.ticks() + wait
                self._tell(notices.of_wait(target, wait, self.clocks.ticks()))
                await self.pause(wait)
                while self._stop is None:  # a call that fits goes out before another is asked whether it does
                    if self.term.is_over:
                        await self.pause(Term.LOOK_S)
                    elif self._is_capped and not self.budget.fits(call.most):
                        self._tell(notices.of_cap(target, call.most, self.budget))
                        await asyncio.shield(self.budget.change())
                    else:
                        break
                if place is None or self._stop is not None or self.clocks.ticks() - due <= LATE_S:
                    break
            await self._check_open(target, call)
        except BaseException:  # a cancelled call, too, gives its place back
            target.gate.left()
            if place is not None and target.lent is not None:
                target.lent.unused.append(place.number)
            raise
        call.waited_s += self.clocks.ticks() - since
        return reserved

    def _tell(self, notice: str | None) -> None:
        if notice is not None:
            self.notify(notice)

    async def _check_open(self, target: Endpoint, call: Call) -> None:
        if self._stop is not None:
            raise NotAsked(str(self._stop), self._stop) if self.answers_only else self._stop
        if target.health.reason is not None:
            await self._fail(target, call, "endpoint_stopped", target.health.reason)

    async def _attempt(self, target: Endpoint, call: Call, reserved: int) -> Answer | float:
        """One attempt: the answer, written; or how many seconds to wait before another. Raises CallFailed."""
        self.budget.entered(call.most)
        target.spent.calls += 1
        lane = target.lane(self.clocks.ticks())
        attempt = Attempt(self.transport, lane, self.redactor)
        lane.in_use += 1
        call.is_out = True
        try:
            await self._recorder.announced(target, call)
            started = self.clocks.ticks()
            outcome = await self._send(target, call, attempt)
        except BaseException:  # a cancelled call, too, gives its place back
            target.gate.left()
            raise
        finally:
            lane.in_use -= 1
            self.budget.left(call.most)
        call.is_out = False
        latency = round(self.clocks.ticks() - started, 4)
        if isinstance(outcome, Fault):
            return await self._settle_fault(target, call, attempt, outcome, latency)
        return await self._finish(target, call, reserved, attempt, outcome, latency)

    async def _send(self, target: Endpoint, call: Call, attempt: Attempt) -> Answer | Fault:
        """The adapter's work under the attempt's deadline."""
        task = cast("asyncio.Task[object]", asyncio.current_task())
        self._deadlines.start(task, target.timeout_s)
        fault: Fault | None = None
        answer: object = None
        try:
            answer = await target.adapter.send(call.sent, attempt)
            if attempt.size > LARGE:
                await self.transport.turns.turn()  # for what follows goes through all of it again
        except asyncio.CancelledError:
            if not self._deadlines.absorbed(task):
                raise
            given_up = "given up when the run was stopped"
            message = f"no answer within {target.timeout_s:g} s" if self._stop is None else given_up
            return Fault("timeout", message, TRANSIENT)
        except Fault as caught:
            fault = caught.at_rest()
        except Exception as error:  # an adapter's fault fails one call, not the run
            fault = Fault("unexpected", explained(error))
        if self._deadlines.is_late(task):
            await self._deadlines.cancelled(task)
        return decided(answer) if fault is None else fault

    async def _finish(
        self, target: Endpoint, call: Call, reserved: int, attempt: Attempt, answer: Answer, latency: float
    ) -> Answer:
        """An answer came: counted, and written before it is used."""
        target.gate.succeeded(latency)
        attempt.lane.went_well()
        target.health.worked()
        target.settle(call.estimate, reserved, answer.usage)
        target.latencies.append(latency)
        usd = target.cost(answer.usage)
        self._spend(target, answer.usage, usd)
        self._tell(notices.of_cost(target, usd, self.budget))
        answer = answer._replace(
            latency_s=latency, cost_usd=usd, retried=tuple([fault["kind"] for fault in call.faults])
        )
        await self._recorder.answered(target, call, answer, attempt.bodies)
        if self.telemetry is not None:
            self.telemetry.answered(target.name, target.adapter.settings, call, answer)
        return answer

    def _spend(self, target: Endpoint, usage: Usage, usd: float | None) -> None:
        target.spent.add(usage, usd)
        self.budget.spend(usage, usd)

    async def _settle_fault(
        self, target: Endpoint, call: Call, attempt: Attempt, fault: Fault, latency: float
    ) -> float:
        """An attempt failed: seconds until the next one, or the call's failure is written and raised."""
        if fault.kind in ("rate_limit", "timeout"):
            target.gate.complained()
        else:
            target.gate.left()
        if fault.status in _NOT_THERE:
            fault.message += f" (asked at {attempt.asked})"
        fault.message = self.redactor.text(fault.message)
        usd = None
        if fault.usage is not None:
            usd = target.cost(fault.usage)
            self._spend(target, fault.usage, usd)
        fault.retry = target.blame(attempt.lane, fault, self.clocks.ticks())
        if self.probing and fault.kind in ("connection", "timeout"):
            fault.retry = NO
        call.faults.append(fault_row(fault, latency, usd, attempt.bodies))
        self._recorder.event("attempt_failed", target, call, fault.kind, fault.message)
        if target.health.failed(fault):
            self.gave_up(target)
        try:
            return self._wait(target, call, fault.retry)
        except GiveUp as reason:
            message = f"{fault.message} ({reason})" if str(reason) else fault.message
        return await self._fail(target, call, fault.kind, message, self.redactor.text(fault.text))

    def gave_up(self, target: Endpoint) -> None:
        """Tell of an endpoint that is asked no more."""
        reason = f"{target.name}: {target.health.reason}"
        self.events.emit("endpoint_stopped", endpoint=target.name, message=reason)
        self.notify(reason)

    def _wait(self, target: Endpoint, call: Call, retry: Retry) -> float:
        settings = target.adapter.settings
        return wait_before(
            retry,
            len(call.faults),
            retries=settings.retries,
            longest_wait_s=settings.longest_wait_s,
            left_s=settings.total_s - (self.clocks.ticks() - call.began - call.waited_s),
            chance=draw(0, call.key, len(call.faults)),
        )

    async def _fail(self, target: Endpoint, call: Call, kind: str, message: str, text: str = "") -> NoReturn:
        """The call ends without an answer: written, then raised."""
        target.spent.failed += 1
        self.budget.total.failed += 1
        if not text and target.health.brought_nothing(kind, message, self.budget.trial_calls):
            self.gave_up(target)
        await self._recorder.failed(target, call, kind, message, text)
        failure = failure_named(kind)(target.name, kind, message, len(call.faults), text)
        if self.telemetry is not None:
            self.telemetry.failed(target.name, target.adapter.settings, call, failure)
        try:
            raise failure
        finally:
            del failure  # its traceback leads to this frame: a ring would keep all that the call held
