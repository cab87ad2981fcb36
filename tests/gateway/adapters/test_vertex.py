"""Vertex AI: Gemini with application default credentials, from the file to the token that is written nowhere."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google import genai
from google.oauth2.credentials import Credentials as AnyCredentials

from gateway.adapters.catalog import build, settings_of
from gateway.batches.catalog import service_of
from gateway.engine import Gateway
from gateway.errors import CallFailed
from gateway.events import EventLog
from gateway.wire import FORBID_VARIABLE
from runstore.journal import Journal
from runstore.problems import Problem
from tests.support.asking import chat
from tests.support.fake_faults import Reply
from tests.support.fake_provider import FakeProvider
from tests.support.google_tokens import TokenServer, service_account, token_server
from tests.support.proxy_server import proxy_server

ROOT = Path(__file__).resolve().parents[3]
PLACE = {"vertexai": True, "project": "school-42"}


@pytest.fixture
def tokens(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[TokenServer]:
    """A service account in the environment, whose tokens come from this machine."""
    with token_server() as server:
        folder = tmp_path / "secrets"
        folder.mkdir()
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(service_account(folder, server.address)))
        yield server


def table(provider: FakeProvider, **more: Any) -> dict[str, Any]:
    return {"t": provider.settings("gemini", **PLACE, **more)}


async def ask(endpoints: dict[str, Any], times: int = 1, **options: Any) -> list[str]:
    async with asyncio.timeout(30), Gateway.open(endpoints, **options) as gateway:
        return [a.text for a in await asyncio.gather(*(gateway.ask("t", chat(f"q{n}")) for n in range(times)))]


async def failure(endpoints: dict[str, Any], **options: Any) -> CallFailed:
    with pytest.raises(CallFailed) as caught:
        await ask(endpoints, **options)
    return caught.value


async def test_fifty_calls_at_once_share_one_token(provider: FakeProvider, tokens: TokenServer) -> None:
    assert len(set(await ask(table(provider), times=50))) > 1
    assert tokens.given == ["ya29.secret-token-0"]
    assert {asked.headers["authorization"] for asked in provider.requests} == {"Bearer ya29.secret-token-0"}
    path = "/v1beta1/projects/school-42/locations/global/publishers/google/models/fake-1:generateContent"
    assert {asked.path for asked in provider.requests} == {path}
    assert all("x-goog-api-key" not in asked.headers for asked in provider.requests)


async def test_a_token_that_ends_is_fetched_anew(provider: FakeProvider, tokens: TokenServer) -> None:
    tokens.lives_s = [60, 3600]
    async with Gateway.open(table(provider)) as gateway:
        for number in range(3):
            await gateway.ask("t", chat(f"q{number}"))
    sent = [asked.headers["authorization"].removeprefix("Bearer ") for asked in provider.requests]
    assert sent == ["ya29.secret-token-0", "ya29.secret-token-1", "ya29.secret-token-1"]


async def test_neither_token_nor_private_key_is_in_any_file(
    provider: FakeProvider, tokens: TokenServer, tmp_path: Path
) -> None:
    said = b'{"error":{"code":400,"message":"Bearer ya29.secret-token-0 may not do this"}}'
    provider.script = lambda asked, number: Reply(said, 400) if "q1" in asked.last else None
    journal, events = Journal(tmp_path / "journal"), EventLog(tmp_path / "log.jsonl")
    async with Gateway.open(table(provider), journal=journal, events=events) as gateway:
        await gateway.ask("t", chat("q0"))
        with pytest.raises(CallFailed, match="may not do this") as caught:
            await gateway.ask("t", chat("q1"))
    journal.close()
    events.close()
    assert tokens.given == ["ya29.secret-token-0"] and "secret-token" not in str(caught.value)
    written = [path for path in tmp_path.rglob("*") if path.is_file() and path.parent.name != "secrets"]
    assert len(written) > 1
    for path in written:
        assert b"secret-token" not in path.read_bytes() and b"PRIVATE KEY" not in path.read_bytes()


ASK = """
import asyncio, json, sys
from pathlib import Path
from gateway.engine import Gateway
from gateway.events import EventLog
from runstore.journal import Journal
from tests.support.asking import chat

