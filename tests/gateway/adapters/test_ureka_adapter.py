"""The Ureka server: a chat of its own for each attempt, and failures that look like answers."""

from __future__ import annotations

from tests.support.asking import attempt, chat, endpoint, fault_of
from tests.support.fake_provider import FakeProvider


async def test_every_attempt_has_a_new_chat_with_the_history_before_the_last_utterance(
    provider: FakeProvider,
) -> None:
    adapter = endpoint(provider.settings("ureka"))
    provider.script = lambda asked, number: "500" if len(provider.chats) == 1 else None
    prompt = chat("one", "t1", "two", "t2", "three", system="Not for this service.")
    assert (await fault_of(adapter, prompt)).kind == "server"
    answer = await attempt(adapter, prompt)
    said = ["one", "t1", "two", "t2", "three"]
    assert [message["message"] for message in provider.chats["1"]] == said
    assert [message["message"] for message in provider.chats["2"]] == [*said, answer.text]
    assert [message["role"] for message in provider.chats["2"]] == ["user", "assistant"] * 3


async def test_a_failure_inside_an_answer_is_a_failure(provider: FakeProvider) -> None:
    provider.script = lambda asked, number: "200-error"
    fault = await fault_of(endpoint(provider.settings("ureka")), chat("hi"))
    assert (fault.kind, fault.retry.again, fault.text) == ("server", "transient", "Let us look at ")
    assert "[ERROR: 503" in fault.message


async def test_a_first_utterance_needs_no_history(provider: FakeProvider) -> None:
    await attempt(endpoint(provider.settings("ureka")), chat("hi"))
    assert len(provider.chats["1"]) == 2


async def test_the_plain_baseline_of_the_server(provider: FakeProvider) -> None:
    await attempt(endpoint(provider.settings("ureka", plain=True)), chat("hi"))
    assert provider.requests[0].path == "/simple-chat/1"


def test_tutor_and_baseline_are_not_the_same_request() -> None:
    tutor, plain = endpoint({"kind": "ureka"}), endpoint({"kind": "ureka", "plain": True})
    assert tutor.compose(chat("hi")) != plain.compose(chat("hi"))
    assert tutor.settings.timeout_s == 60
    assert tutor.settings.kind == "ureka"
