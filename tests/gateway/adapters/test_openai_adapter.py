"""Chat completions: what is sent, and what each kind of answer means."""

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


def sent(raw: dict[str, Any], **prompt: Any) -> dict[str, Any]:
    return orjson.loads(endpoint({"kind": "openai", "model": "m", **raw}).compose(chat("hi", **prompt)))


def says(provider: FakeProvider, **body: Any) -> None:
    provider.script = lambda asked, number: Reply(orjson.dumps(body))


def choice(message: Any, finish: str | None = "stop", **more: Any) -> list[Any]:
    return [{"index": 0, "message": message, "finish_reason": finish, **more}]


CUT = ("max_tokens", "MAX_TOKENS", "model_length", "max_output_tokens", "LENGTH", "token_limit", "incomplete")
HINT = {"id": "c", "type": "function", "function": {"name": "give_hint", "arguments": "{}"}}


def test_only_what_was_set_is_sent() -> None:
    assert sent({}) == {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    body = sent({"temperature": 0, "top_p": 0.5, "seed": 0, "extra_body": {"top_k": 3}}, system="Ask.")
    assert body["messages"][0] == {"role": "system", "content": "Ask."}
    assert (body["temperature"], body["top_p"], body["seed"], body["top_k"]) == (0.0, 0.5, 0, 3)


def test_the_limit_goes_by_the_name_that_the_server_knows() -> None:
    assert sent({"max_output_tokens": 64})["max_completion_tokens"] == 64
    assert sent({"max_output_tokens": 64, "base_url": "http://127.0.0.1:1/v1"})["max_tokens"] == 64
    other = {"base_url": "http://127.0.0.1:1/v1", "max_tokens_field": "max_completion_tokens"}
    assert sent({"max_output_tokens": 64, **other})["max_completion_tokens"] == 64


def test_a_schema_is_asked_for_in_the_form_the_server_has() -> None:
    schema = Schema("verdict", {"type": "object", "properties": {}})
    form = sent({}, schema=schema)["response_format"]
    assert form["json_schema"] == {"name": "verdict", "schema": schema.schema, "strict": True}
    assert sent({"json_format": "json_object"}, schema=schema)["response_format"] == {"type": "json_object"}
    assert "response_format" not in sent({"json_format": "none"}, schema=schema)


def test_each_setting_changes_the_bytes_and_equal_prompts_do_not() -> None:
    settings: list[dict[str, Any]] = [
        {},
        {"model": "n"},
        {"temperature": 0.2},
        {"temperature": 0.9},
        {"seed": 1},
        {"seed": 2},
        {"max_output_tokens": 64},
        {"max_output_tokens": 512},
        {"top_p": 0.5},
        {"extra_body": {"a": 1}},
    ]
    made = [endpoint({"kind": "openai", "model": "m", **one}).compose(chat("hi")) for one in settings]
    made += [endpoint({"kind": "openai", "model": "m"}).compose(chat("hi", system=text)) for text in ("x", "y")]
    made.append(endpoint({"kind": "openai", "model": "m"}).compose(chat("hi", schema=Schema("s", {}))))
    assert len(set(made)) == len(made)
    assert endpoint({"kind": "openai", "model": "m"}).compose(chat("hi")) == made[0]


def test_half_an_emoji_in_a_prompt_can_be_sent() -> None:
    body = orjson.loads(endpoint({"kind": "openai", "model": "m"}).compose(chat("a \ud83d b", system="ok \ud83d")))
    assert [message["content"] for message in body["messages"]] == ["ok �", "a � b"]


async def test_an_answer_with_its_usage(provider: FakeProvider) -> None:
    usage = {
        "prompt_tokens": 30,
        "completion_tokens": 20,
        "completion_tokens_details": {"reasoning_tokens": 8},
        "prompt_tokens_details": {"cached_tokens": 12},
    }
    says(provider, id="c1", model="m-2026", choices=choice({"content": "Why?"}), usage=usage)
    answer = await attempt(endpoint(provider.settings("openai")), chat("hi"), key="test-key-1")
    assert (answer.text, answer.model, answer.request_id) == ("Why?", "m-2026", "c1")
    assert answer.usage == Usage(input=30, output=12, thinking=8, cached=12)
    assert provider.requests[0].path == "/v1/chat/completions"
    assert provider.requests[0].headers["authorization"] == "Bearer test-key-1"


@pytest.mark.parametrize(
    ("counts", "output", "thinking"),
    [
        ({"completion_tokens": 105, "reasoning": 100, "total_tokens": 115}, 5, 100),
        ({"completion_tokens": 105, "reasoning": 100}, 5, 100),
        ({"completion_tokens": 5, "reasoning": 100, "total_tokens": 115}, 5, 100),
        ({"completion_tokens": 5, "total_tokens": 115}, 5, 100),
        ({"completion_tokens": 5, "total_tokens": 45, "cached": 30}, 5, None),
        ({"completion_tokens": 5, "total_tokens": 15, "reasoning": 0}, 5, 0),
        ({"completion_tokens": 5, "total_tokens": "many"}, 5, None),
    ],
    ids=["inside", "without a total", "beside", "in the total alone", "a cache beside", "none", "no number"],
)
async def test_thinking_is_paid_wherever_a_provider_counts_it(
    provider: FakeProvider, counts: dict[str, Any], output: int, thinking: int | None
) -> None:
    usage = {"prompt_tokens": 10, **counts}
    usage["completion_tokens_details"] = {"reasoning_tokens": counts.get("reasoning")}
    usage["prompt_tokens_details"] = {"cached_tokens": counts.get("cached")}
    says(provider, choices=choice({"content": "Why?"}), usage=usage)
    found = (await attempt(endpoint(provider.settings("openai")), chat("hi"))).usage
    assert (found.input, found.output, found.thinking) == (10, output, thinking)


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": None, "completion_tokens_details": None}, "x"])
async def test_usage_may_be_missing_in_any_way(provider: FakeProvider, usage: Any) -> None:
    says(provider, choices=choice({"content": "Why?"}, None), usage=usage)
    assert (await attempt(endpoint(provider.settings("openai")), chat("hi"))).usage == Usage()


@pytest.mark.parametrize(
    ("choices", "kind", "again", "words"),
    [
        (choice({"content": None}), "empty", "transient", "no text"),
        (choice({"content": ""}), "empty", "transient", "no text"),
        (choice({"content": None, "reasoning_content": "hm"}), "empty", "transient", "no text"),
        (choice({"content": None, "tool_calls": [{}]}, "tool_calls"), "tool_call", "no", "without a name"),
        (
            choice({"content": None, "tool_calls": [HINT, HINT]}, "tool_calls"),
            "tool_call",
            "no",
            "(give_hint, give_hint)",
        ),
        (choice({"content": None, "tool_calls": [HINT]}, "stop"), "tool_call", "no", "give_hint"),
        (
            choice({"content": "\u200b", "function_call": {"name": "old"}}, "function_call"),
            "tool_call",
            "no",
            "old",
        ),
        (choice({"content": None}, "tool_calls"), "tool_call", "no", "without a name"),
        (choice({"content": '<tool_call>\n{"name": "give_hint"}\n</tool_call>'}), "tool_call", "no", "give_hint"),
        (choice({"content": '[TOOL_CALLS][{"name": "give_hint"}]'}), "tool_call", "no", "give_hint"),
        (choice({"content": "<function=give_hint>{}</function>"}, "length"), "tool_call", "no", "give_hint"),
        (choice({"content": None, "refusal": "I cannot"}), "refused", "no", "I cannot"),
        (choice({"content": "half"}, "content_filter"), "blocked", "no", "content_filter"),
        (choice({"content": "half"}, "length"), "truncated", "no", "finish reason length"),
        *((choice({"content": "half"}, word), "truncated", "no", f"finish reason {word}") for word in CUT),
        *((choice({"content": "half"}, word), "blocked", "no", word) for word in ("sensitive", "SAFETY")),
        *((choice({"content": "half"}, word), "server", "transient", word) for word in ("network_error", "abort")),
        (choice({"content": "half"}, "error"), "server", "transient", "error"),
        (choice({}, "error", error={"code": 502, "message": "gone"}), "server", "transient", "gone"),
        ([], "empty", "transient", "no choices"),
        (["x"], "empty", "transient", "no text"),
        (choice({"content": 5}), "malformed", "transient", "int"),
    ],
)
async def test_answers_that_are_none(
    provider: FakeProvider, choices: Any, kind: str, again: str, words: str
) -> None:
    says(provider, choices=choices)
    fault = await fault_of(endpoint(provider.settings("openai")), chat("hi"))
    assert (fault.kind, fault.retry.again) == (kind, again)
    assert words in fault.message


@pytest.mark.parametrize("used", [(7, 0), (2, 5), (9, 0)])
async def test_a_reply_that_used_all_its_tokens_and_has_no_ending_was_cut(
    provider: FakeProvider, used: tuple[int, int]
) -> None:
    output, thinking = used
    details = {"completion_tokens_details": {"reasoning_tokens": thinking}} if thinking else {}
    usage = {"prompt_tokens": 3, "completion_tokens": output + thinking, **details}
    adapter = endpoint(provider.settings("openai", max_output_tokens=7))
    says(provider, choices=choice({"content": "Score: 1"}, None), usage=usage)
    assert (await fault_of(adapter, chat("hi"))).kind == "truncated"
    says(provider, choices=choice({"content": "Score: 1"}, "stop"), usage=usage)
    assert (await attempt(adapter, chat("hi"))).finish == "stop"


@pytest.mark.parametrize("word", ["stop", "eos", "eos_token", "end_turn", "stop_sequence", "COMPLETE", "", None])
async def test_a_reply_that_ended_by_any_word_is_whole(provider: FakeProvider, word: str | None) -> None:
    says(provider, choices=choice({"content": "Score: 1"}, word))
    assert (await attempt(endpoint(provider.settings("openai")), chat("hi"))).finish == "stop"


async def test_a_success_that_carries_an_error_names_it_and_the_next_attempt_answers(
    provider: FakeProvider,
) -> None:
    busy = Reply(orjson.dumps({"error": {"message": "upstream busy", "code": 429}, "choices": None}))
    good = Reply(orjson.dumps({"choices": choice({"content": "Let us draw it."})}))
    provider.script = lambda asked, number: busy if number == 1 else good
    adapter = endpoint(provider.settings("openai"))
    fault = await fault_of(adapter, chat("hi"))
    assert "upstream busy" in fault.message
    assert fault.retry.again == "rate_limited"
    assert (await attempt(adapter, chat("hi"))).text == "Let us draw it."


async def test_thinking_chunks_never_reach_the_text(provider: FakeProvider) -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "They forgot to carry."}]}
    chunks = [thinking, {"type": "text", "text": "Look at the "}, {"type": "text", "text": "tens column."}]
    says(provider, choices=choice({"content": chunks}))
    adapter = endpoint(provider.settings("openai"))
    first = await attempt(adapter, chat("hi"))
    assert first.text == "Look at the tens column."
    body = adapter.compose(chat("hi", first.text, "and now?"))
    assert b"Look at the tens column." in body
    assert b"They forgot" not in body


