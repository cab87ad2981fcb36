"""Bedrock's Converse over the real wire: what is sent and how it is signed, what comes back, whose credentials."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import orjson
import pytest

from gateway.adapters.catalog import build
from gateway.engine import Gateway
from gateway.errors import CallFailed
from gateway.prompt import Schema
from gateway.wire import FORBID_VARIABLE
from runstore.journal import Journal
from runstore.problems import Problem
from runstore.records import Usage
from tests.support import signatures
from tests.support.asking import attempt, chat, endpoint, fault_of
from tests.support.fake_faults import Reply
from tests.support.fake_provider import FakeProvider
from tests.support.proxy_server import proxy_server
from tests.support.raw_server import raw_server, whole

pytest.importorskip("botocore", reason="the extra [bedrock] is not installed")

SECRET, TOKEN = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "session-token-0123456789"
MODEL = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"
PATH = "/model/eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse"


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keys in the environment, and nothing of the machine's own AWS files."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_SESSION_TOKEN", TOKEN)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


def without_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name)


def table(provider: FakeProvider, **more: Any) -> dict[str, Any]:
    return provider.settings("bedrock", region="eu-west-1", **more) | {"model": MODEL}


def says(provider: FakeProvider, content: Any, stop: str = "end_turn", **more: Any) -> None:
    body = {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": stop, **more}
    provider.script = lambda asked, number: Reply(orjson.dumps(body), headers={"x-amzn-RequestId": "r-1"})


async def test_what_is_sent(provider: FakeProvider) -> None:
    settings = {"temperature": 0.5, "max_output_tokens": 99, "extra_body": {"top_k": 7}, "cache_prompt": True}
    schema = Schema("v", {"type": "object"})
    adapter = endpoint(table(provider, json_format="json_schema", **settings))
    await attempt(adapter, chat("hi", "ha", "hm", system="Ask.", schema=schema))
    (asked,) = provider.requests
    assert asked.path == PATH
    assert asked.body == {
        "system": [{"text": "Ask."}, {"cachePoint": {"type": "default"}}],
        "messages": [
            {"role": "user", "content": [{"text": "hi"}]},
            {"role": "assistant", "content": [{"text": "ha"}]},
            {"role": "user", "content": [{"text": "hm"}]},
        ],
        "inferenceConfig": {"maxTokens": 99, "temperature": 0.5},
        "additionalModelRequestFields": {"top_k": 7},
        "outputConfig": {
            "textFormat": {
                "type": "json_schema",
                "structure": {"jsonSchema": {"name": "v", "schema": '{"type":"object"}'}},
            }
        },
    }


async def test_the_signature_is_the_one_that_aws_works_out(provider: FakeProvider) -> None:
    adapter = endpoint(table(provider))
    await attempt(adapter, chat("한 번 더 – what is 1/2 + 1/3?"))
    (asked,) = provider.requests
    body = adapter.compose(chat("한 번 더 – what is 1/2 + 1/3?"))
    sent = orjson.dumps(orjson.loads(body)["body"])
    assert signatures.given(asked.headers) == signatures.signature(SECRET, PATH, asked.headers, sent)
    assert "Credential=AKIDEXAMPLE/" in asked.headers["authorization"]
    assert "/eu-west-1/bedrock/aws4_request" in asked.headers["authorization"]
    assert asked.headers["x-amz-security-token"] == TOKEN


async def test_an_api_key_is_sent_in_place_of_a_signature(
    provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "bedrock-api-key-1")
    without_keys(monkeypatch)
    settings = table(provider, api_key_env="AWS_BEARER_TOKEN_BEDROCK")
    async with Gateway.open({"t": settings}) as gateway:
        await gateway.ask("t", chat("hi"))
    (asked,) = provider.requests
    assert asked.headers["authorization"] == "Bearer bedrock-api-key-1"
    assert "x-amz-date" not in asked.headers


def test_the_extra_is_named_where_it_is_missing_and_not_needed_for_an_api_key() -> None:
    code = """
        import sys
        sys.modules["botocore"] = None
        from gateway.engine import Gateway
        from runstore.problems import Problem
        table = {"kind": "bedrock", "model": "m", "region": "us-east-1"}
        Gateway.open({"t": table | {"api_key_env": "A_KEY"}}, environ={"A_KEY": "bedrock-api-key-1"})
        try:
            Gateway.open({"t": table})
        except Problem as problem:
            print(problem)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("endpoints.t: AWS credentials need the extra [bedrock]: pip install")


