"""One call, whole: journal -> limits -> adapter over the wire -> journal. Every model call goes through here.

    async with Gateway.open({"tutor": {"kind": "openai", "model": "gpt-5-mini"}}) as gateway:
        answer = await gateway.ask("tutor", prompt)

A finished call is answered from the journal; identical calls in flight share one request; repeats are calls of
their own, by number. A call is written before its result is used.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, cast

import orjson

from gateway.adapters.base import Adapter, Answer, Prompt, Tokens
from gateway.budget import Budget
from gateway.endpoint import Endpoint
from gateway.errors import TRANSIENT, CallFailed, EndpointStopped, Fault, Forbidden, Interrupted, Stopped
from gateway.events import EventLog
from gateway.http1 import Pool
from gateway.retry import GiveUp, wait_before
from gateway.secrets import Redactor
from gateway.wire import Attempt, Deadlines
from runstore.ids import draw
from runstore.journal import Journal, State


@dataclass(frozen=True, slots=True)
class Clocks:
    """Time and waiting, passed in so that tests own them: wall clock, monotonic clock, sleep."""

    wall: Callable[[], float] = time.time
    ticks: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


class Gateway:
    """The only door to any model. Use as an async context manager; :meth:`ask` may be called from any task."""

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
    ) -> None:
        self.clocks = clocks or Clocks()
        self.offline = offline
        self.journal, self.budget = journal, budget or Budget()
        self.events = events or EventLog(None)
        self.endpoints = {
            name: Endpoint(name, adapter, self.clocks.ticks, {} if offline else environ, keyless=offline)
            for name, adapter in endpoints.items()
        }
        self.redactor = Redactor(secret for endpoint in self.endpoints.values() for secret in endpoint.secrets)
        self._flying: dict[str, asyncio.Future[Answer] | None] = {}
        self._deadlines = Deadlines(self.clocks.ticks)
        self._pool = Pool()
        self._stop: Stopped | None = None
        self._capped = self.budget.is_capped

    @classmethod
    def open(cls, endpoints: Mapping[str, Mapping[str, Any]], **options: Any) -> Gateway:
        """A gateway from plain settings: ``{name: {"kind": ..., "model": ...}}``. Raises Problem."""
        from gateway.adapters.catalog import build

        return cls({name: build(name, settings) for name, settings in endpoints.items()}, **options)

    async def __aenter__(self) -> Gateway:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._pool.close()
        if self.journal is not None:
            self.journal.sync()

    def stop(self, reason: Stopped | None = None) -> None:
        """No new calls from now on; those in flight go on."""
        self._stop = self._stop or reason or Interrupted("interrupted")

    @property
    def in_flight(self) -> int:
        return self.budget.in_flight

    async def ask(
        self, endpoint: str, prompt: Prompt, *, repeat: int = 0, stage: str = "", item: str = ""
    ) -> Answer:
        """The endpoint's answer to the prompt: from the journal if it was ever given, else by a call.

        Raises CallFailed (EndpointStopped, Forbidden) or Stopped (BudgetReached, Interrupted).
        """
        target = self.endpoints[endpoint]
        sent = target.adapter.compose(prompt)
        key = target.key(sent, repeat)
        journal = self.journal
        if journal is not None:
            row = journal.find(key)
            if row is not None:
                target.spent.served += 1
                return answer_of(row)
            if self.offline:
                raise replayed_failure(journal.find_failure(key), endpoint)
        flying = self._flying
        if key in flying:
            shared = flying[key]
            if shared is None:
                shared = flying[key] = asyncio.get_running_loop().create_future()
            return await asyncio.shield(shared)
        flying[key] = None
        try:
            answer = await self._call(target, sent, key, (repeat, stage, item))
        except BaseException as error:
            shared = flying.pop(key)
            if shared is not None and not shared.done():
                shared.set_exception(error if isinstance(error, Exception) else Interrupted("interrupted"))
                shared.exception()
            raise
        shared = flying.pop(key)
        if shared is not None and not shared.done():
            shared.set_result(answer)
        return answer

    async def _call(self, target: Endpoint, sent: bytes, key: str, labels: tuple[int, str, str]) -> Answer:
        """Attempts until there is an answer, or none is to be had; then the journal."""
        began = self.clocks.ticks()
        attempts: list[dict[str, Any]] = []
        announced = False
        estimate = target.estimate(sent)
        while True:
            try:
                await self._admit(target, estimate)
            except Fault as closed:
                await self._fail(target, closed, closed.message, attempts, sent, key, labels)
            self.budget.in_flight += 1
            self.budget.total.calls += 1
            target.spent.calls += 1
            if not announced and self.journal is not None:
                announced = True
                self.journal.put(key, "sent", b',"endpoint":%b,"at":%.3f' % (target.name_json, self.clocks.wall()))
            started = self.clocks.ticks()
            attempt = Attempt(self._pool, target.lane(started), self.redactor)
            fault: Fault | None = None
            answer: Answer | None = None
            try:
                answer = await self._attempt(target, sent, attempt)
            except Fault as caught:
                fault = caught
            finally:
                self.budget.in_flight -= 1
            latency = round(self.clocks.ticks() - started, 4)
            if answer is not None:
                usd = self._went_well(target, attempt, answer, latency, estimate)
                answer = answer._replace(
                    latency_s=latency, cost_usd=usd, retried=tuple(fault["kind"] for fault in attempts)
                )
                body = _ok_line(target, sent, labels, answer, attempt.bodies, attempts, self.clocks.wall())
                await self._record(key, "ok", body)
                return answer
            fault = fault or Fault("unexpected", "neither an answer nor a fault")
            self._went_wrong(target, attempt, fault, latency, attempts)
            wait = await self._wait_or_fail(target, fault, attempts, began, sent, key, labels)
            await self.clocks.sleep(wait)

    async def _record(self, key: str, state: State, body: bytes) -> None:
        """Written before it is used."""
        if self.journal is None:
            return
        self.journal.put(key, state, self.redactor.data(body))
        written = self.journal.written()
        if written is not None:
            await asyncio.shield(written)

    def _check_open(self, target: Endpoint) -> None:
        if self._stop is not None:
            raise self._stop
        if target.health.reason is not None:
            raise Fault("endpoint_stopped", target.health.reason)
        if self._capped:
            self.budget.check()

    async def _admit(self, target: Endpoint, estimate: int) -> None:
        """Wait in line until this attempt may start."""
        self._check_open(target)
        if not target.gate.take_now():
            await target.gate.take()
        try:
            wait = target.reserve(estimate)
            if wait > 0:
                await self.clocks.sleep(wait)
            self._check_open(target)
        except BaseException:
            target.gate.left()
            raise

    async def _attempt(self, target: Endpoint, sent: bytes, attempt: Attempt) -> Answer:
        task = cast("asyncio.Task[object]", asyncio.current_task())
        deadlines = self._deadlines
        deadlines.start(task, target.timeout_s)
        attempt.lane.in_use += 1
        try:
            answer = await target.adapter.send(sent, attempt)
        except asyncio.CancelledError:
            if deadlines.stop(task):
                task.uncancel()
                raise Fault("timeout", f"no answer within {target.timeout_s:g} s", TRANSIENT) from None
            target.gate.left()
            raise
        except Fault:
            await self._settle_deadline(task)
            raise
        except Exception as error:
            await self._settle_deadline(task)
            raise Fault("unexpected", f"{type(error).__name__}: {error}") from error
        finally:
            attempt.lane.in_use -= 1
        if deadlines.stop(task):
            await self._swallow_cancel(task)
        if not isinstance(answer, Answer):  # pyright: ignore[reportUnnecessaryIsInstance] - anybody's adapter
            raise Fault("unexpected", f"the adapter gave {type(answer).__name__}, not an answer")
        return answer

    async def _settle_deadline(self, task: asyncio.Task[object]) -> None:
        if self._deadlines.stop(task):
            await self._swallow_cancel(task)

    async def _swallow_cancel(self, task: asyncio.Task[object]) -> None:
        """The deadline struck in the tick in which the call ended: the cancellation is still on its way."""
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            task.uncancel()

    def _went_well(
        self, target: Endpoint, attempt: Attempt, answer: Answer, latency: float, estimate: int
    ) -> float | None:
        attempt.lane.went_well()
        target.health.worked()
        target.gate.succeeded(latency)
        target.settle(estimate, answer.usage)
        usd = target.cost(answer.usage)
        target.spent.add(answer.usage, usd)
        self.budget.total.add(answer.usage, usd)
        return usd

    def _went_wrong(
        self, target: Endpoint, attempt: Attempt, fault: Fault, latency: float, attempts: list[dict[str, Any]]
    ) -> None:
        fault.message = self.redactor.text(fault.message)
        usage = Tokens(*fault.usage) if fault.usage is not None else None
        if usage is not None:
            usd = target.cost(usage)
            target.spent.add(usage, usd)
            self.budget.total.add(usage, usd)
        if fault.kind in {"rate_limit", "timeout"}:
            target.gate.complained()
        else:
            target.gate.left()
        if fault.kind in {"connection", "timeout", "server", "auth"}:
            attempt.lane.went_badly(self.clocks.ticks())
        target.health.failed(fault)
        attempts.append(
            {
                "kind": fault.kind,
                "message": fault.message,
                "status": fault.status,
                "latency_s": round(latency, 4),
                "request_id": fault.request_id,
                "usage": tuple(usage) if usage is not None else None,
                "bodies": [body[:4096].decode("utf-8", "replace") for body in attempt.bodies],
            }
        )
        self.events.emit("attempt_failed", endpoint=target.name, **{k: attempts[-1][k] for k in _EVENT_FIELDS})

    async def _wait_or_fail(
        self,
        target: Endpoint,
        fault: Fault,
        attempts: list[dict[str, Any]],
        began: float,
        sent: bytes,
        key: str,
        labels: tuple[int, str, str],
    ) -> float:
        """Seconds until the next attempt; or the call's failure is written and raised."""
        settings = target.adapter.settings
        try:
            return wait_before(
                fault.retry,
                len(attempts),
                retries=settings.retries,
                longest_wait_s=settings.longest_wait_s,
                left_s=settings.total_s - (self.clocks.ticks() - began),
                chance=draw(0, key, len(attempts)),
            )
        except GiveUp as reason:
            message = f"{fault.message} ({reason})" if str(reason) else fault.message
        return await self._fail(target, fault, message, attempts, sent, key, labels)

    async def _fail(
        self,
        target: Endpoint,
        fault: Fault,
        message: str,
        attempts: list[dict[str, Any]],
        sent: bytes,
        key: str,
        labels: tuple[int, str, str],
    ) -> NoReturn:
        """The call ends without an answer: written, then raised."""
        target.spent.failed += 1
        self.budget.total.failed += 1
        body = _failed_line(target, sent, labels, fault, message, attempts, self.clocks.wall())
        await self._record(key, "truncated" if fault.kind == "truncated" else "failed", body)
        raise _FAILURES.get(fault.kind, CallFailed)(
            target.name, fault.kind, message, len(attempts), self.redactor.text(fault.text)
        ) from None


