"""JSON that people bring: one object a line, an array of objects, or such an array under a name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import orjson

from runstore.problems import InputProblem

WRAPPERS = frozenset(
    {"sessions", "rows", "data", "items", "records", "results", "battles", "ratings", "questions"}
    | {"answers", "personas", "dialogues", "sheets"}
)
Row = tuple[int, dict[str, Any]]


class _Twice(ValueError):
    """A key that stands twice in one object."""


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    places: dict[str, int] = {}
    for place, (key, _) in enumerate(pairs, 1):
        if places.setdefault(key, place) != place:
            raise _Twice(f"{key!r} twice (keys {places[key]} and {place} of the object)")
    return dict(pairs)


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_BLANKS = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant)


def read_objects(path: Path, text: str) -> Iterator[Row]:
    """(line, object) of each row. Raises InputProblem with the line, also for a key that is there twice."""
    start = _skip(text, 0)
    if text.startswith("[", start):
        yield from _array(path, text, start)
        return
    wrapped = _wrapped(text, start)
    if wrapped is not None:
        yield from _array(path, text, wrapped)
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip(" \t\r"):
            yield number, parse_object(path, line, number)


def parse_object(path: Path, line: str | bytes, number: int) -> dict[str, Any]:
    """One line as a JSON object. Raises InputProblem."""
    try:
        row: object = orjson.loads(line)
        colons = line.count(b":") if isinstance(line, bytes) else line.count(":")
        if not isinstance(row, dict):
            raise InputProblem(path, "a JSON object", found=type(row).__name__, line=number)
        if colons > len(cast("dict[str, Any]", row)):
            # As many colons as keys: nothing can be there twice, and that is nearly every flat row.
            _DECODER.decode(line.decode() if isinstance(line, bytes) else line)
    except _Twice as error:
        raise InputProblem(path, "each key once", found=str(error), line=number) from error
    except (ValueError, RecursionError) as error:
        raise InputProblem(path, "one JSON object a line", found=str(error), line=number) from error
    return cast("dict[str, Any]", row)


def _skip(text: str, at: int) -> int:
    matched = _BLANKS.match(text, at)
    return matched.end() if matched else at


def _wrapped(text: str, start: int) -> int | None:
    """Where the array of rows begins in ``{"sessions": [...]}``; None where the text is no such object."""
    if not text.startswith("{", start):
        return None
    at = _skip(text, start + 1)
    try:
        while text.startswith('"', at):
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
            if key in WRAPPERS and text.startswith("[", at) and text.startswith("{", _skip(text, at + 1)):
                return at
            _, at = _DECODER.raw_decode(text, at)
            at = _skip(text, at)
            if not text.startswith(",", at):
                return None
            at = _skip(text, at + 1)
    except (ValueError, RecursionError):
        return None
    return None


def _array(path: Path, text: str, start: int) -> Iterator[Row]:
    at, line, counted = _skip(text, start + 1), 1, 0
    while not text.startswith("]", at):
        line, counted = line + text.count("\n", counted, at), at
        try:
            row, at = _DECODER.raw_decode(text, at)
        except _Twice as error:
            raise InputProblem(path, "each key once", found=str(error), line=line) from error
        except (ValueError, RecursionError) as error:
            raise InputProblem(path, "an array of JSON objects", found=str(error), line=line) from error
        if not isinstance(row, dict):
            raise InputProblem(path, "a JSON object", found=type(row).__name__, line=line)
        yield line, cast("dict[str, Any]", row)
        at = _skip(text, at)
        if text.startswith(",", at):
            at = _skip(text, at + 1)
        elif not text.startswith("]", at):
            raise InputProblem(
                path, "a comma or the array's end", found=text[at : at + 20] or "the file's end", line=line
            )
