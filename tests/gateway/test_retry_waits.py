"""How long is waited before another attempt: what the server asked for, never less; backoff without a word."""

import random
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.adapters.catalog import build
from gateway.engine import Gateway
from gateway.errors import NO, TRANSIENT, CallFailed, Fault, Retry
from gateway.retry import EndpointHealth, GiveUp, wait_before
from tests.support.asking import chat
from tests.support.fake_faults import Reply
from tests.support.virtual_time import NOON, VirtualTime

BACKOFF = (0.0, 0.5)


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [
        (formatdate(NOON + 7, usegmt=True), 7.0, 7.7),
        ("2", 2.0, 2.2),
        (formatdate(NOON - 3600, usegmt=True), *BACKOFF),
        ("soon", *BACKOFF),
        ("-4", *BACKOFF),
        ("nan", *BACKOFF),
        ("", *BACKOFF),
        ("119", 119.0, 131.0),
    ],
)
@pytest.mark.parametrize("kind", ["openai", "gemini", "anthropic", "http"])
async def test_retry_after_is_honoured_in_every_form(provider, kind, header, least, most):
    busy = Reply(b'{"error":{"message":"busy"}}', 429, {"Retry-After": header})
    provider.script = lambda asked, attempt: busy if attempt == 1 else None
    time = VirtualTime()
    adapter = build("t", provider.settings(kind, retries=1))
    adapter._now = time.wall
    async with Gateway({"t": adapter}, clocks=time.clocks) as gateway:
        answer = await gateway.ask("t", chat("q"))
    assert answer.text and answer.retried == ("rate_limit",)
    assert least <= sum(time.slept) <= most


async def test_a_wait_longer_than_the_ceiling_gives_up_instead_of_asking_early(provider):
    provider.script = lambda asked, attempt: "429-long"
    time = VirtualTime()
    adapter = build("t", provider.settings("openai", retries=3, longest_wait_s=120))
    async with Gateway({"t": adapter}, clocks=time.clocks) as gateway:
        with pytest.raises(CallFailed, match="server asks for 86400 s, longer than the ceiling of 120 s"):
            await gateway.ask("t", chat("q"))
    assert time.slept == []
    assert provider.stats.calls == 1


async def test_a_call_has_a_time_for_all_its_attempts(provider):
    provider.script = lambda asked, attempt: Reply(b"{}", 503, {"Retry-After": "50"})
    time = VirtualTime()
    adapter = build("t", provider.settings("openai", retries=100, total_s=170))
    async with Gateway({"t": adapter}, clocks=time.clocks) as gateway:
        with pytest.raises(CallFailed, match="no time left for another attempt after 4"):
            await gateway.ask("t", chat("q"))
    assert len(time.slept) == 3 and 150 <= sum(time.slept) <= 165


def _wait(retry: Retry, attempt: int = 1, **more: float) -> float:
    given = {"retries": 10_000, "longest_wait_s": 120.0, "left_s": 1e9, "chance": 0.5} | more
    return wait_before(retry, attempt, **given)  # type: ignore[arg-type]


def test_backoff_doubles_up_to_its_ceiling():
    waits = [_wait(TRANSIENT, attempt, chance=0.999999) for attempt in range(1, 2000)]
    assert waits[:4] == pytest.approx([0.5, 1.0, 2.0, 4.0], rel=1e-3)
    assert max(waits) == pytest.approx(30.0, rel=1e-3)


@given(st.floats(0, 0.999999), st.floats(0, 120), st.integers(1, 50))
def test_a_server_that_names_a_time_is_never_asked_before_it(chance, asked, attempt):
    wait = _wait(Retry("rate_limited", asked), attempt, chance=chance)
    assert asked <= wait <= asked * 1.1


def test_what_is_permanent_is_not_tried_again():
    with pytest.raises(GiveUp):
        _wait(NO)


def test_full_jitter_spreads_callers_over_the_whole_span():
    generator = random.Random(3)
    waits = [_wait(TRANSIENT, 5, chance=generator.random()) for _ in range(2000)]
    assert min(waits) < 0.2 and max(waits) > 7.8
    assert sum(waits) / len(waits) == pytest.approx(4.0, rel=0.05)


def test_an_endpoint_that_never_said_anything_is_given_up():
    silent, once, any_number = EndpointHealth(), EndpointHealth(), EndpointHealth()
    once.worked()
    never = [False] * 31
    for health, most, ends in (
        (silent, 30, [False] * 29 + [True, False]),
        (once, 30, never),
        (any_number, 0, never),
        (EndpointHealth(), 2, [False, True, *never[2:]]),
    ):
        assert [health.brought_nothing("empty", "no text", most) for _ in range(31)] == ends
    assert silent.reason is not None
    assert silent.reason.startswith("stopped after its first 30 calls brought nothing: no text; ")
    assert "budget.trial_calls" in silent.reason
    assert not any(EndpointHealth().brought_nothing("server", "down", 30) for _ in range(50))


def test_health_counts_one_reason_in_a_row():
    auth, busy, bad = Fault("auth", "key"), Fault("rate_limit", "busy", TRANSIENT), Fault("bad_request", "no")
    health = EndpointHealth(patience=3)
    assert [health.failed(fault) for fault in (auth, auth, busy, busy, busy)] == [False] * 5
    health.worked()
    assert [health.failed(auth) for _ in range(4)] == [False, False, True, False]
    assert health.reason == "stopped after 3 calls in a row failed: key"
    late = EndpointHealth(patience=3)
    late.worked()
    assert not any(late.failed(bad) for _ in range(50))
    early = EndpointHealth(patience=3)
    assert [early.failed(bad) for _ in range(3)] == [False, False, True]