async def main(table, folder):
    journal, events = Journal(folder / "journal"), EventLog(folder / "log.jsonl")
    async with Gateway.open(table, journal=journal, events=events) as gateway:
        await gateway.ask("t", chat("first"))
        await asyncio.gather(*(gateway.ask("t", chat(f"q{number}")) for number in range(20)))
    journal.close()
    events.close()

asyncio.run(main(json.loads(sys.argv[1]), Path(sys.argv[2])))
"""


async def test_the_machines_own_account_gives_one_token_and_a_new_one_when_it_ends_past_any_proxy(
    provider: FakeProvider, tmp_path: Path
) -> None:
    """In a process of its own: google-auth looks for a metadata server where it was when it was imported."""
    with token_server() as metadata:
        metadata.lives_s = [60, 3600]
        names = {f"GCE_METADATA_{name}": metadata.metadata_host for name in ("HOST", "ROOT", "IP")}
        environ = {"PYTHONPATH": str(ROOT), "CLOUDSDK_CONFIG": str(tmp_path), FORBID_VARIABLE: "1", **names}
        async with proxy_server(provider.port) as proxy:
            settings = table(provider, proxy=f"http://{proxy.address}")
            command = [sys.executable, "-c", ASK, json.dumps(settings), str(tmp_path)]
            child = await asyncio.create_subprocess_exec(*command, env=environ, stderr=asyncio.subprocess.PIPE)
            _, errors = await asyncio.wait_for(child.communicate(), 60)
    assert child.returncode == 0, errors.decode()
    assert metadata.given == ["ya29.secret-token-0", "ya29.secret-token-1"] and metadata.flavors == {"Google"}
    sent = [asked.headers["authorization"].removeprefix("Bearer ") for asked in provider.requests]
    assert (sent[0], set(sent[1:])) == ("ya29.secret-token-0", {"ya29.secret-token-1"}) and len(sent) == 21
    assert len(proxy.heads) == 21 and not any("computeMetadata" in head for head in proxy.heads)
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) > 1 and not any(b"secret-token" in data for data in written)


async def test_tokens_are_asked_for_through_the_endpoints_proxy(
    provider: FakeProvider, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with token_server() as tokens:
        monkeypatch.setenv(
            "GOOGLE_APPLICATION_CREDENTIALS", str(service_account(tmp_path, "http://oauth2.test/token"))
        )
        async with proxy_server(tokens.port, credentials="ada:proxy-password-1") as proxy:
            monkeypatch.setenv("MY_PROXY", f"http://ada:proxy-password-1@{proxy.address}")
            async with proxy_server(provider.port) as other:
                monkeypatch.setenv("HTTP_PROXY", f"http://{other.address}")
                with pytest.raises(
                    CallFailed, match="no candidates"
                ):  # the token server is behind that proxy alone
                    await ask(table(provider, base_url="http://vertex.test", proxy="${MY_PROXY}", retries=0))
                assert other.heads == []
    hosts = [head.split(" ")[1].split("/")[2] for head in proxy.heads if "Basic" in head]
    assert hosts == ["oauth2.test", "vertex.test"] and tokens.given[0] == "ya29.secret-token-0"


async def test_tokens_are_asked_for_directly_where_the_endpoint_says_so(
    provider: FakeProvider, tokens: TokenServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with proxy_server(1) as proxy:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://{proxy.address}")
        await ask(table(provider, proxy=False))
    assert proxy.heads == [] and tokens.given == ["ya29.secret-token-0"]


async def test_a_refused_sign_in_is_permanent_and_costs_no_call(
    provider: FakeProvider, tokens: TokenServer
) -> None:
    tokens.status = 400
    failed = await failure(table(provider, retries=3))
    assert (failed.kind, failed.attempts) == ("auth", 1)
    assert "no access token for Vertex AI: " in failed.message and "invalid_grant" in failed.message
    assert provider.stats.calls == 0


async def test_the_attempts_deadline_covers_the_sign_in(provider: FakeProvider, tokens: TokenServer) -> None:
    tokens.slow_s = 1.5
    failed = await failure(table(provider, retries=0, timeout_s=0.2))
    assert failed.kind in ("timeout", "connection") and provider.stats.calls == 0


async def test_without_credentials_nothing_starts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(FORBID_VARIABLE, "1")
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
    with pytest.raises(Problem, match=r"endpoints\.t: no credentials for Vertex AI .*gcloud auth application-def"):
        Gateway.open({"t": {"kind": "gemini", "model": "m", **PLACE}})
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "gone.json"))
    with pytest.raises(Problem, match=r"gone\.json was not found; run `gcloud"):
        Gateway.open({"t": {"kind": "gemini", "model": "m", **PLACE}})
    Gateway.open({"t": {"kind": "gemini", "model": "m", **PLACE}}, offline=True)


async def test_switched_off_calls_ask_for_no_token_elsewhere(
    provider: FakeProvider, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = service_account(tmp_path, "https://oauth2.googleapis.example/token")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
    monkeypatch.setenv(FORBID_VARIABLE, "1")
    failed = await failure(table(provider))
    assert failed.kind == "forbidden" and "oauth2.googleapis.example was not asked" in failed.message
    assert provider.stats.calls == 0


async def test_switched_off_calls_do_not_reach_vertex(
    tokens: TokenServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FORBID_VARIABLE, "1")
    failed = await failure({"t": {"kind": "gemini", "model": "m", **PLACE}})
    assert failed.kind == "forbidden" and "aiplatform.googleapis.com was not asked" in failed.message
    assert tokens.asked == 0


@pytest.mark.parametrize("location", [None, "global", "eu", "us", "europe-west4"])
def test_addresses_are_those_of_google_genai(location: str | None) -> None:
    adapter = build("t", {"kind": "gemini", "model": "m", **PLACE, **({"location": location} if location else {})})
    client = genai.Client(
        vertexai=True, project="school-42", location=location or "global", credentials=AnyCredentials(token="T")
    )
    assert client._api_client._http_options.base_url == adapter.address + "/"
    client.close()


@pytest.mark.parametrize(
    ("model", "resource"),
    [
        ("gemini-2.5-flash", "projects/school-42/locations/global/publishers/google/models/gemini-2.5-flash"),
        ("meta/llama-4", "projects/school-42/locations/global/publishers/meta/models/llama-4"),
        ("publishers/qwen/models/q", "projects/school-42/locations/global/publishers/qwen/models/q"),
        ("projects/1/locations/eu/endpoints/7", "projects/1/locations/eu/endpoints/7"),
    ],
)
async def test_models_of_other_publishers_and_ones_own_endpoints(
    provider: FakeProvider, tokens: TokenServer, model: str, resource: str
) -> None:
    await ask({"t": provider.settings("gemini", **PLACE) | {"model": model}})
    assert [asked.path for asked in provider.requests] == [f"/v1beta1/{resource}:generateContent"]


def test_project_location_and_interface_are_part_of_what_is_composed() -> None:
    base = {"kind": "gemini", "model": "m"}
    ways = [{}, PLACE, {**PLACE, "project": "other"}, {**PLACE, "location": "eu"}]
    assert len({build("t", base | way).compose(chat("hi")) for way in ways}) == len(ways)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"vertexai": True}, "t.project: missing; Vertex AI needs the id of a Google Cloud project"),
        ({"project": "p"}, "t.project: only Vertex AI has one; add vertexai = true"),
        ({"location": "eu"}, "t.location: only Vertex AI has one"),
        ({**PLACE, "location": "eu/west"}, "t.location: found 'eu/west', expected a name"),
        (
            {**PLACE, "api_key_env": "A_KEY"},
            "t.api_key_env: Vertex AI is asked with application default credentials",
        ),
        ({"model": "m?key=1"}, "t.model: found 'm?key=1', expected the name of a model"),
        ({"model": "../m"}, "t.model: found '../m', expected the name of a model"),
    ],
)
def test_settings_that_cannot_work_are_named(more: dict[str, Any], words: str) -> None:
    with pytest.raises(Problem) as caught:
        build("t", {"kind": "gemini", "model": "m", **more})
    assert words in str(caught.value)


def test_batches_say_that_they_need_a_bucket() -> None:
    settings = settings_of("t", {"kind": "gemini", "model": "m", **PLACE})
    with pytest.raises(Problem, match=r"endpoints\.t\.vertexai: batches on Vertex AI need a bucket"):
        service_of("t", settings)
