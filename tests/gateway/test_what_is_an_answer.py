"""An answer is decided where the call ends: blanks, calls of tools, impossible counts, and limits that pass."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import orjson
import pytest

from gateway.adapters.scripted import ScriptedAdapter
from gateway.engine import Gateway
from gateway.errors import CallFailed
from runstore.journal import Journal, read_rows
from runstore.records import Usage
from tests.support import fake_shapes
from tests.support.asking import chat
from tests.support.fake_faults import Reply
from tests.support.fake_provider import FakeProvider
from tests.support.virtual_time import VirtualTime

KINDS = ["openai", "gemini", "anthropic", "http"]
BLANKS = ["\u200b", "\u2060", "\ufeff", "\u3164", "\u2800", "\u00ad", "\0", "<think>so</think>", "<think>so it is"]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_blank_reply_is_asked_again_and_a_rerun_asks_again(
    provider: FakeProvider, tmp_path: Path, kind: str
) -> None:
    for blanks in (True, False):
        provider.script = lambda asked, _, blanks=blanks: (
            Reply(fake_shapes.answer(asked, BLANKS[int(asked.last.split()[-1])])) if blanks else None
        )
        journal = Journal(tmp_path)
        async with Gateway.open({"t": provider.settings(kind, retries=2)}, journal=journal) as gateway:
            gateway.clocks = VirtualTime().clocks
            asked = [gateway.ask("t", chat(f"blank {place}")) for place in range(len(BLANKS))]
            ends = await asyncio.gather(*asked, return_exceptions=True)
        journal.close()
        if blanks:
            assert [(end.kind, end.attempts) for end in ends] == [("empty", 3)] * len(BLANKS)
            assert {row["state"] for row in read_rows(tmp_path)} == {"sent", "failed"}
        else:
            assert all(end.text for end in ends)
    assert provider.stats.calls == 4 * len(BLANKS)


@pytest.mark.parametrize(
    "blank",
    [
        *BLANKS,
        "<|im_end|>",
        "</s>\n</s>",
        "&nbsp;&#8203;",
        "```\n```",
        "<br>",
        "\U0001d159",
        "<|im_start|>assistant\n",
        "\ufffd",
    ],
)
async def test_a_blank_of_any_adapter_is_no_answer(blank: str) -> None:
    async with Gateway({"t": ScriptedAdapter.of([blank, "Why?"])}) as gateway:
        gateway.clocks = VirtualTime().clocks
        answer = await gateway.ask("t", chat("q"))
    assert (answer.text, answer.retried) == ("Why?", ("empty",))


async def test_a_call_of_a_tool_is_paid_for_once(provider: FakeProvider, tmp_path: Path) -> None:
    tool = {"id": "c", "type": "function", "function": {"name": "give_hint", "arguments": "{}"}}
    choices = [{"message": {"content": None, "tool_calls": [tool]}, "finish_reason": "tool_calls"}]
    provider.script = lambda asked, _: Reply(orjson.dumps({"choices": choices, "usage": {"prompt_tokens": 1}}))
    async with Gateway.open({"t": provider.settings("openai")}) as gateway:
        with pytest.raises(CallFailed, match="give_hint") as caught:
            await gateway.ask("t", chat("q"))
    assert (caught.value.kind, caught.value.attempts, provider.stats.calls) == ("tool_call", 1, 1)


@pytest.mark.parametrize(
    "count", ["2e19", "2" + "0" * 19, "1" + "0" * 400, "1e308", "1e999", "1e15", "-5", '"12"', "NaN", "1.5"]
)
async def test_a_count_that_is_none_is_unknown_with_a_warning(
    provider: FakeProvider, tmp_path: Path, count: str
) -> None:
    body = '{"choices":[{"message":{"content":"Why?"}}],"usage":{"prompt_tokens":%s,"completion_tokens":3}}'
    provider.script = lambda asked, _: Reply((body % count).encode())
    journal = Journal(tmp_path)
    raw = provider.settings("openai", tokens_per_minute=10_000, price={"input": 1, "output": 1})
    async with Gateway.open({"t": raw}, journal=journal) as gateway:
        ends = await asyncio.gather(*(gateway.ask("t", chat(f"q {place}")) for place in range(3)))
    journal.close()
    assert [(end.text, end.usage, end.cost_usd) for end in ends] == [("Why?", Usage(output=3), None)] * 3
    assert all(end.warnings[0].startswith("usage unknown: prompt_tokens = ") for end in ends)
    rows = [row for row in read_rows(tmp_path) if row["state"] == "ok"]
    assert [row["answer"]["usage"] for row in rows] == [[None, 3, None, None]] * 3


async def test_a_long_wait_for_a_limit_of_the_configuration_is_told(provider: FakeProvider) -> None:
    raw = provider.settings("openai", tokens_per_minute=100)
    usage = {"prompt_tokens": 5_000, "completion_tokens": 3}
    body = {"choices": [{"message": {"content": "Why?"}}], "usage": usage}
    provider.script = lambda asked, _: Reply(orjson.dumps(body))
    told: list[str] = []
    async with Gateway.open({"t": raw}, clocks=VirtualTime().clocks) as gateway:
        gateway.notify = told.append
        for place in range(3):
            await gateway.ask("t", chat(f"q {place}"))
    assert told and all("tokens_per_minute" in line and line.startswith("t: waits ") for line in told)


@pytest.mark.parametrize("kind", ["gemini", "openai"])
async def test_a_limit_of_the_minute_is_waited_for_whatever_its_words_say_of_billing(
    provider: FakeProvider, kind: str
) -> None:
    time = VirtualTime()
    allowed = {"from": 0.0, "left": 10}
    billing = (
        "You exceeded your current quota, please check your plan and billing details: https://x/account/billing"
    )

    def limited(asked: Any, _: int) -> Reply | None:
        now = time.clocks.ticks()
        if now - allowed["from"] >= 1.2:
            allowed.update({"from": now, "left": 10})
        if allowed["left"]:
            allowed["left"] -= 1
            return None
        quota = {"@type": "x.QuotaFailure", "violations": [{"quotaId": "GenerateRequestsPerMinute-FreeTier"}]}
        details = [quota, {"@type": "x.RetryInfo", "retryDelay": "1.2s"}] if kind == "gemini" else None
        body = fake_shapes.error(asked.shape, 429, billing, details)
        if kind == "openai":
            body["error"]["code"] = "rate_limit_exceeded"
        return Reply(orjson.dumps(body), 429, {} if details else {"Retry-After": "1.2"})

    provider.script = limited
    async with Gateway.open({"t": provider.settings(kind)}, clocks=time.clocks) as gateway:
        ends = await asyncio.gather(*(gateway.ask("t", chat(f"dialogue {place}")) for place in range(20)))
    assert len([end for end in ends if end.text]) == 20
    assert "rate_limit" in {kind for end in ends for kind in end.retried}
