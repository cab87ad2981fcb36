"""Every kind of endpoint with every option of any kind: it is put to use, or refused by its name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.adapters.catalog import KINDS, adapter_class, build
from gateway.endpoint import Endpoint
from gateway.prompt import Message, Prompt, Schema
from runstore.problems import InputProblem, Problem
from runstore.records import Usage, Utterance

LEAST: dict[str, dict[str, Any]] = {
    "gemini": {"model": "m"},
    "openai": {"model": "m"},
    "anthropic": {"model": "m"},
    "bedrock": {"model": "m", "region": "us-east-1"},
    "litellm": {"model": "cohere/m"},
    "http": {
        "url": "http://127.0.0.1:9/reply",
        "body": {"history": "{all_messages}", "model": "{model}"},
    },
    "ureka": {},
    "local": {},
    "scripted": {},
}
WITH: dict[tuple[str, str], dict[str, Any]] = {
    ("gemini", "project"): {"vertexai": True, "project": "p"},
    ("gemini", "location"): {"vertexai": True, "project": "p"},
    ("http", "steps"): {"base_url": "http://127.0.0.1:9"},
}
INSTEAD_OF = {("http", "steps"): ("url", "body")}
ALSO: dict[tuple[str, str], dict[str, Any]] = {("gemini", "vertexai"): {"project": "p"}}
GIVEN: dict[str, Any] = {
    "model": "gpt-5-mini",
    "base_url": "http://127.0.0.1:8/v1",
    "api_key_env": "SOME_KEY",
    "identity": "tutor-v3",
    "family": "kin",
    "temperature": 0.7,
    "top_p": 0.5,
    "seed": 7,
    "max_output_tokens": 2048,
    "accept_truncated": True,
    "system": "Teach.",
    "style": "plain",
    "concurrency": 3,
    "requests_per_minute": 60,
    "tokens_per_minute": 1000,
    "timeout_s": 5,
    "retries": 1,
    "longest_wait_s": 3,
    "total_s": 50,
    "largest_reply_mb": 2,
    "proxy": "http://proxy.example:3128",
    "price": {"input": 1.0, "output": 2.0},
    "vertexai": True,
    "project": "another",
    "location": "europe-west4",
    "thinking_budget": 1024,
    "thinking_level": "low",
    "safety": {"HARM_CATEGORY_HARASSMENT": "OFF"},
    "max_tokens_field": "max_completion_tokens",
    "json_format": "json_object",
    "strict_schema": False,
    "extra_body": {"top_k": 5},
    "extra_headers": {"X-Course": "a"},
    "key_header": "x-my-key",
    "system_role": False,
    "cache_prompt": True,
    "region": "eu-central-1",
    "profile": "mine",
    "url": "http://127.0.0.1:7/other",
    "headers": {"X-Course": "a"},
    "body": {"said": "{last_student}"},
    "steps": [{"path": "/say", "body": "{last_student}"}],
    "reply": "data.text",
    "session": "replay",
    "error": "failed",
    "error_pattern": "ERROR",
    "usage": {"input": "n"},
    "roles": {"student": "learner"},
    "message_keys": {"content": "message"},
    "plain": True,
    "min_p": 0.2,
    "replies": "others.jsonl",
    "order": "hash",
}
BESIDE: dict[tuple[str, str], dict[str, Any]] = {
    ("local", "model"): {"model": "gpt-5-mini"},
    ("litellm", "model"): {"model": "cohere/other"},
    ("openai", "max_tokens_field"): {"max_output_tokens": 9, "max_tokens_field": "max_tokens"},
    ("local", "accept_truncated"): {"accept_truncated": False},
    ("litellm", "max_tokens_field"): {"max_output_tokens": 9},
    ("anthropic", "thinking_budget"): {"max_output_tokens": 2048},
    ("bedrock", "json_format"): {"json_format": "json_schema"},
}
ELSEWHERE = (
    "family",
    "retries",
    "longest_wait_s",
    "total_s",
    "accept_truncated",
    "system",
    "style",
    "proxy",
    "largest_reply_mb",
    "api_key_env",
    "profile",
    "reply",
    "error",
    "error_pattern",
    "usage",
    "order",
)
"""Options that the engine, the runner or the reader of a reply takes from the adapter's settings."""
PASSED_OVER = {(kind, "base_url") for kind in ("local", "scripted")}
"""A configuration keeps the address of a server in whose place a kind stands that sends nothing."""
OPTIONS = sorted({name for kind in KINDS for name in adapter_class(kind).Settings.model_fields} - {"kind"})
SAID = (
    Utterance(role="student", text="q"),
    Utterance(role="teacher", text="a"),
    Utterance(role="student", text="r"),
)
PROMPTS = [
    Prompt("teacher", (Message("system", "s"), Message("user", "q")), transcript=SAID),
    Prompt("judge", (Message("user", "j"),), schema=Schema("verdict", {"type": "object"})),
]


