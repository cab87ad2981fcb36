"""Many pieces of work at once, none of which can lose another's result."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from gateway.errors import NotAsked, Stopped

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Gathered(Generic[Item, Result]):
    """What came of each item, in the order given: its result, or the exception it ended with, or nothing.

    ``stopped`` is the reason why the rest was not started, if the run was stopped.
    """

    done: list[tuple[Item, Result]]
    failed: list[tuple[Item, Exception]]
    stopped: Stopped | None

    def results(self) -> list[Result]:
        return [result for _, result in self.done]

    def flow(self) -> Flow:
        """The counts alone."""
        return Flow(len(self.done), len(self.failed), self.stopped)


async def each(
    items: Sequence[Item],
    work: Callable[[Item], Awaitable[Result]],
    *,
    at_once: int,
    finished: Callable[[], None] = lambda: None,
) -> Gathered[Item, Result]:
    """Run ``work`` over the items, ``at_once`` at a time, started in the order given.

    An exception stays with its item. After a ``Stopped`` no further item is started; those under way go on to
    their own end; a ``NotAsked`` stops nothing but its own item. ``finished`` is called after each item that came
    to an end.
    """
    outcomes: dict[int, Result | Exception] = {}
    queue = iter(enumerate(items))
    stop: list[Stopped] = []
    open_still: list[Stopped] = []

    async def runner() -> None:
        for number, item in queue:
            if stop:
                return
            try:
                outcomes[number] = await work(item)
            except NotAsked as reason:
                open_still.append(reason.because or reason)
                continue
            except Stopped as reason:
                stop.append(reason)
                return
            except Exception as error:  # kept beside the others' results
                outcomes[number] = error
            finished()

    async with asyncio.TaskGroup() as group:
        for _ in range(min(at_once, len(items))):
            group.create_task(runner())
    return _gathered(items, outcomes, stop or open_still)


@dataclass(slots=True)
class Flow:
    """What came of a :func:`stream` when it has ended: counts, and why the rest was not started, if it was not."""

    done: int = 0
    failed: int = 0
    stopped: Stopped | None = None


async def stream(
    items: Sequence[Item],
    work: Callable[[Item], Awaitable[Result]],
    take: Callable[[Item, Result | Exception], None],
    *,
    at_once: int,
    finished: Callable[[], None] = lambda: None,
) -> Flow:
    """As :func:`each`, with each outcome handed on in the order of the items as soon as those before it are.

    What waits for an earlier one is held, at most eight times ``at_once`` outcomes (1,024 at least): memory does
    not grow with the items. Items that were never finished are passed over.
    """
    flow = Flow()
    waiting: dict[int, Result | Exception | None] = {}
    open_still: list[Stopped] = []
    ahead = max(1024, 8 * at_once)
    room = asyncio.Event()
    begun = next_out = 0

    def ended(number: int, outcome: Result | Exception | None) -> None:
        nonlocal next_out
        waiting[number] = outcome
        while next_out in waiting:
            result = waiting.pop(next_out)
            if result is not None:
                flow.failed += isinstance(result, Exception)
                flow.done += not isinstance(result, Exception)
                take(items[next_out], result)
            next_out += 1
        room.set()

    async def runner() -> None:
        nonlocal begun
        while flow.stopped is None and begun < len(items):
            if begun >= next_out + ahead:
                room.clear()
                await room.wait()
                continue
            number, begun = begun, begun + 1
            outcome: Result | Exception | None = None
            try:
                outcome = await work(items[number])
            except NotAsked as reason:
                open_still.append(reason.because or reason)
            except Stopped as reason:
                flow.stopped = flow.stopped or reason
            except Exception as error:  # handed on beside the others' results
                outcome = error
            ended(number, outcome)
            if outcome is not None:
                finished()

    async with asyncio.TaskGroup() as group:
        for _ in range(min(at_once, len(items))):
            group.create_task(runner())
    flow.stopped = flow.stopped or (open_still[0] if open_still else None)
    return flow


def _gathered(
    items: Sequence[Item], outcomes: dict[int, Result | Exception], stop: list[Stopped]
) -> Gathered[Item, Result]:
    done: list[tuple[Item, Result]] = []
    failed: list[tuple[Item, Exception]] = []
    for number in sorted(outcomes):
        outcome = outcomes[number]
        if isinstance(outcome, Exception):
            failed.append((items[number], outcome))
        else:
            done.append((items[number], outcome))
    return Gathered(done, failed, stop[0] if stop else None)
