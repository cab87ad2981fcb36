"""Keys are read once, kept in one place, and taken out of everything that leaves it.

They are taken out of values: of what was sent and what came, of messages. The program's own structure (the members
of its records, names of endpoints, stages and items) is never rewritten, and a key that could not be told from it
is refused before anything is called.
"""

from __future__ import annotations

import html
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable, Mapping
from typing import Any, cast
from urllib.parse import quote, quote_plus

import orjson

from runstore.problems import Problem

MARK = "[redacted]"
_ESCAPE = re.compile("%[0-9A-F]{2}")
SHORTEST_KEY = 8
_WORD = re.compile(r"[A-Za-z]?[a-z]{0,14}(?:_[a-z]{0,15})*|[A-Z]{0,15}(?:_[A-Z]{0,15})*")
"""``anything``, ``PLACEHOLDER``, ``completion_tokens``: what people give a server that asks for no key. Sixteen
letters in a row may be a key; words of a text or of our files are shorter."""
_FOREIGN = frozenset({"request", "response", "bodies"})
"""Members of our records that hold what others wrote, whose names may be anything."""
_OWN = frozenset({"endpoint", "where", "kind", "state", "event", "stage", "item", "key", "token", "batch", "keys"})
"""Members of our records whose values are ours."""


class Redactor:
    """Replaces known secrets in texts and bytes, also as they look in JSON, in an address and in HTML."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets: set[str] = set()
        self._take(secrets)

    def learn(self, secret: str) -> None:
        """One more, which came up while the run was going on."""
        if secret not in self._secrets:
            self._take([secret])

    def _take(self, secrets: Iterable[str]) -> None:
        self._secrets.update(secrets)
        keys = {key for secret in self._secrets for key in (secret, secret.strip("\"'"))}  # some files keep quotes
        forms = {form for key in keys if len(key) >= SHORTEST_KEY for form in _forms(key)}
        self._texts = tuple(sorted(forms, key=lambda form: (-len(form), form)))
        self._bytes = tuple(form.encode() for form in self._texts)

    def text(self, text: str) -> str:
        for secret in self._texts:
            if secret in text:
                text = text.replace(secret, MARK)
        return text

    def data(self, data: bytes) -> bytes:
        """A body that somebody sent: JSON stays JSON, with the secrets out of its texts and names."""
        if not self._is_in(data) and not self._may_be_spelt_out(data):
            return data
        try:
            value = orjson.loads(data)
        except orjson.JSONDecodeError:
            value = None
        if isinstance(value, dict | list):
            return orjson.dumps(self._value(value))
        if isinstance(value, str):  # the quotes of a text that stands alone may be the key's own
            data = orjson.dumps(self._value(value))
        for secret in self._bytes:
            data = data.replace(secret, MARK.encode())
        return data

    def record(self, line: bytes) -> bytes:
        """A record of our own, whole or from a comma on: its members stay, what they hold is cleaned."""
        if not self._is_in(line):
            return line
        if not line.startswith(b","):
            return orjson.dumps(self._record(orjson.loads(line)))
        return b"," + orjson.dumps(self._record(orjson.loads(b"{" + line[1:] + b"}")))[1:-1]

    def _may_be_spelt_out(self, data: bytes) -> bool:
        """Whether ASCII characters stand in JSON as numbers, and may be those of a secret."""
        if b"\\u00" not in data or not self._bytes:
            return False
        try:
            return self._is_in(orjson.dumps(orjson.loads(data)))
        except orjson.JSONDecodeError:
            return False

    def _is_in(self, data: bytes) -> bool:
        return bool(self._bytes) and any(secret in data for secret in self._bytes)

    def _record(self, value: Any) -> Any:
        if isinstance(value, dict):
            members = cast("dict[str, Any]", value).items()
            return {name: self._member(name, inner) for name, inner in members}
        if isinstance(value, list):
            return [self._record(inner) for inner in cast("list[Any]", value)]
        return self._value(value)

    def _member(self, name: str, value: Any) -> Any:
        if name in _OWN:
            return value
        return self._value(value) if name in _FOREIGN else self._record(value)

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self._value(inner) for inner in cast("list[Any]", value)]
        if isinstance(value, dict):
            return {self.text(name): self._value(inner) for name, inner in cast("dict[str, Any]", value).items()}
        return value


def words_of(value: object) -> set[str]:
    """Every name and text of a configuration."""
    if isinstance(value, Mapping):
        members = cast("Mapping[object, object]", value).items()
        return {str(name) for name, _ in members}.union(*(words_of(inner) for _, inner in members))
    if isinstance(value, (list, tuple)):
        return set[str]().union(*(words_of(inner) for inner in cast("list[object]", value)))
    return {value} if isinstance(value, str) else set()


def tellable(secret: str, words: Iterable[str]) -> str | None:
    """None if a key can be told from everything else that is written, else why it can't."""
    if len(secret) < SHORTEST_KEY:
        return f"is shorter than {SHORTEST_KEY} characters"
    if _WORD.fullmatch(secret):
        return "is a word as it may stand in any text"
    return "also stands in the configuration" if any(secret in word for word in words) else None


def check_key(endpoint: str, secret: str, words: Iterable[str]) -> None:
    """Raises Problem, without the key, for one that could not be taken out of what is written."""
    if (reason := tellable(secret, words)) is not None:
        raise Problem(
            f"endpoints.{endpoint}: a key that it is given {reason}, so it could not be taken out of the record "
            "without damage; expected a real key, in the environment alone (only at an address of this machine "
            "may it be any word)"
        )


def _forms(secret: str) -> set[str]:
    in_json = orjson.dumps(secret)[1:-1].decode()
    twice = orjson.dumps(in_json)[1:-1].decode()
    slashed = in_json.replace("/", "\\/")
    quoted = {quote(secret, safe=""), quote(secret), quote_plus(secret)}
    lower = {_ESCAPE.sub(lambda match: match[0].lower(), form) for form in quoted}
    return {secret, in_json, twice, slashed, html.escape(secret), *quoted, *lower, *_in_base64(secret.encode())}


def _in_base64(secret: bytes) -> set[str]:
    """How a secret looks inside of any text in base64: by where it begins, the characters that are its alone."""
    forms: set[str] = set()
    for before in range(3):
        start, whole = -(-8 * before // 6), 8 * (before + len(secret)) // 6
        for encode in (b64encode, urlsafe_b64encode):
            forms.add(encode(bytes(before) + secret)[start:whole].decode())
    return {form for form in forms if len(form) >= SHORTEST_KEY}
