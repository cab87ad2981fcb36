"""Time and waiting, passed in so that tests own them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Clocks:
    """Wall clock (seconds since the epoch), monotonic clock (seconds), sleep."""

    wall: Callable[[], float] = time.time
    ticks: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
