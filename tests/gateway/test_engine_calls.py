"""One call, whole: what is asked again, what is not, what is shared, and how it ends."""

import asyncio

import orjson
import pytest

from gateway.adapters.catalog import build
from gateway.adapters.scripted import ScriptedAdapter, ScriptedSettings
from gateway.budget import Budget
from gateway.clocks import Term
from gateway.engine import Gateway
from gateway.errors import (
    TRANSIENT,
    CallFailed,
    EndpointStopped,
    Fault,
    Forbidden,
    Interrupted,
    JournalLost,
    Stopped,
)
from gateway.prompt import Answer, Schema
from gateway.retry import EndpointHealth
from runstore import journal as journals
from runstore.journal import Journal, read_rows, segments
from runstore.records import Usage
from tests.support import fake_shapes
from tests.support.asking import chat
from tests.support.fake_faults import Reply
from tests.support.virtual_time import VirtualTime


def settings(**more) -> ScriptedSettings:
    return ScriptedSettings(kind="scripted", **more)


class Slow:
    """An adapter in code whose answers come when the test says so."""

    Settings = ScriptedSettings
    address = "slow:"

    def __init__(self, **more) -> None:
        self.settings = settings(**more)
        self.asked = 0
        self.gate = asyncio.Event()

    def headers(self, key):
        return {}

    def compose(self, prompt):
        return prompt.messages[-1].content.encode()

    async def send(self, sent, wire):
        self.asked += 1
        await asyncio.sleep(0.001)
        await self.gate.wait()
        return Answer(f"answer {self.asked}")


async def test_identical_calls_in_flight_share_one_and_repeats_are_their_own():
    slow = Slow()
    async with Gateway({"t": slow}) as gateway:
        same = [asyncio.create_task(gateway.ask("t", chat("q"))) for _ in range(5)]
        others = [asyncio.create_task(gateway.ask("t", chat("q"), repeat=number)) for number in (1, 2)]
        await asyncio.sleep(0.01)
        assert slow.asked == 3
        slow.gate.set()
        assert len({(await task).text for task in same}) == 1
        assert [(await task) is not None for task in others] == [True, True]
    assert slow.asked == 3


async def test_a_shared_call_whose_caller_left_is_made_for_those_who_still_wait():
    slow = Slow()
    async with Gateway({"t": slow}) as gateway:
        first = asyncio.create_task(gateway.ask("t", chat("q")))
        second = asyncio.create_task(gateway.ask("t", chat("q")))
        await asyncio.sleep(0.01)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        slow.gate.set()
        assert (await second).text == "answer 2"
        assert gateway.in_flight == 0 and gateway.endpoints["t"].gate.in_use == 0


async def test_a_shared_failure_reaches_everybody(provider):
    provider.script = lambda asked, attempt: "blocked"
    async with Gateway.open({"t": provider.settings("openai")}) as gateway:
        ends = await asyncio.gather(*(gateway.ask("t", chat("q")) for _ in range(3)), return_exceptions=True)
    assert [type(end) for end in ends] == [CallFailed] * 3
    assert len(set(map(str, ends))) == 1
    assert gateway.budget.total.calls == 1


VARIANTS = {
    "plain": {},
    "model": {"model": "fake-2"},
    "temperature .2": {"temperature": 0.2},
    "temperature .9": {"temperature": 0.9},
    "seed 1": {"seed": 1},
    "seed 2": {"seed": 2},
    "tokens 64": {"max_output_tokens": 64},
    "tokens 512": {"max_output_tokens": 512},
    "top_p": {"top_p": 0.5},
}
PROMPTS = {
    "plain": (chat("q"), 0),
    "system": (chat("q", system="be brief"), 0),
    "form": (chat("q", schema=Schema("v", {"type": "object", "properties": {"a": {"type": "string"}}})), 0),
    "repeat 1": (chat("q"), 1),
    "repeat 2": (chat("q"), 2),
    "repeat 3": (chat("q"), 3),
}


