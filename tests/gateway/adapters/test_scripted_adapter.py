"""Replies from a file: in order, by rule, or chosen by the request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from gateway.adapters.base import WireReply
from gateway.adapters.scripted import ScriptedAdapter
from gateway.errors import Fault
from gateway.prompt import Answer, Prompt
from runstore.problems import InputProblem, Problem
from runstore.records import Usage
from tests.support.asking import chat, endpoint


class NoWire:
    base_url = ""
    key = None

    async def post(self, path: str, body: bytes, headers: Any = None) -> WireReply:
        raise AssertionError("a scripted endpoint sends nothing")


async def ask(adapter: ScriptedAdapter, prompt: Prompt) -> Answer:
    return await adapter.send(adapter.compose(prompt), NoWire())


def written(path: Path, *rows: Any) -> Path:
    path.write_bytes(b"\n".join(orjson.dumps(row) for row in rows))
    return path


async def test_a_plain_file_is_read_in_order(tmp_path: Path) -> None:
    file = written(tmp_path / "replies.jsonl", {"reply": "one"}, {"reply": "two \n\u200b"}, {"reply": "three"})
    adapter = endpoint({"kind": "scripted", "replies": str(file)})
    said = [(await ask(adapter, chat("same"))).text for _ in range(4)]
    assert said == ["one", "two \n\u200b", "three", "one"]


async def test_rules_come_first_and_the_rest_is_chosen_by_the_request(tmp_path: Path) -> None:
    file = written(
        tmp_path / "replies.jsonl",
        {"reply": "### (a)", "role": "judge"},
        {"reply": "heaps!", "match": "heap"},
        {"reply": "old heaps!", "contains": "heap"},
        {"reply": "x"},
        {"reply": "y"},
    )
    adapter = endpoint({"kind": "scripted", "replies": str(file)})
    assert (await ask(adapter, chat("heap?", role="judge"))).text == "### (a)"
    assert (await ask(adapter, chat("a heap?"))).text == "heaps!"
    assert (await ask(adapter, chat("a heap?", "yes", "and?"))).text == "old heaps!"
    prompts = [chat(f"question {number}") for number in range(20)]
    forward = [(await ask(adapter, prompt)).text for prompt in prompts]
    backward = [(await ask(adapter, prompt)).text for prompt in reversed(prompts)]
    assert forward == backward[::-1]
    assert set(forward) == {"x", "y"}


async def test_errors_by_script(tmp_path: Path) -> None:
    error = {"kind": "rate_limit", "message": "slow", "again": "rate_limited", "wait_s": 2, "times": 2}
    adapter = ScriptedAdapter.of([{"reply": "at last", "error": error}])
    for _ in range(2):
        with pytest.raises(Fault, match="slow") as caught:
            await ask(adapter, chat("hi"))
        assert caught.value.retry.wait_s == 2
    assert (await ask(adapter, chat("hi"))).text == "at last"
    with pytest.raises(Fault):
        await ask(adapter, chat("another"))


async def test_a_cut_reply_and_usage() -> None:
    cut: dict[str, Any] = {"reply": "half", "finish": "length", "usage": {"input": 3}}
    with pytest.raises(Fault) as caught:
        await ask(ScriptedAdapter.of([cut]), chat("hi"))
    assert (caught.value.kind, caught.value.text) == ("truncated", "half")
    assert (await ask(ScriptedAdapter.of([{**cut, "finish": "stop"}]), chat("hi"))).usage == Usage(input=3)


async def test_a_function_of_the_request() -> None:
    adapter = ScriptedAdapter.of(lambda request: f"{request['role']}: {request['messages'][-1]['content']}")
    assert (await ask(adapter, chat("hi", role="student"))).text == "student: hi"


async def test_no_rule_fits(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="no scripted reply fits"):
        await ask(ScriptedAdapter.of([{"reply": "x", "role": "judge"}]), chat("hi"))


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{"reply": "x", "rol": "judge"}], "rol"),
        ([{"match": "x"}], "reply"),
        ([{"error": {"kind": "nonsense"}}], "rate_limit"),
        (["x"], "JSON object"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, rows: list[Any], words: str) -> None:
    file = written(tmp_path / "replies.jsonl", {"reply": "fine"}, *rows)
    with pytest.raises(InputProblem, match=words) as caught:
        endpoint({"kind": "scripted", "replies": str(file)})
    assert f"{file}:2" in str(caught.value)


def test_a_file_that_is_missing_or_empty(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="readable file"):
        endpoint({"kind": "scripted", "replies": str(tmp_path / "none.jsonl")})
    with pytest.raises(Problem, match="no reply"):
        endpoint({"kind": "scripted", "replies": str(written(tmp_path / "empty.jsonl"))})
    with pytest.raises(Problem, match=r"endpoints\.tutor\.replies"):
        endpoint({"kind": "scripted"})
