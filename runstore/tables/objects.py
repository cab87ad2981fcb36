"""JSON that people bring: one object a line, an array of objects, or such an array under a name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import orjson

from runstore.problems import InputProblem
from runstore.tables.encodings import Encoding, undecodable

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


_SPACE = " \t\r\n"
_BLANKS = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant)


class _Written(str):
    """A JSON number in the digits it was written with: an id 1e5 is not 100000.0."""

    __slots__ = ()


_AS_WRITTEN = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_constant=_constant, parse_float=_Written, parse_int=_Written
)


def read_objects(path: Path, text: str) -> Iterator[Row]:
    """(line, object) of each row. Raises InputProblem with the line, also for a key that is there twice."""
    array = _array_start(text)
    if array is not None:
        yield from _array(path, text, array, _DECODER)
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip(" \t\r"):
            yield number, parse_object(path, line, number)


def stream_objects(path: Path, encoding: Encoding) -> Iterator[Row]:
    """The same, in bounded memory where each line is an object; numbers are kept in the digits of the file."""
    with path.open(encoding=encoding.codec, newline="\n") as file:
        try:
            first = next((line for line in file if line.strip(_SPACE)), "")
            file.seek(0)
            if not _is_object(first.removeprefix("\ufeff")):
                text = file.read().removeprefix("\ufeff")
                array = _array_start(text)
                if array is not None:
                    yield from _array(path, text, array, _AS_WRITTEN)
                    return
                file.seek(0)
            for number, line in enumerate(file, 1):
                text = line.removeprefix("\ufeff")
                if text.strip(_SPACE):
                    yield number, _as_written(path, text, number)
        except UnicodeDecodeError as error:
            raise undecodable(path, encoding, error) from error


def cell_of(value: object) -> str:
    """A value out of JSON or Parquet as the text of a cell; lists and objects are JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(_numbers(value), ensure_ascii=False, default=str)


def _numbers(value: Any) -> Any:
    if isinstance(value, _Written):
        return json.loads(value)
    if isinstance(value, dict):
        return {key: _numbers(item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_numbers(item) for item in cast("list[Any]", value)]
    return value


def _is_object(line: str) -> bool:
    """Whether a line is one row of JSON lines; an object of nothing but an array of rows is a file by itself."""
    try:
        row: object = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(row, dict) and _wrapped(line, _skip(line, 0)) is None


def _as_written(path: Path, line: str, number: int) -> dict[str, Any]:
    try:
        row: object = _AS_WRITTEN.decode(line.strip(_SPACE))
    except _Twice as error:
        raise InputProblem(path, "each key once", found=str(error), line=number) from error
    except (ValueError, RecursionError) as error:
        raise InputProblem(path, "one JSON object a line", found=str(error), line=number) from error
    if not isinstance(row, dict):
        raise InputProblem(path, "a JSON object", found=type(row).__name__, line=number)
    return cast("dict[str, Any]", row)


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


def _array_start(text: str) -> int | None:
    """Where an array of rows begins; None where the text has one object a line."""
    start = _skip(text, 0)
    return start if text.startswith("[", start) else _wrapped(text, start)


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
                return at if _ends_with_object(text, start) else None
            _, at = _DECODER.raw_decode(text, at)
            at = _skip(text, at)
            if not text.startswith(",", at):
                return None
            at = _skip(text, at + 1)
    except (ValueError, RecursionError):
        return None
    return None


def _ends_with_object(text: str, start: int) -> bool:
    """Whether nothing follows the object: a first row that has a list of its own is no wrapper."""
    try:
        _, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        # What is wrong with it is said where its rows are read.
        return "\n{" not in text[start:].replace("\r", "")
    return _skip(text, end) == len(text)


def _array(path: Path, text: str, start: int, decoder: json.JSONDecoder) -> Iterator[Row]:
    at, line, counted = _skip(text, start + 1), 1, 0
    while not text.startswith("]", at):
        line, counted = line + text.count("\n", counted, at), at
        try:
            row, at = decoder.raw_decode(text, at)
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
