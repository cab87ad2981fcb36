"""What fingers do to a sentence, by code: the first letter, the last full stop, a slip. The clean text is kept.

Nothing in code, formulas or quotations is touched, and no slip changes a number or a word with a capital or digit.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Literal

from runstore.ids import draw, pick
from runstore.languages import words
from simulator.style.target import Spot, Target
from simulator.style.traits import Trait, is_cased

Edit = Literal["lower_case_start", "no_full_stop", "full_stop", "slip"]
_PROTECTED = re.compile(r"[`$\\{}\"“”「」]|https?://")
_WORD = re.compile(r"(?<![\w`$\\/.-])[a-z]{4,}(?![\w`$\\/.-])|(?<![가-힣])[가-힣]{2,}(?![가-힣])")
_LATIN = re.compile(r"[A-Z][a-z]+(?=[\s,.!?]|$)|I(?=[\s',.])|A(?=\s)")
_GAP = re.compile(r"(?<=[가-힣]) (?=[가-힣])")


def retyped(text: str, language: str, wanted: Target, spot: Spot) -> tuple[str, tuple[Edit, ...]]:
    """The message as it is typed, and what was done to it; itself and nothing where it fits already."""
    edits: list[Edit] = []
    if wanted.traits.get("lower_case_start") and is_cased(language) and _LATIN.match(text):
        text = text[0].lower() + text[1:]
        edits.append("lower_case_start")
    ends = wanted.traits.get("ends_sentence")
    if ends is False and text.endswith((".", "。")) and not text.endswith(".."):
        text = text[:-1]
        edits.append("no_full_stop")
    elif ends and text[-1:].isalpha():
        text += "."
        edits.append("full_stop")
    if wanted.traits.get("typo") and (slipped := _slip(text, language, spot)) != text:
        text = slipped
        edits.append("slip")
    return text, tuple(edits)


def free_traits(language: str, wanted: Target) -> Collection[Trait]:
    """The traits that typing reaches whatever the model wrote."""
    free: list[Trait] = ["typo"] if wanted.traits.get("typo") else []
    if wanted.traits.get("lower_case_start") and is_cased(language):
        free.append("lower_case_start")
    return free


def _slip(text: str, language: str, spot: Spot) -> str:
    if _PROTECTED.search(text):
        return text
    if language == "ko" and (gaps := [words_there.start() for words_there in _GAP.finditer(text)]):
        at = pick(gaps, spot.seed, "slip", spot.dialogue, spot.turn)
        return text[:at] + text[at + 1 :]
    words_there = [match for match in _WORD.finditer(text) if match.group().isascii()]
    if not words_there:
        return text
    word = pick(words_there, spot.seed, "slip", spot.dialogue, spot.turn)
    at = word.start() + 1 + int(draw(spot.seed, "letter", spot.dialogue, spot.turn) * (len(word.group()) - 2))
    kind = pick(("swap", "drop", "near"), spot.seed, "kind", spot.dialogue, spot.turn)
    if kind == "swap" and text[at] != text[at + 1]:
        return text[:at] + text[at + 1] + text[at] + text[at + 2 :]
    near = _near(language).get(text[at])
    if kind == "near" and near:
        return text[:at] + pick(near, spot.seed, "key", spot.dialogue, spot.turn) + text[at + 1 :]
    return text[:at] + text[at + 1 :]


@lru_cache(16)
def _near(language: str) -> Mapping[str, Sequence[str]]:
    """Keys beside each key."""
    beside: dict[str, list[str]] = {}
    for one, other in words("simulator", "style", language)("near_keys").split():
        beside.setdefault(one, []).append(other)
        beside.setdefault(other, []).append(one)
    return beside
