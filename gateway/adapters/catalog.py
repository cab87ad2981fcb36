"""The kinds of endpoint, and how one is built from its table in the configuration.

Adding a kind: one module beside this one, one line in KINDS.
"""

from __future__ import annotations

import importlib
import math
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, cast
from urllib.parse import parse_qsl, urlsplit

from pydantic import ValidationError

from gateway.adapters import literal_keys
from gateway.adapters.base import Adapter, EndpointSettings, is_address
from runstore.expected import expected_of
from runstore.problems import Problem, nearest

KINDS: dict[str, str] = {
    "gemini": "gateway.adapters.gemini:GeminiAdapter",
    "openai": "gateway.adapters.openai:OpenAIAdapter",
    "anthropic": "gateway.adapters.anthropic:AnthropicAdapter",
    "bedrock": "gateway.adapters.bedrock:BedrockAdapter",
    "litellm": "gateway.adapters.litellm:LitellmAdapter",
    "http": "gateway.adapters.http:HttpAdapter",
    "ureka": "gateway.adapters.ureka:UrekaAdapter",
    "local": "gateway.adapters.local:LocalAdapter",
    "scripted": "gateway.adapters.scripted:ScriptedAdapter",
}

KEY_VARIABLES: dict[str, str] = {
    "gemini": "GEMINI_API_KEY",
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
}
"""Where a vendor's own public address is used, the variable that holds its key unless another is named."""

_VARIABLE = re.compile(r"\$\{[A-Za-z_]\w*\}")


def adapter_class(kind: str) -> type[Any]:
    """The adapter's class; its module is imported only now. Raises Problem for an unknown kind."""
    if kind not in KINDS:
        raise Problem(f"kind: {_unknown(kind, KINDS)}")
    module, _, name = KINDS[kind].partition(":")
    return getattr(importlib.import_module(module), name)


def settings_of(name: str, raw: Mapping[str, Any]) -> EndpointSettings:
    """The checked settings of the endpoint ``name``. Raises Problem naming endpoint and key."""
    where = f"endpoints.{name}"
    kind = raw.get("kind")
    if not isinstance(kind, str):
        found = "missing" if kind is None else f"found {kind!r}"
        raise Problem(f"{where}.kind: {found}, expected one of {', '.join(KINDS)}")
    if kind not in KINDS:
        raise Problem(f"{where}.kind: {_unknown(kind, KINDS)}")
    settings: type[EndpointSettings] = adapter_class(kind).Settings
    for key in raw:
        if key not in settings.model_fields:
            raise Problem(f"{where}.{key}: unknown key; {_suggestion(key, settings.model_fields)}")
    try:
        made = settings.model_validate(dict(raw))
    except ValidationError as error:
        raise Problem(_explained(where, error)) from None
    if place := literal_keys.in_settings(raw):
        raise Problem(
            f"{where}.{place}: holds a key; keys belong into environment variables (api_key_env, or ${{VARIABLE}} "
            "in headers), because the configuration is copied into the run folder"
        )
    for key in ("base_url", "extra_body", "extra_headers"):
        if found := _VARIABLE.search(str(raw.get(key))):
            raise Problem(
                f"{where}.{key}: {found[0]} is not filled in here; name the variable of a key in api_key_env"
            )
    for key in raw:
        value = getattr(made, key)
        if isinstance(value, float) and not math.isfinite(value):
            raise Problem(f"{where}.{key}: found {value}, expected a finite number")
    for address in addresses(made):
        _check_address(where, address)
    return made


def build(name: str, raw: Mapping[str, Any], *, environ: Mapping[str, str] | None = None) -> Adapter:
    """The adapter of an endpoint. Raises Problem naming endpoint and key."""
    settings = settings_of(name, raw)
    cls = adapter_class(settings.kind)
    try:
        if environ is not None and hasattr(cls, "secrets"):
            return cast("Adapter", cls(settings, environ=environ))
        return cast("Adapter", cls(settings))
    except Problem as problem:
        raise type(problem)(f"endpoints.{name}.{problem}") if type(problem) is Problem else problem from None


def addresses(settings: EndpointSettings) -> list[str]:
    """The addresses that the settings name, if any."""
    base = settings.base_url
    return [] if base is None else [base] if isinstance(base, str) else list(base)


def key_values(
    settings: EndpointSettings, environ: Mapping[str, str] | None = None, *, name: str = ""
) -> list[str]:
    """The endpoint's keys, read once, stripped and checked; none where the endpoint needs none.

    Raises Problem naming the variable (never the value) that is missing or cannot be a key.
    """
    environ = os.environ if environ is None else environ
    where = f"endpoints.{name}.api_key_env" if name else "api_key_env"
    named = settings.api_key_env
    if named is None:
        needs_key = settings.base_url is None and settings.takes_key
        named = KEY_VARIABLES.get(settings.kind) if needs_key else None
    if named is None:
        return []
    return [_key(variable, environ, where) for variable in ([named] if isinstance(named, str) else named)]


def _key(variable: str, environ: Mapping[str, str], where: str) -> str:
    if not re.fullmatch(r"[A-Za-z_]\w*", variable, re.ASCII):
        raise Problem(f"{where}: expected the name of an environment variable, not a key")
    value = environ.get(variable, "").strip().removeprefix("\ufeff").strip()
    if not value:
        raise Problem(f"{where}: the environment variable {variable} is not set")
    if any(not 33 <= ord(character) <= 126 for character in value):
        raise Problem(f"{where}: the value of {variable} holds blanks or characters that no key has")
    return value


def _check_address(where: str, address: str) -> None:
    if address.startswith("per-node:"):
        if not re.fullmatch(r"per-node:\d{1,5}(/\S*)?", address):
            raise Problem(f"{where}.base_url: found {address!r}, expected per-node:PORT or per-node:PORT/PATH")
        return
    if not is_address(address):
        raise Problem(f"{where}.base_url: found {address!r}, expected an address such as http://127.0.0.1:9000")
    parts = urlsplit(address)
    if parts.fragment:
        raise Problem(f"{where}.base_url: found #{parts.fragment}, which is never sent; leave it out")
    if "@" in parts.netloc:
        raise Problem(f"{where}.base_url: holds a password; keys belong into api_key_env or headers")
    if named := [name for name, _ in parse_qsl(parts.query) if literal_keys.is_for_keys(name)]:
        raise Problem(f"{where}.base_url: {named[0]} holds a key; keys belong into api_key_env or headers")


def _unknown(name: str, known: Iterable[str]) -> str:
    return f"found {name!r}; {_suggestion(name, known)}"


def _suggestion(name: str, known: Iterable[str]) -> str:
    known = list(known)
    near = nearest(name.lower(), known)
    return f"did you mean {near!r}?" if near else f"expected one of {', '.join(sorted(known))}"


def _explained(where: str, error: ValidationError) -> str:
    first = error.errors()[0]
    noise = ("list[", "dict[", "[key]")
    field = ".".join(str(part) for part in first["loc"] if not str(part).startswith(noise))
    message = str(first["msg"]).removeprefix("Value error, ")
    if not field:
        return f"{where}.{message}"
    if first["type"] == "missing":
        return f"{where}.{field}: missing"
    expected = message if first["type"] == "value_error" else f"expected {expected_of(first)}"
    return f"{where}.{field}: found {first.get('input')!r}, {expected}"