_FAILURES = {"forbidden": Forbidden, "endpoint_stopped": EndpointStopped}
_EVENT_FIELDS = ("kind", "message", "status", "latency_s", "request_id")


def answer_of(row: Mapping[str, Any]) -> Answer:
    """The answer that a journal line holds."""
    kept = row["answer"]
    return Answer(
        kept["text"],
        kept["finish"],
        Tokens(*kept["usage"]),
        kept["model"],
        kept["request_id"],
        tuple(kept["warnings"]),
        row["latency_s"],
        row["cost_usd"],
        tuple(fault["kind"] for fault in row["faults"]),
    )


def replayed_failure(row: Mapping[str, Any] | None, endpoint: str) -> CallFailed:
    """The failure that a journal line holds; without a line, that this call was never finished."""
    if row is None:
        return CallFailed(endpoint, "not_in_journal", "the journal has no such call", 0)
    failure = row["failure"]
    return CallFailed(endpoint, failure["kind"], failure["message"], len(row["faults"]), failure["text"])


def _labels(target: Endpoint, labels: tuple[int, str, str], wall: float) -> bytes:
    repeat, stage, item = labels
    names = orjson.dumps((stage, item))
    return b',"endpoint":%b,"repeat":%d,"where":%b,"at":%.3f' % (target.name_json, repeat, names, wall)


