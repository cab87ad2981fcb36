"""Single values in a judge's answer: met or unmet, and whole numbers on a declared scale."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from arena.reading.text import CUT_OFF, finished, plain_text
from gateway.thinking import without_thinking

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
_NOT_APPLICABLE = frozenset({"na", "n/a", "n.a.", "not applicable", "not_applicable", "해당 없음", "해당없음"})
_WHOLE = re.compile(r"[+-]?\d+(?:\.0+)?")
_GIVEN = r"\s*[:=]\s*(?P<value>[+-]?\d+(?:[.,]\d+)?)(?=(?P<rest>[^\n]*))"
_OUT_OF = re.compile(r"\s*\(?\s*(?:/|out\s+of|of)\s*(\d+)(?![\d.]*\d)", re.IGNORECASE)
_FULL_MARKS = re.compile(r"(\d+)\s*점?\s*만점\s*(?:에서|에|중|기준)?\s*[:,]?\s*")
_RANGE = re.compile(r"\s*(?:-|–|—|~|to\b|or\b|에서)\s*\d")


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
    word = " ".join(plain_text(value).casefold().split()).strip(" .!()[]\"'*")
    return NOT_APPLICABLE if word in _NOT_APPLICABLE else _FLAGS.get(word)


def read_integer(value: object, low: int, high: int) -> ScoreReading:
    """A JSON value as a whole number from ``low`` to ``high``; never rounded, never clipped.

    4.0 is the whole number 4 (as in JSON Schema); "4", "4/5" and "4점" are read like :func:`read_score`.
    """
    if value is None:
        return ScoreReading(None, "missing")
    if isinstance(value, bool):
        return ScoreReading(None, "true or false where a number is due")
    if isinstance(value, (int, float)):
        return _on_scale(repr(value), low, high)
    if isinstance(value, str):
        return _first_number(plain_text(value).strip(), low, high)
    return ScoreReading(None, "no number")


def read_score(
    raw: str,
    low: int,
    high: int,
    *,
    finish: str = "stop",
    labels: tuple[str, ...] = ("score", "rating", "점수"),
) -> ScoreReading:
    """The number given last after ``Score:`` (or another label), or a reply that is a number and nothing else.

    ``2/5`` and ``2 out of 5`` are 2 on a scale up to 5; another denominator, a decimal, a range and a number off
    the scale are unreadable. Numbers elsewhere in the reply are never taken.
    """
    if not finished(finish):
        return ScoreReading(None, CUT_OFF)
    text = re.sub(r"[*_`]", "", plain_text(without_thinking(raw))).strip()
    if re.fullmatch(r"[+-]?\d[\d.,]*(?:\s*/\s*\d+)?\s*점?\.?", text):
        return _first_number(text, low, high)
    label = "|".join(re.escape(word) for word in labels)
    given = list(re.finditer(rf"(?<![^\W_])(?:{label}){_GIVEN}", text, re.IGNORECASE))
    if not given:
        return ScoreReading(None, "no labelled score")
    return _first_number(given[-1]["value"] + given[-1]["rest"], low, high)


def _first_number(text: str, low: int, high: int) -> ScoreReading:
    if full_marks := _FULL_MARKS.match(text):
        if int(full_marks[1]) != high:
            return ScoreReading(None, f"out of {full_marks[1]} on a scale up to {high}")
        text = text[full_marks.end() :]
    match = re.match(r"[+-]?\d+(?:[.,]\d+)?", text)
    if match is None:
        return ScoreReading(None, "no number")
    rest = text[match.end() :]
    if _RANGE.match(rest):
        return ScoreReading(None, "a range instead of one number")
    bound = _OUT_OF.match(rest)
    if bound and int(bound[1]) != high:
        return ScoreReading(None, f"out of {bound[1]} on a scale up to {high}")
    if not bound and re.match(r"\s*[/%％]|[^\W_]", rest) and not rest.startswith("점"):
        return ScoreReading(None, "no whole number")
    return _on_scale(match[0], low, high)


def _on_scale(number: str, low: int, high: int) -> ScoreReading:
    if not _WHOLE.fullmatch(number):
        return ScoreReading(None, f"{number} is no whole number")
    whole = number.split(".")[0]
    if len(whole) > 18 or not low <= int(whole) <= high:
        return ScoreReading(None, f"{whole[:18]} is off the scale {low} to {high}")
    return ScoreReading(int(whole))
