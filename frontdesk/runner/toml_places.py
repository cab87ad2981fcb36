"""What is wrong with a TOML file, said with the line it stands on and the nearest thing that would be right."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from runstore.expected import WORDS, expected_of
from runstore.problems import InputProblem, nearest

_PART = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'|[\w-]+')
_HEADER = re.compile(r"\s*\[\[?\s*(?P<name>[^=#]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(rf"\s*(?P<name>(?:{_PART.pattern})(?:\s*\.\s*(?:{_PART.pattern}))*)\s*=")
_UNIONS = ("tuple[", "list[", "dict[", "function-", "nullable", "literal[")


def line_of(text: str, *path: str) -> int | None:
    """The line on which the key ``path`` is set, or the nearest table above it. Lines count from 1."""
    table: tuple[str, ...] = ()
    best, nearest = 0, None
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = _parts(header["name"])
            here = table
        elif key := _KEY.match(line):
            here = (*table, *_parts(key["name"]))
        else:
            continue
        if len(here) > best and here == path[: len(here)]:
            best, nearest = len(here), number
    return nearest


def _parts(name: str) -> tuple[str, ...]:
    return tuple(part[0].strip("\"'") for part in _PART.finditer(name))


def explained(
    error: ValidationError, source: Path | str, text: str, known: Sequence[str], at: Sequence[str] = ()
) -> InputProblem:
    """The first thing that is wrong, as file, line, field, found and expected.

    ``known``: the keys there are beside one that is unknown; ``at``: where in the file what was checked stands.
    """
    first = error.errors()[0]
    path = [*at, *(str(part) for part in first["loc"] if not _is_noise(str(part)))]
    line, field = line_of(text, *path), ".".join(path)
    if first["type"] == "extra_forbidden":
        expected = f"a known key: {suggestion(path[-1], known)}"
        return InputProblem(source, expected, found=path[-1], line=line, field=field)
    return InputProblem(source, expected_of(first), found=_found(first), line=line, field=field)


def _found(first: ErrorDetails) -> object:
    """What stands there, as TOML writes it where its kind is what is wrong."""
    given: Any = first["input"]
    if first["type"] == "missing":
        return None
    is_of_wrong_kind = first["type"] in WORDS and isinstance(given, str | bool)
    return json.dumps(given, ensure_ascii=False) if is_of_wrong_kind else given


def _is_noise(part: str) -> bool:
    """Names of the checks that were tried, which are no part of the file."""
    return part.startswith(_UNIONS) or part in ("[key]", "str", "int", "float", "bool")


def suggestion(name: str, known: Iterable[str]) -> str:
    """The known name that was probably meant, or all of them."""
    known = list(known)
    close = nearest(name.lower(), known, 0.5)
    return f"did you mean {close!r}?" if close else f"one of {', '.join(known)}"
