"""Talking to a batch interface: one endpoint's first lane, with deadlines, and retries where they are safe."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from gateway.adapters import classify
from gateway.adapters.base import WireReply
from gateway.endpoint import Endpoint
from gateway.engine import Gateway
from gateway.errors import TRANSIENT, Fault
from gateway.retry import GiveUp, wait_before
from gateway.wire import Attempt
from runstore.ids import draw

LARGEST_RESULTS = 1 << 30
TRANSFER_S = 900.0
"""Time for a file to go up or come down."""


class Desk:
    """One endpoint's way to its provider's batch interface.

    Jobs belong to a key, so an endpoint with several keys or addresses uses the first of each here.
    """

    def __init__(self, gateway: Gateway, target: Endpoint) -> None:
        self.target = target
        self.adapter = target.adapter
        self._gateway = gateway
        self._lane = target.lanes[0]

    async def get(self, path: str, *, is_large: bool = False) -> WireReply:
        """GET, tried again as the endpoint's settings say. Raises Fault, Stopped."""
        largest, seconds = (LARGEST_RESULTS, TRANSFER_S) if is_large else (64 << 20, self.target.timeout_s)
        return await self._again(path, seconds, lambda attempt: attempt.get(path, largest=largest))

    async def upload(self, path: str, body: bytes, headers: Mapping[str, str]) -> WireReply:
        """POST of something that costs nothing to send twice. Raises Fault, Stopped."""
        return await self._again(path, TRANSFER_S, lambda attempt: attempt.post(path, body, headers))

    async def create(self, path: str, body: bytes) -> WireReply:
        """POST once: what it creates is paid for. Raises Fault."""
        return await self._once(TRANSFER_S, lambda attempt: attempt.post(path, body))

    async def _again(self, path: str, seconds: float, act: Callable[[Attempt], Awaitable[WireReply]]) -> WireReply:
        attempts = 0
        while True:
            attempts += 1
            try:
                return await self._once(seconds, act)
            except Fault as fault:
                await self.wait_after(fault, path, attempts)

    async def wait_after(self, fault: Fault, what: str, attempts: int) -> None:
        """Wait until another attempt makes sense; raises the fault where none does, and Stopped."""
        settings = self.adapter.settings
        try:
            wait = wait_before(
                fault.retry,
                attempts,
                retries=settings.retries,
                longest_wait_s=settings.longest_wait_s,
                left_s=settings.total_s,
                chance=draw(0, what, attempts),
            )
        except GiveUp:
            raise fault from None
        await self._gateway.pause(wait)
        if self._gateway.stopped is not None:
            raise self._gateway.stopped

    async def _once(self, seconds: float, act: Callable[[Attempt], Awaitable[WireReply]]) -> WireReply:
        try:
            async with asyncio.timeout(seconds):
                reply = await act(Attempt(self._gateway.transport, self._lane, self._gateway.redactor))
        except TimeoutError:
            raise Fault("timeout", f"no answer within {seconds:g} s", TRANSIENT) from None
        if not 200 <= reply.status < 300:
            fault = classify.fault(reply, self._gateway.clocks.wall)
            fault.message = self._gateway.redactor.text(fault.message)
            raise fault
        return reply
