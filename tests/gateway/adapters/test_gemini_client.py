"""Google's client on the run's session: what it would do by itself, and does not do here."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from gateway.engine import Gateway
from gateway.errors import CallFailed
from runstore.journal import Journal
from tests.support.asking import attempt, chat, endpoint, fault_of
from tests.support.fake_faults import Reply
from tests.support.fake_provider import FakeProvider
from tests.support.proxy_server import proxy_server
from tests.support.raw_server import raw_server, whole

KEY = "test-KEY-93f1-not-real"
GOOD = b'{"candidates":[{"content":{"parts":[{"text":"So?"}]},"finishReason":"STOP"}],"newField":{"a":[1]}}'


@pytest.mark.parametrize("model", ["fake-1", "models/fake-1", "tunedModels/fake-1"])
async def test_what_is_sent_is_what_is_composed(provider: FakeProvider, model: str) -> None:
    settings = {"temperature": 0, "top_p": 0.25, "seed": 7, "thinking_budget": -1, "max_output_tokens": 99}
    adapter = endpoint(provider.settings("gemini", **settings) | {"model": model})
    prompt = chat("hi", "안녕 😀", 'a "quoted" \\ line\nbreak', system="Ask.")
    await attempt(adapter, prompt)
    (asked,) = provider.requests
    assert asked.body == orjson.loads(adapter.body(adapter.compose(prompt)))
    resource = model if "/" in model else f"models/{model}"
    assert asked.path == f"/v1beta/{resource}:generateContent"
    assert "x-goog-api-key" not in asked.headers


async def test_the_query_of_the_address_stays_behind_the_path() -> None:
    async with raw_server([whole(GOOD)]) as server:
        table = {"kind": "gemini", "model": "m", "base_url": f"{server.url}/proxy?course=a&x=%2F"}
        assert (await attempt(endpoint(table), chat("hi"), key=KEY)).text == "So?"
    assert server.heads[0].splitlines()[0] == (
        "POST /proxy/v1beta/models/m:generateContent?course=a&x=%2F HTTP/1.1"
    )


async def test_nothing_is_taken_from_the_environment(
    provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "of-the-environment")
    monkeypatch.setenv("GEMINI_API_KEY", "of-the-environment")
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    monkeypatch.setenv("GOOGLE_GENAI_API_VERSION", "v7")
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "of-the-environment")
    monkeypatch.setenv("GOOGLE_CLOUD_LOCATION", "mars")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:9")
    await attempt(endpoint(provider.settings("gemini")), chat("hi"), key=KEY)
    (asked,) = provider.requests
    assert asked.path == "/v1beta/models/fake-1:generateContent"
    assert asked.headers["x-goog-api-key"] == KEY
    assert "authorization" not in asked.headers
    assert "of-the-environment" not in str(asked.headers)


@pytest.mark.parametrize("fault", ["503", "429", "reset", "html-200"])
async def test_one_attempt_is_one_request(provider: FakeProvider, fault: str) -> None:
    provider.script = lambda asked, number: fault
    await fault_of(endpoint(provider.settings("gemini")), chat("hi"))
    assert provider.stats.calls == 1


async def test_a_reply_that_could_be_continued_is_one_request(provider: FakeProvider) -> None:
    body = GOOD.replace(b"STOP", b"CONTINUATION")
    provider.script = lambda asked, number: Reply(body)
    fault = await fault_of(endpoint(provider.settings("gemini")), chat("hi"))
    assert (fault.kind, provider.stats.calls) == ("malformed", 1)


async def test_nobody_listening_is_a_fault_at_once() -> None:
    table = {"kind": "gemini", "model": "m", "base_url": "http://127.0.0.1:9"}
    async with asyncio.timeout(0.9):
        fault = await fault_of(endpoint(table), chat("hi"), key=KEY)
    assert (fault.kind, fault.retry.again) == ("connection", "transient")
    assert "cannot connect to 127.0.0.1:9" in fault.message


async def test_a_redirect_is_not_followed_with_the_key(provider: FakeProvider) -> None:
    async with raw_server([whole(b"", f"Location: {provider.url}/v1beta", status="307 Moved")]) as server:
        table = {"kind": "gemini", "model": "m", "base_url": f"http://127.0.0.1:{server.port}"}
        fault = await fault_of(endpoint(table), chat("hi"), key=KEY)
    assert (fault.kind, fault.status, provider.stats.calls) == ("bad_request", 307, 0)
    assert "which is not followed" in fault.message


@pytest.mark.parametrize("body", [b'{"error": {"code"', b"\xff\xfe not text", b""])
async def test_the_status_of_an_error_that_is_not_json_is_kept(provider: FakeProvider, body: bytes) -> None:
    provider.script = lambda asked, number: Reply(body, 503, headers={"Retry-After": "7"})
    fault = await fault_of(endpoint(provider.settings("gemini")), chat("hi"))
    assert (fault.kind, fault.status, fault.retry.wait_s) == ("server", 503, 7)


async def test_details_of_an_error_decide_how_long_to_wait(provider: FakeProvider) -> None:
    retry = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3.5s"}
    error = {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "slow", "details": [retry]}}
    provider.script = lambda asked, number: Reply(orjson.dumps(error), 429)
    fault = await fault_of(endpoint(provider.settings("gemini")), chat("hi"))
    assert (fault.kind, fault.retry.again, fault.retry.wait_s) == ("rate_limit", "rate_limited", 3.5)


async def test_a_response_without_end_is_not_held(provider: FakeProvider) -> None:
    provider.script = lambda asked, number: Reply(b" " * 3_000_000)
    fault = await fault_of(endpoint(provider.settings("gemini", largest_reply_mb=2)), chat("hi"))
    adapter = endpoint(provider.settings("gemini", largest_reply_mb=2))
    async with Gateway({"t": adapter}) as gateway:
        with pytest.raises(CallFailed, match="larger than 2 MB, the limit of largest_reply_mb"):
            await gateway.ask("t", chat("hi"))
    assert fault.kind == "malformed"


async def test_the_journal_holds_the_response_as_it_came(provider: FakeProvider, tmp_path: Path) -> None:
    provider.script = lambda asked, number: Reply(GOOD)
    journal = Journal(tmp_path)
    async with Gateway.open({"t": provider.settings("gemini")}, journal=journal) as gateway:
        assert (await gateway.ask("t", chat("hi"))).text == "So?"
    (row,) = [row for row in journal.rows() if row["state"] == "ok"]
    journal.close()
    assert row["response"] == [orjson.loads(GOOD)]


async def test_lanes_keep_their_own_addresses_and_keys(tmp_path: Path) -> None:
    with FakeProvider() as one, FakeProvider() as two:
        table = one.settings("gemini", api_key_env=["K1", "K2"]) | {
            "base_url": [one.url, two.url + "/under/a/path"]
        }
        keys = {"K1": "key-number-one", "K2": "key-number-two"}
        async with Gateway.open({"t": table}, environ=keys) as gateway:
            await asyncio.gather(*(gateway.ask("t", chat(f"q{n}")) for n in range(40)))
        for server in (one, two):
            assert {asked.headers["x-goog-api-key"] for asked in server.requests} == set(keys.values())
        assert {asked.path for asked in two.requests} == {"/under/a/path/v1beta/models/fake-1:generateContent"}
        assert len(one.requests) + len(two.requests) == 40


async def test_the_key_is_in_no_log_and_no_repr(provider: FakeProvider, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    adapter = endpoint(provider.settings("gemini"))
    await attempt(adapter, chat("hi"), key=KEY)
    assert provider.requests[0].headers["x-goog-api-key"] == KEY
    clients: Any = adapter._client._clients
    for client in clients.values():
        assert "93f1" not in repr(client._api_client._http_options)
        assert "93f1" not in repr(vars(client._api_client))
    assert "93f1" not in caplog.text


async def test_it_goes_through_the_proxy_and_trusts_the_named_authority(
    own_authority: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(own_authority.certificate))
    async with (
        raw_server([whole(GOOD)], tls=own_authority.server_context) as server,
        proxy_server(server.port, credentials="ada:Pa55word") as proxy,
    ):
        monkeypatch.setenv("HTTPS_PROXY", f"http://ada:Pa55word@{proxy.address}")
        table = {"kind": "gemini", "model": "m", "base_url": "https://tutor.invalid", "api_key_env": "KEY"}
        async with Gateway.open({"t": table}, environ={"KEY": KEY}) as gateway:
            assert (await gateway.ask("t", chat("hi"))).text == "So?"
        assert proxy.heads[0].startswith("CONNECT tutor.invalid:443") and KEY not in proxy.heads[0]
        assert f"x-goog-api-key: {KEY}" in server.heads[0]


def test_runs_without_gemini_never_import_it(tmp_path: Path) -> None:
    (tmp_path / "replies.jsonl").write_text('{"reply": "hi"}')
    code = """
import asyncio, sys
import frontdesk.cli, tutor_arena
from gateway.engine import Gateway
from gateway.prompt import Message, Prompt
table = {
    "s": {"kind": "scripted", "replies": sys.argv[1]},
    "o": {"kind": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1"},
}
async def main():
    async with Gateway.open(table) as gateway:
        await gateway.ask("s", Prompt("teacher", (Message("user", "hi"),)))
    Gateway.open({"g": {"kind": "gemini", "model": "m"}}, offline=True)
asyncio.run(main())
print([name for name in sys.modules if name.startswith(("google.genai", "google.auth", "requests"))])
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "replies.jsonl")], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr
