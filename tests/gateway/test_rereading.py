"""What only reads a reply is applied anew to what the journal holds; what decides what is sent asks again."""

from collections.abc import Callable

import orjson
import pytest

from gateway.adapters.scripted import ScriptedAdapter, ScriptedSettings
from gateway.engine import Gateway
from gateway.errors import CallFailed
from gateway.prompt import Answer
from runstore.journal import Journal, read_rows
from runstore.records import Usage
from tests.support.asking import chat
from tests.support.fake_faults import Reply


class Desk:
    """One endpoint, asked in a session of its own each time, always over the same journal."""

    def __init__(self, folder, **settings) -> None:
        self.folder, self.settings = folder, settings

    async def ask(self, *, offline: bool = False, **changes) -> Answer:
        settings = {name: value for name, value in {**self.settings, **changes}.items() if value is not None}
        journal = Journal(self.folder, read_only=offline)
        try:
            gateway = Gateway.open({"tutor": settings}, journal=journal, offline=offline)
            async with gateway:
                return await gateway.ask("tutor", chat(), stage="collect", item="s-1")
        finally:
            journal.close()

    async def failure(self, **changes) -> CallFailed:
        with pytest.raises(CallFailed) as caught:
            await self.ask(**changes)
        return caught.value


@pytest.fixture
def service(provider, tmp_path) -> Callable[..., Desk]:
    """A desk at a service that answers with ``body``; ``kind`` and settings as given."""

    def make(body=None, kind="http", **settings) -> Desk:
        if body is not None:
            provider.script = lambda asked, attempt: Reply(body if isinstance(body, bytes) else orjson.dumps(body))
        return Desk(tmp_path / "journal", **provider.settings(kind, **settings), retries=1)

    return make


async def test_another_path_to_the_reply_is_read_without_a_call(service, provider):
    desk = service({"data": {"answer": "Wrong field."}, "text": "What do you see?", "used": {"in": 7, "out": 3}})
    first = await desk.ask()
    again = await desk.ask(
        reply="text", usage={"input": "used.in", "output": "used.out"}, price={"input": 1e6, "output": 0}
    )
    assert (first.text, again.text) == ("Wrong field.", "What do you see?")
    assert again.usage == Usage(input=7, output=3) and again.cost_usd == 7.0
    assert again.latency_s == first.latency_s
    assert (await desk.ask(reply="text", offline=True)).text == "What do you see?"
    assert (await desk.ask()) == first._replace(cost_usd=first.cost_usd)
    assert provider.stats.calls == 1


async def test_a_wrong_path_is_a_failure_without_a_call_and_the_right_one_mends_it(service, provider):
    desk = service({"data": {"answer": "What do you see?"}})
    await desk.ask()
    failed = await desk.failure(reply="data.text")
    assert failed.kind == "malformed" and "nothing at data.text" in failed.message
    assert "read again from the journal" in failed.message
    assert (await desk.failure(reply="data.text", offline=True)).message == failed.message
    assert (await desk.ask()).text == "What do you see?" and provider.stats.calls == 1


async def test_a_reply_that_failed_for_its_path_is_not_paid_again_when_the_path_is_mended(service, provider):
    long = "What do you see? " * 2000
    desk = service({"data": {"answer": long}, "pad": "x"})
    assert (await desk.failure(reply="data.text")).kind == "malformed"
    calls = provider.stats.calls
    answer = await desk.ask()
    assert answer.text == long and answer.retried == ("malformed",)
    assert (await desk.ask(offline=True)) == answer
    assert provider.stats.calls == calls


async def test_whether_a_cut_reply_counts_is_decided_anew_each_time(service, provider):
    provider.script = lambda asked, attempt: "truncated"
    desk = service(kind="openai")
    accepted = await desk.ask(accept_truncated=True)
    assert (accepted.text, accepted.finish) == ("The first step is", "length")
    refused = await desk.failure(accept_truncated=False)
    assert (refused.kind, refused.partial) == ("truncated", "The first step is")
    assert await desk.ask(accept_truncated=True) == accepted
    assert provider.stats.calls == 1


async def test_a_cut_reply_that_failed_is_taken_from_the_journal_when_it_is_accepted(service, provider):
    provider.script = lambda asked, attempt: "truncated"
    desk = service(kind="openai", price={"input": 1.0, "output": 1.0})
    assert (await desk.failure()).kind == "truncated"
    accepted = await desk.ask(accept_truncated=True)
    assert (accepted.text, accepted.finish) == ("The first step is", "length") and accepted.cost_usd
    assert provider.stats.calls == 1


