"""Several keys and addresses of one endpoint: the load is spread, the sick rest, none is asked in vain."""

import asyncio
from collections import Counter

import pytest

from gateway.engine import Gateway
from gateway.errors import CallFailed
from gateway.prompt import Answer
from gateway.wire import EJECT_AFTER, EJECT_S, Lane, choose_lane
from tests.support.asking import chat
from tests.support.fake_provider import FakeProvider
from tests.support.virtual_time import VirtualTime

KEYS = {f"KEY_{letter}": f"sk-{letter * 12}" for letter in "abc"}


def keys_used(provider: FakeProvider) -> Counter[str]:
    return Counter(asked.headers["authorization"].removeprefix("Bearer ")[3] for asked in provider.requests)


def with_keys(provider: FakeProvider, **more):
    return {"t": provider.settings("openai", api_key_env=list(KEYS), **more)}


def refuse(letter: str, fault: str):
    return lambda asked, attempt: fault if f"sk-{letter}" in asked.headers["authorization"] else None


async def test_calls_one_after_the_other_and_all_at_once_are_spread_over_keys_and_addresses(provider):
    with FakeProvider() as second:
        raw = with_keys(provider)
        raw["t"]["base_url"] = [raw["t"]["base_url"], second.settings("openai")["base_url"]]
        async with Gateway.open(raw, environ=KEYS) as gateway:
            for number in range(12):
                await gateway.ask("t", chat(f"one {number}"))
            assert set(keys_used(provider).values()) == {2} and set(keys_used(second).values()) == {2}
            await asyncio.gather(*(gateway.ask("t", chat(f"all {number}")) for number in range(60)))
        assert provider.stats.calls == second.stats.calls == 36


async def test_a_refused_key_is_out_and_its_calls_are_answered_over_the_others(provider):
    provider.script = refuse("a", "401")
    async with Gateway.open(with_keys(provider), environ=KEYS) as gateway:
        answers = await asyncio.gather(*(gateway.ask("t", chat(f"q{number}")) for number in range(30)))
        assert all(isinstance(answer, Answer) for answer in answers)
        refused = keys_used(provider)["a"]
        for number in range(30):
            await gateway.ask("t", chat(f"later {number}"))
        assert keys_used(provider)["a"] == refused
        assert gateway.endpoints["t"].health.reason is None


async def test_when_every_key_is_refused_the_endpoint_stops(provider):
    provider.script = lambda asked, attempt: "401"
    async with Gateway.open(with_keys(provider, concurrency=2), environ=KEYS) as gateway:
        asked = [gateway.ask("t", chat(f"q{number}")) for number in range(50)]
        ends = await asyncio.gather(*asked, return_exceptions=True)
    assert all(isinstance(end, CallFailed) for end in ends)
    assert provider.stats.calls < 15


async def test_a_busy_key_rests_as_long_as_it_asked_and_the_call_goes_on_at_once(provider):
    provider.configure(wait_s=40)
    provider.script = refuse("b", "429-seconds")
    time = VirtualTime()
    async with Gateway.open(with_keys(provider), environ=KEYS, clocks=time.clocks) as gateway:
        for number in range(9):
            await gateway.ask("t", chat(f"q{number}"))
        assert keys_used(provider)["b"] == 1
        assert sum(time.slept) < 1
        time.now += 40
        provider.script = None
        for number in range(9):
            await gateway.ask("t", chat(f"r{number}"))
    assert keys_used(provider)["b"] > 1


async def test_a_single_key_waits_as_long_as_it_was_told(provider):
    provider.configure(wait_s=40)
    provider.script = lambda asked, attempt: "429-seconds" if attempt == 1 else None
    time = VirtualTime()
    async with Gateway.open({"t": provider.settings("openai")}, clocks=time.clocks) as gateway:
        await gateway.ask("t", chat("q"))
    assert 40 <= sum(time.slept) <= 44


async def test_a_dead_address_is_ejected_and_comes_back(provider):
    with FakeProvider() as second:
        dead = second.settings("openai")["base_url"]
    raw = provider.settings("openai", retries=3)
    raw["base_url"] = [dead, raw["base_url"]]
    time = VirtualTime()
    async with Gateway.open({"t": raw}, clocks=time.clocks) as gateway:
        for number in range(20):
            assert (await gateway.ask("t", chat(f"q{number}"))).text
        lane = gateway.endpoints["t"].lanes[0]
        assert lane.is_out(time.now)
        used = lane.used
        assert used == EJECT_AFTER
        time.now += EJECT_S + 1
        await gateway.ask("t", chat("once more"))
        assert lane.used == used + 1 and lane.is_out(time.now)


def test_the_least_loaded_is_chosen_and_if_all_rest_the_least_loaded_of_all():
    lanes = [Lane("http://a", None, {}), Lane("http://b", None, {}), Lane("http://c", None, {})]
    lanes[0].in_use, lanes[1].in_use, lanes[2].in_use = 3, 1, 2
    assert choose_lane(lanes, 0.0) is lanes[1]
    lanes[1].rest(10.0)
    assert choose_lane(lanes, 0.0) is lanes[2]
    assert choose_lane(lanes, 10.0) is lanes[1]
    for lane in lanes:
        lane.rest(99.0)
    assert choose_lane(lanes, 0.0) is lanes[1]


@pytest.mark.parametrize("bad", ["two words", "sk-1\n2", "clé-secrète", ""])
def test_a_value_that_can_be_no_key_is_named_before_anything_is_sent(provider, bad):
    with pytest.raises(Exception, match="KEY_a") as caught:
        Gateway.open(with_keys(provider), environ={**KEYS, "KEY_a": bad})
    assert not bad or bad not in str(caught.value)


async def test_keys_are_stripped(provider):
    async with Gateway.open(with_keys(provider), environ={name: f" {key}\n" for name, key in KEYS.items()}) as gw:
        await gw.ask("t", chat("q"))
    assert provider.requests[0].headers["authorization"] in {f"Bearer {key}" for key in KEYS.values()}
