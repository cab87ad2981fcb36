"""Claude's messages: pinned version, required limit, endings, usage with the cache."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from gateway.prompt import Schema
from runstore.problems import Problem
from runstore.records import Usage
from tests.support.asking import attempt, chat, endpoint, fault_of
from tests.support.fake_faults import Reply
from tests.support.fake_provider import FakeProvider


def says(provider: FakeProvider, **body: Any) -> None:
    provider.script = lambda asked, number: Reply(orjson.dumps(body))


async def test_what_is_sent(provider: FakeProvider) -> None:
    schema = Schema("v", {"type": "object"})
    await attempt(
        endpoint(provider.settings("anthropic")), chat("hi", system="Ask.", schema=schema), key="test-key-1"
    )
    (asked,) = provider.requests
    assert asked.path == "/v1/messages"
    assert (asked.headers["anthropic-version"], asked.headers["x-api-key"]) == ("2023-06-01", "test-key-1")
    assert asked.body == {
        "model": "fake-1",
        "max_tokens": 1024,
        "system": "Ask.",
        "messages": [{"role": "user", "content": "hi"}],
        "output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}},
    }


def test_options() -> None:
    thinking = {"thinking_budget": 2048, "max_output_tokens": 4096, "top_p": 0.96}
    raw = {"kind": "anthropic", "model": "m", **thinking, "cache_prompt": True}
    body = orjson.loads(endpoint(raw).compose(chat("hi", system="Ask.")))
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 2048}
    assert (body["max_tokens"], body["top_p"]) == (4096, 0.96)
    assert body["system"] == [{"type": "text", "text": "Ask.", "cache_control": {"type": "ephemeral"}}]


def test_a_seed_is_refused_rather_than_left_out() -> None:
    with pytest.raises(Problem, match=r"endpoints\.tutor\.seed"):
        endpoint({"kind": "anthropic", "model": "m", "seed": 1})


async def test_usage_counts_the_cache_into_the_input(provider: FakeProvider) -> None:
    usage = {
        "input_tokens": 5,
        "cache_creation_input_tokens": 20,
        "cache_read_input_tokens": 100,
        "output_tokens": 7,
    }
    blocks = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Why?"}]
    says(provider, id="msg_1", content=blocks, stop_reason="end_turn", usage=usage)
    answer = await attempt(endpoint(provider.settings("anthropic")), chat("hi"))
    assert answer.text == "Why?"
    assert answer.usage == Usage(input=125, output=7, cached=100, cache_written=20)


@pytest.mark.parametrize(
    ("body", "kind", "again", "words"),
    [
        ({"content": [], "stop_reason": "refusal"}, "refused", "no", "refusal"),
        ({"content": [{"type": "text", "text": "So"}], "stop_reason": "max_tokens"}, "truncated", "no", "1024"),
        ({"content": [], "stop_reason": "model_context_window_exceeded"}, "context_length", "no", "window"),
        ({"content": [], "stop_reason": "end_turn"}, "empty", "transient", "no text"),
        (
            {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}},
            "rate_limit",
            "rate_limited",
            "busy",
        ),
    ],
)
async def test_answers_that_are_none(provider: FakeProvider, body: Any, kind: str, again: str, words: str) -> None:
    says(provider, **body)
    fault = await fault_of(endpoint(provider.settings("anthropic")), chat("hi"))
    assert (fault.kind, fault.retry.again) == (kind, again)
    assert words in fault.message


async def test_a_model_that_takes_no_temperature_is_explained(provider: FakeProvider) -> None:
    error = {
        "type": "error",
        "error": {"type": "invalid_request_error", "message": "temperature is not supported"},
    }
    provider.script = lambda asked, number: Reply(orjson.dumps(error), 400)
    fault = await fault_of(endpoint(provider.settings("anthropic", temperature=0.2)), chat("hi"))
    assert fault.kind == "bad_request"
    assert "leave it out" in fault.message


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            {"thinking_budget": 4096, "max_output_tokens": 4096},
            "found 4096, expected less than max_output_tokens, 4096",
        ),
        ({"thinking_budget": 2048}, "found 2048, expected less than max_output_tokens, its default of 1024"),
        ({"thinking_budget": 1024, "max_output_tokens": 2048, "temperature": 0.5}, "temperature: found 0.5"),
        (
            {"thinking_budget": 1024, "max_output_tokens": 2048, "top_p": 0.5},
            "top_p: found 0.5, expected 0.95 to 1",
        ),
        ({"temperature": 1.5}, "temperature: found 1.5, expected 0 to 1"),
        ({"top_p": 1.5}, "top_p: found 1.5, expected 0 to 1"),
    ],
)
def test_what_the_provider_is_known_to_refuse_is_refused_before_a_call(settings: Any, words: str) -> None:
    with pytest.raises(Problem) as caught:
        endpoint({"kind": "anthropic", "model": "m", **settings})
    assert words in str(caught.value)


async def test_cache_writes_are_counted_by_how_long_they_last(provider: FakeProvider) -> None:
    split = {"ephemeral_5m_input_tokens": 30, "ephemeral_1h_input_tokens": 70}
    usage = {"input_tokens": 5, "cache_creation_input_tokens": 100, "cache_creation": split, "output_tokens": 7}
    says(provider, content=[{"type": "text", "text": "Why?"}], stop_reason="end_turn", usage=usage)
    answer = await attempt(endpoint(provider.settings("anthropic")), chat("hi"))
    assert answer.usage == Usage(input=105, output=7, cache_written=30, cache_written_1h=70)


async def test_a_call_of_a_tool_is_named_and_final(provider: FakeProvider) -> None:
    tool = {"type": "tool_use", "id": "t", "name": "give_hint", "input": {}}
    says(provider, content=[tool], stop_reason="tool_use", usage={"input_tokens": 1, "output_tokens": 9})
    fault = await fault_of(endpoint(provider.settings("anthropic")), chat("hi"))
    assert (fault.kind, fault.retry.again) == ("tool_call", "no")
    assert "give_hint" in fault.message
    text = {"type": "text", "text": "What do you see?"}
    says(provider, content=[text, tool], stop_reason="tool_use")
    assert (await attempt(endpoint(provider.settings("anthropic")), chat("hi"))).text == "What do you see?"
