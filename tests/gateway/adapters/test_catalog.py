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


LITERAL = "sk-proj-AbCdEf0123456789xyz"


@pytest.mark.parametrize(
    "settings",
    [
        {"extra_headers": {"api-key": "${AZURE}"}},
        {"extra_body": {"user": "${USER_OF_OURS}"}},
        {"base_url": "http://${HOST}/v1"},
        {"base_url": ["http://127.0.0.1:1/v1", "http://127.0.0.1:2/${PATH_OF_OURS}"]},
    ],
)
@pytest.mark.parametrize("kind", ["openai", "anthropic", "gemini"])
def test_a_variable_that_nobody_fills_in_is_refused(settings: dict[str, Any], kind: str) -> None:
    if not set(settings) <= set(catalog.adapter_class(kind).Settings.model_fields):
        settings = {"base_url": "http://127.0.0.1:1/${NONE}"}
    (key,) = settings
    with pytest.raises(Problem, match=rf"endpoints\.t\.{key}: \$\{{\w+\}} is not filled in here"):
        catalog.build("t", {"kind": kind, "model": "m", **settings}, environ={"GEMINI_API_KEY": "k" * 32})


@pytest.mark.parametrize(
    ("settings", "place"),
    [
        ({"extra_body": {"note": f"use {LITERAL} please"}}, "extra_body.note"),
        ({"extra_body": {"cfg": '{"api_key": "abcdef123456"}'}}, "extra_body.cfg.api_key"),
        ({"extra_body": {"a": {"accessToken": "abcdef123456"}}}, "extra_body.a.accessToken"),
        ({"extra_body": {"auth": {"bearer": "abcdef123456"}}}, "extra_body.auth.bearer"),
        ({"extra_body": {"api_key": ["abcdef123456"]}}, "extra_body.api_key"),
        ({"extra_body": {"api_key": 123456789012}}, "extra_body.api_key"),
        ({"extra_body": {"passphrase": "abcdef123456"}}, "extra_body.passphrase"),
        ({"extra_headers": {"X-Auth": "abcdef123456"}}, "extra_headers.X-Auth"),
        ({"extra_headers": {"X-Course": "Bearer abcdef0123456789ab"}}, "extra_headers.X-Course"),
        ({"extra_headers": {"X-Course": "Basic dXNlcjpwYXNzd29yZA=="}}, "extra_headers.X-Course"),
        ({"extra_headers": {"X-Course": "a3f5" * 16}}, "extra_headers.X-Course"),
        ({"extra_headers": {"X-Course": "nvapi-abcdefghij0123456789"}}, "extra_headers.X-Course"),
        ({"extra_headers": {"X-Course": "github_pat_11ABCDEFG0123456789"}}, "extra_headers.X-Course"),
        ({"extra_headers": {"Api-Key-2": "abcdef123456"}}, "extra_headers.Api-Key-2"),
        ({"system": f"The key is {LITERAL}."}, "system"),
        ({"base_url": f"https://models.example/{LITERAL}/v1"}, "base_url"),
        ({"base_url": "https://models.example/v1?sig=abcdef123456"}, "base_url"),
        ({"base_url": f"https://models.example/v1?x={LITERAL.replace('-', '%2D')}"}, "base_url"),
        ({"extra_body": {"cfg": {LITERAL: True}}}, "extra_body.cfg"),
        ({"extra_headers": {LITERAL: "x"}}, "extra_headers"),
    ],
)
def test_what_looks_like_a_key_is_refused_wherever_it_stands(settings: dict[str, Any], place: str) -> None:
    with pytest.raises(Problem, match="holds a key") as refused:
        catalog.build("t", {"kind": "openai", "model": "m", **settings})
    assert f"endpoints.t.{place}:" in str(refused.value) and "abcdef" not in str(refused.value).lower()


@pytest.mark.parametrize(
    "settings",
    [
        {"extra_body": {"eos_token": "<|im_end|>", "stop_token": "<|eot_id|>", "max_tokens": 12_345_678}},
        {"extra_headers": {"X-Course": "introduction-to-algorithms-2026-fall-term-2"}},
        {"extra_headers": {"X-Request": "123e4567-e89b-12d3-a456-426614174000"}},
        {"system": "Explain sk-learn and the token [end] to a beginner; the secret is practice."},
        {"base_url": "https://models.example/v1?api-version=2024-10-21"},
    ],
)
def test_what_only_sounds_like_one_is_taken(settings: dict[str, Any]) -> None:
    catalog.build("t", {"kind": "openai", "model": "m", **settings})


def test_an_address_has_no_fragment() -> None:
    with pytest.raises(Problem, match="#part, which is never sent"):
        catalog.build("t", {"kind": "openai", "model": "m", "base_url": "https://models.example/v1?a=1#part"})
