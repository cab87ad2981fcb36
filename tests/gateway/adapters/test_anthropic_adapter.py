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
    raw = {"kind": "anthropic", "model": "m", "temperature": 0.5, "thinking_budget": 2048, "cache_prompt": True}
    body = orjson.loads(endpoint(raw).compose(chat("hi", system="Ask.")))
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 2048}
    assert body["temperature"] == 0.5
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
    assert answer.usage == Usage(input=125, output=7, cached=100)


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
