"""An event loop in a thread of its own, for a client library whose own code may keep a loop waiting."""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Coroutine
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")


class Aside:
    """Runs coroutines of other loops on its own. A caller that is cancelled cancels what it waits for."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()
        atexit.register(self._end)

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        return await from_loop(self._loop, work)

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(1.0)
        if not self._thread.is_alive():
            self._loop.close()


@cache
def aside(name: str) -> Aside:
    """One a process and name."""
    return Aside(name)


async def from_loop(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T]) -> T:
    """What the work gives, done by another thread's loop; its exceptions are raised here."""
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, loop))
