"""Fairness: what contestants are told, and that it names none of the judge's criteria."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from arena import criteria
from frontdesk.cli import main
from frontdesk.report.run import write_report
from gateway.adapters import catalog
from gateway.adapters.base import Adapter
from gateway.adapters.local import LocalAdapter, LocalSettings
from gateway.adapters.scripted import ScriptedAdapter
from gateway.engine import Gateway
from gateway.local_model.server import EmbeddedServer
from runstore.languages import languages
from simulator.collect import reply_to
from simulator.roles import Roles
from tests.support.coaching import DOMAINS, LANGUAGES, leaked, subset
from tests.support.fake_provider import FakeProvider
from tests.support.raw_server import raw_server, whole
from tests.support.run_folders import RunBuilder
from tests.support.small_runs import to_toml, write_config

KINDS = ("gemini", "openai", "anthropic", "bedrock", "http", "litellm", "ureka")
"""Every shipped kind that goes over a wire of its own; ureka sends the student's words alone."""
_HERE = ("local", "scripted")
"""The kinds that answer on this machine."""


def test_every_shipped_kind_is_looked_at() -> None:
    assert sorted((*KINDS, *_HERE)) == sorted(catalog.KINDS)


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("kind", KINDS)
def test_no_contestant_is_sent_a_criterion_of_the_judge(
    kind: str, language: str, provider: FakeProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY", "k-0123456789")
    shape = "openai" if kind == "litellm" else kind
    config = write_config(tmp_path / "c.toml", provider, dialogues=1, subsets=1)
    text = config.read_text().replace("[run]\n", f'[run]\nlanguage = "{language}"\n')
    table = to_toml({"endpoints.new": settings_of(kind, provider)})
    contestants = text.replace('"ureka", "gemini"', '"ureka", "new"')
    config.write_text(f"{contestants}\n{table}\n")
    assert main(["run", str(config), "--run", str(tmp_path / "run")]) == 0
    asked = [each for each in provider.requests if each.role == "teacher" and each.shape == shape]
    assert asked
    for each in asked:
        assert leaked(json.dumps([each.body, each.texts, each.headers], ensure_ascii=False), language) == []
    sent = [system_text(each.body) for each in asked]
    assert any(sent) == (kind not in ("http", "ureka"))  # these two send no system text here
    names = [word for each in criteria.load(None, language) for word in (each.id, each.name)]
    wanted = re.compile("|".join(re.escape(name) for name in names if len(name) > 1), re.IGNORECASE)
    assert not [text for text in sent if wanted.search(text)]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_what_answers_on_this_machine_is_sent_none_either(language: str) -> None:
    asked: list[Any] = []

    def answer(request: dict[str, Any]) -> str:
        asked.append(request)
        return "And then?"

    reply = whole(json.dumps({"choices": [{"text": " And then?", "finish_reason": "stop"}]}).encode())
    roles = Roles.load(language, domain=DOMAINS[language])
    async with raw_server([reply]) as server:
        embedded = EmbeddedServer(server.url, "k", None)
        here: dict[str, Adapter] = {
            "local": LocalAdapter(LocalSettings(kind="local"), serve=lambda _: embedded),
            "scripted": ScriptedAdapter.of(answer),
        }
        async with asyncio.timeout(30), Gateway(here) as gateway:
            for name in here:
                await reply_to(gateway.ask, subset(language), name, roles)
    sent = [*server.heads, *(body.decode() for body in server.bodies), json.dumps(asked, ensure_ascii=False)]
    assert len(server.bodies) == len(asked) == 1
    assert [leaked(each, language) for each in sent] == [[]] * len(sent)


def settings_of(kind: str, provider: FakeProvider) -> dict[str, Any]:
    if kind == "litellm":
        pytest.importorskip("litellm", reason="the extra [litellm] is not installed")
        base = {"kind": kind, "model": "mistral/fake-1", "base_url": f"{provider.url}/v1"}
        return base | {"api_key_env": "A_KEY"}
    more = {"region": "eu-west-1", "api_key_env": "A_KEY"} if kind == "bedrock" else {}
    return provider.settings(kind, **more)


def system_text(body: Any) -> str:
    """What a provider was sent as system text, in whichever shape."""
    if "systemInstruction" in body:
        return json.dumps(body["systemInstruction"], ensure_ascii=False)
    if "system" in body:
        return json.dumps(body["system"], ensure_ascii=False)
    messages = body.get("messages") or body.get("history") or ()
    return "\n".join(message["content"] for message in messages if message["role"] == "system")


def test_the_report_says_who_was_told_what_and_warns_where_it_differs(tmp_path: Path) -> None:
    run = RunBuilder(("tutor-a", "tutor-b"))
    run.settings["endpoints"]["tutor-b"] = {**run.settings["endpoints"]["tutor-b"], "style": "socratic"}
    run.play(["aaa", "bbb"])
    text = write_report(run.write(tmp_path / "run"))[0].read_text("utf-8")
    assert "Who was told what" in text
    assert "| tutor-a | simple |" in text
    assert "| tutor-b | socratic |" in text
    same = RunBuilder(("tutor-a", "tutor-b"))
    same.play(["aaa", "bbb"])
    assert "told different things" not in write_report(same.write(tmp_path / "same"))[0].read_text("utf-8")
