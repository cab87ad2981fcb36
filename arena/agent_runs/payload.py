"""What one run's Raw JSON says: the message, the buttons' URLs, the seconds, the error.

Reading is strict: JSON that is broken stays broken (the app that got it could not read it either) and is
never repaired. Encoded twice is not broken; it is decoded again and counted.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Literal, cast

import orjson

RawState = Literal["ok", "empty", "unreadable", "not an object"]

_MAX_LAYERS = 3
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")


@dataclass(frozen=True, slots=True)
class Payload:
    """``seconds`` is None where there is none or it is no time (``seconds_problem`` says so).

    ``layers`` is how many times the JSON was encoded: 1, or 2 where a string held it.
    """

    state: RawState
    message: str = ""
    urls: tuple[str, ...] = ()
    seconds: float | None = None
    seconds_problem: str = ""
    error: str = ""
    layers: int = 1


EMPTY = Payload("empty")
UNREADABLE = Payload("unreadable")


def read_payload(cell: str) -> Payload:
    """Read a Raw JSON cell. Never raises: what can't be read is a state of its own."""
    if not cell.strip():
        return EMPTY
    value: object = cell
    layers = 0
    while isinstance(value, str) and layers < _MAX_LAYERS:
        try:
            value = _loads(value)
        except (ValueError, RecursionError):
            return UNREADABLE
        layers += 1
    if not isinstance(value, dict):
        return Payload("not an object", layers=layers)
    fields = cast("dict[str, object]", value)
    message = fields.get("assistantMessage")
    seconds, problem = _seconds(fields.get("responseTimeSec"))
    return Payload(
        "ok",
        message if isinstance(message, str) else "",
        tuple(_button_urls(fields.get("dataUIList"))),
        seconds,
        problem,
        _error_text(fields.get("error")),
        layers,
    )


def _loads(text: str) -> object:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        # orjson refuses half a surrogate pair, which JSON's grammar allows.
        return json.loads(text.strip().removeprefix("\ufeff"), parse_constant=_refuse)


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is not JSON")


def _button_urls(listed: object) -> list[str]:
    """``dataUIList[*].uiValue.buttonUrl``: null lists, null values, several buttons, values encoded as strings."""
    urls: list[str] = []
    for entry in _each(listed):
        if not isinstance(entry, dict):
            continue
        for ui in _each(cast("dict[str, object]", entry).get("uiValue")):
            if not isinstance(ui, dict):
                continue
            offered = _each(cast("dict[str, object]", ui).get("buttonUrl"), decode=False)
            urls.extend(url.strip() for url in offered if isinstance(url, str) and url.strip())
    return urls


def _each(value: object, *, decode: bool = True) -> list[object]:
    if decode and isinstance(value, str):
        try:
            value = _loads(value)
        except (ValueError, RecursionError):
            return []
    if value is None:
        return []
    return cast("list[object]", value) if isinstance(value, list) else [value]


def _seconds(value: object) -> tuple[float | None, str]:
    if value is None or value == "":
        return None, "no responseTimeSec"
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None, "responseTimeSec is not a number"
    try:
        seconds = float(value)
    except OverflowError:
        return None, "responseTimeSec is not a time"
    if not math.isfinite(seconds) or seconds < 0:
        return None, "responseTimeSec is not a time"
    return seconds, ""


def _error_text(value: object) -> str:
    """Empty for null, "", blanks, false, 0 and empty lists or objects; any other error as text."""
    if not value:
        return ""
    if isinstance(value, str):
        return value.strip()
    return json.dumps(value, ensure_ascii=False)
