"""Names and numbers as people write them: compared without what nobody can see."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

from runstore.problems import InputProblem

FILLING = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
"""Joiners, fillers and variation selectors, which Unicode counts as marks, letters or symbols; in a class."""
_INVISIBLE = re.compile(
    f"[\0-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff{FILLING}]"
)
_WIDTH_TAGS = ("<wide>", "<narrow>", "<small>")
_WHOLE = re.compile(r"([+-]?\d+)(?:\.0*)?")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


def clean_name(text: str) -> str:
    """A name in composed form (NFC), without white space or zero-width characters around it."""
    return unicodedata.normalize("NFC", text).strip().strip("\u200b\u2060\ufeff\u00ad").strip()


def name_key(text: str) -> str:
    """What two names that look alike share: composed, nothing invisible in it, white space as one blank."""
    return " ".join(unicodedata.normalize("NFC", _INVISIBLE.sub("", text)).split())


class Names:
    """The names seen in one file; two spellings that look alike are refused, never merged or kept apart."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._spellings: dict[str, str] = {}
        self._taken: dict[str, str] = {}

    def take(self, text: str, *, line: int | None = None, column: str | None = None) -> str:
        """The name without what cannot be seen. Raises InputProblem naming both of two look-alikes."""
        if text in self._taken:
            return self._taken[text]
        key = name_key(text)
        first = self._spellings.setdefault(key, text)
        if first != text:
            found = f"{text!a} beside {first!a} ({key})"
            raise InputProblem(self.path, "one spelling of each name", found=found, line=line, field=column)
        self._taken[text] = clean_name(text)
        return self._taken[text]


def is_width_variant(character: str) -> bool:
    """Whether it is an ordinary character in another width: ``４``, and neither ``④`` nor ``⁴``."""
    return unicodedata.decomposition(character).startswith(_WIDTH_TAGS)


def width_folded(text: str) -> str:
    """Full-width forms as ASCII and nothing else: no sign goes, so no two numbers grow together."""
    if text.isascii():
        return text
    return "".join(
        unicodedata.normalize("NFKC", sign) if not sign.isascii() and is_width_variant(sign) else sign
        for sign in text
    )


def whole_number(text: str) -> str | None:
    """``4`` for ``4``, ``４``, ``4.0`` or ``+4``; None for what is no whole number."""
    matched = _WHOLE.fullmatch(width_folded(text).strip())
    return str(int(matched[1])) if matched else None


def strict_number(text: str) -> float | None:
    """A decimal number in ASCII or full-width digits; None for anything else, ``nan`` and ``inf`` too."""
    plain = width_folded(text).strip()
    return float(plain) if _NUMBER.fullmatch(plain) else None
