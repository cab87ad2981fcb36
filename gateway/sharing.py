"""Identical calls that are made at the same time are one call."""

from __future__ import annotations

import asyncio

from gateway.prompt import Answer


class Flying:
    """The keys of the calls that are being made, each with those who wait for the same answer, if anybody does."""

    def __init__(self) -> None:
        self._calls: dict[str, asyncio.Future[Answer | None] | None] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._calls

    def start(self, key: str) -> None:
        self._calls[key] = None

    async def join(self, key: str) -> Answer | None:
        """What comes of the call: its answer, or its exception. None if its caller left: it must be made anew."""
        shared = self._calls[key]
        if shared is None:
            shared = self._calls[key] = asyncio.get_running_loop().create_future()
        return await asyncio.shield(shared)

    def end(self, key: str, answer: Answer | None, error: BaseException | None = None) -> None:
        """Tell those who wait. A cancellation is its caller's alone."""
        shared = self._calls.pop(key)
        if shared is None or shared.done():
            return
        if isinstance(error, Exception):
            shared.set_exception(error)
            shared.exception()
        else:
            shared.set_result(answer)
