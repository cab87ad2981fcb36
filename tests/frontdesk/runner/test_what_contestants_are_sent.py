"""Nobody is coached: what a contestant is sent, byte by byte, holds nothing that judges are asked about."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from arena import criteria
from frontdesk.cli import main
from gateway.adapters.catalog import KINDS, build
from gateway.adapters.local import LocalAdapter, LocalSettings
from gateway.batches.runner import BatchRunner
from gateway.crowd import each
from gateway.engine import Gateway
from gateway.local_model.server import EmbeddedServer
from gateway.prompt import Ask
from runstore.journal import Journal
from simulator.collect import reply_to
from simulator.roles import Roles
from tests.support.batch_asker import KINDS as BATCHED
from tests.support.batch_asker import endpoints as batch_endpoints
from tests.support.coaching import DOMAINS, LANGUAGES, leaked, prompt_of, subset
from tests.support.fake_provider import FakeProvider
from tests.support.google_tokens import service_account, token_server
from tests.support.small_runs import write_config

OWN_TABLES: Mapping[str, Mapping[str, Any]] = {
    "http": {"url": "http://127.0.0.1:1/r", "body": {"all": "{messages}", "told": "{system}"}, "reply": "text"},
    "ureka": {"base_url": "http://127.0.0.1:1"},
    "scripted": {"replies": "replies.jsonl"},
    "local": {},
    "bedrock": {"model": "m", "region": "eu-central-1"},
    "litellm": {"model": "openai/m"},
}
"""What an endpoint of a kind needs beside a model; a further kind is tried with a model alone."""


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_search_finds_criteria_where_they_are_sent(language: str) -> None:
    for criterion in criteria.load(None, language):
        assert leaked(json.dumps({"system": f"Teach well. {criterion.description}"}), language)
        assert leaked(f"score: {criterion.name}", language) == [criterion.name]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", KINDS)
def test_no_kind_of_endpoint_composes_a_request_that_coaches(
    kind: str, language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "replies.jsonl").write_text('{"reply": "And then?"}\n')
    if kind == "local":
        server = EmbeddedServer("http://127.0.0.1:9", "k", None)
        sent = LocalAdapter(LocalSettings(kind="local"), serve=lambda _: server).compose(prompt_of(language))
    else:
        sent = build("c", {"kind": kind, **OWN_TABLES.get(kind, {"model": "m"})}).compose(prompt_of(language))
    assert sent
    assert leaked(sent, language) == []


async def collected(endpoints: dict[str, Any], language: str, **options: Any) -> None:
    roles = Roles.load(language, domain=DOMAINS[language])
    async with asyncio.timeout(30), Gateway.open(endpoints, **options) as gateway:
        for name in endpoints:
            await reply_to(gateway.ask, subset(language), name, roles)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_what_arrives_at_a_provider_coaches_nobody(
    language: str, provider: FakeProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = ("openai", "anthropic", "gemini", "http", "ureka")
    endpoints: dict[str, Any] = {kind: provider.settings(kind) for kind in kinds}
    endpoints["vertex"] = provider.settings("gemini", vertexai=True, project="school-42")
    with token_server() as tokens:
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(service_account(tmp_path, tokens.address)))
        await collected(endpoints, language)
    assert {asked.shape for asked in provider.requests} == set(kinds)
    assert any("/projects/school-42/" in asked.path for asked in provider.requests)
    for asked in provider.requests:
        assert leaked(json.dumps([asked.body, asked.texts, asked.headers], ensure_ascii=False), language) == []


@pytest.mark.parametrize("language", LANGUAGES)
async def test_what_goes_by_batch_coaches_nobody(language: str, provider: FakeProvider, tmp_path: Path) -> None:
    roles = Roles.load(language, domain=DOMAINS[language])
    journal = Journal(tmp_path / "journal")

    async def all_of_them(ask: Ask) -> None:
        await each(BATCHED, lambda kind: reply_to(ask, subset(language), kind, roles), at_once=9)

    environ = {"A_KEY": "k-123456789"}
    async with (
        asyncio.timeout(60),
        Gateway.open(batch_endpoints(provider.url), journal=journal, environ=environ) as gateway,
    ):
        await BatchRunner(gateway, BATCHED, poll_s=0.01).whole(all_of_them)
    journal.close()
    sent = [request.body for job in provider.batches.jobs.values() for request in job.requests]
    assert len(sent) == len(BATCHED)
    assert all(leaked(body, language) == [] for body in sent)


def test_own_criteria_reach_judges_and_no_contestant(provider: FakeProvider, tmp_path: Path) -> None:
    secret = "Whether the reply mentions a purple elephant on its way to the market"
    (tmp_path / "criteria.yaml").write_text(f"criteria:\n  - {{id: e, name: Elephant, description: {secret}.}}\n")
    config = write_config(
        tmp_path / "c.toml", provider, dialogues=4, subsets=4, criteria=str(tmp_path / "criteria.yaml")
    )
    assert main(["run", str(config), "--run", str(tmp_path / "run")]) == 0
    told: dict[str, list[bool]] = {}
    for asked in provider.requests:
        told.setdefault(asked.role, []).append("purple elephant" in json.dumps([asked.body, asked.texts]))
    assert all(told["judge"])
    assert not any(told["student"] + told["teacher"])
