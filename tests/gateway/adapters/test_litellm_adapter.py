"""litellm over the run's wire: its providers' forms, our bounds and classification, what came in the journal."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import orjson
import pytest

from gateway.adapters.catalog import build
from gateway.adapters.litellm import LitellmAdapter
from gateway.engine import Gateway
from gateway.errors import CallFailed
from gateway.prompt import Schema
from gateway.wire import FORBID_VARIABLE
from runstore.journal import Journal
from runstore.problems import Problem
from runstore.records import Usage
from tests.support.asking import attempt, chat, endpoint, fault_of
from tests.support.fake_faults import Reply
from tests.support.fake_provider import FakeProvider
from tests.support.proxy_server import proxy_server
from tests.support.raw_server import raw_server, whole

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*ReadOnly.*:UserWarning"),
    # looked for and not imported: that takes seconds of each process that collects tests
    pytest.mark.skipif(find_spec("litellm") is None, reason="the extra [litellm] is not installed"),
]

FORMS = [
    ("mistral", "/v1", "openai", "/v1/chat/completions"),
    ("hosted_vllm", "/v1", "openai", "/v1/chat/completions"),
    ("anthropic", "", "anthropic", "/v1/messages"),
    ("gemini", "/v1beta", "gemini", "/v1beta/models/fake-1:generateContent"),
]
"""A provider of litellm, what its address ends in here, the form that it speaks, and the path."""


def table(provider: FakeProvider, vendor: str = "mistral", ending: str = "/v1", **more: Any) -> dict[str, Any]:
    base = {"kind": "litellm", "model": f"{vendor}/fake-1", "base_url": provider.url + ending, "api_key_env": "K"}
    return base | more


async def ask(settings: dict[str, Any], text: str = "hi", **options: Any) -> Any:
    environ = {"K": "key-of-the-provider-1"}
    async with Gateway.open({"t": settings}, environ=environ, **options) as gateway:
        return await gateway.ask("t", chat(text, system="Ask."))


async def failure(settings: dict[str, Any], **options: Any) -> CallFailed:
    with pytest.raises(CallFailed) as caught:
        await ask(settings | {"retries": 0}, **options)
    return caught.value


@pytest.mark.parametrize(("vendor", "ending", "shape", "path"), FORMS)
async def test_its_providers_answer_as_by_their_own_kinds(
    provider: FakeProvider, tmp_path: Path, vendor: str, ending: str, shape: str, path: str
) -> None:
    journal = Journal(tmp_path / "journal")
    settings = table(provider, vendor, ending, temperature=0.5, max_output_tokens=77)
    answer = await ask(settings, journal=journal)
    (asked,) = provider.requests
    assert (asked.shape, asked.path.partition("?")[0]) == (shape, path)
    assert asked.texts == ["Ask.", "hi"] and answer.text == provider.text(asked)
    sent = orjson.dumps(asked.body)
    assert b"0.5" in sent and b"77" in sent and b"key-of-the-provider" not in sent
    assert answer.usage.input and answer.usage.output
    (row,) = [row for row in journal.rows() if row["state"] == "ok"]
    raw, completion = row["response"]
    assert raw == orjson.loads(provider.good(asked)) and completion["object"] == "chat.completion"
    journal.close()
    written = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert b"key-of-the-provider" not in written


async def test_a_schema_goes_along(provider: FakeProvider) -> None:
    schema = Schema("v", {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
    await attempt(endpoint(table(provider, "hosted_vllm")), chat("hi", schema=schema), key="k" * 12)
    form = provider.requests[0].body["response_format"]
    assert form["json_schema"]["schema"]["properties"] == {"n": {"type": "integer"}}


def completion(**changes: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": "Why?"}, "finish_reason": "stop"}
    choice |= {name: changes.pop(name) for name in ("message", "finish_reason") if name in changes}
    usage = {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}
    base = {"id": "c-1", "object": "chat.completion", "created": 1, "model": "fake-1", "usage": usage}
    return base | {"choices": [choice]} | changes


def says(provider: FakeProvider, body: Any, status: int = 200, **headers: str) -> None:
    provider.script = lambda asked, number: Reply(orjson.dumps(body), status, headers)


@pytest.mark.parametrize("form", [FORMS[0], FORMS[2]])
async def test_recorded_responses_are_read_again_without_litellm_or_a_call(
    provider: FakeProvider, tmp_path: Path, form: tuple[str, str, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    provider.script = lambda asked, number: "truncated"
    settings = table(provider, *form[:2], accept_truncated=True)
    first = await recorded(tmp_path, settings)
    monkeypatch.setattr(LitellmAdapter, "make_ready", pytest.fail)
    assert await recorded(tmp_path, settings, offline=True) == first
    with pytest.raises(CallFailed, match="truncated with its text unfinished"):
        await recorded(tmp_path, settings | {"accept_truncated": False}, offline=True)
    assert provider.stats.calls == 1


async def test_a_failed_reply_is_read_again_too(provider: FakeProvider, tmp_path: Path) -> None:
    provider.script = lambda asked, number: "truncated"
    with pytest.raises(CallFailed):
        await recorded(tmp_path, table(provider))
    accepted = await recorded(tmp_path, table(provider, accept_truncated=True))
    assert accepted.finish == "length" and provider.stats.calls == 1


async def recorded(folder: Path, settings: dict[str, Any], **options: Any) -> Any:
    journal = Journal(folder / "journal", read_only=bool(options))
    try:
        return await ask(settings, journal=journal, **options)
    finally:
        journal.close()


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (completion(message={"role": "assistant", "content": ""}), "empty"),
        (completion(message={"role": "assistant", "content": "\u200b \n"}), "empty"),
        (completion(finish_reason="length"), "truncated"),
        (completion(finish_reason="content_filter"), "blocked"),
        (
            completion(
                message={
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {"id": "1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
                    ],
                },
                finish_reason="tool_calls",
            ),
            "tool_call",
        ),
        ({"choices": []}, "empty"),
        ([1, 2], "malformed"),
        ("text", "malformed"),
        ({"error": {"message": "broke", "code": 500}}, "server"),
        ({"choices": [{}] * 20_001}, "malformed"),
    ],
)
async def test_answers_that_are_none(provider: FakeProvider, body: Any, kind: str) -> None:
    says(provider, body)
    fault = await fault_of(endpoint(table(provider)), chat("hi"), key="k" * 12)
    assert fault.kind == kind


@pytest.mark.parametrize(
    ("status", "body", "headers", "kind", "wait_s"),
    [
        (
            429,
            {"error": {"message": "slow down", "code": "rate_limit_exceeded"}},
            {"Retry-After": "7"},
            "rate_limit",
            7,
        ),
        (429, {"error": {"message": "m", "code": "insufficient_quota"}}, {}, "quota", None),
        (401, {"error": {"message": "wrong key"}}, {}, "auth", None),
        (404, {"error": {"message": "no such model"}}, {}, "unknown_model", None),
        (400, {"error": {"message": "maximum context length is 10 tokens"}}, {}, "context_length", None),
        (400, {"error": {"message": "m"}}, {}, "bad_request", None),
        (503, {"error": {"message": "busy"}}, {}, "server", None),
    ],
)
async def test_errors_are_classified_from_what_the_provider_sent_and_asked_once(
    provider: FakeProvider, status: int, body: Any, headers: dict[str, str], kind: str, wait_s: float | None
) -> None:
    says(provider, body, status, **headers)
    fault = await fault_of(endpoint(table(provider)), chat("hi"), key="k" * 12)
    assert (fault.kind, fault.retry.wait_s, fault.status) == (kind, wait_s, status)
    assert provider.stats.calls == 1


async def test_counts_are_bounded_and_what_is_not_said_is_unknown(provider: FakeProvider) -> None:
    adapter = endpoint(table(provider))
    says(provider, completion(usage={"prompt_tokens": 10**15, "completion_tokens": 7, "total_tokens": 1}))
    answer = await attempt(adapter, chat("hi"), key="k" * 12)
    assert answer.usage == Usage(output=7) and "usage unknown: prompt_tokens" in answer.warnings[0]
    body = completion()
    del body["usage"]
    says(provider, body)
    assert (await attempt(adapter, chat("hi"), key="k" * 12)).usage == Usage()


async def test_the_bound_counts_what_is_inflated() -> None:
    packed = gzip.compress(bytes(20_000_000))
    async with raw_server([whole(packed, "Content-Encoding: gzip", "Content-Type: application/json")]) as server:
        settings = {"kind": "litellm", "model": "mistral/m", "base_url": server.url, "api_key_env": "K"}
        failed = await failure(settings)
    assert failed.kind == "malformed" and "larger than 1 MB" in failed.message
    assert len(server.heads) == 1


async def test_the_endpoints_proxy_is_used(provider: FakeProvider) -> None:
    async with proxy_server(provider.port) as proxy:
        settings = table(provider, base_url="http://far.test/v1", proxy=f"http://{proxy.address}")
        await ask(settings)
    assert proxy.heads[0].startswith("POST http://far.test/v1/chat/completions HTTP/1.1")


async def test_a_redirect_takes_no_key_along() -> None:
    async with raw_server([whole(b"", "Location: http://127.0.0.1:9/v1", status="307 X")]) as server:
        settings = {"kind": "litellm", "model": "mistral/m", "base_url": server.url, "api_key_env": "K"}
        failed = await failure(settings)
    assert failed.kind == "bad_request" and "the address redirects to" in failed.message


async def test_switched_off_calls_reach_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FORBID_VARIABLE, "1")
    failed = await failure({"kind": "litellm", "model": "mistral/m", "api_key_env": "K"})
    assert failed.kind == "forbidden" and "api.mistral.ai was not asked" in failed.message


async def test_what_litellm_refuses_by_itself_is_permanent(provider: FakeProvider) -> None:
    failed = await failure(table(provider, "no-such-provider"))
    assert (failed.kind, failed.attempts) == ("bad_request", 1) and "litellm sends nothing" in failed.message
    assert provider.stats.calls == 0


async def test_its_own_keys_of_the_environment_are_in_no_file(
    provider: FakeProvider, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MISTRAL_API_KEY", "gsk-of-the-environment-1")
    says(provider, completion(message={"role": "assistant", "content": "gsk-of-the-environment-1 is your key"}))
    journal = Journal(tmp_path / "journal")
    settings = {"kind": "litellm", "model": "mistral/fake-1", "base_url": f"{provider.url}/v1"}
    async with Gateway.open({"t": settings}, journal=journal) as gateway:
        await gateway.ask("t", chat("hi"))
    journal.close()
    assert provider.requests[0].headers["authorization"] == "Bearer gsk-of-the-environment-1"
    written = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert b"gsk-of-the-environment" not in written


async def test_others_who_use_litellm_in_this_process_keep_its_own_way(provider: FakeProvider) -> None:
    await ask(table(provider))
    from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler

    handler = AsyncHTTPHandler()
    reply = await handler.post(f"{provider.url}/v1/chat/completions", json={"model": "m", "messages": []})
    assert reply.status_code == 200 and provider.stats.calls == 2
    await handler.close()


def test_the_extra_is_named_where_it_is_missing() -> None:
    code = """
        import sys
        sys.modules["litellm"] = None
        from gateway.engine import Gateway
        from runstore.problems import Problem
        try:
            Gateway.open({"t": {"kind": "litellm", "model": "mistral/m"}})
        except Problem as problem:
            print(problem)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("endpoints.t: kind litellm needs the extra [litellm]: pip install")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"model": "m"}, "t.model: found 'm', expected PROVIDER/MODEL, as litellm names it"),
        ({"extra_body": {"num_retries": 3}}, "t.extra_body.num_retries: is not litellm's to decide here"),
        ({"extra_body": {"api_key": "abcdefgh"}}, "t.extra_body.api_key"),
        ({"key_header": "x-key"}, "t.key_header: litellm knows where its providers want the key"),
    ],
)
def test_settings_that_cannot_work_are_named(more: dict[str, Any], words: str) -> None:
    with pytest.raises(Problem) as caught:
        build("t", {"kind": "litellm", "model": "mistral/m", **more})
    assert words in str(caught.value)