async def test_answers_with_thinking_and_a_cache(provider: FakeProvider) -> None:
    usage = {
        "inputTokens": 5,
        "outputTokens": 7,
        "totalTokens": 132,
        "cacheReadInputTokens": 100,
        "cacheWriteInputTokens": 20,
        "cacheDetails": [{"ttl": "5m", "inputTokens": 12}, {"ttl": "1h", "inputTokens": 8}],
    }
    thinking = {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "x"}}}
    says(provider, [thinking, {"text": "Why?"}], usage=usage)
    answer = await attempt(endpoint(table(provider)), chat("hi"))
    assert (answer.text, answer.request_id, answer.model) == ("Why?", "r-1", MODEL)
    assert answer.usage == Usage(input=125, output=7, cached=100, cache_written=12, cache_written_1h=8)


async def test_recorded_responses_are_read_again_without_credentials(
    provider: FakeProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    says(provider, [{"text": "Half of"}], "max_tokens", usage={"inputTokens": 3, "outputTokens": 2})
    settings = table(provider, accept_truncated=True)
    first = await recorded(tmp_path, settings)
    assert first.finish == "length" and first.request_id == "r-1"
    without_keys(monkeypatch)
    assert await recorded(tmp_path, settings, offline=True) == first
    with pytest.raises(CallFailed, match="truncated with its text unfinished"):
        await recorded(tmp_path, settings | {"accept_truncated": False}, offline=True)
    assert provider.stats.calls == 1


async def recorded(folder: Path, settings: dict[str, Any], *, offline: bool = False) -> Any:
    journal = Journal(folder / "journal", read_only=offline)
    try:
        async with Gateway.open({"t": settings}, journal=journal, offline=offline) as gateway:
            return await gateway.ask("t", chat("hi"))
    finally:
        journal.close()


async def test_counts_that_are_none_are_unknown(provider: FakeProvider) -> None:
    says(provider, [{"text": "Why?"}], usage={"inputTokens": -1, "outputTokens": 2.5})
    answer = await attempt(endpoint(table(provider)), chat("hi"))
    assert answer.usage == Usage()
    assert [warning.split(" =")[0] for warning in answer.warnings] == [
        "usage unknown: inputTokens",
        "usage unknown: outputTokens",
    ]


@pytest.mark.parametrize(
    ("content", "stop", "kind", "again"),
    [
        ([], "end_turn", "empty", "transient"),
        ([{"text": "\u200b"}], "end_turn", "empty", "transient"),
        ([{"text": "So"}], "max_tokens", "truncated", "no"),
        ([{"text": "Sorry."}], "guardrail_intervened", "blocked", "no"),
        ([{"text": ""}], "content_filtered", "blocked", "no"),
        ([{"toolUse": {"name": "look_up", "toolUseId": "1", "input": {}}}], "tool_use", "tool_call", "no"),
        ([{"text": "So {"}], "malformed_model_output", "malformed", "transient"),
        ([], "model_context_window_exceeded", "context_length", "no"),
        ({"text": "no list"}, "end_turn", "malformed", "transient"),
    ],
)
async def test_answers_that_are_none(
    provider: FakeProvider, content: Any, stop: str, kind: str, again: str
) -> None:
    says(provider, content, stop)
    fault = await fault_of(endpoint(table(provider)), chat("hi"))
    assert (fault.kind, fault.retry.again) == (kind, again)


@pytest.mark.parametrize(
    ("status", "name", "said", "kind", "again"),
    [
        (
            429,
            "ThrottlingException",
            "Too many tokens, please wait before trying again.",
            "rate_limit",
            "rate_limited",
        ),
        (429, "ThrottlingException", "Too many tokens per day, please wait before trying again.", "quota", "no"),
        (400, "ServiceQuotaExceededException", "The quota is exceeded.", "rate_limit", "rate_limited"),
        (429, "ModelNotReadyException", "Not ready.", "rate_limit", "rate_limited"),
        (424, "ModelErrorException", "The model broke.", "server", "transient"),
        (408, "ModelTimeoutException", "Too slow.", "timeout", "transient"),
        (503, "ServiceUnavailableException", "Busy.", "server", "transient"),
        (403, "AccessDeniedException", "You don't have access to the model.", "auth", "no"),
        (403, "ExpiredTokenException", "The security token is expired", "auth", "no"),
        (404, "ResourceNotFoundException", "Could not resolve the model.", "unknown_model", "no"),
        (400, "ValidationException", "Malformed input request.", "bad_request", "no"),
        (400, "ValidationException", "Input is too long for requested model.", "context_length", "no"),
    ],
)
async def test_errors_are_told_by_their_type(
    provider: FakeProvider, status: int, name: str, said: str, kind: str, again: str
) -> None:
    headers = {"x-amzn-ErrorType": f"{name}:http://internal.amazon.com/coral/", "x-amzn-RequestId": "r-2"}
    provider.script = lambda asked, number: Reply(orjson.dumps({"message": said}), status, headers=headers)
    fault = await fault_of(endpoint(table(provider)), chat("hi"))
    assert (fault.kind, fault.retry.again, fault.request_id) == (kind, again, "r-2")
    assert fault.message == f"HTTP {status} {name}: {said}"


async def test_an_error_inside_a_success(provider: FakeProvider) -> None:
    body = {"__type": "com.amazon.coral.service#InternalFailure", "message": "broke"}
    provider.script = lambda asked, number: Reply(orjson.dumps(body))
    fault = await fault_of(endpoint(table(provider)), chat("hi"))
    assert (fault.kind, fault.retry.again) == ("server", "transient") and "broke" in fault.message


@contextmanager
def container(lives_s: list[float]) -> Iterator[tuple[str, list[str]]]:
    """The credentials of a container, as its host gives them: the address, and the secrets that it gave."""
    given: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            ends = datetime.now(UTC) + timedelta(seconds=lives_s[min(len(given), len(lives_s) - 1)])
            given.append(f"secret-of-container-{len(given)}")
            about = {"AccessKeyId": "AKID2", "SecretAccessKey": given[-1], "Token": f"token-of-{given[-1]}"}
            data = json.dumps(about | {"Expiration": ends.strftime("%Y-%m-%dT%H:%M:%SZ")}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/credentials", given
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


async def test_credentials_that_end_are_fetched_once_for_all_and_stand_in_no_file(
    provider: FakeProvider, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    without_keys(monkeypatch)
    said = b'{"message":"token-of-secret-of-container-1 and secret-of-container-1 may not do this"}'
    provider.script = lambda asked, number: Reply(said, 403) if "last" in asked.last else None
    with container([60, 3600]) as (address, given):
        monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", address)
        journal = Journal(tmp_path / "journal")
        async with asyncio.timeout(30), Gateway.open({"t": table(provider)}, journal=journal) as gateway:
            await asyncio.gather(*(gateway.ask("t", chat(f"q{number}")) for number in range(20)))
            with pytest.raises(CallFailed, match="may not do this") as caught:
                await gateway.ask("t", chat("last"))
        journal.close()
    assert given == ["secret-of-container-0", "secret-of-container-1"]
    assert {asked.headers["x-amz-security-token"] for asked in provider.requests} == {f"token-of-{given[-1]}"}
    written = b"".join(path.read_bytes() for path in (tmp_path / "journal").rglob("*") if path.is_file())
    assert b"secret-of" not in written + str(caught.value).encode() and len(written) > 1000


async def test_a_profile_of_the_shared_files(
    provider: FakeProvider, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    without_keys(monkeypatch)
    profile = "[school]\naws_access_key_id = AKIDSCHOOL\naws_secret_access_key = secret-of-the-school\n"
    (tmp_path / "credentials").write_text(profile)
    await attempt(endpoint(table(provider, profile="school")), chat("hi"))
    assert "Credential=AKIDSCHOOL/" in provider.requests[0].headers["authorization"]
    with pytest.raises(Problem, match=r"endpoints\.t: no AWS credentials: .*\(nobody\).* could not be found"):
        Gateway.open({"t": table(provider, profile="nobody")})


def test_without_credentials_nothing_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    without_keys(monkeypatch)
    settings = {"kind": "bedrock", "model": "m", "region": "us-east-1"}
    with pytest.raises(Problem, match=r"endpoints\.t: no AWS credentials were found; run `aws configure`"):
        Gateway.open({"t": settings})
    Gateway.open({"t": settings}, offline=True)


async def test_switched_off_calls_ask_no_other_machine_for_credentials(
    provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_keys(monkeypatch)
    monkeypatch.setenv(FORBID_VARIABLE, "1")
    with container([3600]) as (address, given):
        monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", address)
        with pytest.raises(Problem, match="no AWS credentials were found"):
            Gateway.open({"t": table(provider)})
        assert given == []
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    async with Gateway.open({"t": {"kind": "bedrock", "model": "m", "region": "us-east-1"}}) as gateway:
        with pytest.raises(CallFailed, match=r"bedrock-runtime\.us-east-1\.amazonaws\.com was not asked"):
            await gateway.ask("t", chat("hi"))


async def test_the_endpoints_proxy_is_used(provider: FakeProvider) -> None:
    async with proxy_server(provider.port) as proxy:
        settings = table(provider) | {"base_url": "http://bedrock.test", "proxy": f"http://{proxy.address}"}
        async with Gateway.open({"t": settings}) as gateway:
            await gateway.ask("t", chat("hi"))
    assert proxy.heads[0].startswith(f"POST http://bedrock.test{PATH} HTTP/1.1")


async def test_a_response_beyond_the_bound_is_not_held() -> None:
    async with raw_server([whole(b"x" * 300_000)]) as server:
        settings = {"kind": "bedrock", "model": MODEL, "region": "eu-west-1", "base_url": server.url}
        async with Gateway.open({"t": settings | {"largest_reply_mb": 0.1, "retries": 0}}) as gateway:
            with pytest.raises(CallFailed, match=r"larger than 0\.1 MB"):
                await gateway.ask("t", chat("hi"))


@pytest.mark.parametrize("region", ["us-east-1", "eu-west-1", "cn-north-1", "us-gov-west-1"])
def test_addresses_are_those_of_botocore(region: str) -> None:
    from botocore.session import Session

    client = Session().create_client("bedrock-runtime", region_name=region)
    adapter = build("t", {"kind": "bedrock", "model": "m", "region": region})
    assert client.meta.endpoint_url == adapter.address
    client.close()


THINKS = {"region": "us-east-1", "extra_body": {"thinking": {"type": "enabled", "budget_tokens": 2048}}}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({}, "t.region: missing"),
        ({"region": "Frankfurt"}, "t.region: found 'Frankfurt', expected a region of AWS such as us-east-1"),
        ({"region": "us-east-1", "seed": 1}, "t.seed: this kind of endpoint has no seed"),
        ({"region": "us-east-1", "temperature": 1.5}, "t.temperature: found 1.5, expected 0 to 1"),
        ({"region": "us-east-1", "profile": "p", "api_key_env": "K"}, "t.profile: an API key (api_key_env) takes"),
        (THINKS | {"max_output_tokens": 2048}, "tokens: found 2048, expected less than max_output_tokens, 2048"),
        (
            THINKS | {"temperature": 0.5},
            "t.temperature: found 0.5, expected none (or 1) beside extra_body",
        ),
    ],
)
def test_settings_that_cannot_work_are_named(more: dict[str, Any], words: str) -> None:
    with pytest.raises(Problem) as caught:
        build("t", {"kind": "bedrock", "model": "m", **more})
    assert words in str(caught.value)


def test_model_and_region_are_part_of_the_journals_key() -> None:
    ways = [{"model": "a"}, {"model": "b"}, {"model": "a", "region": "eu-west-1"}]
    keys: set[str] = set()
    for way in ways:
        gateway = Gateway.open({"t": {"kind": "bedrock", "region": "us-east-1", **way}})
        target = gateway.endpoints["t"]
        keys.add(target.key(target.adapter.compose(chat("hi")), 0))
    assert len(keys) == len(ways)