@pytest.mark.parametrize("kind", ["openai", "gemini", "anthropic"])
async def test_every_setting_that_is_sent_is_a_call_of_its_own_and_none_is_made_twice(provider, tmp_path, kind):
    variants = {name: more for name, more in VARIANTS.items() if kind != "anthropic" or "seed" not in more}
    endpoints = {name: build("one", provider.settings(kind, **more)) for name, more in variants.items()}
    moved = provider.settings(kind)
    moved["base_url"] = moved["base_url"].replace("127.0.0.1", "localhost")
    endpoints["address"] = build("one", moved)
    if kind == "openai":
        endpoints["header"] = build("one", provider.settings(kind, extra_headers={"X-Variant": "b"}))
        endpoints["another"] = build("one", provider.settings(kind, extra_headers={"X-Variant": "c"}))

    async def everything() -> dict[tuple[str, str], str]:
        journal = Journal(tmp_path)
        found = {}
        for name, adapter in endpoints.items():
            async with Gateway({"one": adapter}, journal=journal) as gateway:
                for which, (prompt, repeat) in PROMPTS.items():
                    found[name, which] = (await gateway.ask("one", prompt, repeat=repeat)).text
        journal.close()
        return found

    first = await everything()
    assert provider.stats.calls == len(endpoints) * len(PROMPTS)
    assert await everything() == first
    assert provider.stats.calls == len(endpoints) * len(PROMPTS)


async def test_an_identity_stands_for_the_address_of_a_server_that_moved(provider, tmp_path):
    for host in ("127.0.0.1", "localhost"):
        raw = provider.settings("openai", identity="our tutor")
        raw["base_url"] = raw["base_url"].replace("127.0.0.1", host)
        journal = Journal(tmp_path)
        async with Gateway.open({"t": raw}, journal=journal) as gateway:
            await gateway.ask("t", chat("q"))
        journal.close()
    assert provider.stats.calls == 1


async def test_failures_are_kept_but_asked_again_and_only_they(provider, tmp_path):
    down = {"kind": "500", "match": "item 3"}
    for faults in ((down,), ()):
        provider.configure(faults=faults)
        journal = Journal(tmp_path)
        async with Gateway.open({"j": provider.settings("openai", retries=1)}, journal=journal) as gateway:
            gateway.clocks = VirtualTime().clocks
            asked = [gateway.ask("j", chat(f"item {number}"), item=str(number)) for number in range(6)]
            ends = await asyncio.gather(*asked, return_exceptions=True)
        journal.close()
        failed = [end for end in ends if isinstance(end, CallFailed)]
        assert [end.kind for end in failed] == ["server"] * len(faults)
        assert [end.attempts for end in failed] == [2] * len(faults)
    assert provider.stats.calls == 5 + 2 + 1
    states = [(row["state"], row["where"][1]) for row in read_rows(tmp_path) if row["state"] != "sent"]
    assert sorted(states) == sorted([("ok", str(n)) for n in range(6)] + [("failed", "3")])


async def test_a_truncated_reply_is_kept_with_what_was_paid_and_is_no_answer(provider, tmp_path):
    provider.script = lambda asked, attempt: "truncated"
    journal = Journal(tmp_path)
    async with Gateway.open(
        {"t": provider.settings("openai", price={"input": 1, "output": 2})}, journal=journal
    ) as gw:
        with pytest.raises(CallFailed) as caught:
            await gw.ask("t", chat("q"))
        assert caught.value.kind == "truncated" and caught.value.partial == "The first step is"
        assert gw.budget.total.usd > 0 and gw.budget.total.tokens > 0
        provider.script = None
        assert (await gw.ask("t", chat("q"))).text
    journal.close()
    rows = [row for row in read_rows(tmp_path) if row["state"] == "truncated"]
    assert rows[0]["failure"]["text"] == "The first step is" and rows[0]["faults"][0]["cost_usd"] > 0


async def test_offline_answers_come_from_the_journal_alone_failures_too(provider, tmp_path):
    provider.script = lambda asked, attempt: "401" if "bad" in asked.texts[-1] else None
    raw = {"t": provider.settings("openai", api_key_env="A_KEY_NOBODY_SET")}
    journal = Journal(tmp_path)
    async with Gateway.open(raw, journal=journal, environ={"A_KEY_NOBODY_SET": "sk-12345678"}) as gateway:
        said = (await gateway.ask("t", chat("good"))).text
        with pytest.raises(CallFailed):
            await gateway.ask("t", chat("bad"))
    journal.close()
    calls = provider.stats.calls
    journal = Journal(tmp_path, read_only=True)
    async with Gateway.open(raw, journal=journal, offline=True) as gateway:
        assert (await gateway.ask("t", chat("good"))).text == said
        with pytest.raises(CallFailed) as caught:
            await gateway.ask("t", chat("bad"))
        assert caught.value.kind == "auth"
        with pytest.raises(CallFailed) as caught:
            await gateway.ask("t", chat("new"))
        assert caught.value.kind == "not_in_journal"
    journal.close()
    assert provider.stats.calls == calls


async def test_one_permanent_reason_stops_an_endpoint_with_one_message(provider, tmp_path):
    provider.script = lambda asked, attempt: "401"
    told = []
    journal = Journal(tmp_path)
    async with Gateway.open({"t": provider.settings("openai", concurrency=4)}, journal=journal) as gateway:
        gateway.notify = told.append
        asked = [gateway.ask("t", chat(f"q{number}")) for number in range(300)]
        ends = await asyncio.gather(*asked, return_exceptions=True)
    journal.close()
    patience = EndpointHealth().patience
    assert patience <= provider.stats.calls < patience + 4
    assert len(told) == 1
    assert told[0].startswith(f"t: stopped after its first {patience} calls failed: ")
    assert "invalid api key" in told[0]
    assert {type(end) for end in ends} == {CallFailed, EndpointStopped}
    assert sum(isinstance(end, EndpointStopped) for end in ends) == 300 - provider.stats.calls
    rows = [row for row in read_rows(tmp_path) if row["state"] == "failed"]
    assert len(rows) == 300
    assert sum(row["request"] is None for row in rows) == 300 - provider.stats.calls


async def test_a_quota_that_runs_out_in_the_middle_stops_the_endpoint_too(provider):
    provider.script = lambda asked, attempt: "429-daily" if provider.stats.answered >= 20 else None
    async with Gateway.open({"t": provider.settings("gemini", concurrency=1)}) as gateway:
        ends = [await _ended(gateway.ask("t", chat(f"q{number}"))) for number in range(60)]
    assert provider.stats.calls == 20 + EndpointHealth().patience
    assert [type(end) for end in ends[20:25]] == [CallFailed] * 5
    assert "in a row" in str(ends[-1]) and type(ends[-1]) is EndpointStopped


@pytest.mark.parametrize(("most", "paid"), [(3, 3), (0, 12)])
async def test_an_endpoint_that_never_says_anything_is_paid_for_a_trial_only(provider, most, paid):
    provider.script = lambda asked, attempt: "empty"
    table = {"t": provider.settings("openai", concurrency=1, retries=0)}
    async with Gateway.open(table, budget=Budget(trial_calls=most)) as gateway:
        ends = [await _ended(gateway.ask("t", chat(f"q{number}"))) for number in range(12)]
    assert provider.stats.calls == paid
    assert [type(end) for end in ends] == [CallFailed] * paid + [EndpointStopped] * (12 - paid)


async def test_a_few_bad_requests_among_good_ones_stop_nothing(provider):
    provider.script = lambda asked, attempt: "400" if "bad" in asked.texts[-1] else None
    async with Gateway.open({"t": provider.settings("openai")}) as gateway:
        await gateway.ask("t", chat("good"))
        ends = await asyncio.gather(
            *(gateway.ask("t", chat(f"bad {number}")) for number in range(20)), return_exceptions=True
        )
        assert {end.kind for end in ends if isinstance(end, CallFailed)} == {"bad_request"}
        assert (await gateway.ask("t", chat("good again"))).text


async def _ended(asked):
    try:
        return await asked
    except CallFailed as failed:
        return failed


async def test_calls_can_be_switched_off_and_loopback_still_works(provider, monkeypatch):
    monkeypatch.setenv("TUTOR_ARENA_FORBID_CALLS", "1")
    raw = provider.settings("openai") | {"base_url": "http://203.0.113.7/v1", "retries": 3}
    async with Gateway.open({"far": raw, "near": provider.settings("openai")}) as gateway:
        with pytest.raises(Forbidden, match="TUTOR_ARENA_FORBID_CALLS"):
            await gateway.ask("far", chat("q"))
        assert (await gateway.ask("near", chat("q"))).text


@pytest.mark.parametrize("gives", [7, None, "text", Answer(5)], ids=["int", "none", "str", "no text"])
async def test_an_adapter_that_gives_no_answer_is_a_named_failure_of_its_call_alone(gives):
    class Odd(Slow):
        async def send(self, sent, wire):
            return gives if sent == b"3" else Answer("fine")

    async with Gateway({"t": Odd()}) as gateway:
        asked = [gateway.ask("t", chat(str(number))) for number in range(8)]
        ends = await asyncio.gather(*asked, return_exceptions=True)
        assert [type(end) for end in ends].count(Answer) == 7
        assert ends[3].kind == "unexpected" and "not an answer" in ends[3].message
        assert gateway.endpoints["t"].gate.in_use == 0


