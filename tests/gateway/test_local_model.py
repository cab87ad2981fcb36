"""The real embedded model, through the gateway: what it says has the shape that each role needs."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from gateway.engine import Gateway
from gateway.errors import CallFailed
from gateway.local_model.fetch import ensure_model
from gateway.local_model.server import shared_server, stop_servers
from gateway.prompt import Message, Prompt, Schema
from runstore.problems import Problem
from runstore.records import Utterance

pytestmark = pytest.mark.model

OPENING = (Utterance(role="student", text="Why can an index make writes slower although it makes reads faster?"),)
ASKED = (*OPENING, Utterance(role="teacher", text="What must the database do to the index on every write?"))
FIELDS = {"topic": "databases"}
ENDPOINTS = {
    "socratic": {"kind": "local", "style": "socratic"},
    "plain": {"kind": "local", "style": "plain"},
}


@pytest.fixture(scope="module", autouse=True)
def weights() -> Iterator[None]:
    """The real weights, fetched if they are not there yet. The product imports the library itself:
    imported without its settings, the threads of the library spin while they wait for each other."""
    if find_spec("xllamacpp") is None:
        pytest.skip("the extra [local] is not installed")
    try:
        ensure_model()
    except Problem as problem:
        pytest.skip(f"the embedded model cannot be had: {problem}")
    yield
    stop_servers()


async def test_two_tutors_a_student_and_a_judge_share_one_model_and_differ_in_what_they_say() -> None:
    async with Gateway.open(ENDPOINTS) as gateway:
        asks, tells, student = await asyncio.gather(
            gateway.ask("socratic", Prompt("teacher", (), OPENING, FIELDS)),
            gateway.ask("plain", Prompt("teacher", (), OPENING, FIELDS)),
            gateway.ask("plain", Prompt("student", (), ASKED, {**FIELDS, "act": "right_answer"})),
        )
        compared = {**FIELDS, "response_a": asks.text, "response_b": tells.text}
        judged = await gateway.ask("plain", Prompt("judge", (Message("user", "1"),), OPENING, compared))
    assert asks.text.endswith("?")
    assert tells.text.endswith(".")
    assert "?" not in tells.text
    assert student.text
    assert "\n" not in asks.text + tells.text + student.text
    assert re.fullmatch(r"A .{1,77}\.\n### \([abc]\)", judged.text)
    assert all(answer.usage.input and answer.usage.output for answer in (asks, tells, student, judged))
    assert asks.model == "smollm2-135m@b179c952"


async def test_json_follows_the_schema() -> None:
    schema = {
        "type": "object",
        "properties": {"comparison": {"type": "string"}, "verdict": {"type": "string", "enum": ["a", "b", "c"]}},
        "required": ["comparison", "verdict"],
        "additionalProperties": False,
    }
    compared = {**FIELDS, "response_a": "What is an index?", "response_b": "It is a list."}
    prompt = Prompt("judge", (Message("user", "1"),), OPENING, compared, Schema("verdict", schema))
    async with Gateway.open(ENDPOINTS) as gateway:
        answer = json.loads((await gateway.ask("plain", prompt)).text)
    assert list(answer) == ["comparison", "verdict"]
    assert len(answer["comparison"]) <= 80
    assert answer["verdict"] in {"a", "b", "c"}


async def test_a_dialogue_beyond_the_context_fails_once_and_by_name() -> None:
    long = (Utterance(role="student", text="lock " * 3000),)
    async with Gateway.open(ENDPOINTS) as gateway:
        with pytest.raises(CallFailed) as caught:
            await gateway.ask("plain", Prompt("teacher", (), long, FIELDS))
    assert (caught.value.kind, caught.value.attempts) == ("context_length", 1)


def test_there_is_one_server_for_all_and_it_wants_its_key() -> None:
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    server = shared_server("smollm2-135m")
    assert shared_server("smollm2-135m") is server
    assert server.address.startswith("http://127.0.0.1:")
    with pytest.raises(HTTPError) as refused:
        urlopen(Request(f"{server.address}/v1/completions", b'{"prompt":"x","max_tokens":1}'))
    with refused.value:
        assert refused.value.code == 401


def test_a_program_that_used_the_model_ends_by_itself_and_says_nothing() -> None:
    program = "from gateway.local_model.server import shared_server; shared_server('smollm2-135m')"
    done = subprocess.run([sys.executable, "-c", program], env=os.environ, capture_output=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
