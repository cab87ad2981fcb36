"""Clocks for tests: time passes only by sleeping, and every sleep is written down."""

from __future__ import annotations

import asyncio

from gateway.clocks import Clocks

NOON = 1_785_924_000.0
"""2026-08-05 10:00:00 UTC."""


class VirtualTime:
    def __init__(self, wall: float = NOON) -> None:
        self.now = 0.0
        self.start = wall
        self.slept: list[float] = []

    def ticks(self) -> float:
        return self.now

    def wall(self) -> float:
        return self.start + self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        until = self.now + seconds
        await asyncio.sleep(0)
        self.now = max(self.now, until)

    @property
    def clocks(self) -> Clocks:
        return Clocks(self.wall, self.ticks, self.sleep)
