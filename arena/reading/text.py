"""What is taken off a reply before anything is read from it: invisible characters, width variants."""

from __future__ import annotations

import re
import unicodedata

from runstore.tables import FILLING, is_width_variant

STOPPED = frozenset({"stop", "end_turn", "stop_sequence", "eos"})
CUT_OFF = "the reply was cut off or blocked"

_INVISIBLE = re.compile(f"[{FILLING}\U000e0100-\U000e01ef]")
_ENDS = re.compile("[\r\v\f]")
_PARENTHESISED = {"⒜": "(a)", "⒝": "(b)", "⒞": "(c)"}


def finished(finish: str) -> bool:
    """Whether the endpoint ended its reply of its own accord."""
    return finish.lower() in STOPPED


class _Plain(dict[int, str]):
    """What each character is read as, worked out when it is first met."""

    def __missing__(self, code: int) -> str:
        self[code] = shown = _shown(chr(code))
        return shown


class _Folded(dict[int, str]):
    """Nothing for blanks and emphasis, else the character itself."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        self[code] = kept = "" if character.isspace() or character in "*_`~" else character
        return kept


_PLAIN, _FOLDED = _Plain(), _Folded()


def plain_text(text: str) -> str:
    """Full-width forms as ASCII, invisible characters gone, every kind of line end as one line feed."""
    text = text.replace("\r\n", "\n")
    if text.isascii():  # as most replies
        return _ENDS.sub("\n", text)
    return text.translate(_PLAIN)


def trimmed(text: str) -> str:
    """The text without blanks and invisible characters around it."""
    start, end = 0, len(text)
    while start < end and not plain_text(text[start]).strip():
        start += 1
    while start < end and not plain_text(text[end - 1]).strip():
        end -= 1
    return text[start:end]


def _shown(character: str) -> str:
    if character in "\r\v\f\u2028\u2029\x85":
        return "\n"
    if character.isascii():
        return character
    if unicodedata.category(character) in {"Cf", "Cc"} or _INVISIBLE.match(character):
        return ""
    if character in _PARENTHESISED:
        return _PARENTHESISED[character]
    if is_width_variant(character):
        return unicodedata.normalize("NFKC", character)
    return " " if character.isspace() else character


def folded(text: str) -> str:
    """Text for looking one passage up in another: compatibility forms joined, no case, blanks or emphasis."""
    return unicodedata.normalize("NFKC", plain_text(text)).casefold().translate(_FOLDED)
