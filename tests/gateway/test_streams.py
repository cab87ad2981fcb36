"""Work at once whose outcomes are handed on in order, without keeping them all."""

import asyncio

from gateway.crowd import stream
from gateway.errors import Interrupted, NotAsked


async def flow_of(count, work, at_once=8):
    taken = []
    flow = await stream(range(count), work, lambda item, outcome: taken.append((item, outcome)), at_once=at_once)
    return flow, taken


async def test_outcomes_come_in_the_order_of_the_items():
    async def work(item: int) -> int:
        await asyncio.sleep(0.001 * (item * 7 % 5))
        if item % 10 == 3:
            raise ValueError(item)
        return item * item

    flow, taken = await flow_of(100, work)
    assert [item for item, _ in taken] == list(range(100))
    assert all(isinstance(outcome, ValueError) == (item % 10 == 3) for item, outcome in taken)
    assert (flow.done, flow.failed, flow.stopped) == (90, 10, None)


async def test_one_slow_item_does_not_let_the_others_pile_up_without_end():
    ended, gate, most = [], asyncio.Event(), 0

    async def work(item: int) -> int:
        nonlocal most
        if item == 0:
            await gate.wait()
        ended.append(item)
        most = max(most, item)
        if len(ended) == 1023:
            asyncio.get_running_loop().call_later(0.02, gate.set)
        return item

    flow, taken = await flow_of(5000, work)
    assert most == 4999
    assert ended.index(0) <= 1024
    assert [item for item, _ in taken] == list(range(5000))
    assert flow.done == 5000


async def test_a_stop_starts_nothing_more_and_keeps_what_has_ended():
    async def work(item: int) -> int:
        await asyncio.sleep(0.001)
        if item == 20:
            raise Interrupted("interrupted")
        return item

    flow, taken = await flow_of(1000, work, at_once=4)
    assert isinstance(flow.stopped, Interrupted)
    assert [item for item, _ in taken] == [*range(20), *range(21, 21 + len(taken) - 20)]
    assert flow.done == len(taken) < 40


async def test_what_was_never_asked_stops_nothing_else():
    async def work(item: int) -> int:
        if item % 2:
            raise NotAsked("not asked yet")
        return item

    flow, taken = await flow_of(10, work)
    assert [item for item, _ in taken] == [0, 2, 4, 6, 8]
    assert isinstance(flow.stopped, NotAsked)
