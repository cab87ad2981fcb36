"""How much is let out: a gate that adapts, rates per minute, and caps on a run."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.adapters.scripted import ScriptedAdapter, ScriptedSettings
from gateway.budget import Budget
from gateway.engine import Gateway
from gateway.errors import BudgetReached
from gateway.limits import COOLDOWN_S, AdaptiveConcurrency, PerMinute, TokenGuess
from gateway.prompt import Answer
from gateway.tokens import Correction
from runstore.records import Usage
from tests.support.asking import chat
from tests.support.virtual_time import VirtualTime


def fill(gate: AdaptiveConcurrency) -> None:
    while gate.take_now():
        pass


def answers(gate: AdaptiveConcurrency, count: int, latency_s: float = 0.1) -> None:
    for _ in range(count):
        fill(gate)
        gate.succeeded(latency_s)


def test_the_gate_starts_at_64_or_half_and_doubles_each_round():
    assert AdaptiveConcurrency(8, lambda: 0.0).width == 8
    assert AdaptiveConcurrency(100, lambda: 0.0).width == 64
    gate = AdaptiveConcurrency(1000, lambda: 0.0)
    assert gate.width == 500
    answers(gate, 250)
    assert gate.width == 750
    answers(gate, 250)
    assert gate.width == 1000
    answers(gate, 500)
    assert gate.width == 1000


def test_it_grows_only_while_it_is_used():
    gate = AdaptiveConcurrency(1000, lambda: 0.0)
    for _ in range(500):
        assert gate.take_now()
        gate.succeeded(0.1)
    assert gate.width == 500


def test_a_burst_of_complaints_cuts_once_and_growth_is_slow_afterwards():
    time = VirtualTime()
    gate = AdaptiveConcurrency(100, time.ticks)
    fill(gate)
    for _ in range(20):
        gate.complained()
    assert gate.width == pytest.approx(64 * 0.7)
    time.now += COOLDOWN_S
    fill(gate)
    gate.complained()
    assert gate.width == pytest.approx(64 * 0.49)
    before = gate.width
    answers(gate, int(before))
    assert before + 1 <= gate.width <= before * 1.06


def test_it_never_closes_altogether():
    time = VirtualTime()
    gate = AdaptiveConcurrency(3, time.ticks)
    for _ in range(50):
        fill(gate)
        gate.complained()
        time.now += COOLDOWN_S
    while gate.in_use:
        gate.left()
    assert gate.take_now()


def test_latency_at_three_times_its_usual_cuts_but_noise_does_not():
    time = VirtualTime()
    gate = AdaptiveConcurrency(64, time.ticks)
    answers(gate, 200, 1.0)
    answers(gate, 100, 1.9)
    assert gate.width == 64
    answers(gate, 40, 8.0)
    assert gate.width < 64


async def test_places_are_given_in_order_and_a_cancelled_waiter_loses_none():
    gate = AdaptiveConcurrency(1, lambda: 0.0)
    assert gate.take_now()
    order = []

    async def one(number: int) -> None:
        await gate.take()
        order.append(number)
        gate.left()

    tasks = [asyncio.create_task(one(number)) for number in range(5)]
    await asyncio.sleep(0)
    assert gate.waiting == 5 and not gate.take_now()
    tasks[0].cancel()
    gate.left()
    tasks[1].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert order == [2, 3, 4]
    assert gate.in_use == 0 and gate.take_now()


@settings(deadline=None)
@given(st.floats(1, 6000), st.integers(1, 400))
def test_no_minute_sees_more_than_its_rate_and_a_second_of_burst(rate, calls):
    time = VirtualTime()
    bucket = PerMinute(rate, time.ticks)
    starts = []
    for _ in range(calls):
        starts.append(time.now + bucket.reserve(1))
    assert starts == sorted(starts)
    for start in starts:
        inside = sum(start <= other < start + 60 for other in starts)
        assert inside <= rate * 61 / 60 + 1.001


def test_unused_tokens_are_given_back_and_missing_ones_are_owed():
    time = VirtualTime()
    bucket = PerMinute(6000, time.ticks, burst_s=0.0)
    assert bucket.reserve(1000) == 0
    assert bucket.reserve(1000) == pytest.approx(10)
    bucket.settle(1000, 100)
    assert bucket.reserve(100) == pytest.approx(11)
    bucket.settle(100, 600)
    assert bucket.reserve(1) == pytest.approx(17)


def test_guesses_follow_what_the_provider_counts():
    guess = TokenGuess(len, Correction(), 256)
    text = "x" * 1000
    assert guess.total(guess.input(text)) == 1256
    for _ in range(200):
        guess.learn(1000, 1500, 40)
    assert guess.total(1000) == pytest.approx(1540, rel=0.01)
    assert guess.input("") == 1


@pytest.mark.parametrize(("limit", "calls"), [("requests_per_minute", 30), ("tokens_per_minute", 30)])
async def test_an_endpoint_keeps_its_rate_whoever_asks(limit, calls):
    time = VirtualTime()
    at = []

    def reply(request):
        at.append(time.now)
        return Answer("fine", usage=Usage(input=100, output=100))

    rate = 60.0 if limit == "requests_per_minute" else 6000.0
    settings = ScriptedSettings.model_validate({"kind": "scripted", limit: rate, "concurrency": 1})
    async with Gateway({"t": ScriptedAdapter.of(reply, settings=settings)}, clocks=time.clocks) as gateway:
        await asyncio.gather(*(gateway.ask("t", chat(f"q{n}"), stage=f"stage {n % 3}") for n in range(calls)))
    used = calls if limit == "requests_per_minute" else 200 * calls
    burst = rate / 60 if limit == "requests_per_minute" else rate / 6
    assert time.now >= 60 * (used - burst) / rate - 5
    assert time.now <= 60 * used / rate + 10


async def test_a_cap_on_calls_is_exact_and_reached_calls_are_not_made():
    budget = Budget(calls=7)
    async with Gateway({"t": ScriptedAdapter.of(["yes"])}, budget=budget) as gateway:
        asked = [gateway.ask("t", chat(f"q{number}")) for number in range(20)]
        ends = await asyncio.gather(*asked, return_exceptions=True)
    assert sum(isinstance(end, Answer) for end in ends) == 7
    assert sum(isinstance(end, BudgetReached) for end in ends) == 13
    assert budget.total.calls == 7
    assert {end.exit_code for end in ends if isinstance(end, BudgetReached)} == {3}


@pytest.mark.parametrize("cap", ["usd", "tokens"])
async def test_caps_on_dollars_and_tokens_hold_with_everything_in_flight(provider, cap):
    provider.configure(latency_ms=5)
    price = {"input": 1e6, "output": 1e6}
    settings = provider.settings("openai", price=price, max_output_tokens=100)
    probe = Budget()
    async with Gateway.open({"t": settings}, budget=probe) as gateway:
        for number in range(60):
            await gateway.ask("t", chat(f"q{number}"))
    spent = probe.total.usd if cap == "usd" else probe.total.tokens
    limit = 5 * spent
    budget = Budget(usd=limit) if cap == "usd" else Budget(tokens=int(limit))
    async with Gateway.open({"t": settings}, budget=budget) as gateway:
        asked = [gateway.ask("t", chat(f"q{number}")) for number in range(600)]
        ends = await asyncio.gather(*asked, return_exceptions=True)
    used = budget.total.usd if cap == "usd" else budget.total.tokens
    assert {type(end) for end in ends} == {Answer, BudgetReached}
    assert 0.8 * limit <= used <= limit
    assert provider.stats.most_in_flight > 4


def _replies(lengths):
    """Replies of so many output tokens, in order: each longer than any before."""
    return [Answer("fine", usage=Usage(input=10, output=length)) for length in lengths]


@pytest.mark.parametrize("cap", ["usd", "tokens"])
@pytest.mark.parametrize("spread", [1, 10, 100])
async def test_a_cap_is_never_passed_where_the_longest_reply_is_known(cap, spread):
    """However unlike the replies are, and with everything asked for at once."""
    lengths = [1 + (number * number * 7) % (5 * spread) for number in range(400)]
    limit, replies = max(lengths), iter(_replies(lengths))
    price = {"input": 0.0, "output": 1e6}
    settings = ScriptedSettings.model_validate(
        {"kind": "scripted", "price": price, "max_output_tokens": limit, "concurrency": 64}
    )
    time = VirtualTime()
    pace = iter(range(400))

    class Paced(ScriptedAdapter):
        async def send(self, sent, wire):
            await time.clocks.sleep(1 + next(pace) % 5)
            return next(replies)

    budget = Budget(usd=20.0 * limit) if cap == "usd" else Budget(tokens=20 * limit + 2000)
    adapter = Paced.of(["never"], settings=settings)
    async with Gateway({"t": adapter}, budget=budget, clocks=time.clocks) as gateway:
        asked = [gateway.ask("t", chat(f"q{number}")) for number in range(400)]
        ends = await asyncio.gather(*asked, return_exceptions=True)
    assert {type(end) for end in ends} == {Answer, BudgetReached}
    if cap == "usd":
        assert 19.0 * limit <= budget.total.usd <= 20.0 * limit
    else:
        assert 10 * limit + 1500 <= budget.total.tokens <= 20 * limit + 2000
    reached = [str(end) for end in ends if isinstance(end, BudgetReached)]
    assert all(f"raise budget.{cap}, or lower max_output_tokens" in one for one in reached)


async def test_a_cap_that_no_single_call_is_sure_to_keep_is_told_before_the_first():
    settings = ScriptedSettings.model_validate(
        {"kind": "scripted", "price": {"input": 0.0, "output": 10.0}, "max_output_tokens": 32_000}
    )
    async with Gateway({"t": ScriptedAdapter.of(["yes"], settings=settings)}, budget=Budget(usd=0.2)) as gateway:
        with pytest.raises(BudgetReached, match=r"0 spent, and the next call may take up to 0\.32 by its max"):
            await gateway.ask("t", chat())
    assert gateway.budget.total.calls == 0


async def test_a_cap_in_dollars_says_which_answers_it_cannot_count():
    settings = ScriptedSettings.model_validate({"kind": "scripted", "price": {"input": 1.0, "output": 1.0}})
    adapter = ScriptedAdapter.of(["no usage"], settings=settings)
    told = []
    async with Gateway({"t": adapter}, budget=Budget(usd=1.0)) as gateway:
        gateway.notify = told.append
        for number in range(3):
            await gateway.ask("t", chat(f"q{number}"))
    assert told == ["t: its answers do not say what they took; the cap in dollars leaves them out"]


@pytest.mark.parametrize(("cap", "most"), [({"tokens": 100}, 3), ({"usd": 1e-4}, 3)])
def test_attempts_that_were_lost_count_as_the_largest_that_is_known(cap, most):
    budget = Budget(**cap)
    budget.recall(2, lost=most)
    for tokens in (10, 20):
        budget.spend(Usage(input=tokens), tokens / 1e6)
    assert budget.total.calls == 2 + most
    with pytest.raises(BudgetReached, match=f"{most} attempts that were lost"):
        budget.fits()
    lighter = Budget(**cap)
    lighter.recall(2, lost=1)
    lighter.spend(Usage(input=20), 2e-5)
    assert lighter.fits()


@pytest.mark.parametrize("cap", ["usd", "tokens"])
@pytest.mark.parametrize("sizes", ["one large", "growing", "all large", "small, then large"])
async def test_a_cap_without_a_known_limit_is_passed_by_one_reply_at_most(cap, sizes):
    """Whatever the replies take, within what a reply without a limit is held to."""
    rule = {
        "one large": lambda number: 8_000 if number == 70 else 50,
        "growing": lambda number: 10 + number * 20,
        "all large": lambda number: 8_000,
        "small, then large": lambda number: 20 if number < 100 else 8_192,
    }[sizes]
    numbers, time = iter(range(400)), VirtualTime()
    settings = ScriptedSettings.model_validate(
        {"kind": "scripted", "price": {"input": 0.0, "output": 1e6}, "concurrency": 64}
    )
    most_out = 0

    class Paced(ScriptedAdapter):
        async def send(self, sent, wire):
            nonlocal most_out
            number = next(numbers)
            most_out = max(most_out, budget.in_flight)
            await time.clocks.sleep(1 + number % 5)
            return Answer("fine", usage=Usage(input=10, output=rule(number)))

    limit, told = 100_000, []
    budget = Budget(usd=float(limit)) if cap == "usd" else Budget(tokens=limit)
    async with Gateway(
        {"t": Paced.of(["never"], settings=settings)}, budget=budget, clocks=time.clocks
    ) as gateway:
        gateway.notify = told.append
        asked = [gateway.ask("t", chat(f"q{number}")) for number in range(400)]
        ends = await asyncio.gather(*asked, return_exceptions=True)
    used = budget.total.usd if cap == "usd" else budget.total.tokens
    assert most_out > 4
    assert len(told) == 1 and "max_output_tokens would let out more" in told[0]
    assert used <= limit + 8_192
    if any(isinstance(end, BudgetReached) for end in ends):
        assert used >= limit - 8_192
