"""Keys do not stand in a configuration: it is copied into the run folder, and from there into reports."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast
from urllib.parse import parse_qsl, urlsplit

_FOR_KEYS = re.compile(
    r"(?:^|[-_])(?:authorization|cookie|api[-_]?key|apikey|key|token|secret|password|passwd|credentials?)$",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"^\s*(?:bearer|basic|token|apikey)\s+", re.IGNORECASE)
_SHORTEST = 6
_SHAPE = re.compile(
    r"^\s*(?:(?:bearer|basic|token|apikey)\s+)?"
    r"(?:(?:sk|pk|rk)[-_][\w-]{12,}|AIza[\w-]{20,}|gsk_\w{16,}|hf_\w{16,}|xai-[\w-]{16,}"
    r"|gh[opsu]_\w{16,}"
    r"|glpat-[\w-]{16,}|AKIA[0-9A-Z]{12,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)\s*$",
    re.IGNORECASE,
)
"""How keys of well-known services begin, and signed tokens."""
_FREE = frozenset({"extra_body", "body"})
"""Settings that hold a service's own members, whose names may say that they are for keys."""


def in_settings(raw: Mapping[str, Any]) -> str | None:
    """The place of the first literal key in an endpoint's table: by its look, or by its name in what is sent."""
    return next(_keys_in(raw, "", by_name=False), None)


def _keys_in(value: object, place: str, *, by_name: bool) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, inner in cast("Mapping[str, object]", value).items():
            is_free = by_name or (not place and name in _FREE)
            where = f"{place}.{name}" if place else str(name)
            if by_name and isinstance(inner, str) and _is_key(str(name), inner):
                yield where
            yield from _keys_in(inner, where, by_name=is_free)
    elif isinstance(value, list):
        for number, inner in enumerate(cast("list[object]", value)):
            yield from _keys_in(inner, f"{place}[{number}]", by_name=by_name)
            if place == "steps" and isinstance(inner, Mapping):
                body = cast("Mapping[str, object]", inner).get("body")
                yield from _keys_in(body, f"{place}[{number}].body", by_name=True)
    elif isinstance(value, str) and _SHAPE.match(value):
        yield place


def is_for_keys(name: str) -> bool:
    """Whether a header's or a member's name says that it holds a key."""
    return _FOR_KEYS.search(name) is not None


def in_headers(headers: Mapping[str, str]) -> str | None:
    """The name of the first header that holds a key itself; None if none does.

    A name for keys is told by its last word; a value under six characters (``none``, ``EMPTY``) is no key.
    """
    found = (name for name, value in headers.items() if _is_key(name, _SCHEME.sub("", value)))
    return next(found, None)


def in_addresses(addresses: Iterable[str]) -> str | None:
    """The same for the queries of addresses."""
    queries = (part for address in addresses for part in parse_qsl(urlsplit(address).query))
    return next((name for name, value in queries if _is_key(name, value)), None)


def _is_key(name: str, value: str) -> bool:
    if not is_for_keys(name) or len(value.strip()) < _SHORTEST:
        return False
    return "${" not in value and not re.fullmatch(r"\s*\{\w+\}\s*", value)
