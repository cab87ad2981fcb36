"""The cluster's own words kept from people: what matters of them is said by the driver, in a sentence."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

_LOUD = ("distributed", "tornado")


@contextmanager
def quiet() -> Generator[None]:
    """Neither loggers of the cluster's library nor lost connections that nobody waits for are heard."""
    loggers = [logging.getLogger(name) for name in logging.root.manager.loggerDict if name.startswith(_LOUD)]
    before = {logger: logger.level for logger in loggers}
    loop = asyncio.get_running_loop()
    handler = loop.get_exception_handler()

    def heard(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if not isinstance(context.get("exception"), (OSError, asyncio.TimeoutError, asyncio.CancelledError)):
            loop.default_exception_handler(context)

    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    loop.set_exception_handler(heard)
    try:
        yield
    finally:
        loop.set_exception_handler(handler)
        for logger, level in before.items():
            logger.setLevel(level)
