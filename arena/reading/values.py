"""Single values in a judge's answer: met or unmet, and whole numbers on a declared scale."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from arena.reading.text import CUT_OFF, finished, plain_text, trimmed
from arena.reading.withdrawn import withdrawn
from gateway.thinking import without_thinking
from runstore.tables import width_folded

NOT_APPLICABLE = "not applicable"

_MET = "1 true t yes y o met pass satisfied 충족 충족함 예 네 그렇다 있음 맞음 참 ✓ ✔ ○ ◯"
_UNMET = "0 false f no n x unmet fail unsatisfied 미충족 불충족 아니오 아니요 아니다 없음 틀림 거짓 ✗ ✘ ×"
_FLAGS: dict[str, int] = {
    **dict.fromkeys(_MET.split(), 1),
    **dict.fromkeys(_UNMET.split(), 0),
    "not met": 0,
    "not satisfied": 0,
    "충족하지 않음": 0,
}
_NOT_APPLICABLE = frozenset({"na", "n/a", "n.a", "not applicable", "not_applicable", "해당 없음", "해당없음"})
_NUMBER = r"(?P<number>[+-]?[0-9]+(?:\.[0-9]+)?)"
_ALONE = re.compile(
    rf"{_NUMBER}\s*(?:점|(?:/|(?:out\s+)?of\b)\s*(?P<most>[0-9]+)\s*점?)?"
    rf"|(?P<full>[0-9]+)\s*점\s*만점\s*(?:에서?|중)?\s*(?P<given>[+-]?[0-9]+(?:\.[0-9]+)?)\s*점?",
    re.IGNORECASE,
)
_EMPHASIS = re.compile(r"(?<![0-9*_`])[*_`]++|[*_`]++(?![0-9])")  # between two digits it is none
_LONE = re.compile(r"[+-]?[0-9](?![0-9]*[.)]\s+\S)")  # no list begins here
_OF_WHOLE = re.compile(
    r"(?:^|[^\w\s]|\b(?:overall|final|total|revised|corrected|my|the)|종합|최종|수정|총|전체)\s*\Z", re.IGNORECASE
)
_OF_SCALE = re.compile(
    r"(?:\b(?:max(?:imum)?|min(?:imum)?|highest|lowest|possible|perfect|full|no|not (?:a|the))"
    r"|최고|최대|최저|최소|만점)\s*\Z",
    re.IGNORECASE,
)
_WHOLE = re.compile(r"[+-]?[0-9]+(?:\.0+)?")


@dataclass(frozen=True, slots=True)
class ScoreReading:
    """A whole number on the scale, or None and why."""

    value: int | None
    reason: str | None = None


def read_flag(value: object) -> int | Literal["not applicable"] | None:
    """1 for met, 0 for unmet, NOT_APPLICABLE, or None for anything that the table does not list.

    Truth in the sense of Python is not asked: "0", 2, 0.5 and [] are not answers by accident.
    """
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, (int, float)):
        return int(value) if value in (0, 1) else None
    if not isinstance(value, str):
        return None
    word = " ".join(plain_text(value).casefold().split()).strip(" \"'*").rstrip(" .!\"'*")
    return NOT_APPLICABLE if word in _NOT_APPLICABLE else _FLAGS.get(word)


def read_integer(value: object, low: int, high: int) -> ScoreReading:
    """A JSON value as a whole number from ``low`` to ``high``; never rounded, never clipped, never searched for.

    4.0 is the whole number 4 (as in JSON Schema). A text is a number alone (``4``, full-width too), with its unit
    (``4점``) or the scale's own end (``4/5``, ``4 of 5``, ``4 out of 5``, ``5점 만점에 4점``). Anything beside
    that (a range, a choice, a copied form, a sentence) is no value.
    """
    if value is None:
        return ScoreReading(None, "missing")
    if isinstance(value, bool):
        return ScoreReading(None, "true or false where a number is due")
    if isinstance(value, (int, float)):
        return _on_scale(repr(value), low, high)
    if isinstance(value, str):
        return _lone_number(value, low, high)
    return ScoreReading(None, "no number")


def read_score(
    raw: str,
    low: int,
    high: int,
    *,
    finish: str = "stop",
    labels: tuple[str, ...] = ("score", "rating", "점수"),
) -> ScoreReading:
    """The number that stands alone after the last ``Score:`` (or another label), or is the whole reply.

    A score of something else (``Warmth score:``) counts only where no other is given, and the scale's own
    (``Maximum score:``) never.
    What a number alone is, :func:`read_integer` says; a full stop may follow it here. Numbers elsewhere in the
    reply are never taken.
    """
    if not finished(finish):
        return ScoreReading(None, CUT_OFF)
    text = _EMPHASIS.sub("", width_folded(without_thinking(raw))).strip()
    if _LONE.match(text):
        return _lone_number(text.removesuffix("."), low, high)
    label = "|".join(re.escape(word) for word in labels)
    labelled = list(re.finditer(rf"(?<![^\W_])(?<!-)(?:{label})\s*[:=]", text, re.IGNORECASE))
    before = {each.end(): text[text.rfind("\n", 0, each.start()) + 1 : each.start()] for each in labelled}
    ends = [end for end, line in before.items() if not _OF_SCALE.search(line)]
    of_whole = [end for end in ends if _OF_WHOLE.search(before[end])]
    if not of_whole and len(ends) != 1:
        return ScoreReading(None, "several scores, none of the whole" if ends else "no labelled score")
    given, _, behind = text[(of_whole or ends)[-1] :].strip().partition("\n")
    if words := withdrawn(behind):
        return ScoreReading(None, f"taken back: {words}")
    return _lone_number(given.strip().removesuffix("."), low, high)


def _lone_number(text: str, low: int, high: int) -> ScoreReading:
    match = _ALONE.fullmatch(trimmed(width_folded(text)))
    if match is None:
        return ScoreReading(None, "no number alone")
    most = match["most"] or match["full"]
    if most is not None and most.lstrip("0") != str(high):
        return ScoreReading(None, f"out of {most[:18]} on a scale up to {high}")
    return _on_scale(match["number"] or match["given"], low, high)


def _on_scale(number: str, low: int, high: int) -> ScoreReading:
    if not _WHOLE.fullmatch(number):
        return ScoreReading(None, f"{number[:18]} is no whole number")
    whole = number.split(".")[0]
    if len(whole) > 18 or not low <= int(whole) <= high:
        return ScoreReading(None, f"{whole[:18]} is off the scale {low} to {high}")
    return ScoreReading(int(whole))