async def test_an_adapters_own_error_is_named_with_its_place():
    class Broken(Slow):
        async def send(self, sent, wire):
            return {}["content"]

    async with Gateway({"t": Broken()}) as gateway:
        with pytest.raises(CallFailed, match=r"KeyError: 'content' \(at test_engine_calls.py:\d+\)"):
            await gateway.ask("t", chat("q"))


async def test_a_hanging_attempt_times_out_and_the_next_one_may_answer(provider):
    provider.script = lambda asked, attempt: "hang" if attempt == 1 else None
    async with Gateway.open({"t": provider.settings("openai", timeout_s=0.1, retries=1)}) as gateway:
        answer = await gateway.ask("t", chat("q"))
        assert answer.retried == ("timeout",)
        provider.script = lambda asked, attempt: "drip"
        with pytest.raises(CallFailed, match=r"no answer within 0\.1 s"):
            await gateway.ask("t", chat("p"))
    assert (provider.stats.calls, provider.stats.answered) == (4, 1)


async def test_waiting_in_our_own_line_is_no_part_of_a_calls_time(provider):
    provider.configure(latency_ms=120)
    provider.script = lambda asked, attempt: "500" if "last" in asked.texts[-1] and attempt == 1 else None
    raw = provider.settings("openai", concurrency=1, timeout_s=1.5, total_s=1.7)
    async with Gateway.open({"t": raw}) as gateway:
        asked = [gateway.ask("t", chat("last" if number == 17 else f"q{number}")) for number in range(18)]
        answers = await asyncio.gather(*asked)
    assert answers[-1].retried == ("server",)


async def test_a_cancelled_caller_is_not_taken_for_a_timeout_and_leaves_no_place_taken():
    slow = Slow(timeout_s=0.05)
    async with Gateway({"t": slow}) as gateway:
        task = asyncio.create_task(gateway.ask("t", chat("q")))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert gateway.in_flight == 0 and gateway.endpoints["t"].gate.in_use == 0
        assert gateway.endpoints["t"].lanes[0].in_use == 0


async def test_after_a_stop_those_in_flight_finish_and_nobody_else_starts():
    slow = Slow(concurrency=2)
    async with Gateway({"t": slow}) as gateway:
        tasks = [asyncio.create_task(gateway.ask("t", chat(str(number)))) for number in range(6)]
        await asyncio.sleep(0.01)
        gateway.stop(Interrupted("asked to"))
        await asyncio.sleep(0.01)
        slow.gate.set()
        ends = await asyncio.gather(*tasks, return_exceptions=True)
    assert slow.asked == 2
    assert [type(end) for end in ends] == [Answer] * 2 + [Interrupted] * 4


async def test_a_cap_is_kept_by_calls_that_waited_for_a_term_to_be_renewed():
    now = [0.0]
    slow = Slow(concurrency=20)
    slow.gate.set()
    async with Gateway({"t": slow}, budget=Budget(calls=3)) as gateway:
        gateway.term = Term(30.0, lambda: now[0])
        now[0] = 31.0
        tasks = [asyncio.create_task(gateway.ask("t", chat(str(number)))) for number in range(9)]
        await gateway.pause(2 * Term.LOOK_S)
        assert slow.asked == 0
        gateway.term.renew(31.0)
        ends = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 10)
    assert slow.asked == 3
    assert sorted(type(end).__name__ for end in ends) == ["Answer"] * 3 + ["BudgetReached"] * 6


async def test_a_stop_wakes_who_waits_for_a_term():
    slow = Slow()
    async with Gateway({"t": slow}) as gateway:
        gateway.term = Term(-1.0)
        task = asyncio.create_task(gateway.ask("t", chat("one")))
        await gateway.pause(2 * Term.LOOK_S)
        gateway.stop()
        with pytest.raises(Interrupted):
            await asyncio.wait_for(task, 5)
    assert slow.asked == 0


