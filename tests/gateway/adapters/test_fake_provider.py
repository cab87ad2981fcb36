"""The stand-in provider itself: what tests build upon must hold."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from gateway.errors import Fault
from gateway.prompt import Schema
from tests.support.asking import attempt, chat, endpoint
from tests.support.fake_faults import CHAOS, PERMANENT
from tests.support.fake_provider import FakeProvider

ENDLESS = {"hang", "drip"}
KINDS = ["openai", "gemini", "anthropic", "http", "ureka"]
JUDGE = "Compare. End with ### and (a), (b) or (c)."


@pytest.mark.parametrize("kind", KINDS)
async def test_the_same_request_has_the_same_answer_and_each_role_its_own(kind: str) -> None:
    texts: list[str] = []
    for _ in range(2):
        with FakeProvider() as provider:
            adapter = endpoint(provider.settings(kind))
            texts.append((await attempt(adapter, chat("hi"))).text)
            judged = await attempt(adapter, chat(JUDGE))
            assert judged.text.splitlines()[-1] in {"### (a)", "### (b)", "### (c)"}
            assert provider.stats.by_role == {"teacher": 1, "judge": 1}
    assert texts[0] == texts[1]


@pytest.mark.parametrize("kind", ["openai", "gemini", "anthropic"])
async def test_a_schema_is_filled_in(provider: FakeProvider, kind: str) -> None:
    item = {"type": "object", "properties": {"met": {"type": "boolean"}, "n": {"type": "integer", "maximum": 3}}}
    schema = {
        "type": "object",
        "$defs": {"item": item},
        "properties": {
            "winner": {"enum": ["a", "b"]},
            "items": {"type": "array", "items": {"$ref": "#/$defs/item"}, "minItems": 2, "maxItems": 2},
            "note": {"anyOf": [{"type": "string", "maxLength": 5}, {"type": "null"}]},
        },
    }
    answer = await attempt(endpoint(provider.settings(kind)), chat("judge", schema=Schema("v", schema)))
    data = json.loads(answer.text)
    assert data["winner"] in {"a", "b"}
    assert len(data["items"]) == 2
    assert all(isinstance(item["met"], bool) and 0 <= item["n"] <= 3 for item in data["items"])
    assert data["note"] is None or len(data["note"]) <= 5


@pytest.mark.parametrize("kind", KINDS)
async def test_every_fault_that_passes_passes_on_the_second_attempt(kind: str) -> None:
    with FakeProvider() as quiet:
        right = (await attempt(endpoint(quiet.settings(kind)), chat("hi"))).text
    for fault in sorted(CHAOS.keys() - ENDLESS):
        with FakeProvider(script=lambda asked, number, fault=fault: fault if number == 1 else None) as provider:
            adapter = endpoint(provider.settings(kind))
            try:
                first = (await attempt(adapter, chat("hi"))).text
            except Fault as caught:
                assert caught.retry.again != "no", fault
                first = right
            assert first == right, fault
            assert (await attempt(adapter, chat("hi"))).text == right, fault


@pytest.mark.parametrize("kind", ["openai", "gemini", "anthropic"])
@pytest.mark.parametrize("fault", sorted(PERMANENT.keys() - {"429-long"}))
async def test_every_lasting_fault_is_told_apart(provider: FakeProvider, kind: str, fault: str) -> None:
    provider.script = lambda asked, number: fault
    with pytest.raises(Fault) as caught:
        await attempt(endpoint(provider.settings(kind)), chat("hi"))
    assert caught.value.retry.again == "no"


async def test_chance_is_seeded_and_hits_first_attempts_only(provider: FakeProvider) -> None:
    provider.configure(chaos_rate=0.5, chaos_seed=3, chaos_attempts=2, chaos_kinds=["500"])
    adapter = endpoint(provider.settings("openai"))
    failures: list[int] = []
    for number in range(40):
        tries = 0
        while True:
            try:
                await attempt(adapter, chat(f"question {number}"))
                break
            except Fault:
                tries += 1
        failures.append(tries)
    assert set(failures) == {0, 1, 2}
    assert 10 <= sum(1 for tries in failures if tries) <= 30
    assert provider.stats.by_fault["500"] == sum(failures)
    assert set(provider.received.values()) == {1, 2, 3}
    assert set(provider.delivered.values()) == {1}


def call(port: int, path: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", data, timeout=10) as response:
        return json.load(response)


def test_it_runs_as_a_program_of_its_own(tmp_path: Path) -> None:
    script = Path(__file__).resolve().parents[2] / "support" / "fake_provider.py"
    program = subprocess.Popen(
        [sys.executable, str(script), "--latency-ms", "1", "--seconds", "60"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    try:
        assert program.stdout is not None
        port = json.loads(program.stdout.readline())["port"]
        message = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
        assert call(port, "/v1/chat/completions", message)["choices"][0]["finish_reason"] == "stop"
        assert call(port, "/__stats")["calls"] == 1
        assert list(call(port, "/__calls").values()) == [[1, 1]]
        assert call(port, "/__config", {"latency_ms": 0, "faults": [{"kind": "empty"}]})["latency_ms"] == 0
        assert call(port, "/v1/chat/completions", message)["choices"][0]["message"]["content"] == ""
        call(port, "/__reset")
        assert call(port, "/__stats")["calls"] == 0
    finally:
        program.terminate()
        program.wait(10)
        if program.stdout is not None:
            program.stdout.close()
