"""Which setting may mend a call that failed: what servers refuse, and what they do not name themselves."""

from __future__ import annotations

import re

from gateway.adapters.base import EndpointSettings, whole_address
from gateway.endpoint import Endpoint
from gateway.errors import CallFailed

_NOT_THERE = re.compile(r"HTTP (?:\d+ with error )?40[45]\b|unexpected endpoint", re.IGNORECASE)
_FORMAT = re.compile(
    r"response.?(?:format|mime|json)|json.?(?:schema|mode|object)|structured|output.?config|guided", re.IGNORECASE
)
_SYSTEM = re.compile(
    r"\bsystem(?:\b|.?(?:message|instruction))|roles? must alternate|chat template|developer instruction",
    re.IGNORECASE,
)
_SAMPLING = {
    name: re.compile(spelt, re.IGNORECASE)
    for name, spelt in {
        "temperature": r"temperature",
        "top_p": r"\btop.?p\b",
        "seed": r"\bseed\b",
        "thinking_budget": r"thinking.?budget|budget.?tokens|\bthinking\b",
        "thinking_level": r"thinking.?level|\bthinking\b",
    }.items()
}
"""Settings that not every model takes, and how a refusal spells them."""
_LIMIT = re.compile(r"max_(?:completion_)?tokens", re.IGNORECASE)
_VERSIONED = re.compile(r"/v\d\w*$")
_REFUSED = frozenset({"bad_request", "server", "unexpected", "malformed"})


def hint_of(failed: CallFailed, endpoint: Endpoint, *, asks_json: bool) -> str:
    """What to look at in the endpoint's settings, or an empty text. ``asks_json``: the request had a schema."""
    settings, address = endpoint.adapter.settings, endpoint.lanes[0].base_url
    table = f"endpoints.{endpoint.name}"
    if failed.kind == "connection":
        return f"nothing answers at {address}: is the server running, and is {table} right?"
    if failed.kind == "timeout":
        return f"{table}.timeout_s = {settings.timeout_s:g} may be too short"
    if failed.kind == "auth":
        return f"is the key in {_variables(settings)} the right one?"
    if failed.kind == "truncated":
        return f"raise {table}.max_output_tokens"
    if failed.kind not in _REFUSED:
        return ""
    if _NOT_THERE.search(failed.message):
        return _address_hint(settings, address, table)
    return _setting_hint(failed.message, settings, table, asks_json=asks_json)


def _variables(settings: EndpointSettings) -> str:
    named = settings.api_key_env
    return ", ".join([named] if isinstance(named, str) else named) if named else "its environment variable"


def _address_hint(settings: EndpointSettings, address: str, table: str) -> str:
    """The likely mend of an address that knows no such path."""
    base, _, query = address.partition("?")
    query = f"?{query}" if query else ""
    path = {"openai": "/chat/completions", "anthropic": "/v1/messages"}.get(settings.kind, "")
    mended = ""
    if path and base.endswith(path):
        mended = base.removesuffix(path)
    elif settings.kind == "openai" and not _VERSIONED.search(base):
        mended = whole_address(base, "/v1")
    elif settings.kind in ("anthropic", "gemini") and _VERSIONED.search(base):
        mended = _VERSIONED.sub("", base)
    advice = f'; perhaps {table}.base_url = "{mended}{query}"' if mended else ""
    return f"the address knows no such path{advice}"


def _setting_hint(said: str, settings: EndpointSettings, table: str, *, asks_json: bool) -> str:
    """What this kind of server is known to refuse, and the setting that leaves it out."""
    if hasattr(settings, "max_tokens_field") and _LIMIT.search(said):
        return f'{table}.max_tokens_field = "max_tokens" or "max_completion_tokens"'
    if hasattr(settings, "system_role") and _SYSTEM.search(said):
        return f"the server may have no system role: {table}.system_role = false"
    for name, spelt in _SAMPLING.items():
        if getattr(settings, name, None) is not None and spelt.search(said):
            return f"the server may not take {name}: leave {table}.{name} out"
    if not asks_json:
        return ""
    is_named = "the server refuses the form of the answer" if _FORMAT.search(said) else "the form may be refused"
    ways = {"openai": '"json_object" or "none"', "litellm": '"json_object" or "none"', "bedrock": '"none"'}
    own = f"{table}.json_format = {ways[settings.kind]}, or " if settings.kind in ways else ""
    return f'{is_named}: {own}judge.format = "marker"'