def _ok_line(
    target: Endpoint,
    sent: bytes,
    labels: tuple[int, str, str],
    answer: Answer,
    bodies: list[bytes],
    attempts: list[dict[str, Any]],
    wall: float,
) -> bytes:
    kept = orjson.dumps(
        {
            "text": answer.text,
            "finish": answer.finish,
            "usage": tuple(answer.usage),
            "model": answer.model,
            "request_id": answer.request_id,
            "warnings": answer.warnings,
        }
    )
    return b'%b,"latency_s":%b,"cost_usd":%b,"answer":%b,"faults":%b,"request":%b,"response":[%b]' % (
        _labels(target, labels, wall),
        orjson.dumps(answer.latency_s),
        orjson.dumps(answer.cost_usd),
        kept,
        orjson.dumps(attempts) if attempts else b"[]",
        sent,
        b",".join(_as_json(body) for body in bodies),
    )


def _failed_line(
    target: Endpoint,
    sent: bytes,
    labels: tuple[int, str, str],
    fault: Fault,
    message: str,
    attempts: list[dict[str, Any]],
    wall: float,
) -> bytes:
    failure = {"kind": fault.kind, "message": message, "text": fault.text}
    return b'%b,"failure":%b,"faults":%b,"request":%b' % (
        _labels(target, labels, wall),
        orjson.dumps(failure),
        orjson.dumps(attempts),
        sent,
    )


def _as_json(body: bytes) -> bytes:
    """A body that an adapter has read as JSON, on one line; anything orjson would not read back, as a string."""
    if b"\n" not in body and b"\\ud" not in body and b"\\uD" not in body:
        return body
    try:
        return orjson.dumps(orjson.loads(body))
    except orjson.JSONDecodeError:
        return orjson.dumps(body.decode("utf-8", "replace"))
