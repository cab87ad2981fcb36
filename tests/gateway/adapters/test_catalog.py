"""Endpoints are built from their tables, and every mistake in one is named with endpoint and key."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from gateway.adapters import catalog
from runstore.problems import Problem


def problem(raw: dict[str, Any]) -> str:
    with pytest.raises(Problem) as caught:
        catalog.build("tutor", raw)
    return str(caught.value)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({}, "endpoints.tutor.kind: missing"),
        ({"kind": "gemni"}, "did you mean 'gemini'"),
        ({"kind": 3}, "endpoints.tutor.kind"),
        ({"kind": "gemini", "model": "m", "temprature": 1}, "temprature: unknown key; did you mean 'temperature'"),
        ({"kind": "openai", "model": "m", "api_key": "x"}, "did you mean 'api_key_env'"),
        ({"kind": "openai", "model": "m", "zzz": 1}, "expected one of"),
        ({"kind": "openai", "model": " "}, "endpoints.tutor.model: missing"),
        ({"kind": "openai", "model": "m", "retries": "often"}, "endpoints.tutor.retries: found 'often'"),
        ({"kind": "openai", "model": "m", "retries": -1}, "found -1"),
        ({"kind": "openai", "model": "m", "temperature": float("nan")}, "finite"),
        ({"kind": "openai", "model": "m", "base_url": "localhost:9000"}, "endpoints.tutor.base_url"),
        ({"kind": "openai", "model": "m", "base_url": "http://a:b@127.0.0.1"}, "keys belong"),
        ({"kind": "openai", "model": "m", "base_url": "http://127.0.0.1/?key=x"}, "keys belong"),
        ({"kind": "openai", "model": "m", "price": {"inputs": 1}}, "price"),
    ],
)
def test_mistakes(raw: dict[str, Any], words: str) -> None:
    assert words in problem(raw)


def test_public_addresses_of_the_vendors() -> None:
    addresses = {kind: catalog.build("x", {"kind": kind, "model": "m"}).address for kind in ("openai", "gemini")}
    assert addresses == {
        "openai": "https://api.openai.com/v1",
        "gemini": "https://generativelanguage.googleapis.com",
    }
    several = catalog.build(
        "x", {"kind": "openai", "model": "m", "base_url": ["http://127.0.0.1:1/v1/", "http://b"]}
    )
    assert several.address == "http://127.0.0.1:1/v1"


def keys(environ: dict[str, str], **raw: Any) -> list[str]:
    settings = catalog.settings_of("tutor", {"kind": "gemini", "model": "m", **raw})
    return catalog.key_values(settings, environ, name="tutor")


def test_keys_are_stripped_and_come_from_the_named_variables() -> None:
    assert keys({"A": " key-1\r\n", "B": "\ufeffkey-2"}, api_key_env=["A", "B"]) == ["key-1", "key-2"]
    assert keys({"GEMINI_API_KEY": "key-3"}) == ["key-3"]
    assert keys({"GEMINI_API_KEY": "key-3"}, base_url="http://127.0.0.1:1") == []


@pytest.mark.parametrize(
    "value", ["", "   ", "two words", "line\nbreak", "tab\tkey", "nul\x00", "schlüssel", "k\u200bey"]
)
def test_a_key_that_cannot_be_one_is_refused_without_showing_it(value: str) -> None:
    with pytest.raises(Problem) as caught:
        keys({"MY_KEY": value}, api_key_env="MY_KEY")
    assert "MY_KEY" in str(caught.value)
    assert "endpoints.tutor.api_key_env" in str(caught.value)
    assert not value.strip() or value not in str(caught.value)


def test_missing_variables_are_named() -> None:
    with pytest.raises(Problem, match="GEMINI_API_KEY is not set"):
        keys({})
    with pytest.raises(Problem, match="not a key") as caught:
        keys({}, api_key_env="sk-abc-def")
    assert "sk-abc" not in str(caught.value)


def test_only_the_module_of_a_used_kind_is_imported() -> None:
    code = (
        "import sys; from gateway.adapters import catalog; catalog.build('x', {'kind': 'openai', 'model': 'm'});"
        "print([m for m in ('gateway.adapters.gemini', 'gateway.adapters.local', 'google') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_every_kind_of_the_catalog_can_be_found() -> None:
    for kind in catalog.KINDS:
        cls = catalog.adapter_class(kind)
        assert hasattr(cls, "compose")
        assert "kind" in cls.Settings.model_fields
