"""One quota and one budget lent to several processes: never over a limit, nearly all of it in use."""

import asyncio
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.budget import NOTHING, Budget, Most
from gateway.errors import BudgetReached
from gateway.leases import REST_S, Ended, Lender, LentBudget, LentPlaces, Place
from runstore.records import Usage


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def fullest(times: list[float], window: float = 60.0) -> int:
    """The most that any window holds."""
    times = sorted(times)
    most, first = 0, 0
    for last, time in enumerate(times):
        while time - times[first] >= window:
            first += 1
        most = max(most, last - first + 1)
    return most


@pytest.mark.parametrize("limit", [5, 100, 3000])
def test_no_minute_holds_more_than_the_limit_and_at_least_98_in_100_are_used(limit: int) -> None:
    clock = Clock()
    lender = Lender({"e": (limit, None)}, Budget(), clock)
    generator = random.Random(limit)
    used: list[float] = []
    begin = clock.now
    while clock.now < begin + 600:
        holder = f"w{generator.randrange(4)}"
        for place in lender.places(holder, "e", [0] * generator.randrange(1, 9)):
            start = clock.now + place.wait_s
            used.append(start + generator.random() * 0.5)
        clock.now = max(clock.now, start - generator.random() * 30)
    assert fullest(used) <= limit
    whole = [sum(begin + 60 * m <= time < begin + 60 * (m + 1) for time in used) for m in range(1, 9)]
    assert sum(whole) >= 0.98 * limit * len(whole) - 1


def test_what_late_calls_missed_is_made_up_for() -> None:
    """Every fifth call misses its place and takes another."""
    clock = Clock()
    lender = Lender({"e": (100, None)}, Budget(), clock)
    generator = random.Random(5)
    used: list[float] = []
    waiting: list[tuple[float, int]] = []
    begin = clock.now
    while clock.now < begin + 400:
        while len(waiting) < 40:
            place = lender.places("w", "e", [0])[0]
            waiting.append((clock.now + place.wait_s, place.number))
        start, number = waiting.pop(0)
        clock.now = max(clock.now, start)
        if generator.random() < 0.05:
            clock.now += 0.4
            lender.unused("e", [number])
        else:
            used.append(clock.now)
    assert fullest(used) <= 100
    whole = [sum(begin + 60 * m <= time < begin + 60 * (m + 1) for time in used) for m in range(1, 6)]
    assert sum(whole) >= 0.96 * 100 * len(whole)


def test_places_of_a_process_that_died_are_used_by_others() -> None:
    clock = Clock()
    lender = Lender({"e": (60, None)}, Budget(), clock)
    lender.places("dead", "e", [0] * 30)
    lender.forget("dead")
    waits = [place.wait_s for place in lender.places("alive", "e", [0] * 30)]
    assert max(waits) < 31


def test_a_limit_below_one_a_minute_is_kept() -> None:
    lender = Lender({"e": (0.5, None)}, Budget(), Clock())
    waits = [place.wait_s for place in lender.places("a", "e", [0] * 3)]
    assert waits[0] == 0
    assert waits[1] >= 120
    assert waits[2] >= 240


def test_places_that_are_given_back_are_lent_again_in_their_turn() -> None:
    lender = Lender({"e": (60, None)}, Budget(), Clock())
    places = lender.places("a", "e", [0] * 4)
    lender.unused("e", [places[2].number])
    assert lender.places("b", "e", [0])[0].wait_s == pytest.approx(places[2].wait_s)


def test_tokens_a_minute_are_lent_by_what_calls_take() -> None:
    clock = Clock()
    lender = Lender({"e": (None, 60_000)}, Budget(), clock)
    waits = [place.wait_s for place in lender.places("a", "e", [1000] * 61)]
    assert waits[-1] >= 60
    lender.settle("e", -30_000)
    assert lender.places("b", "e", [1000])[0].wait_s < 35


def test_a_cap_on_calls_is_exact_over_processes() -> None:
    lender = Lender({}, Budget(calls=10), Clock())
    assert lender.permits("a", [NOTHING] * 6) == (6, None)
    assert lender.permits("b", [NOTHING] * 6) == (4, None)
    granted, why = lender.permits("b", [NOTHING])
    assert granted == 0
    assert "cap of 10 calls" in str(why)
    lender.returned("a", [NOTHING])
    assert lender.permits("b", [NOTHING] * 2) == (1, None)


def test_calls_of_a_process_that_died_count_as_spent() -> None:
    lender = Lender({}, Budget(usd=1.0), Clock())
    assert lender.permits("a", [Most(10, 0.4)] * 3)[0] == 2
    lender.ended("a", [Ended(left=Most(10, 0.4)), Ended(usage=Usage(input=5), usd=0.3)], is_call=[True, False])
    lender.forget("a")
    assert lender.budget.spent_usd == pytest.approx(0.6)
    assert lender.permits("b", [Most(10, 0.4)] * 2) == (1, None)


