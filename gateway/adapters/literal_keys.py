"""Keys do not stand in a configuration: it is copied into the run folder, and from there into reports."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from urllib.parse import parse_qsl, urlsplit

_FOR_KEYS = re.compile(
    r"(?:^|[-_])(?:authorization|cookie|api[-_]?key|apikey|key|token|secret|password|passwd|credentials?)$",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"^\s*(?:bearer|basic|token|apikey)\s+", re.IGNORECASE)
_SHORTEST = 6


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
    if not _FOR_KEYS.search(name) or len(value.strip()) < _SHORTEST:
        return False
    return "${" not in value and not re.fullmatch(r"\s*\{\w+\}\s*", value)