async def test_a_cut_reply_can_be_accepted(provider: FakeProvider) -> None:
    says(provider, choices=choice({"content": "half"}, "length"))
    answer = await attempt(endpoint(provider.settings("openai", accept_truncated=True)), chat("hi"))
    assert (answer.text, answer.finish) == ("half", "length")


def test_the_students_own_opening_stays_in_its_own_history() -> None:
    prompt = chat(
        "Begin.",
        "I get 12 for 3 + 4 x 2, why is that wrong?",
        "Which part did you work out first?",
        role="student",
    )
    for kind in ("openai", "gemini", "anthropic"):
        body = endpoint({"kind": kind, "model": "m"}).compose(prompt).decode()
        assert body.count("I get 12 for 3 + 4 x 2") == 1
        assert body.index("Begin.") < body.index("I get 12") < body.index("Which part")


def test_a_model_must_be_named() -> None:
    for kind in ("openai", "gemini", "anthropic"):
        with pytest.raises(Problem, match=r"endpoints\.tutor\.model: missing"):
            endpoint({"kind": kind})


async def test_a_query_of_the_base_address_goes_behind_every_path(provider: FakeProvider) -> None:
    raw = provider.settings("openai", key_header="api-key")
    raw["base_url"] = f"{provider.url}/openai/deployments/d/?api-version=2024-10-21"
    await attempt(endpoint(raw), chat("hi"), key="azure-key-1")
    asked = provider.requests[0]
    assert asked.path == "/openai/deployments/d/chat/completions?api-version=2024-10-21"
    assert asked.headers["api-key"] == "azure-key-1" and "authorization" not in asked.headers


