"""Whether the words that a judge quotes stand in the message that it cites."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

_NUMBERS = re.compile(r"[\[【]\s*(\d+(?:\s*[,，、-]\s*\d+)*)\s*[\]】]")
_QUOTES = re.compile(
    r"“([^”]+)”|「([^」]+)」|『([^』]+)』|«([^»]+)»|‘([^’]+)’"
    r'|"([^"]+)"'
    r"|(?<![A-Za-z0-9])'(.+?)'(?![A-Za-z0-9])",
    re.DOTALL,
)
_ELLIPSIS = re.compile(r"\.{3,}|…|⋯|~$|^~")
SHORTEST = 2


def evidence_found(evidence: str, messages: Sequence[str]) -> bool | None:
    """True where every quoted passage stands in a cited message, False where one does not, None where none is.

    Messages count from 0. A passage counts as found when its letters and digits stand there in the same order,
    whatever the case, blanks, punctuation and formula signs; an ellipsis divides it into parts that follow each
    other. Without a cited number any message will do; a number that no message has is not found.
    """
    quotes = [parts for match in _QUOTES.finditer(evidence) if (parts := _parts(_group(match)))]
    if not quotes:
        return None
    numbers = _cited(_QUOTES.sub(" ", evidence))
    cited = [messages[number] for number in numbers if number < len(messages)] if numbers else messages
    texts = [_letters(text) for text in cited]
    return all(any(_in_order(parts, text) for text in texts) for parts in quotes)


def quote_found(quote: str, text: str) -> bool:
    """Whether a quote (without quotation marks) stands in a text, by the rule of :func:`evidence_found`."""
    parts = _parts(quote)
    return bool(parts) and _in_order(parts, _letters(text))


def _group(match: re.Match[str]) -> str:
    return next(group for group in match.groups() if group is not None)


def _parts(quote: str) -> list[str]:
    parts = [_letters(part) for part in _ELLIPSIS.split(quote)]
    return [part for part in parts if len(part) >= SHORTEST]


def _cited(text: str) -> list[int]:
    numbers: list[int] = []
    for group in _NUMBERS.findall(text):
        first, *rest = (int(part) for part in re.split(r"\s*[,，、-]\s*", group))
        is_range = "-" in group and len(rest) == 1 and 0 <= rest[0] - first < 1000
        numbers += range(first, rest[0] + 1) if is_range else [first, *rest]
    return numbers


@lru_cache(4096)
def _letters(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).casefold()
    return "".join(character for character in plain if character.isalnum() or character in "+-=<>/^")


def _in_order(parts: Sequence[str], text: str) -> bool:
    position = 0
    for part in parts:
        position = text.find(part, position)
        if position < 0:
            return False
        position += len(part)
    return True
