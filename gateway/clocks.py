"""Time and waiting, passed in so that tests own them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from math import inf

LATEST = 10_000
"""So many answers' times are kept, the latest: a run of millions says their median every second."""


@dataclass(frozen=True, slots=True)
class Clocks:
    """Wall clock (seconds since the epoch), monotonic clock (seconds), sleep."""

    wall: Callable[[], float] = time.time
    ticks: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


class Term:
    """How long a process may start calls without word from where its work is given out: then another may do it."""

    LOOK_S = 0.1
    """How often a call that waits looks whether the term has been renewed."""

    def __init__(self, length_s: float = inf, clock: Callable[[], float] = time.monotonic) -> None:
        self._length_s, self._clock = length_s, clock
        self._end = clock() + length_s

    @property
    def is_over(self) -> bool:
        return self._clock() > self._end

    def renew(self, asked_at: float) -> None:
        """Word came to what was asked then."""
        self._end = asked_at + self._length_s
