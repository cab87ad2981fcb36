"""The same functions without ``await``, for scripts and notebooks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import wraps
from inspect import getdoc
from typing import Any, ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")


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
        result = thread.submit(copy_context().run, asyncio.run, noted())
        try:
            return result.result()
        except KeyboardInterrupt:  # reaches this thread only: without a word the other would work to its end
            for loop, task in begun:
                loop.call_soon_threadsafe(task.cancel)
            raise


def twin(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """The same function without ``await``: its signature is the other's, and stands nowhere twice."""

    @wraps(function)
    def waits(*args: P.args, **named: P.kwargs) -> T:
        return run(function(*args, **named))

    waits.__name__ = waits.__qualname__ = function.__name__.removeprefix("a")
    own = f"This is :func:`{function.__name__}` without ``await``, also where an event loop is running already."
    waits.__doc__ = f"{getdoc(function)}\n\n{own}"
    return waits
