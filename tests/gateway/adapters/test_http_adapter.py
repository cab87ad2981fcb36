"""Tutor services described by templates: one request, several steps, replayed sessions."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from gateway.prompt import Message, Prompt
from runstore.problems import Problem
from runstore.records import Usage
from tests.support.asking import attempt, chat, endpoint, fault_of
from tests.support.fake_faults import Reply
from tests.support.fake_provider import FakeProvider

BASE = {"kind": "http", "url": "http://127.0.0.1:9/reply"}


def filled(body: Any, prompt: Prompt, **more: Any) -> Any:
    return orjson.loads(endpoint({**BASE, "body": body, **more}).compose(prompt))["body"]


def test_every_placeholder() -> None:
    prompt = chat("What is a heap?", "What do you know of trees?", "They have roots.", system="Ask.")
    prompt = Prompt("teacher", prompt.messages, prompt.transcript, {"dialogue_id": "d-1", "subset_id": "s-1"})
    body = {
        "all": "{messages}",
        "before": "{history}",
        "with_system": "{all_messages}",
        "text": "{transcript}",
        "last": ["{last_student}"],
        "ids": "{dialogue_id}/{subset_id}/{topic}",
        "system": "{system}",
        "kept": "{{last_student}} {} { x }",
        "number": 3,
    }
    turns = [
        {"role": "user", "content": "What is a heap?"},
        {"role": "assistant", "content": "What do you know of trees?"},
        {"role": "user", "content": "They have roots."},
    ]
    assert filled(body, prompt) == {
        "all": turns,
        "before": turns[:2],
        "with_system": [{"role": "system", "content": "Ask."}, *turns],
        "text": "Student: What is a heap?\n\nTeacher: What do you know of trees?\n\nStudent: They have roots.",
        "last": ["They have roots."],
        "ids": "d-1/s-1/",
        "system": "Ask.",
        "kept": "{last_student} {} { x }",
        "number": 3,
    }


def test_text_that_looks_like_a_placeholder_is_never_filled_in() -> None:
    assert filled({"q": "{last_student}!"}, chat("{system} ${HOME} {{x}}", system="secret")) == {
        "q": "{system} ${HOME} {{x}}!"
    }


def test_a_list_inside_a_text_is_json_and_roles_have_the_services_names() -> None:
    body = filled(
        {"h": "said: {messages}"},
        chat("hi"),
        roles={"student": "human"},
        message_keys={"role": "from", "content": "value"},
    )
    assert body == {"h": 'said: [{"from":"human","value":"hi"}]'}


def test_a_prompt_without_a_transcript_gives_its_messages() -> None:
    prompt = Prompt("judge", (Message("system", "Compare."), Message("user", "A or B?")))
    assert filled({"q": "{last_student}", "m": "{messages}"}, prompt) == {
        "q": "A or B?",
        "m": [{"role": "user", "content": "A or B?"}],
    }


def test_address_and_templates_are_told_apart_so_that_a_moved_server_can_stay_the_same() -> None:
    one = endpoint({"kind": "http", "url": "http://127.0.0.1:1/a/reply?x=1", "body": {}})
    two = endpoint({"kind": "http", "url": "http://127.0.0.1:2/a/reply?x=1", "body": {}})
    assert (one.address, two.address) == ("http://127.0.0.1:1", "http://127.0.0.1:2")
    assert one.compose(chat("hi")) == two.compose(chat("hi"))
    other = endpoint({"kind": "http", "url": "http://127.0.0.1:1/b", "body": {}})
    assert other.compose(chat("hi")) != one.compose(chat("hi"))


async def test_one_request_and_the_text_at_its_path(provider: FakeProvider) -> None:
    data = {"data": {"answers": [{"text": "Why?"}]}, "n": {"in": 7, "out": 2}}
    provider.script = lambda asked, number: Reply(orjson.dumps(data))
    usage = {"input": "n.in", "output": "n.out"}
    raw = provider.settings("http", reply="data.answers[0].text", usage=usage)
    answer = await attempt(endpoint(raw), chat("hi", "yo", "so?"))
    assert (answer.text, answer.usage) == ("Why?", Usage(input=7, output=2))
    assert provider.requests[0].body["question"] == "so?"


@pytest.mark.parametrize(
    ("data", "kind", "words"),
    [
        ({"data": {}}, "malformed", "data.answer"),
        ({"data": {"answer": None}}, "empty", "no text"),
        ({"data": {"answer": 7}}, "malformed", "int"),
        ({"error": "model is down"}, "server", "model is down"),
        ({"error": {"code": 429, "message": "slow"}, "data": {"answer": "x"}}, "rate_limit", "slow"),
        (["x"], "malformed", "data.answer"),
        ("x", "malformed", "data.answer"),
        ({"data": {"answer": "Let us [FAIL 3]"}}, "server", "[FAIL 3]"),
    ],
)
async def test_answers_that_are_none(provider: FakeProvider, data: Any, kind: str, words: str) -> None:
    provider.script = lambda asked, number: Reply(orjson.dumps(data))
    fault = await fault_of(endpoint(provider.settings("http", error_pattern=r"\[FAIL")), chat("hi"))
    assert fault.kind == kind
    assert fault.retry.again != "no"
    assert words in fault.message


async def test_keys_go_out_in_headers_and_address_but_stay_out_of_what_is_kept(provider: FakeProvider) -> None:
    environ = {"UREKA_TOKEN": " test-KEY-93f1-not-real\n", "URL_KEY": "k/ey&93f2"}
    raw = provider.settings(
        "http", url=f"{provider.url}/reply?key=${{URL_KEY}}", headers={"Authorization": "Bearer ${UREKA_TOKEN}"}
    )
    adapter = endpoint(raw, environ)
    await attempt(adapter, chat("hi"))
    (asked,) = provider.requests
    assert asked.headers["authorization"] == "Bearer test-KEY-93f1-not-real"
    assert asked.path == "/reply?key=k/ey%2693f2"
    assert b"93f" not in adapter.compose(chat("hi"))
    assert "93f" not in adapter.address
    assert set(adapter.secrets()) == {"test-KEY-93f1-not-real", "k/ey&93f2", "k/ey%2693f2"}


def test_a_whole_address_may_come_from_the_environment() -> None:
    adapter = endpoint(
        {"kind": "http", "url": "${TUTOR_URL}/reply", "body": {}}, {"TUTOR_URL": "http://127.0.0.1:7/api"}
    )
    assert adapter.address == "http://127.0.0.1:7"
    assert adapter.secrets() == []


@pytest.mark.parametrize("environ", [{}, {"UREKA_TOKEN": "  "}, {"UREKA_TOKEN": "a\nb"}])
def test_a_variable_that_is_missing_or_no_key_is_named(environ: dict[str, str]) -> None:
    adapter = endpoint({**BASE, "headers": {"X-Key": "${UREKA_TOKEN}"}}, environ)
    with pytest.raises(Problem, match="UREKA_TOKEN"):
        adapter.headers(None)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({"kind": "http"}, "either url"),
        ({**BASE, "steps": [{"path": "/a"}], "base_url": "http://127.0.0.1:1"}, "either url"),
        ({"kind": "http", "steps": [{"path": "/a"}]}, "base_url"),
        ({**BASE, "body": {"q": "{last_studnet}"}}, "{last_studnet}"),
        ({**BASE, "body": {"q": "${TOKEN}"}}, "headers"),
        ({**BASE, "temperature": 0.1}, "temperature"),
        ({**BASE, "reply": "a..b"}, "dotted path"),
        ({**BASE, "reply": "a[x]"}, "dotted path"),
        ({**BASE, "error_pattern": "("}, "error_pattern"),
        ({**BASE, "steps": [{"path": "/a", "bdy": {}}], "url": None, "base_url": "http://127.0.0.1:1"}, "bdy"),
    ],
)
def test_mistakes_are_named_before_anything_is_sent(raw: dict[str, Any], words: str) -> None:
    with pytest.raises(Problem) as caught:
        endpoint(raw)
    assert "endpoints.tutor" in str(caught.value)
    assert words in str(caught.value)


@pytest.mark.parametrize("url", ["ftp://x/y", "reply", "http://user:pw@127.0.0.1/x"])
def test_an_address_must_be_one(url: str) -> None:
    with pytest.raises(Problem, match="url"):
        _ = endpoint({"kind": "http", "url": url}).address


async def test_declared_steps_with_saved_values(provider: FakeProvider) -> None:
    provider.script = lambda asked, number: (
        Reply(b'{"session":{"id":"a b/1"}}')
        if asked.path == "/open"
        else Reply(b'{"ok":true}')
        if "/load" in asked.path
        else Reply(b'{"text":"Why?"}')
    )
    raw = {
        "kind": "http",
        "base_url": provider.url,
        "reply": "text",
        "steps": [
            {"path": "/open", "body": {"name": "{attempt_id}"}, "save": {"id": "session.id"}},
            {"path": "/s/{id}/load", "body": "{history}", "unless_empty": "history"},
            {"path": "/s/{id}/say", "body": {"text": "{last_student}", "in": "{id}"}},
        ],
    }
    adapter = endpoint(raw)
    assert (await attempt(adapter, chat("hi", "yo", "so?"))).text == "Why?"
    assert [asked.path for asked in provider.requests] == ["/open", "/s/a%20b%2F1/load", "/s/a%20b%2F1/say"]
    assert provider.requests[2].body == {"text": "so?", "in": "a b/1"}
    await attempt(adapter, chat("first"))
    assert [asked.path for asked in provider.requests[3:]] == ["/open", "/s/a%20b%2F1/say"]
    names = [asked.body["name"] for asked in provider.requests if asked.path == "/open"]
    assert len(set(names)) == 2
    assert adapter.compose(chat("hi")) == adapter.compose(chat("hi")) != adapter.compose(chat("ho"))
    orjson.loads(adapter.compose(chat("hi")))


async def test_a_step_that_saves_nothing_says_where_it_looked(provider: FakeProvider) -> None:
    provider.script = lambda asked, number: Reply(b'{"other":1}')
    raw = {"kind": "http", "base_url": provider.url, "reply": "text"}
    steps = [{"path": "/open", "save": {"id": "session.id"}}, {"path": "/say/{id}"}]
    fault = await fault_of(endpoint({**raw, "steps": steps}), chat("hi"))
    assert fault.kind == "malformed"
    assert "session.id" in fault.message


async def test_a_session_is_replayed_turn_by_turn(provider: FakeProvider) -> None:
    raw = provider.settings(
        "http", session="replay", body={"session": "{attempt_id}", "say": "{last_student}", "before": "{history}"}
    )
    answer = await attempt(endpoint(raw), chat("one", "t1", "two", "t2", "three"))
    said = [asked.body for asked in provider.requests]
    assert [body["say"] for body in said] == ["one", "two", "three"]
    assert [len(body["before"]) for body in said] == [0, 2, 4]
    assert len({body["session"] for body in said}) == 1
    assert answer.text == provider.text(provider.requests[-1])


async def test_a_replay_stops_at_the_first_failure(provider: FakeProvider) -> None:
    provider.script = lambda asked, number: "503" if "two" in asked.texts else None
    raw = provider.settings("http", session="replay", body={"say": "{last_student}"})
    fault = await fault_of(endpoint(raw), chat("one", "t1", "two", "t2", "three"))
    assert fault.kind == "server"
    assert len(provider.requests) == 2