@pytest.fixture(autouse=True)
def replies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in (("replies", "one"), ("others", "two")):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"reply": text}) + "\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def least(kind: str) -> dict[str, Any]:
    return {"kind": kind, **LEAST[kind]} | ({"replies": "replies.jsonl"} if kind == "scripted" else {})


def seen(table: dict[str, Any]) -> list[Any]:
    """All that an endpoint's table decides."""
    adapter = build("t", table)
    endpoint = Endpoint("t", adapter, lambda: 0.0, keyless=True)
    return [
        adapter.address,
        adapter.headers("key"),
        [adapter.compose(prompt) for prompt in PROMPTS],
        endpoint.key(b"", 0),
        endpoint.gate.ceiling,
        endpoint.limits,
        endpoint.timeout_s,
        [lane.base_url for lane in endpoint.lanes],
        endpoint.cost(Usage(input=1000, output=1000, thinking=0, cached=0)),
        [getattr(adapter.settings, name, None) for name in ELSEWHERE],
    ]


def test_a_value_is_known_here_for_every_option_of_the_schema() -> None:
    assert sorted(GIVEN) == OPTIONS
    assert sorted(LEAST) == sorted(KINDS)


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_an_option_is_used_or_refused_by_name(kind: str, option: str) -> None:
    beside = dict(BESIDE.get((kind, option), {}))
    value = beside.pop(option, GIVEN[option])
    without = least(kind) | WITH.get((kind, option), {}) | beside
    table = {name: one for name, one in without.items() if name not in INSTEAD_OF.get((kind, option), ())}
    try:
        found = seen(table | {option: value} | ALSO.get((kind, option), {}))
    except Problem as problem:
        assert str(problem).startswith(f"endpoints.t.{option}: ")
    else:
        assert (found == seen(without)) == ((kind, option) in PASSED_OVER), f"{option} changes nothing"


@pytest.mark.parametrize("kind", KINDS)
def test_no_value_of_any_option_ends_in_anything_but_a_refusal(kind: str) -> None:
    wrong: list[Any] = [{}, {"a": 1}, {"a": {"b": []}}, [], [1], [""], ["a"], "", " ", "x", "\x00", "{x}", "${"]
    wrong += [-1, 0, True, False, 10**30, -(10**30), 1.5, float("nan"), float("inf"), "1", "(", "\n"]
    wrong += [
        "http://[",
        "http://a b",
        "http://a:99999",
        "http://a:b",
        "http://a..b",
        ["http://["],
        ["http://a:b"],
    ]
    for option in OPTIONS:
        for value in wrong:
            try:
                seen(least(kind) | {option: value})
            except Problem as problem:
                is_file = isinstance(problem, InputProblem)
                assert is_file or str(problem).startswith("endpoints.t."), (option, value)


@pytest.mark.parametrize("kind", ["gemini", "openai", "anthropic", "bedrock", "litellm"])
def test_a_model_without_a_system_role_is_told_its_part_in_the_first_message(kind: str) -> None:
    prompt = Prompt("judge", (Message("system", "Be fair."), Message("user", "q")))
    sent = build("t", least(kind) | {"system_role": False}).compose(prompt).decode()
    assert '"Be fair.\\n\\nq"' in sent
    assert "system" not in sent
    assert "Be fair.\\n" not in build("t", least(kind)).compose(prompt).decode()


@pytest.mark.parametrize(
    ("option", "value"),
    [("timeout_s", 1e306), ("total_s", 1e9), ("longest_wait_s", 1e300), ("requests_per_minute", 1e-300)],
)
def test_what_no_timer_can_wait_for_is_refused(option: str, value: float) -> None:
    with pytest.raises(Problem, match=rf"endpoints.t.{option}: found .*, expected"):
        build("t", {"kind": "gemini", "model": "m", option: value})


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_sent_is_one_line_of_json(kind: str) -> None:
    """The journal takes it in as it is."""
    endpoint = Endpoint("t", build("t", least(kind)), lambda: 0.0, {}, keyless=True)
    odd = Message("user", "a line\nand \u2028 or \0")
    for prompt in (*PROMPTS, Prompt("teacher", (Message("system", "Be\rfair."), odd))):
        sent = endpoint.adapter.compose(prompt)
        assert endpoint.is_json
        assert b"\n" not in sent
        assert b"\r" not in sent
        json.loads(sent)