@pytest.mark.parametrize("where", ["backoff", "rate limit"])
async def test_a_stop_wakes_whoever_waits(provider, tmp_path, where):
    provider.script = lambda asked, attempt: "429-seconds" if where == "backoff" else None
    provider.configure(wait_s=100)
    raw = provider.settings("openai", requests_per_minute=0.1 if where == "rate limit" else None)
    journal = Journal(tmp_path)
    async with asyncio.timeout(20), Gateway.open({"t": raw}, journal=journal) as gateway:
        tasks = [asyncio.create_task(gateway.ask("t", chat(str(number)))) for number in range(3)]
        while provider.stats.calls < (3 if where == "backoff" else 1):
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        gateway.stop()
        ends = await asyncio.gather(*tasks, return_exceptions=True)
    journal.close()
    assert sum(isinstance(end, Interrupted) for end in ends) == (3 if where == "backoff" else 2)
    kinds = [row["failure"]["kind"] for row in read_rows(tmp_path) if row["state"] == "failed"]
    assert kinds == (["interrupted"] * 3 if where == "backoff" else [])
    assert Journal(tmp_path, read_only=True).lost == 0


async def test_giving_up_ends_what_is_still_in_flight(tmp_path):
    slow = Slow()
    journal = Journal(tmp_path)
    async with asyncio.timeout(10), Gateway({"t": slow}, journal=journal) as gateway:
        task = asyncio.create_task(gateway.ask("t", chat("q")))
        await asyncio.sleep(0.01)
        gateway.give_up()
        with pytest.raises(Interrupted):
            await task
    journal.close()
    row = next(row for row in read_rows(tmp_path) if row["state"] == "failed")
    assert row["failure"]["kind"] == "interrupted"
    assert row["faults"][0]["message"] == "given up when the run was stopped"


async def test_what_cannot_be_written_is_not_paid_for(tmp_path, monkeypatch):
    adapter = Slow(concurrency=1)
    adapter.gate.set()
    journal = Journal(tmp_path)

    def full(fd, data):
        raise OSError(28, "No space left on device")

    async with Gateway({"t": adapter}, journal=journal) as gateway:
        await gateway.ask("t", chat("q0"))
        with monkeypatch.context() as patch:
            patch.setattr(journals.os, "write", full)
            asked = [gateway.ask("t", chat(f"q{number}")) for number in range(1, 20)]
            ends = await asyncio.gather(*asked, return_exceptions=True)
        assert {type(end) for end in ends} == {JournalLost}
        assert "No space left on device" in str(ends[0])
        assert gateway.budget.total.calls <= 2
    journal.close()


async def test_an_answer_says_what_it_took(provider, tmp_path):
    provider.script = lambda asked, attempt: ("503", "empty", None)[attempt - 1]
    raw = provider.settings("openai", price={"input": 1.0, "output": 2.0})
    journal = Journal(tmp_path)
    async with Gateway.open({"t": raw}, journal=journal) as gateway:
        answer = await gateway.ask("t", chat("q"), stage="collect", item="s-1")
        assert answer.retried == ("server", "empty")
        assert answer.latency_s is not None and answer.latency_s < 5
        usage = answer.usage
        assert usage.input is not None and usage.output is not None
        assert answer.cost_usd == pytest.approx((usage.input + 2 * usage.output) / 1e6)
        assert await gateway.ask("t", chat("q")) == answer
        assert gateway.endpoints["t"].spent.served == 1
    journal.close()
    row = next(row for row in read_rows(tmp_path) if row["state"] == "ok")
    assert row["where"] == ["collect", "s-1"] and row["endpoint"] == "t"
    assert row["request"]["messages"][-1]["content"] == "q"
    assert row["response"][0]["choices"][0]["message"]["content"] == answer.text
    assert [fault["kind"] for fault in row["faults"]] == ["server", "empty"]


async def test_an_unknown_price_stays_unknown(provider):
    async with Gateway.open({"t": provider.settings("openai")}) as gateway:
        assert (await gateway.ask("t", chat("q"))).cost_usd is None
        assert gateway.budget.total.priced == 0 and gateway.budget.total.usd == 0


async def test_bodies_that_are_no_json_do_not_spoil_the_journal(tmp_path):
    bodies = [b'{"a":\n 1}', b"plain", b'"\\ud83d"', b'"\xff"', b"NaN", b""]

    class Raw(Slow):
        async def send(self, sent, wire):
            wire.bodies.extend(bodies)
            return Answer("fine", usage=Usage(input=1, output=2))

        def compose(self, prompt):
            return b"not json \xff"

    journal = Journal(tmp_path)
    async with Gateway({"t": Raw()}, journal=journal) as gateway:
        await gateway.ask("t", chat("q"))
    journal.close()
    row = next(row for row in read_rows(tmp_path) if row["state"] == "ok")
    assert row["response"] == [{"a": 1}, "plain", '"\\ud83d"', '"\ufffd"', "NaN", ""]
    assert row["request"] == "not json \ufffd"
    journal = Journal(tmp_path, read_only=True)
    assert len(journal) == 1 and journal.notes == []
    journal.close()


