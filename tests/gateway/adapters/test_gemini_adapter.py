"""generateContent: the same request as google-genai makes, and every ending a reply can have."""

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

USAGE = {"promptTokenCount": 40, "thoughtsTokenCount": 256, "totalTokenCount": 296}


def says(provider: FakeProvider, **body: Any) -> None:
    provider.script = lambda asked, number: Reply(orjson.dumps(body))


def candidate(parts: Any, finish: str | None = "STOP") -> list[Any]:
    content = {"role": "model"} | ({"parts": parts} if parts is not None else {})
    return [{"content": content, "finishReason": finish, "index": 0}]


def canonical(body: dict[str, Any]) -> bytes:
    """The SDK adds an empty generationConfig and writes thinking's fields in snake case; both mean the same."""
    body = {name: value for name, value in body.items() if value != {}}
    thinking = body.get("generationConfig", {}).get("thinkingConfig", {})
    for name in [name for name in thinking if "_" in name]:
        first, *rest = name.split("_")
        thinking[first + "".join(part.title() for part in rest)] = thinking.pop(name)
    return orjson.dumps(body, option=orjson.OPT_SORT_KEYS)


SCHEMA = {
    "type": "object",
    "properties": {"winner": {"type": "string", "enum": ["a", "b"]}},
    "required": ["winner"],
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("ours", "theirs", "system", "schema"),
    [
        ({}, {}, None, None),
        (
            {"temperature": 0.5, "top_p": 0.5, "seed": 3},
            {"temperature": 0.5, "top_p": 0.5, "seed": 3},
            "Ask.",
            None,
        ),
        ({"max_output_tokens": 99}, {"max_output_tokens": 99}, "Ask.", SCHEMA),
        ({"thinking_budget": 0}, {"thinking_config": {"thinking_budget": 0}}, None, None),
        ({"thinking_level": "low"}, {"thinking_config": {"thinking_level": "LOW"}}, None, None),
        (
            {"safety": {"HARM_CATEGORY_HARASSMENT": "OFF"}},
            {"safety_settings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "OFF"}]},
            None,
            None,
        ),
    ],
)
async def test_the_request_is_the_one_that_google_genai_makes(
    provider: FakeProvider, ours: dict[str, Any], theirs: dict[str, Any], system: str | None, schema: Any
) -> None:
    from google import genai
    from google.genai import types

    prompt = chat("hi", "yo 안녕", "why?", system=system, schema=Schema("v", schema) if schema else None)
    await attempt(endpoint(provider.settings("gemini", **ours)), prompt, key="test-key-1")
    options = types.HttpOptions(base_url=provider.url, api_version="v1beta")
    client = genai.Client(api_key="test-key-1", http_options=options)
    turns = [m for m in prompt.messages if m.role != "system"]
    contents = [
        types.Content(role="model" if m.role == "assistant" else "user", parts=[types.Part(text=m.content)])
        for m in turns
    ]
    config: dict[str, Any] = {**theirs, "system_instruction": system}
    if schema:
        config |= {"response_mime_type": "application/json", "response_json_schema": schema}
    client.models.generate_content(model="fake-1", contents=contents, config=types.GenerateContentConfig(**config))
    client.close()
    mine, sdk = provider.requests
    assert mine.path == sdk.path
    assert mine.headers["x-goog-api-key"] == sdk.headers["x-goog-api-key"] == "test-key-1"
    assert canonical(mine.body) == canonical(sdk.body)


def test_the_model_is_part_of_what_is_composed() -> None:
    made = {endpoint({"kind": "gemini", "model": model}).compose(chat("hi")) for model in ("a", "b")}
    assert len(made) == 2
    for one in made:
        orjson.loads(one)


async def test_the_key_is_in_a_header_and_never_in_the_address(provider: FakeProvider) -> None:
    adapter = endpoint(provider.settings("gemini", model="models/gemini-2.5-flash"))
    await attempt(adapter, chat("hi"), key="test-KEY-93f1-not-real")
    (asked,) = provider.requests
    assert asked.path == "/v1beta/models/gemini-2.5-flash:generateContent"
    assert asked.headers["x-goog-api-key"] == "test-KEY-93f1-not-real"


@pytest.mark.parametrize("fault", ["400", "404-model", "503", "reset", "429-daily", "html-200"])
async def test_no_fault_shows_the_key(provider: FakeProvider, fault: str) -> None:
    provider.script = lambda asked, number: fault
    caught = await fault_of(endpoint(provider.settings("gemini")), chat("hi"), key="test-KEY-93f1-not-real")
    chain: BaseException | None = caught
    while chain is not None:
        assert "93f1" not in repr(chain)
        assert "93f1" not in str(chain)
        chain = chain.__cause__ or (None if chain.__suppress_context__ else chain.__context__)


async def test_thinking_that_ate_the_whole_budget_is_a_named_failure(provider: FakeProvider) -> None:
    says(provider, candidates=candidate(None, "MAX_TOKENS"), usageMetadata=USAGE)
    fault = await fault_of(endpoint(provider.settings("gemini", max_output_tokens=256)), chat("hi"))
    assert (fault.kind, fault.text, fault.retry.again) == ("truncated", "", "no")
    assert fault.usage == Usage.of((40, 0, 256, None))
    for part in ("MAX_TOKENS", "256 thought tokens", "limit of 256"):
        assert part in fault.message


async def test_thought_parts_are_no_part_of_the_text(provider: FakeProvider) -> None:
    hidden = {"text": "The student mixed up area and perimeter; I should hint.", "thought": True}
    says(provider, candidates=candidate([hidden, {"text": "What does the 5 stand for in your drawing?"}]))
    answer = await attempt(endpoint(provider.settings("gemini")), chat("hi"))
    assert answer.text == "What does the 5 stand for in your drawing?"
    assert answer.warnings == ()


async def test_leaked_thought_is_kept_and_warned_about(provider: FakeProvider) -> None:
    text = "THOUGHT: the answer is 42, do not say so.\n\nWhat have you tried so far?"
    says(provider, candidates=candidate([{"text": text}]))
    answer = await attempt(endpoint(provider.settings("gemini")), chat("hi"))
    assert answer.text == text
    assert answer.warnings == ("possible leaked reasoning",)


@pytest.mark.parametrize(
    ("body", "kind", "again", "words"),
    [
        ({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {}}, "blocked", "no", "SAFETY"),
        ({"candidates": [{"finishReason": "SAFETY"}]}, "blocked", "no", "SAFETY"),
        ({"candidates": candidate([{"text": "So"}], "RECITATION")}, "blocked", "no", "RECITATION"),
        ({"candidates": candidate([{"text": "So"}], "MAX_TOKENS")}, "truncated", "no", "MAX_TOKENS"),
        ({"candidates": candidate([{"text": "So"}], "OTHER")}, "malformed", "transient", "OTHER"),
        ({"candidates": candidate(None)}, "empty", "transient", "no text"),
        ({"candidates": candidate([])}, "empty", "transient", "no text"),
        ({"candidates": [{"content": None, "finishReason": "STOP"}]}, "empty", "transient", "no text"),
        ({"candidates": None, "usageMetadata": {}}, "empty", "transient", "no candidates"),
        ({"candidates": []}, "empty", "transient", "no candidates"),
        ({"hello": 1}, "malformed", "transient", "no candidates"),
        ({"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}, "server", "transient", "busy"),
    ],
)
async def test_answers_that_are_none(provider: FakeProvider, body: Any, kind: str, again: str, words: str) -> None:
    says(provider, **body)
    fault = await fault_of(endpoint(provider.settings("gemini")), chat("hi"))
    assert (fault.kind, fault.retry.again) == (kind, again)
    assert words in fault.message


@pytest.mark.parametrize("usage", [None, {}, {"promptTokenCount": None, "candidatesTokenCount": 3}])
async def test_usage_fields_may_be_missing(provider: FakeProvider, usage: Any) -> None:
    says(provider, candidates=candidate([{"text": "So?"}]), usageMetadata=usage)
    answer = await attempt(endpoint(provider.settings("gemini")), chat("hi"))
    assert answer.usage == Usage(output=3 if usage else None)


async def test_half_an_emoji_in_a_reply_can_be_used_in_the_next_request(provider: FakeProvider) -> None:
    body = b'{"candidates":[{"content":{"parts":[{"text":"Nice \\ud83d work"}]},"finishReason":"STOP"}]}'
    provider.script = lambda asked, number: Reply(body)
    adapter = endpoint(provider.settings("gemini"))
    answer = await attempt(adapter, chat("hi"))
    assert answer.text == "Nice � work"
    assert "Nice � work" in adapter.compose(chat("hi", answer.text, "so?")).decode()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"thinking_budget": 128, "thinking_level": "low"}, "expected one of the two"),
        ({"thinking_budget": -2}, "thinking_budget: found -2"),
        ({"temperature": 2.5}, "temperature: found 2.5, expected 0 to 2"),
    ],
)
def test_what_the_provider_is_known_to_refuse_is_refused_before_a_call(settings: Any, words: str) -> None:
    with pytest.raises(Problem) as caught:
        endpoint({"kind": "gemini", "model": "m", **settings})
    assert words in str(caught.value)


async def test_a_call_of_a_tool_is_named_and_final(provider: FakeProvider) -> None:
    call = {"functionCall": {"name": "give_hint", "args": {}}}
    says(provider, candidates=[{"content": {"parts": [call]}, "finishReason": "STOP"}])
    fault = await fault_of(endpoint(provider.settings("gemini")), chat("hi"))
    assert (fault.kind, fault.retry.again) == ("tool_call", "no")
    assert "give_hint" in fault.message
