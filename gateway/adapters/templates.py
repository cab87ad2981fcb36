"""Templates of a tutor service: ``{name}`` from the prompt, ``${VARIABLE}`` from the environment, dotted paths.

``{{`` and ``}}`` stand for single braces. A text that is nothing but one placeholder becomes the value itself
(a list stays a list); inside a longer text a list is written as JSON.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import quote

from gateway.adapters import reading
from runstore.problems import Problem

_MARK = re.compile(r"\$\{(?P<variable>[A-Za-z_]\w*)\}|(?P<brace>\{\{|\}\})|\{(?P<name>[a-z_][a-z_0-9]*)\}")
_STEP = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
MISSING = object()

Path = tuple[str | int, ...]


def names(template: object) -> set[str]:
    """The ``{name}`` placeholders of a template."""
    return {match["name"] for text in _texts(template) for match in _MARK.finditer(text) if match["name"]}


def variables(template: object) -> list[str]:
    """The ``${VARIABLE}`` names of a template, in order."""
    return [match["variable"] for text in _texts(template) for match in _MARK.finditer(text) if match["variable"]]


def _texts(template: object) -> list[str]:
    if isinstance(template, str):
        return [template]
    if isinstance(template, dict):
        return [
            text for item in cast("dict[str, Any]", template).items() for part in item for text in _texts(part)
        ]
    if isinstance(template, list):
        return [text for part in cast("list[Any]", template) for text in _texts(part)]
    return []


def fill(template: Any, values: Mapping[str, Any]) -> Any:
    """The template with its ``{name}`` placeholders filled; unknown names raise KeyError."""
    if isinstance(template, str):
        whole = _MARK.fullmatch(template)
        if whole is not None and whole["name"]:
            return values[whole["name"]]
        return (
            _MARK.sub(lambda match: _filled(match, values), template)
            if "{" in template or "}" in template
            else template
        )
    if isinstance(template, dict):
        return {key: fill(value, values) for key, value in cast("dict[str, Any]", template).items()}
    if isinstance(template, list):
        return [fill(value, values) for value in cast("list[Any]", template)]
    return template


def _filled(match: re.Match[str], values: Mapping[str, Any]) -> str:
    if match["brace"]:
        return match["brace"][0]
    if match["variable"]:
        return match[0]
    value = values[match["name"]]
    return value if isinstance(value, str) else reading.dumps(value).decode()


def fill_path(template: str, values: Mapping[str, Any]) -> str:
    """A path with its placeholders filled, each as one quoted segment."""
    if "{" not in template:
        return template
    return fill(template, {name: quote(str(values[name]), safe="") for name in names(template)})


def expand(template: str, environ: Mapping[str, str], where: str, *, quoted: bool = False) -> str:
    """The text with ``${VARIABLE}`` from the environment. Raises Problem naming a variable that is not set."""

    def value(match: re.Match[str]) -> str:
        if not match["variable"]:
            return match[0]
        text = environ.get(match["variable"], "").strip()
        if not text:
            raise Problem(f"{where}: the environment variable {match['variable']} is not set")
        if any(ord(character) < 32 or ord(character) == 127 for character in text):
            raise Problem(f"{where}: the environment variable {match['variable']} holds a control character")
        return quote(text, safe="/:") if quoted and "://" not in text else text

    return _MARK.sub(value, template)


def parse_path(text: str, where: str) -> Path:
    """``data.answers[0].text`` -> ("data", "answers", 0, "text"); ``$`` is the whole answer. Raises Problem."""
    plain = text.strip().removeprefix("$").removeprefix(".")
    steps: list[str | int] = []
    position = 0
    for match in _STEP.finditer(plain):
        between = plain[position : match.start()]
        if between not in ("", ".") or (between == "" and steps and match[2] is not None):
            break
        steps.append(int(match[1]) if match[1] is not None else match[2])
        position = match.end()
    if position != len(plain) or (not plain and not text.strip()):
        raise Problem(f"{where}: found {text!r}, expected a dotted path such as data.answers[0].text")
    return tuple(steps)


def walk(value: Any, path: Path) -> Any:
    """What is at the path, or MISSING."""
    for step in path:
        if isinstance(step, int):
            items = reading.as_list(value)
            if step >= len(items):
                return MISSING
            value = items[step]
        else:
            value = reading.as_dict(value).get(step, MISSING)
            if value is MISSING:
                return MISSING
    return value
