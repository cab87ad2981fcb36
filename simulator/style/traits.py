"""One typed message as numbers: its words, and which of the traits it has."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

from runstore.languages import words

Trait = Literal[
    "question_mark",
    "ends_sentence",
    "lower_case_start",
    "thanks",
    "filler",
    "typo",
    "emoji",
    "code",
    "mixed_language",
]
TRAITS: tuple[Trait, ...] = get_args(Trait)
THANKS = re.compile(
    r"\bthank(?:s(?! to\b)| you|ful)\b|\b(?:thx|tysm|ty)\b|감사(?:합|해|드|요)|고마[워웠]|고맙|땡큐",
    re.IGNORECASE | re.MULTILINE,
)
_FIRST_LETTER = re.compile(r"[^\W\d_]")
_EMOJI = re.compile("[\U0001f300-\U0001faff\u2600-\u27bf]|(?<!\\w)[:;]-?[)(DPp](?!\\w)|\\^\\^|ㅠㅠ|ㅜㅜ")
_CODE = re.compile(
    r"`[^`]+`|\w+\([^)\s]*\)|[=!<>]=|\w+\[[^\]]*\]|;\s*$|^\s*(?:def|for|if|while|return)\b.*[:{]", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Typed:
    """White-space words of a message, and the traits it has."""

    words: int
    traits: frozenset[Trait]


def typed(text: str, language: str) -> Typed:
    """How a message is typed. Slips are told by a list of common ones: their share is a floor."""
    length = len(text.split())
    _, question, ends, lower, thanks = shares_of(text, length)
    patterns = _patterns(language)
    plain = text.casefold()
    has: dict[Trait, bool] = {
        "question_mark": question,
        "ends_sentence": ends,
        "lower_case_start": lower and is_cased(language),
        "thanks": thanks,
        "filler": patterns["filler"].search(plain) is not None,
        "typo": patterns["typo"].search(plain) is not None,
        "emoji": _EMOJI.search(text) is not None,
        "code": _CODE.search(text) is not None,
        "mixed_language": all(patterns[name].search(text) for name in ("native", "foreign")),
    }
    return Typed(length, frozenset(trait for trait in TRAITS if has[trait]))


@lru_cache(16)
def _patterns(language: str) -> dict[str, re.Pattern[str]]:
    table = words("simulator", "style", language)
    return {name: re.compile(table(name), re.MULTILINE) for name in ("filler", "typo", "native", "foreign")}


def shares_of(text: str, length: int) -> tuple[bool, ...]:
    """Whether a message has at most three words, asks, ends its sentence, starts in lower case, gives thanks."""
    first = _FIRST_LETTER.search(text)
    return (
        length <= 3,
        "?" in text or "？" in text,
        text.rstrip()[-1:] in tuple(".!?。！？"),
        first is not None and first[0].islower(),
        THANKS.search(text) is not None,
    )


def is_cased(language: str) -> bool:
    """Whether letters of this language have a lower case."""
    return words("runstore", "language", language)("cased") != "no"