def test_a_process_that_was_taken_for_gone_is_heard_of_again_and_nothing_counts_twice() -> None:
    lender = Lender({}, Budget(usd=10.0, calls=9), Clock())
    most = Most(10, 0.4)
    assert lender.permits("a", [most] * 3)[0] == 3
    lender.ended("a", [Ended(left=most), Ended(usage=Usage(input=5), usd=0.3)], is_call=[True, False])
    lender.forget("a")
    budget = lender.budget
    assert (budget.in_flight, budget.total.calls, budget.spent_usd) == (0, 3, pytest.approx(0.9))
    lender.ended("a", [Ended(left=most), Ended(usage=Usage(input=5), usd=0.2)], is_call=[True, False])
    assert (budget.in_flight, budget.total.calls, budget.spent_usd) == (0, 3, pytest.approx(0.8))
    lender.returned("a", [most])
    assert (budget.in_flight, budget.total.calls, budget.spent_usd) == (0, 2, pytest.approx(0.5))
    lender.ended("a", [Ended(left=most)], is_call=[True])
    lender.returned("a", [most])
    lender.forget("a")
    assert (budget.in_flight, budget.total.calls, budget.spent_usd) == (0, 2, pytest.approx(0.5))
    assert lender.permits("b", [most] * 9)[0] == 7


def test_what_a_process_does_after_it_was_taken_for_gone_is_counted_as_its_own() -> None:
    lender = Lender({}, Budget(calls=3), Clock())
    assert lender.permits("a", [NOTHING])[0] == 1
    lender.forget("a")
    assert lender.permits("a", [NOTHING] * 4)[0] == 2
    lender.ended("a", [Ended()] * 3, is_call=[True] * 3)
    assert (lender.budget.in_flight, lender.budget.total.calls) == (0, 3)


OPS = st.lists(
    st.tuples(
        st.sampled_from(["ask", "end", "back", "forget"]),
        st.sampled_from("ab"),
        st.integers(0, 1),
        st.integers(1, 4),
    ),
    max_size=60,
)


@given(OPS)
def test_in_whatever_order_ends_and_losses_are_told_each_call_counts_once(ops) -> None:
    """What is told of a process that was taken for gone, and for gone again, included."""
    budget = Budget(calls=12)
    lender = Lender({}, budget, Clock())
    kinds = Most(10, 0.0), Most(20, 0.0)
    out: dict[str, list[Most]] = {"a": [], "b": []}
    sent = ended = 0
    for what, holder, kind, count in ops:
        if what == "ask":
            granted, _ = lender.permits(holder, [kinds[kind]] * count)
            assert granted == min(count, 12 - sent)
            out[holder] += [kinds[kind]] * granted
            sent += granted
        elif what == "forget":
            lender.forget(holder)
        elif kinds[kind] in out[holder]:
            out[holder].remove(kinds[kind])
            if what == "end":
                told = [Ended(left=kinds[kind]), Ended(usage=Usage(input=1), usd=0.0)]
                lender.ended(holder, told, is_call=[True, False])
                ended += 1
            else:
                lender.returned(holder, [kinds[kind]])
                sent -= 1
        state = budget.state()
        assert (budget.total.calls, state["ended"], budget.total.tokens) == (sent, ended, ended)
        assert state["lost"] == sum(map(len, out.values())), "what is out, or was lost with whoever asked"


def test_nothing_starts_while_a_limit_rests_not_even_at_a_place_that_was_given_back() -> None:
    clock = Clock()
    lender = Lender({"e": (600, None)}, Budget(), clock)
    places = lender.places("a", "e", [0] * 150)
    lender.unused("e", [place.number for place in places[20:]])
    lender.rest("e", REST_S)
    waits = [place.wait_s for place in lender.places("b", "e", [0] * 700)]
    assert min(waits) >= REST_S
    used = [clock.now + wait for wait in [*(place.wait_s for place in places[:20]), *waits]]
    assert fullest(used) <= 600


async def test_workers_share_a_cap_in_dollars_and_use_nearly_all_of_it() -> None:
    lender = Lender({}, Budget(usd=1.0), Clock())
    taken: list[float] = []

    def borrowed(name: str) -> LentBudget:
        async def ask(wanted, told, is_over, back):
            await asyncio.sleep(0.001)
            lender.ended(name, told, is_call=is_over)
            lender.returned(name, back)
            return lender.permits(name, wanted)

        return LentBudget(usd=1.0, ask=ask)

    async def worker(name: str) -> None:
        budget, generator = borrowed(name), random.Random(name)
        most = Most(100, 0.01)

        async def call() -> None:
            while True:
                try:
                    while not budget.fits(most):
                        await asyncio.shield(budget.change())
                except BudgetReached:
                    return
                budget.entered(most)
                await asyncio.sleep(generator.random() * 0.01)
                usd = 0.002 + generator.random() * 0.008
                budget.left(most)
                budget.spend(Usage(input=10), usd)
                taken.append(usd)

        await asyncio.gather(*(call() for _ in range(8)))
        await budget.tell()

    await asyncio.wait_for(asyncio.gather(*(worker(f"w{n}") for n in range(4))), 30)
    assert 0.98 <= sum(taken) <= 1.0


async def test_places_are_asked_for_together_and_given_back_by_who_leaves() -> None:
    asked: list[int] = []

    async def ask(tokens: list[int]) -> list[Place]:
        asked.append(len(tokens))
        await asyncio.sleep(0.01)
        return [Place(0.0, 10 * len(asked) + at) for at in range(len(tokens))]

    lent = LentPlaces(ask)
    first = asyncio.create_task(lent.take(0))
    await asyncio.sleep(0.001)
    others = [asyncio.create_task(lent.take(0)) for _ in range(5)]
    await asyncio.sleep(0.001)
    others[0].cancel()
    assert (await first).number == 10
    assert [place.number for place in await asyncio.gather(*others[1:])] == [21, 22, 23, 24]
    assert asked == [1, 5]
    assert lent.unused == [20]