@pytest.mark.parametrize(
    ("address", "header", "limit"),
    [
        (
            "https://x.openai.azure.com/openai/v1?api-version=preview",
            {"api-key": "the-key-1"},
            "max_completion_tokens",
        ),
        ("https://x.services.ai.azure.com/openai/v1", {"api-key": "the-key-1"}, "max_completion_tokens"),
        ("https://api.openai.com/v1", {"Authorization": "Bearer the-key-1"}, "max_completion_tokens"),
        ("http://127.0.0.1:9/v1", {"Authorization": "Bearer the-key-1"}, "max_tokens"),
    ],
)
def test_azure_has_its_own_header_for_the_key(address: str, header: dict[str, str], limit: str) -> None:
    raw = {"kind": "openai", "model": "m", "base_url": address, "max_output_tokens": 9}
    made = endpoint(raw)
    assert made.headers("the-key-1") == {"Content-Type": "application/json", **header}
    assert orjson.loads(made.compose(chat("hi")))[limit] == 9


async def test_a_text_that_tells_of_a_tool_is_an_answer(provider: FakeProvider) -> None:
    said = "Write <tool_call>{}</tool_call> around it: what is it for?"
    says(provider, choices=choice({"content": said}))
    assert (await attempt(endpoint(provider.settings("openai")), chat("hi"))).text == said


def test_a_server_without_a_system_role_gets_its_text_with_the_first_user_message() -> None:
    raw = {"kind": "openai", "model": "m", "system_role": False}
    body = orjson.loads(endpoint(raw).compose(chat("hi", "Why?", "so", system="Ask only.")))
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]
    assert body["messages"][0]["content"] == "Ask only.\n\nhi"
    assert orjson.loads(endpoint(raw).compose(chat("hi")))["messages"] == [{"role": "user", "content": "hi"}]
