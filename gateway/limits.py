"""How much may be in flight: concurrency that adapts, and budgets of requests and tokens per minute.

Callers wait in line here, in order, before their attempt's timeout starts. Everything is woken by events.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gateway.tokens import Correction

CUT = 0.7
SLOWER = 3.0
SLOWER_S = 1.0
MEMORY = 0.003
COOLDOWN_S = 2.0
START = 64
START_SHARE = 0.5
GROWTH = 0.05
BUSY = 0.8


class AdaptiveConcurrency:
    """A gate whose width grows while it is used and things go well, and shrinks when the server complains.

    It starts at 64 or half of the ceiling, whichever is more, and doubles each round of answers until the
    first complaint; from then on it grows by one or by 5 % a round. A complaint (rate limit, timeout, or
    latency at three times its usual value and a second above it) cuts it to 0.7, at most once in two seconds.
    It grows only while at least 80 % of it is in use.
    """

    def __init__(self, ceiling: int, clock: Callable[[], float]) -> None:
        self.ceiling = ceiling
        self.width = min(float(ceiling), max(float(START), START_SHARE * ceiling))
        self.in_use = 0
        self._clock = clock
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._slow_start = True
        self._quiet_until = 0.0
        self._usual = self._recent = 0.0
        self._answers = 0

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def take_now(self) -> bool:
        """Take a place if one is free and nobody is before us."""
        if self._waiting or self.in_use >= int(self.width):
            return False
        self.in_use += 1
        return True

    async def take(self) -> None:
        """Take a place, waiting in line for it."""
        if self.take_now():
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.left()
            raise

    def succeeded(self, latency_s: float) -> None:
        """An answer came; its place is free."""
        if self.width < self.ceiling and self.in_use >= BUSY * self.width:
            step = 1.0 if self._slow_start else max(1.0 / self.width, GROWTH)
            self.width = min(float(self.ceiling), self.width + step)
        self._answers += 1
        self._usual += max(MEMORY, 1 / self._answers) * (latency_s - self._usual)
        self._recent += max(0.1, 1 / self._answers) * (latency_s - self._recent)
        if self._recent > SLOWER * self._usual and self._recent - self._usual > SLOWER_S:
            self._cut()
            self._usual = self._recent
        self.left()

    def complained(self) -> None:
        """A rate limit or a timeout came; its place is free."""
        self._cut()
        self.left()

    def left(self) -> None:
        """Any other end; its place is free."""
        self.in_use -= 1
        while self._waiting and self.in_use < int(self.width):
            place = self._waiting.popleft()
            if not place.done():
                self.in_use += 1
                place.set_result(None)

    def _cut(self) -> None:
        now = self._clock()
        if now >= self._quiet_until:
            self.width = max(1.0, self.width * CUT)
            self._slow_start = False
            self._quiet_until = now + COOLDOWN_S


class PerMinute:
    """A leaky bucket (GCRA): ``rate`` units a minute, at most ``burst_s`` seconds' worth at once.

    Reserves before, settles after: what was estimated too high is given back, what was too low is owed.
    """

    def __init__(self, rate: float, clock: Callable[[], float], *, burst_s: float = 1.0) -> None:
        self._seconds_each = 60.0 / rate
        self._clock = clock
        self._burst_s = burst_s
        self._due = clock()

    def reserve(self, units: float) -> float:
        """Seconds to wait before these units may be used; they are counted from now on."""
        now = self._clock()
        self._due = max(self._due, now - self._burst_s)
        wait = self._due - now
        self._due += units * self._seconds_each
        return max(0.0, wait)

    def rest(self, seconds: float) -> None:
        """Nothing is free for so long."""
        self._due = max(self._due, self._clock() + seconds)

    def settle(self, estimated: float, used: float) -> None:
        self._due += (used - estimated) * self._seconds_each


class TokenGuess:
    """Tokens a call will take: its text by the tokenizer, corrected by what the provider counted, and the mean
    output so far (``first_output`` before there was any)."""

    def __init__(self, count: Callable[[str], int], correction: Correction, first_output: int) -> None:
        self._count, self._correction = count, correction
        self._output = float(first_output)

    def input(self, text: str) -> int:
        return max(1, self._count(text))

    def total(self, counted: int) -> int:
        return max(1, round(self._correction.apply(counted) + self._output))

    def learn(self, counted: int, inputs: int, outputs: int) -> None:
        """What a call of ``counted`` tokens really took."""
        self._correction.add(counted, inputs)
        self._output += 0.05 * (outputs - self._output)
