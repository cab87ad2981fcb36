"""Objects in a judge's reply: the ladder from a strict parse of the whole reply down to single elements."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, cast

from arena.reading.escapes import escape_latex
from arena.reading.repair import repaired
from arena.reading.text import CUT_OFF, finished, folded
from arena.reading.withdrawn import withdrawn
from gateway.thinking import without_thinking

Object = dict[str, Any]
UNPARSABLE = ("unparsable",)

_FENCE = re.compile(r"(?P<mark>`{3,}|~{3,})[^`~\r\n]*\r?\n(?P<inside>.*?)\r?\n?[ \t]*(?P=mark)", re.DOTALL)
_DENIED = re.compile(
    r"(?:~~|<(?:del|s|strike)>|\b(?:not|never|except|instead of|rather than):?)[^\S\n]*`?\Z", re.IGNORECASE
)
_BEGUN = r"[{｛]\s*[\"“'][^\"”'\n]*[\"”']\s*[:：](?![^}]*\})"
_MARKED = re.compile(r"^[ \t]*#{3,}", re.MULTILINE)
_MARKS = re.compile(r'["{}]|\\.', re.DOTALL)
_VALUE = r'(-?\d+(?:\.\d+)?|true|false|null|"(?:[^"\\]|\\.)*")(?=\s*(?:,\s*["}]|\}|\n\s*"))'


@dataclass(frozen=True, slots=True)
class ObjectReading:
    """A JSON object as it was read.

    ``value`` is None where none could be read, ``reason`` then says why. ``steps`` names what was needed beyond a
    strict parse of the whole reply: ``extract`` (text or fences around it), ``latex`` (backslashes), ``repair``.
    ``text`` is the part of the reply that :func:`scan_element` may look through; empty when it was cut off, and
    where it is not known which object is the judge's answer.
    """

    value: Object | None
    steps: tuple[str, ...] = ()
    reason: str | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """One object of the reply: where it stands, what it was read as (None: unreadable), and what that took."""

    start: int
    end: int
    value: Object | None
    steps: tuple[str, ...]
    text: str


def read_object(
    raw: str,
    *,
    finish: str = "stop",
    keys: Collection[str] = (),
    quoted: Sequence[str] = (),
) -> ObjectReading:
    """The one JSON object of a reply that has at least one of ``keys`` (any object where none are named).

    An object that holds nothing but such an object under one key stands for it.

    A reply that parses is never cleaned. Otherwise the thinking at its start goes, and every complete object in
    the text is read strictly, or by the strict rules after repair. An object that stands word for word in one of
    the ``quoted`` texts is not the judge's own. Where several differ, the one that stands alone after the last
    ``###`` or in a code fence counts, else none. What ends before its closing brace was cut off, and what is taken
    back behind it is no answer. A key given twice with different values is null. Never raises.
    """
    if not finished(finish):
        return ObjectReading(None, reason=CUT_OFF)
    whole = raw.strip().removeprefix("\ufeff")
    # Only a text with an object in it can have been quoted: the others need not be searched.
    sources = [folded(source) for source in quoted if "{" in source or "｛" in source]
    value = _with_keys(_parsed(whole), keys)
    if value is not None and not _is_quotation(whole, sources):
        return ObjectReading(value, text=whole)
    text = without_thinking(whole).strip()
    if not text:
        return ObjectReading(None, reason="the reply is empty")
    unquoted = [each for each in _candidates(text, keys) if not _is_quotation(each.text, sources)]
    candidates = [each for each in unquoted if not _DENIED.search(text[max(0, each.start - 20) : each.start])]
    if unquoted and not candidates:
        return ObjectReading(None, reason="the only object is denied")
    if any(candidate.value is not None for candidate in candidates):
        behind = text[candidates[-1].end :]
        if _goes_on(behind, keys):
            return ObjectReading(None, reason="another object begins behind the last whole one")
        if words := withdrawn(behind):
            return ObjectReading(None, reason=f"taken back: {words}")
        return _chosen(text, candidates)
    return _damaged(text, keys, sources)


def _candidates(text: str, keys: Collection[str]) -> list[_Candidate]:
    """The complete objects of a text that name one of the keys, in their order, none inside another."""
    whole = (0, len(text))
    spans = {whole: None} if text.startswith("{") else {}
    fenced = (match for match in _FENCE.finditer(text) if match["inside"].lstrip().startswith(("{", "｛")))
    spans |= dict.fromkeys(match.span("inside") for match in fenced)
    spans |= dict.fromkeys(_balanced(text))
    read: list[_Candidate] = []
    for start, end in spans:
        if any(start < other.end and other.start < end for other in read):
            continue
        value, steps = _read(text[start:end].strip(), keys)
        is_unreadable = (
            steps == UNPARSABLE and (start, end) != whole and any(key in text[start:end] for key in keys)
        )
        if value is not None or is_unreadable:
            around = () if (start, end) == whole else ("extract",)
            read.append(_Candidate(start, end, value, (*around, *steps), text[start:end]))
    return sorted(read, key=lambda candidate: candidate.start)


def _read(text: str, keys: Collection[str]) -> tuple[Object | None, tuple[str, ...]]:
    """An object out of exactly this text: strictly, else with the backslashes of formulas, else repaired.

    None with UNPARSABLE where it is none; None with other steps where it is one that has no wanted key.
    """
    own = _without_surplus(text)
    trimmed = () if own == text else ("repair",)
    for steps, read_as in (((), str), (("latex",), escape_latex), (("repair",), repaired)):
        parsed = _parsed(read_as(own))
        if parsed is not None:
            return _with_keys(parsed, keys), tuple(dict.fromkeys((*steps, *trimmed)))
    return None, UNPARSABLE


def _without_surplus(text: str) -> str:
    """The text without braces too many: doubled as in a template, or more at its end than its object has."""
    if text.startswith("{{") and text.endswith("}}"):
        return text[1:-1]
    if text.endswith("}"):
        with suppress(ValueError, RecursionError):
            end = _DECODER.raw_decode(text)[1]
            return text if text[end:].strip("} \t\r\n") else text[:end]
    return text


def _chosen(text: str, candidates: Sequence[_Candidate]) -> ObjectReading:
    """The candidate that all agree with, or that alone stands where an answer is put."""
    marks = [match.start() for match in _MARKED.finditer(text)]
    fences = [match.span("inside") for match in _FENCE.finditer(text)]
    places = (
        list(candidates),
        [each for each in candidates if marks and each.start > marks[-1]],
        [each for each in candidates if any(start <= each.start < end for start, end in fences)],
    )
    for place in places:
        last = place[-1] if place else None
        if last and last.value is not None and len({_canonical(each.value) for each in place}) == 1:
            return ObjectReading(last.value, last.steps, text=last.text)
    return ObjectReading(None, reason="several different objects")


def _goes_on(rest: str, keys: Collection[str]) -> bool:
    """Whether an object with one of the keys, or one without an end, begins in what follows the last whole one."""
    named = "|".join(map(re.escape, keys))
    begun = rf"(?:[{{｛]\s*(?:{named})|[\"“'](?:{named})[\"”'])\s*[:：]|{_BEGUN}"
    return bool(named and re.search(begun, rest))


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _is_quotation(candidate: str, sources: Sequence[str]) -> bool:
    if not sources:
        return False
    own = folded(candidate)
    return any(own in source for source in sources)


def _balanced(text: str) -> Iterator[tuple[int, int]]:
    """Outermost ``{...}`` of a text; braces inside strings do not count.

    A brace that closes nothing shows that what came before ended too early: then there are none.
    """
    depth, start, in_string = 0, 0, False
    spans: list[tuple[int, int]] = []
    for mark in _MARKS.finditer(text):
        sign = mark[0]
        if sign == '"' and depth:
            in_string = not in_string
        elif in_string or sign[0] == "\\":
            continue
        elif sign == "{":
            start = start if depth else mark.start()
            depth += 1
        elif sign == "}":
            depth -= 1
            if depth < 0:
                return
            if depth == 0:
                spans.append((start, mark.end()))
    yield from spans


def _parsed(text: str) -> Object | None:
    try:
        value = json.loads(text, object_pairs_hook=_agreed, parse_constant=lambda _: None, parse_float=_as_written)
    except (ValueError, RecursionError):
        return None
    return cast("Object", value) if isinstance(value, dict) else None


def _as_written(number: str) -> float | str:
    """A number with a fraction; as text where rounding would make it a whole one."""
    value = float(number)
    is_rounded = value.is_integer() and abs(value) < 2**53 and Decimal(number) != Decimal(value)
    return number if is_rounded else value


def _agreed(pairs: list[tuple[str, Any]]) -> Object:
    agreed: Object = {}
    for key, value in pairs:
        agreed[key] = value if key not in agreed or _canonical(agreed[key]) == _canonical(value) else None
    return agreed


_DECODER = json.JSONDecoder(object_pairs_hook=_agreed, parse_constant=lambda _: None, parse_float=_as_written)


def _with_keys(value: Any, keys: Collection[str]) -> Object | None:
    """``value`` if it has one of the keys, or the object that it wraps under a single key of its own."""
    if not isinstance(value, dict):
        return None
    given = cast("Object", value)
    if not keys or any(key in given for key in keys):
        return given
    inner = next(iter(given.values())) if len(given) == 1 else None
    return _with_keys(inner, keys)


def _damaged(text: str, keys: Collection[str], sources: Sequence[str]) -> ObjectReading:
    """What is left where no complete object could be read: all from the first brace to the last, repaired."""
    outer = _outer(text)
    if not outer:
        return ObjectReading(None, reason="no JSON object in the reply")
    if _is_quotation(outer, sources):
        return ObjectReading(None, reason="the only object repeats the judged text")
    if not outer.endswith(("}", "｝")):
        return ObjectReading(None, reason="the object has no end")
    value, steps = _read(outer, keys)
    if value is not None:
        around = () if outer == text else ("extract",)
        return ObjectReading(value, (*around, *steps), text=outer)
    return ObjectReading(None, reason="no JSON object that could be repaired", text=outer)


def _outer(text: str) -> str:
    """From the first brace to the last one; to the end where the text after the last brace is more JSON."""
    braces = [match.start() for match in re.finditer("[{｛]", text)]
    start, end = (braces[0] if braces else -1), max(text.rfind("}"), text.rfind("｝"))
    if start < 0:
        return ""
    rest = text[end + 1 :].strip()
    unfinished = end < start or bool(re.match(r'[,:"\[]', rest))
    return text[start:] if unfinished else text[start : end + 1]


def scan_element(text: str, section: str, element: str, sections: Collection[str]) -> Any:
    """One element's value out of text that no parser takes, or None.

    ``section`` is the item's key, ``sections`` all item keys: the item's part ends where the next one begins. The
    value is ``"element": value`` or the ``"value"`` inside ``"element": {...}``, and stands alone; given twice, it
    must be the same.
    """
    part = _section(text, section, sections)
    key = re.escape(json.dumps(element, ensure_ascii=False))
    inner = r'\{(?:[^{}"]|"(?!value")(?:[^"\\]|\\.)*")*?"value"\s*:\s*'
    written = re.findall(rf"{key}\s*:\s*(?:{inner})?{_VALUE}", part)
    values = {json.dumps(_scalar(token)) for token in written}
    is_clear = len(values) == 1 and len(written) == len(re.findall(rf"{key}\s*:", part))
    return json.loads(values.pop()) if is_clear else None


def _section(text: str, section: str, sections: Collection[str]) -> str:
    starts = [match.start() for match in re.finditer(rf'"{re.escape(section)}"\s*:', text)]
    if len(starts) != 1:
        return ""
    others = "|".join(re.escape(name) for name in sections if name != section)
    following = re.compile(rf'"(?:{others})"\s*:').search(text, starts[0] + 1) if others else None
    return text[starts[0] : following.start() if following else len(text)]


def _scalar(token: str) -> Any:
    try:
        return json.loads(token)
    except ValueError:
        return None
