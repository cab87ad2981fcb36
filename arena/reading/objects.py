"""Objects in a judge's reply: the ladder from a strict parse down to single elements."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from arena.reading.escapes import escape_latex
from arena.reading.text import CUT_OFF, finished, folded
from gateway.thinking import without_thinking

Object = dict[str, Any]
MOST_OBJECTS = 1000

_FENCE = re.compile(r"```[A-Za-z0-9]*[ \t]*\r?\n(.*?)\r?\n?[ \t]*```", re.DOTALL)
_MARKS = re.compile(r'["{}]|\\.', re.DOTALL)
_NUMBER_OR_WORD = r'-?\d+(?:\.\d+)?(?=\s*[,}\r\n])|true\b|false\b|null\b|"(?:[^"\\]|\\.)*"'


@dataclass(frozen=True, slots=True)
class ObjectReading:
    """A JSON object as it was read.

    ``value`` is None where none could be read, ``reason`` then says why. ``steps`` names what was needed beyond a
    strict parse of the whole reply: ``extract`` (text or fences around it), ``latex`` (backslashes), ``repair``.
    ``text`` is the part of the reply that :func:`scan_element` may look through; empty when it was cut off.
    """

    value: Object | None
    steps: tuple[str, ...] = ()
    reason: str | None = None
    text: str = ""


def read_object(
    raw: str,
    *,
    finish: str = "stop",
    keys: Collection[str] = (),
    quoted: Sequence[str] = (),
) -> ObjectReading:
    """The last JSON object of a reply that has at least one of ``keys`` (any object where none are named).

    An object that holds nothing but such an object under one key stands for it.

    Steps: finish reason, thinking and fences, backslashes of formulas, strict parse, repair. An object that stands
    word for word in one of the ``quoted`` texts is not the judge's own. Repair is tried only when nothing could be
    parsed and the text ends in a closing brace: what ends otherwise was cut off. A key given twice with different
    values is null. Never raises.
    """
    if not finished(finish):
        return ObjectReading(None, reason=CUT_OFF)
    text = without_thinking(raw).strip().removeprefix("\ufeff")
    if not text:
        return ObjectReading(None, reason="the reply is empty")
    # Only a text with an object in it can have been quoted: the others need not be searched.
    sources = [folded(source) for source in quoted if "{" in source or "｛" in source]
    for candidate in _candidates(text):
        if _is_quotation(candidate, sources):
            continue
        escaped = escape_latex(candidate)
        value = _with_keys(_parsed(escaped), keys)
        if value is not None:
            return ObjectReading(value, _steps(text, candidate, escaped), text=escaped)
    return _repaired(text, keys, sources)


def _candidates(text: str) -> Iterator[str]:
    yield text
    yield from reversed(list(_balanced(text)))
    fenced = [block.strip() for block in _FENCE.findall(text)]
    yield from reversed([block for block in fenced if block.startswith("{")])


def _is_quotation(candidate: str, sources: Sequence[str]) -> bool:
    if not sources:
        return False
    own = folded(candidate)
    return any(own in source for source in sources)


def _balanced(text: str) -> Iterator[str]:
    """Outermost ``{...}`` of a text; braces inside strings do not count."""
    depth, start, in_string = 0, 0, False
    for mark in _MARKS.finditer(text):
        sign = mark[0]
        if sign == '"' and depth:
            in_string = not in_string
        elif in_string or sign[0] == "\\":
            continue
        elif sign == "{":
            start = start if depth else mark.start()
            depth += 1
        elif sign == "}" and depth:
            depth -= 1
            if depth == 0:
                yield text[start : mark.end()]


def _steps(text: str, candidate: str, escaped: str, *more: str) -> tuple[str, ...]:
    needed = (("extract", candidate != text), ("latex", escaped != candidate))
    return (*(name for name, applies in needed if applies), *more)


def _parsed(text: str) -> Object | None:
    try:
        value = json.loads(text, object_pairs_hook=_agreed, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return None
    return cast("Object", value) if isinstance(value, dict) else None


def _agreed(pairs: list[tuple[str, Any]]) -> Object:
    found: Object = {}
    for key, value in pairs:
        found[key] = value if key not in found or found[key] == value else None
    return found


def _with_keys(value: Any, keys: Collection[str]) -> Object | None:
    """``value`` if it has one of the keys, or the object that it wraps under a single key of its own."""
    if not isinstance(value, dict):
        return None
    found = cast("Object", value)
    if not keys or any(key in found for key in keys):
        return found
    inner = next(iter(found.values())) if len(found) == 1 else None
    return _with_keys(inner, keys)


def _repaired(text: str, keys: Collection[str], sources: Sequence[str]) -> ObjectReading:
    candidate = _outer(text)
    if not candidate:
        return ObjectReading(None, reason="no JSON object in the reply")
    escaped = escape_latex(candidate)
    if _is_quotation(candidate, sources):
        return ObjectReading(None, reason="the only object repeats the judged text")
    if not escaped.endswith("}"):
        return ObjectReading(None, reason="the object has no end")
    if escaped.count("{") > MOST_OBJECTS:
        return ObjectReading(None, reason=f"more than {MOST_OBJECTS} braces in what does not parse")
    import json_repair  # only needed for replies that do not parse

    try:
        repaired: Any = json_repair.loads(escaped)
    except (ValueError, RecursionError):
        repaired = None
    several = cast("list[Any]", repaired) if isinstance(repaired, list) else [repaired]
    for value in reversed(several):
        if found := _with_keys(value, keys):
            return ObjectReading(found, _steps(text, candidate, escaped, "repair"), text=escaped)
    return ObjectReading(None, reason="no JSON object that could be repaired", text=escaped)


def _outer(text: str) -> str:
    """From the first brace to the last one; to the end where the text after the last brace is more JSON."""
    start, end = text.find("{"), text.rfind("}")
    if start < 0:
        return ""
    rest = text[end + 1 :].strip()
    unfinished = end < start or bool(re.match(r'[,:"\[]', rest))
    return text[start:] if unfinished else text[start : end + 1]


def scan_element(text: str, section: str, element: str, sections: Collection[str]) -> Any:
    """One element's value out of text that no parser takes, or None.

    ``section`` is the item's key, ``sections`` all item keys: the item's part ends where the next one begins. The
    value is ``"element": value`` or the ``"value"`` inside ``"element": {...}``; given twice, it must be the same.
    """
    part = _section(text, section, sections)
    key = re.escape(json.dumps(element, ensure_ascii=False))
    inner = r'\{(?:[^{}"]|"(?!value")(?:[^"\\]|\\.)*")*?"value"\s*:\s*'
    found = re.findall(rf"{key}\s*:\s*(?:{inner})?({_NUMBER_OR_WORD})", part)
    values = {json.dumps(_scalar(token)) for token in found}
    return json.loads(values.pop()) if len(values) == 1 else None


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
