"""Many pieces of work at once: each one's end is its own."""

import asyncio

import pytest

from gateway.crowd import each
from gateway.errors import BudgetReached, CallFailed, as_failed


async def test_one_that_breaks_takes_nobody_with_it_and_order_is_that_given():
    ended = []

    async def work(number: int) -> int:
        await asyncio.sleep(0.01 * (number % 3))
        if number == 3:
            raise ValueError("list[str] [/x]")
        return number * 10

    gathered = await each(range(8), work, at_once=3, finished=lambda: ended.append(1))
    assert gathered.results() == [0, 10, 20, 40, 50, 60, 70]
    assert [(item, str(error)) for item, error in gathered.failed] == [(3, "list[str] [/x]")]
    assert gathered.stopped is None and len(ended) == 8
    failed = as_failed("tutor", gathered.failed[0][1]).record("collect", "3")
    assert (failed.kind, failed.message) == ("unexpected", "ValueError: list[str] [/x]")


async def test_after_a_stop_nothing_new_starts_and_those_under_way_are_kept():
    started = []

    async def work(number: int) -> int:
        started.append(number)
        if number == 2:
            raise BudgetReached("enough")
        await asyncio.sleep(0.02)
        return number

    gathered = await each(range(100), work, at_once=4)
    assert gathered.results() == [0, 1]
    assert isinstance(gathered.stopped, BudgetReached) and gathered.failed == []
    assert started == [0, 1, 2]


async def test_at_most_so_many_run_at_once_and_none_is_no_work():
    running = most = 0

    async def work(_: int) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001)
        running -= 1

    await each(range(50), work, at_once=7)
    assert most == 7
    assert (await each([], work, at_once=7)).done == []


async def test_a_cancelled_crowd_leaves_nothing_running():
    left = []

    async def work(_: int) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            left.append(1)

    task = asyncio.create_task(each(range(5), work, at_once=5))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(left) == 5


def test_a_failed_call_keeps_its_kind_in_the_record():
    failed = as_failed("", CallFailed("tutor", "timeout", "no answer within 2 s", 3))
    assert failed.record("judge", "m-1").model_dump(exclude_none=True) == {
        "stage": "judge",
        "item": "m-1",
        "endpoint": "tutor",
        "kind": "timeout",
        "message": "no answer within 2 s",
        "attempts": 3,
    }