async def test_a_failure_that_is_transient_gives_up_after_its_retries_and_says_so():
    adapter = ScriptedAdapter.of(
        lambda request: Fault("server", "down", TRANSIENT), settings=settings(retries=3, longest_wait_s=9)
    )
    time = VirtualTime()
    async with Gateway({"t": adapter}, clocks=time.clocks) as gateway:
        with pytest.raises(CallFailed, match=r"down \(gave up after 4 attempts\)") as caught:
            await gateway.ask("t", chat("q"))
    assert caught.value.attempts == 4
    assert len(time.slept) == 3
    assert all(0 <= wait <= 0.5 * 2**n for n, wait in enumerate(time.slept))


async def test_a_stopped_gateway_names_its_reason():
    async with Gateway({"t": ScriptedAdapter.of(["yes"])}) as gateway:
        gateway.stop(Stopped("enough"))
        gateway.stop(Stopped("another"))
        with pytest.raises(Stopped, match="enough"):
            await gateway.ask("t", chat("q"))


async def test_a_call_is_on_record_before_its_first_byte_goes_out(tmp_path):
    journal = Journal(tmp_path)
    seen = []

    class Watching(Slow):
        async def send(self, sent, wire):
            rows = [orjson.loads(line) for line in segments(tmp_path)[-1].read_bytes().splitlines()]
            seen.append(sum(row["state"] == "sent" for row in rows))
            return Answer("fine")

    async with Gateway({"t": Watching()}, journal=journal) as gateway:
        await asyncio.gather(*(gateway.ask("t", chat(f"q{number}")) for number in range(5)))
        await gateway.ask("t", chat("one more"))
    journal.close()
    assert seen == [5] * 5 + [6]


async def test_every_attempt_is_on_record_before_it_goes_out(tmp_path):
    journal = Journal(tmp_path)
    seen = []

    class Failing(Slow):
        async def send(self, sent, wire):
            rows = [orjson.loads(line) for line in segments(tmp_path)[-1].read_bytes().splitlines()]
            seen.append([row.get("attempt", 1) for row in rows if row.get("state") == "sent"])
            raise Fault("server", "down", TRANSIENT)

    async with Gateway({"t": Failing(retries=2)}, journal=journal) as gateway:
        gateway.clocks = VirtualTime().clocks
        with pytest.raises(CallFailed):
            await gateway.ask("t", chat("q"))
    journal.close()
    assert seen == [[1], [1, 2], [1, 2, 3]]
    assert Journal(tmp_path, read_only=True).lost == 0


async def test_no_more_is_paid_to_an_endpoint_that_never_said_anything(provider, tmp_path):
    provider.script = lambda asked, _: Reply(fake_shapes.answer(asked, " "))
    settings = provider.settings("openai", retries=0, concurrency=4)
    async with Gateway.open({"t": settings}, journal=Journal(tmp_path)) as gateway:
        asked = [gateway.ask("t", chat(f"q{number}")) for number in range(200)]
        ends = await asyncio.gather(*asked, return_exceptions=True)
    assert 30 <= provider.stats.calls <= 34
    assert {end.kind for end in ends} == {"empty", "endpoint_stopped"}


@pytest.mark.parametrize(("then", "state"), [("503", "failed"), (None, "ok")])
async def test_a_call_that_is_cancelled_while_its_end_is_written_has_one_end(provider, tmp_path, then, state):
    provider.script = lambda asked, attempt: "503" if attempt == 1 else then

    class Cancelling(Journal):
        def put(self, key, state, body):
            super().put(key, state, body)
            if state in ("ok", "failed"):
                task.cancel()

    journal = Cancelling(tmp_path)
    async with Gateway.open({"t": provider.settings("openai", retries=1)}, journal=journal) as gateway:
        gateway.clocks = VirtualTime().clocks
        task = asyncio.create_task(gateway.ask("t", chat("q")))
        with pytest.raises(asyncio.CancelledError):
            await task
    journal.close()
    ends = [row for row in read_rows(tmp_path) if row["state"] != "sent"]
    assert [row["state"] for row in ends] == [state]
    assert then is None or ends[0]["failure"]["kind"] == "server"
