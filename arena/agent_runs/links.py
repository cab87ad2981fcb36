"""From an expectation and the offered URLs to the accuracy of one item.

Keys and paths are compared without letter case and after percent-decoding; host and scheme never count, so
that staging and production, or a web address and an app's own scheme, are the same place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from posixpath import normpath
from typing import Literal, get_args
from urllib.parse import unquote, unquote_plus, urlsplit

Basis = Literal[
    "key",
    "path",
    "other key on the same path",
    "wrong key",
    "wrong path",
    "no button URL",
    "raw JSON unreadable",
    "nothing expected",
]
BASES: tuple[Basis, ...] = get_args(Basis)
Levels = Literal["three-level", "two-level"]

_KEY_NAME = "datakey"
_KEY = re.compile(r"(?<![A-Za-z0-9_])datakey\s*=\s*([A-Za-z0-9_]+)", re.IGNORECASE)
_WHOLE_KEY = re.compile(r"[A-Za-z0-9_]+")
# A URL with a scheme, a rooted or dotted path, or a relative path that carries a query.
_URL = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*://[^\s\"'<>|]+|(?<![\w/.:])\.{0,2}/[^\s\"'<>|]+|(?<![\w/])[A-Za-z0-9_./~%-]+\?[^\s\"'<>|]*=[^\s\"'<>|]*"
)
_AFTER_URL = re.compile(r"(?:[).,;\]}」』》]+|(?<=[A-Za-z0-9_/=])[가-힣]+)$")
_DEPTH = 3
_CACHE = 1 << 13
_CACHED_LENGTH = 1 << 11


@dataclass(frozen=True, slots=True)
class Link:
    """One URL: the keys in it (upper case) and the paths it may stand for (lower case, rooted)."""

    keys: frozenset[str]
    paths: frozenset[str]


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a row expects. Several keys or paths are alternatives: any of them is right."""

    keys: frozenset[str]
    paths: frozenset[str]
    shown_path: str


@dataclass(frozen=True, slots=True)
class Accuracy:
    """``score`` is 5, 3, 0, or None where nothing was expected; ``basis`` says by which rule."""

    score: int | None
    basis: Basis


def read_link(url: str) -> Link:
    """Keys and paths of a URL; parameters may be encoded, repeated, in the fragment, or hold a URL themselves."""
    return _known_link(url, _DEPTH) if len(url) <= _CACHED_LENGTH else _read_link(url, _DEPTH)


def _read_link(url: str, depth: int) -> Link:
    parts = _split(url.strip().replace("&amp;", "&"))
    if parts is None:
        return Link(frozenset(_plain_keys(url)), frozenset())
    scheme, netloc, path, query, fragment = parts
    place = path if scheme.casefold() in {"", "http", "https"} else f"{netloc}/{path}"
    keys: set[str] = set()
    paths = {_normal_path(place)} if place.strip("/") else set[str]()
    route, _, behind = fragment.lstrip("!").partition("?")
    if route.startswith("/"):
        if route.strip("/"):
            paths.add(_normal_path(route))
    elif not behind:
        behind = route
    for part in (query, behind):
        _read_query(part, keys, paths, depth)
    if not keys and depth and "%" in path:
        # A whole URL encoded once too often has its "?" inside the path.
        decoded = unquote(url)
        if decoded != url and "?" in decoded:
            return _read_link(decoded, depth - 1)
    return Link(frozenset(keys), frozenset(paths))


def _split(url: str) -> tuple[str, str, str, str, str] | None:
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return parts.scheme, parts.netloc, parts.path, parts.query, parts.fragment


def _read_query(query: str, keys: set[str], paths: set[str], depth: int) -> None:
    for pair in re.split("[&;]", query):
        name, _, value = pair.partition("=")
        value = unquote_plus(value)
        if unquote_plus(name).strip().casefold() == _KEY_NAME:
            for _ in range(_DEPTH):
                if "%" not in value:
                    break
                value = unquote(value)
            if _WHOLE_KEY.fullmatch(value.strip()):
                keys.add(value.strip().upper())
        elif depth and ("?" in value or "://" in value):
            inner = _read_link(value, depth - 1)
            keys |= inner.keys
            paths |= inner.paths


def _plain_keys(text: str) -> list[str]:
    return [key.upper() for key in _KEY.findall(text)]


def _normal_path(path: str) -> str:
    return normpath("/" + re.sub("/+", "/", unquote(path)).strip("/")).casefold()


def read_expectation(text: str) -> Expectation:
    """Keys and paths named in an expectation, which may be a URL, ``dataKey=...``, or a sentence with either."""
    return _known_expectation(text) if len(text) <= _CACHED_LENGTH else _read_expectation(text)


def _read_expectation(text: str) -> Expectation:
    decoded = text
    for _ in range(_DEPTH):
        if "%" not in decoded:
            break
        decoded = unquote(decoded)
    keys = set(_plain_keys(decoded))
    paths: set[str] = set()
    shown = ""
    for address in _URL.findall(text) or _URL.findall(decoded):
        link = read_link(_AFTER_URL.sub("", address))
        keys |= link.keys
        paths |= link.paths
        shown = shown or min(link.paths, default="")
    return Expectation(frozenset(keys), frozenset(paths), shown)


# The same few expectations and URLs come back every round; long texts are not kept, so that memory stays bounded.
_known_link = lru_cache(_CACHE)(_read_link)
_known_expectation = lru_cache(_CACHE)(_read_expectation)


def judge_links(
    expected: Expectation, urls: Sequence[str], *, readable: bool = True, levels: Levels = "three-level"
) -> Accuracy:
    """5 where an expected key is among the offered ones (or, without a key, the expected path); 3 for the same
    path with another key, where ``levels`` allows it; else 0. None where neither key nor path is expected."""
    if not expected.keys and not expected.paths:
        return Accuracy(None, "nothing expected")
    if not readable:
        return Accuracy(0, "raw JSON unreadable")
    if not urls:
        return Accuracy(0, "no button URL")
    links = [read_link(url) for url in urls]
    if not expected.keys:
        if any(link.paths & expected.paths for link in links):
            return Accuracy(5, "path")
        return Accuracy(0, "wrong path")
    if any(link.keys & expected.keys for link in links):
        return Accuracy(5, "key")
    if levels == "three-level" and any(link.keys and link.paths & expected.paths for link in links):
        return Accuracy(3, "other key on the same path")
    return Accuracy(0, "wrong key")


def first_path(urls: Sequence[str]) -> str:
    """The path of the first offered URL, or "": where failures are counted when the expectation names none."""
    return next((min(link.paths) for link in map(read_link, urls) if link.paths), "")
