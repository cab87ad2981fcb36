"""Whatever a server sends: an answer or a failure that has a name, and memory that is bounded.

The long series is ``python bench/fuzz.py``; this is its short form, and what it found.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest

from gateway.engine import Gateway
from gateway.errors import CallFailed
from gateway.thinking import LONGEST_LOOKED_AT, without_thinking
from runstore.journal import Journal
from tests.support.asking import attempt, chat, endpoint, fault_of
from tests.support.fake_faults import Reply
from tests.support.fake_provider import FakeProvider
from tests.support.raw_server import raw_server, whole

FUZZ = Path(__file__).resolve().parents[2] / "bench" / "fuzz.py"
KINDS = ("openai", "gemini", "anthropic", "bedrock", "http", "ureka", "local")


def fuzzed(*options: str) -> dict[str, Any]:
    command = [sys.executable, str(FUZZ), "--json", "--kinds", ",".join(KINDS), *options]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout.splitlines()[-1])


def test_mutated_bodies_are_answers_or_named_failures() -> None:
    found = fuzzed("--bodies", "1500", "--seed", "7")
    assert found["nameless"] == [] and found["peak_rss_mb"] < 400
    for kind in KINDS:
        assert len(found["outcomes"][kind]) >= 5, kind
    met = sum((Counter(counts) for counts in found["outcomes"].values()), Counter[str]())
    assert met["answer"] > 50 and met["malformed"] > 50
    assert {"rate_limit", "blocked", "truncated", "empty", "auth", "server", "connection"} <= set(met)


def test_many_inflating_bodies_at_once_stay_in_bounds() -> None:
    found = fuzzed("--bodies", "24", "--bomb", "200")
    met = sum((Counter(counts) for counts in found["outcomes"].values()), Counter[str]())
    assert set(met) <= {"malformed", "connection"}, "on a busy machine a body may not come in time"
    assert met["malformed"] > met["connection"] and found["nameless"] == []
    assert found["peak_rss_mb"] < 400


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("openai", {"choices": [{"message": {"content": "Why?"}, "finish_reason": ["stop"]}]}),
        ("gemini", {"candidates": [{"content": {"parts": [{"text": "Why?"}]}, "finishReason": {"a": 1}}]}),
        ("anthropic", {"content": [{"type": "text", "text": "Why?"}], "stop_reason": [[]]}),
    ],
)
async def test_an_ending_that_is_no_word_is_none(provider: FakeProvider, kind: str, body: Any) -> None:
    provider.script = lambda asked, number: Reply(orjson.dumps(body))
    assert (await attempt(endpoint(provider.settings(kind)), chat("hi"))).text == "Why?"


async def test_a_redirect_to_no_address_is_a_refusal_all_the_same(provider: FakeProvider) -> None:
    provider.script = lambda asked, number: Reply(b"", 301, {"Location": "http://[::1"})
    fault = await fault_of(endpoint(provider.settings("openai")), chat("hi"))
    assert fault.kind == "bad_request" and "redirects to http://[::1" in fault.message


async def test_an_id_that_is_no_text_is_none(provider: FakeProvider) -> None:
    body = {"promptFeedback": {"blockReason": "OTHER"}, "responseId": 7}
    provider.script = lambda asked, number: Reply(orjson.dumps(body))
    assert (await fault_of(endpoint(provider.settings("gemini")), chat("hi"))).request_id is None


@pytest.mark.parametrize("status", ["200 OK", "400 X"])
async def test_bytes_in_a_head_that_are_no_text_are_written_all_the_same(tmp_path: Path, status: str) -> None:
    body = b'{"choices":[{"message":{"content":"Why?"},"finish_reason":"stop"}],"error":null,"message":"m"}'
    answer = whole(body, "x-request-id: r-?", status=status).replace(b"r-?", b"r-\xff")
    journal = Journal(tmp_path)
    async with asyncio.timeout(30), raw_server([answer]) as server:
        settings = {"kind": "openai", "model": "m", "base_url": server.url}
        async with Gateway.open({"t": settings}, journal=journal) as gateway:
            if status == "200 OK":
                assert (await gateway.ask("t", chat("hi"))).request_id == "r-\ufffd"
            else:
                with pytest.raises(CallFailed):
                    await gateway.ask("t", chat("hi"))
    (row,) = [row for row in journal.rows() if row["state"] in ("ok", "failed")]
    kept = row["answer"] if status == "200 OK" else row["faults"][0]
    assert kept["request_id"] == "r-\ufffd"
    journal.close()


def test_thinking_is_looked_for_where_a_reply_begins() -> None:
    far = "x" * LONGEST_LOOKED_AT
    assert without_thinking(f"{far[:-20]}</think>Why?") == "Why?"
    assert without_thinking(f"{far}.\n</think>Why?") == f"{far}.\n</think>Why?"
    assert without_thinking("<think>" + far) == ""
    assert without_thinking("<think>a</think>" * 50 + "Why?") == "Why?"
