"""What is written of calls: the journal's lines and the log's events, keys taken out of both."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gateway.endpoint import Endpoint
from gateway.errors import JournalLost, Stopped
from gateway.prompt import Answer
from gateway.rows import Call, failed_line, ok_line, sent_line
from runstore.journal import State

if TYPE_CHECKING:
    from gateway.engine import Gateway


class Recorder:
    """Writes, before it is used, into the journal and the log that a gateway has at the time.

    Once nothing can be written any more, the gateway is stopped: what cannot be written must not be paid for.
    """

    def __init__(self, gateway: Gateway) -> None:
        self._of = gateway

    async def announced(self, target: Endpoint, call: Call) -> None:
        """Every attempt is written before it is sent: whatever ends this process, a cap counts it."""
        call.announced += 1
        await self._written(call.key, "sent", sent_line(target.name_json, self._of.clocks.wall(), call.announced))

    async def answered(self, target: Endpoint, call: Call, answer: Answer, bodies: Sequence[bytes]) -> None:
        """Written, when this returns."""
        call.is_over = True
        if self._of.journal is not None:
            line = ok_line(target.name_json, call, answer, bodies, self._of.clocks.wall())
            await self._written(call.key, "ok", line)

    async def failed(self, target: Endpoint, call: Call, kind: str, message: str, text: str) -> None:
        """Written, when this returns."""
        call.is_over = True
        self.event("call_failed", target, call, kind, message)
        line = failed_line(target.name_json, call, kind, message, text, self._of.clocks.wall())
        await self._written(call.key, "truncated" if kind == "truncated" else "failed", line)

    def interrupted(self, target: Endpoint, call: Call) -> None:
        """A call that a stop ended between two attempts."""
        message = "stopped between attempts"
        line = failed_line(target.name_json, call, "interrupted", message, "", self._of.clocks.wall())
        self._put(call.key, "failed", line)

    def event(self, event: str, target: Endpoint, call: Call, kind: str, message: str) -> None:
        """A line of the log about a call's last attempt."""
        last: dict[str, Any] = call.faults[-1] if call.faults else {}
        about = {name: last.get(name) for name in ("status", "latency_s", "request_id")}
        where = {"endpoint": target.name, "stage": call.stage, "item": call.item, "attempt": len(call.faults)}
        self._of.events.emit(event, **where, kind=kind, message=message, **about, key=call.key)

    def sync(self) -> None:
        """All that is written, on the disk. Raises JournalLost."""
        if self._of.journal is None:
            return
        try:
            self._of.journal.sync()
        except OSError as error:
            raise self._lost(error) from None

    async def _written(self, key: str, state: State, line: bytes) -> None:
        journal = self._of.journal
        if journal is None:
            return
        self._put(key, state, line)
        await asyncio.sleep(0)  # a tick's lines are written before the next tick's callers go on
        if journal.error is not None:
            raise self._lost(journal.error)

    def _put(self, key: str, state: State, line: bytes) -> None:
        if self._of.journal is None:
            return
        try:
            self._of.journal.put(key, state, self._of.redactor.record(line))
        except OSError as error:
            raise self._lost(error) from None

    def _lost(self, error: OSError) -> Stopped:
        return self._of.stop(JournalLost.of(error))