async def test_a_reply_that_an_error_pattern_marks_now_is_asked_again(service, provider):
    desk = service({"data": {"answer": "[ERROR: upstream is busy]"}})
    assert (await desk.ask()).text.startswith("[ERROR")
    assert "the service failed" in (await desk.failure(error_pattern=r"\[ERROR:", offline=True)).message
    provider.script = None
    mended = await desk.ask(error_pattern=r"\[ERROR:")
    assert "ERROR" not in mended.text and provider.stats.calls == 2
    assert (await desk.ask()) == mended and provider.stats.calls == 2


async def test_what_counted_as_a_text_once_and_is_blank_now_is_asked_again(service, provider, monkeypatch):
    desk = service({"data": {"answer": "\u2800"}})
    with monkeypatch.context() as before:
        before.setattr("gateway.answers.says_something", bool)
        before.setattr("gateway.adapters.reading.says_something", bool)
        assert (await desk.ask()).text == "\u2800"
    provider.script = None
    assert (await desk.ask()).text.strip("\u2800") and provider.stats.calls == 2


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("openai", {"extra_headers": {"X-Course": "two"}}),
        ("http", {"headers": {"X-Course": "two"}}),
        ("ureka", {"headers": {"X-Course": "two"}}),
        ("openai", {"temperature": 0.5}),
        ("openai", {"top_p": 0.5}),
        ("anthropic", {"max_output_tokens": 99}),
        ("gemini", {"max_output_tokens": 99}),
        ("http", {"body": {"question": "{last_student}"}}),
    ],
)
async def test_what_decides_what_is_sent_asks_again(service, provider, monkeypatch, kind, change):
    monkeypatch.setenv("NEW_KEY", "sk-another-key-0123456789")
    own = {"headers": {"X-Course": "one"}} if kind in ("http", "ureka") else {}
    own = {"extra_headers": {"X-Course": "one"}} if kind == "openai" else own
    desk = service(kind=kind, **own)
    await desk.ask()
    await desk.ask()
    assert provider.stats.calls == 1
    await desk.ask(**change)
    assert provider.stats.calls == 2
    if kind not in ("http", "ureka"):
        await desk.ask(**change, api_key_env="NEW_KEY")
        assert provider.stats.calls == 2, "another key sends the same request"


@pytest.mark.parametrize("kind", ["openai", "gemini", "anthropic", "http", "ureka"])
async def test_every_kind_reads_its_own_responses_again_as_it_did_at_first(service, provider, kind):
    desk = service(kind=kind, usage={"input": "usage.input"} if kind == "http" else None)
    desk.settings.pop("usage") if desk.settings["usage"] is None else None
    first = await desk.ask()
    assert await desk.ask() == first and await desk.ask(offline=True) == first
    assert provider.stats.calls == 1
    [row] = [row for row in read_rows(desk.folder) if row["state"] == "ok"]
    assert row["response"]


@pytest.mark.parametrize(
    "body",
    [
        b'{"data":{"answer":"half an emoji \\ud83d"},"n":1}',
        b'{"data":\r\n{"answer":"two lines"}}',
        b'{"data":{"answer":"big"},"n":123456789012345678901234567890}',
    ],
)
async def test_bodies_that_not_every_reader_takes_come_back_as_they_were(service, provider, body):
    desk = service(body)
    first = await desk.ask()
    assert await desk.ask() == first and provider.stats.calls == 1


async def test_a_cut_reply_of_an_adapter_that_reads_nothing_again_counts_as_the_settings_say(tmp_path):
    def told(accept):
        return ScriptedAdapter.of(
            [{"reply": "half", "finish": "length"}],
            settings=ScriptedSettings(kind="scripted", accept_truncated=accept, identity="one"),
        )

    for accept, calls in ((True, 1), (False, 0), (True, 0)):
        journal = Journal(tmp_path)
        async with Gateway({"own": told(accept)}, journal=journal) as gateway:
            if accept:
                assert (await gateway.ask("own", chat("q"))).text == "half"
            else:
                with pytest.raises(CallFailed, match="truncated") as failed:
                    await gateway.ask("own", chat("q"))
                assert failed.value.partial == "half"
            assert gateway.endpoints["own"].spent.calls == calls
        journal.close()


async def test_an_adapter_that_does_not_say_that_it_reads_again_is_not_asked_to(tmp_path):
    asked = []

    class Own:
        Settings = ScriptedSettings
        address = "own:"
        settings = ScriptedSettings(kind="scripted")

        def headers(self, key):
            return {}

        def compose(self, prompt):
            return b"{}"

        async def send(self, sent, wire):
            asked.append(sent)
            return Answer("once")

    class Derived(Own):
        reads_again = True

    class FurtherDerived(Derived):
        pass

    assert vars(Derived)["reads_again"]
    for adapter in (Own(), FurtherDerived()):
        journal = Journal(tmp_path)
        async with Gateway({"own": adapter}, journal=journal) as gateway:
            assert (await gateway.ask("own", chat())).text == "once"
        journal.close()
    assert len(asked) == 1
