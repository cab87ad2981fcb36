"""Keys are read once, kept in one place, and taken out of everything that leaves it."""

from __future__ import annotations

import html
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

import orjson

MARK = "[redacted]"
_SHORTEST = 6


class Redactor:
    """Replaces known secrets in texts and bytes, also as they look in JSON, in an address and in HTML.

    Secrets under six characters would hit ordinary words and are left alone.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets: set[str] = set()
        self._take(secrets)

    def learn(self, secret: str) -> None:
        """One more, which came up while the run was going on."""
        if secret not in self._secrets:
            self._take([secret])

    def _take(self, secrets: Iterable[str]) -> None:
        self._secrets.update(secrets)
        forms = {form for secret in self._secrets if len(secret) >= _SHORTEST for form in _forms(secret)}
        self._texts = tuple(sorted(forms, key=lambda form: (-len(form), form)))
        self._bytes = tuple(form.encode() for form in self._texts)

    def text(self, text: str) -> str:
        for secret in self._texts:
            if secret in text:
                text = text.replace(secret, MARK)
        return text

    def data(self, data: bytes) -> bytes:
        for secret in self._bytes:
            if secret in data:
                data = data.replace(secret, MARK.encode())
        return data


def _forms(secret: str) -> set[str]:
    in_json = orjson.dumps(secret)[1:-1].decode()
    twice = orjson.dumps(in_json)[1:-1].decode()
    return {secret, in_json, twice, quote(secret, safe=""), quote(secret), quote_plus(secret), html.escape(secret)}
