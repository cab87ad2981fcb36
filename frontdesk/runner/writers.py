"""Processes of an earlier command that still write: what they have in flight is waited for, not asked again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from runstore.runlock import is_held

LONGEST_S = 65.0
"""Such a process notices within 30 seconds that its driver is gone, and ends what is in flight within 30."""
LOOK_S = 0.2


async def until_alone(journal: Path, say: Callable[[str], None]) -> None:
    """Until nobody else writes a segment of the journal, or it takes too long. The caller holds the run's lock."""

    async def writers() -> int:
        return len(_held(journal))

    await until_none(writers, say)


def _held(journal: Path) -> list[Path]:
    return [path for path in journal.glob("*.jsonl") if is_held(path)]


async def until_none(
    writers: Callable[[], Awaitable[int]],
    say: Callable[[str], None],
    is_over: Callable[[], bool] = lambda: False,
) -> None:
    """The same for any way to count who writes; not on once it ``is_over``."""
    end, is_told = time.monotonic() + LONGEST_S, False
    while (count := await writers()) and not is_over():
        if time.monotonic() > end:
            say(f"{count} workers of an earlier command did not end: goes on without their calls in flight")
            return
        if not is_told:
            say(f"waits for calls in flight of {count} workers of an earlier command, {LONGEST_S:g} s at most")
            is_told = True
        await asyncio.sleep(LOOK_S)
