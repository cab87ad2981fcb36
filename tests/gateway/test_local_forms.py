"""The few-shot form of each role, and the adapter around it, on recorded replies."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

import orjson
import pytest

from gateway.adapters.base import WireReply
from gateway.adapters.catalog import build
from gateway.adapters.local import ONLY_ENGLISH, LocalAdapter, LocalSettings
from gateway.errors import Fault
from gateway.local_model.server import EmbeddedServer, shared_server, stop_servers
from gateway.prompt import Message, Prompt, Schema
from runstore.problems import Problem
from runstore.records import Utterance

HISTORY = (
    Utterance(role="student", text="Why do two threads\nneed a lock?"),
    Utterance(role="teacher", text="What does each of them read first?"),
    Utterance(role="student", text="The old value."),
)
TEACHER = Prompt("teacher", (Message("user", "x"),), HISTORY, {"topic": "operating_systems"})
JUDGE = Prompt(
    "judge",
    (Message("user", "x"),),
    HISTORY,
    {"topic": "locks", "response_a": "Yes.\nBetter: A", "response_b": "And then?"},
)
SERVER = EmbeddedServer("http://127.0.0.1:9", "the-key", None)


class Recorded:
    """A wire that answers with one recorded completion and remembers what was sent."""

    base_url, key = "embedded", None

    def __init__(self, text: str = "", finish: str = "stop", *, status: int = 200, body: Any = None) -> None:
        usage = {"prompt_tokens": 90, "completion_tokens": 12, "prompt_tokens_details": {"cached_tokens": 64}}
        choice = {"text": text, "index": 0, "finish_reason": finish}
        self.reply = WireReply(
            status, {}, orjson.dumps(body or {"id": "c-1", "choices": [choice], "usage": usage})
        )
        self.sent: list[tuple[str, dict[str, Any], Mapping[str, str]]] = []

    async def post(self, path: str, body: bytes, headers: Mapping[str, str] | None = None) -> WireReply:
        self.sent.append((path, orjson.loads(body), headers or {}))
        return self.reply


def _adapter(**settings: Any) -> LocalAdapter:
    made = LocalSettings.model_validate({"kind": "local", **settings})
    return LocalAdapter(made, serve=lambda _: SERVER)


def _request(prompt: Prompt, **settings: Any) -> dict[str, Any]:
    return orjson.loads(_adapter(**settings).compose(prompt))["request"]


def test_equal_prompts_give_equal_bytes_and_the_port_is_in_none_of_them() -> None:
    first, second = _adapter(), _adapter()
    assert first.compose(TEACHER) == second.compose(TEACHER)
    assert b"127.0.0.1" not in first.compose(TEACHER)
    assert first.address == "embedded:smollm2-135m@b179c952"


def test_a_setting_or_a_word_that_differs_gives_other_bytes_and_another_seed() -> None:
    usual = _adapter().compose(TEACHER)
    for other in (
        {"seed": 1},
        {"temperature": 0.9},
        {"max_output_tokens": 30},
        {"min_p": 0.0},
        {"style": "plain"},
    ):
        assert _adapter(**other).compose(TEACHER) != usual, other
    reworded = Prompt("teacher", (Message("user", "y"),), HISTORY, TEACHER.fields)
    assert _request(reworded)["seed"] != _request(TEACHER)["seed"]
    assert _request(TEACHER, seed=0)["seed"] != _request(TEACHER)["seed"]


def test_the_fixed_examples_come_first_and_the_dialogue_line_by_line_last() -> None:
    text = _request(TEACHER)["prompt"]
    assert text.endswith(
        "Topic: operating systems\n"
        "Student: Why do two threads need a lock?\n"
        "Teacher: What does each of them read first?\n"
        "Student: The old value.\n"
        "Teacher:"
    )
    other = _request(Prompt("teacher", (), HISTORY[:1], {"topic": "hashing"}))["prompt"]
    assert text.rpartition("Topic:")[0] == other.rpartition("Topic:")[0]


def test_the_style_comes_from_the_endpoint_then_from_the_prompt() -> None:
    def form(prompt: Prompt, **settings: Any) -> str:
        return orjson.loads(_adapter(**settings).compose(prompt))["form"]

    wants_plain = Prompt("teacher", (), HISTORY, {"style": "plain"})
    assert form(TEACHER) == "socratic"
    assert form(wants_plain) == "plain"
    assert form(wants_plain, style="socratic") == "socratic"


def test_a_student_is_told_the_kind_of_utterance_and_kept_to_asking_or_answering() -> None:
    said = HISTORY[:2]
    asks = _request(Prompt("student", (), said, {"act": "follow_up"}))
    answers = _request(Prompt("student", (), said, {"act": "wrong_answer"}))
    free = _request(Prompt("student", (), said, {"act": ""}))
    assert asks["prompt"].endswith("\nStudent (asks a follow-up question):")
    assert answers["prompt"].endswith("\nStudent (gives a wrong answer):")
    assert free["prompt"].endswith("\nStudent:")
    assert '"?"' in asks["grammar"]
    assert '"?"' not in answers["grammar"]
    assert "grammar" not in free


def test_a_judged_reply_cannot_open_a_line_of_its_own() -> None:
    lines = _request(JUDGE)["prompt"].splitlines()
    assert "Teacher A: Yes. Better: A" in lines
    assert lines[-1] == "Comparison:"


async def test_a_verdict_comes_back_in_the_form_that_every_judge_uses() -> None:
    adapter, wire = _adapter(), Recorded(" A is wrong, B leads the student on.\nBetter: B")
    answer = await adapter.send(adapter.compose(JUDGE), wire)
    assert answer.text == "A is wrong, B leads the student on.\n### (b)"
    assert answer.usage.counts() == (90, 12, None, 64)
    ((path, body, headers),) = wire.sent
    assert path == "http://127.0.0.1:9/v1/completions"
    assert body == _request(JUDGE)
    assert headers == {"Authorization": "Bearer the-key"}


async def test_a_verdict_that_was_cut_off_holds_no_decision() -> None:
    adapter = _adapter()
    answer = await adapter.send(adapter.compose(JUDGE), Recorded(" A is wrong, B leads the", "length"))
    assert (answer.text, answer.finish) == ("A is wrong, B leads the", "length")


async def test_a_judge_asked_for_json_gives_the_models_json_and_has_room_for_it() -> None:
    schema = {
        "type": "object",
        "properties": {"comparison": {"type": "string"}, "verdict": {"type": "string", "enum": ["a", "b", "c"]}},
        "required": ["comparison", "verdict"],
    }
    prompt = Prompt("judge", JUDGE.messages, HISTORY, JUDGE.fields, Schema("verdict", schema))
    adapter, reply = _adapter(), '{"comparison": "Both ask.", "verdict": "c"}'
    request = orjson.loads(adapter.compose(prompt))["request"]
    assert request["json_schema"]["properties"]["comparison"]["maxLength"] == 80
    assert "maxLength" not in schema["properties"]["comparison"]
    assert request["max_tokens"] > 80
    assert json.loads((await adapter.send(adapter.compose(prompt), Recorded(reply))).text)["verdict"] == "c"


async def test_a_reply_at_the_limit_is_cut_back_to_its_last_full_sentence() -> None:
    adapter = _adapter(style="plain")
    sent = adapter.compose(TEACHER)
    cut = await adapter.send(sent, Recorded(" Teacher: The lock is held. Then the ot", "length"))
    assert (cut.text, cut.finish) == ("The lock is held.", "length")
    unended = await adapter.send(sent, Recorded(" The lock is", "length"))
    assert (unended.text, unended.finish) == ("The lock is", "length")


async def test_an_endpoint_that_refuses_cut_replies_gets_a_named_fault_with_the_text() -> None:
    adapter = _adapter(accept_truncated=False)
    with pytest.raises(Fault) as caught:
        await adapter.send(adapter.compose(TEACHER), Recorded(" What is it", "length"))
    assert (caught.value.kind, caught.value.text) == ("truncated", "What is it")


async def test_a_dialogue_that_no_longer_fits_is_a_context_fault_and_silence_is_empty() -> None:
    adapter = _adapter()
    sent = adapter.compose(TEACHER)
    message = "request (3001 tokens) exceeds the available context size (2048 tokens), try increasing it"
    error = {"error": {"code": 400, "message": message, "type": "exceed_context_size_error"}}
    with pytest.raises(Fault) as overflow:
        await adapter.send(sent, Recorded(status=400, body=error))
    assert (overflow.value.kind, overflow.value.retry.again) == ("context_length", "no")
    with pytest.raises(Fault) as silence:
        await adapter.send(sent, Recorded(" "))
    assert silence.value.kind == "empty"
    with pytest.raises(Fault) as broken:
        await adapter.send(sent, Recorded(body={"choices": []}))
    assert broken.value.kind == "malformed"


async def test_korean_is_answered_with_a_warning() -> None:
    prompt = Prompt("teacher", (), (Utterance(role="student", text="왜 잠금이 필요한가요?"),), {})
    adapter = _adapter()
    assert (await adapter.send(adapter.compose(prompt), Recorded(" What is it?"))).warnings == (ONLY_ENGLISH,)
    assert (await adapter.send(adapter.compose(TEACHER), Recorded(" What is it?"))).warnings == ()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "gpt-5"}, r"endpoints\.tiny\..*gpt-5.*smollm2-135m"),
        ({"style": "stern"}, r"endpoints\.tiny\.style: found 'stern', expected one of simple, socratic, plain"),
        ({"api_key_env": "KEY"}, r"endpoints\.tiny\.api_key_env: the embedded model has none"),
        ({"system": "Be kind."}, r"endpoints\.tiny\.system: the embedded model cannot follow one"),
        ({"min_p": 2}, r"endpoints\.tiny\.min_p: found 2"),
    ],
)
def test_a_setting_that_cannot_be_followed_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(Problem, match=message):
        build("tiny", {"kind": "local", **settings})


async def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    stop_servers()
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(Problem, match=r"pip install 'tutor-arena\[local\]'"):
        shared_server("smollm2-135m")
    adapter = LocalAdapter(LocalSettings(kind="local"))
    with pytest.raises(Problem, match=r"\[local\]"):
        await adapter.prepare()
    with pytest.raises(Fault) as caught:
        await adapter.send(adapter.compose(TEACHER), Recorded())
    assert caught.value.retry.again == "no"
    assert "tutor-arena[local]" in caught.value.message
