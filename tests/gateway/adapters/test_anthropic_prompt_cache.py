"""Marks for Claude's prompt cache: at what the next call sends again, and no part of what a call is known by."""

from __future__ import annotations

import json

import pytest

from gateway.adapters.catalog import build
from gateway.endpoint import Endpoint
from gateway.prompt import Message, Prompt

TEXTS = ['a "quoted" [{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]', "back\\slash", "last"]


def endpoint(**settings: object) -> Endpoint:
    adapter = build("claude", {"kind": "anthropic", "model": "m", "base_url": "http://127.0.0.1:9", **settings})
    return Endpoint("claude", adapter, lambda: 0.0, keyless=True)


def prompt(role: str) -> Prompt:
    said = (Message("user", TEXTS[0]), Message("assistant", TEXTS[1]), Message("user", TEXTS[2]))
    return Prompt(role, (Message("system", "be brief"), *said))  # type: ignore[arg-type]


@pytest.mark.parametrize(("role", "marked"), [("student", 1), ("teacher", 2), ("judge", None)])
def test_the_last_message_that_comes_again_is_marked(role: str, marked: int | None) -> None:
    body = json.loads(endpoint(cache_prompt="dialogue").adapter.compose(prompt(role)))
    assert body["system"][0]["cache_control"] == {"type": "ephemeral"}
    shown = [isinstance(message["content"], list) for message in body["messages"]]
    assert shown == [at == marked for at in range(3)]
    texts = [c[0]["text"] if isinstance(c := message["content"], list) else c for message in body["messages"]]
    assert texts == TEXTS


@pytest.mark.parametrize("role", ["student", "teacher", "judge"])
def test_marks_change_no_key(role: str) -> None:
    plain, marked, system = (endpoint(**how) for how in ({}, {"cache_prompt": "dialogue"}, {"cache_prompt": True}))
    sent = [each.adapter.compose(prompt(role)) for each in (plain, marked, system)]
    assert sent[0] != sent[1]
    assert plain.key(sent[0], 3) == marked.key(sent[1], 3)
    assert plain.key(sent[0], 3) != system.key(sent[2], 3)
