"""Keys do not stand in a configuration: it is copied into the run folder, and from there into reports."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast
from urllib.parse import parse_qsl, unquote, urlsplit

_FOR_KEYS = re.compile(
    r"(?:^|[-_])(?:auth|authorization|bearer|cookie|api[-_]?key|apikey|key|token|secret|password|passwd|passphrase|pwd"
    r"|sig|signature|credentials?)(?:[-_]?\d{1,2})?$",
    re.IGNORECASE,
)
_OF_A_VOCABULARY = re.compile(
    r"(?:^|[-_])(?:bos|eos|pad|sep|cls|unk|mask|stop|start|end)[-_]token$", re.IGNORECASE
)
_HUMP = re.compile(r"(?<=[a-z\d])(?=[A-Z])")
_SCHEME = re.compile(r"^\s*(?:bearer|basic|token|apikey)\s+", re.IGNORECASE)
_SHORTEST = 6
_WHOLE = re.compile(
    r"\s*(?:(?:sk|pk|rk)[-_][\w-]{12,}|(?:csk|xai|gsk|hf|fw|r8|pplx|nvapi|glpat|tgp)[-_][\w-]{16,})\s*",
    re.IGNORECASE,
)
_SHAPE = re.compile(
    r"(?<![\w-])(?:sk-(?=[\w-]*\d)[\w-]{16,}|AIza[\w-]{20,}|gh[opsu]_\w{16,}|github_pat_\w{16,}|xox[abprs]-[\w-]{16,}|ya29\.[\w-]{16,}|ABSK[\w+/=]{20,}"
    r"|AKIA[0-9A-Z]{12,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)"
)
"""How keys of known services begin, and signed tokens: as a whole value, and wherever they stand in a text."""
_SCHEMED = re.compile(r"^\s*(?:bearer|basic|token|apikey)\s+[\w.~+/=-]{16,}\s*$", re.IGNORECASE)
_RANDOM = re.compile(r"^(?=(?:\D*\d){6})(?=(?:[^A-Za-z]*[A-Za-z]){6})[A-Za-z0-9+/_=]{32,}$")
"""What no person writes into a header: a long run of letters and digits."""
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
            yield from _keys_in(str(name), place, by_name=False)
            if by_name and any(_is_key(str(name), text) for text in _texts(inner)):
                yield where
            yield from _keys_in(inner, where, by_name=is_free)
    elif isinstance(value, list):
        for number, inner in enumerate(cast("list[object]", value)):
            yield from _keys_in(inner, f"{place}[{number}]", by_name=by_name)
            if place == "steps" and isinstance(inner, Mapping):
                body = cast("Mapping[str, object]", inner).get("body")
                yield from _keys_in(body, f"{place}[{number}].body", by_name=True)
    elif isinstance(value, str):
        texts = (value, unquote(value))
        if _WHOLE.fullmatch(value) or _SCHEMED.match(value) or any(map(_SHAPE.search, texts)):
            yield place
        elif by_name and value.lstrip()[:1] in ("{", "["):
            yield from _keys_in(_json(value), place, by_name=True)


def _texts(value: object) -> list[str]:
    """A value under a name for keys, or each of a list: a text, or a number that may be one."""
    values = cast("list[object]", value) if isinstance(value, list) else [value]
    return [str(each) for each in values if isinstance(each, str) or (type(each) is int and each >= 10**7)]


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def is_for_keys(name: str) -> bool:
    """Whether a header's or a member's name says that it holds a key."""
    name = _HUMP.sub("_", name)
    return _FOR_KEYS.search(name) is not None and _OF_A_VOCABULARY.search(name) is None


def in_headers(headers: Mapping[str, str]) -> str | None:
    """The name of the first header that holds a key itself; None if none does.

    A name for keys is told by its last word, a value for one by its look; one under six characters (``none``,
    ``EMPTY``) is no key.
    """
    named = (n for n, value in headers.items() if _is_key(n, _SCHEME.sub("", value)) or _looks_random(value))
    return next(named, None)


def _looks_random(value: str) -> bool:
    return _SCHEMED.match(value) is not None or _RANDOM.match(value.strip()) is not None


def in_addresses(addresses: Iterable[str]) -> str | None:
    """The same for the queries of addresses."""
    queries = (part for address in addresses for part in parse_qsl(urlsplit(address).query))
    return next((name for name, value in queries if _is_key(name, value)), None)


def _is_key(name: str, value: str) -> bool:
    if not is_for_keys(name) or len(value.strip()) < _SHORTEST:
        return False
    return "${" not in value and not re.fullmatch(r"\s*\{\w+\}\s*", value)
