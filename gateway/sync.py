"""The same functions without ``await``, for scripts and notebooks."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its result, also where an event loop is running already (as in a notebook).

    An interrupt ends the work and is raised again.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    begun: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[T]]] = []

    async def noted() -> T:
        task = asyncio.ensure_future(work)
        begun.append((asyncio.get_running_loop(), task))
        return await task

    with ThreadPoolExecutor(1) as thread:
        result = thread.submit(asyncio.run, noted())
        try:
            return result.result()
        except KeyboardInterrupt:  # reaches this thread only: without a word the other would work to its end
            for loop, task in begun:
                loop.call_soon_threadsafe(task.cancel)
            raise
