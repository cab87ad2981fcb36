"""What the fake provider says: text that depends on nothing but the request, and looks like its role's."""

from __future__ import annotations

import hashlib
from typing import Any

STUDENT = (
    "wait so is it just n?",
    "hm i think it doubles each time",
    "why does the order matter here",
    "is it because the list is sorted already?",
    "ok but what about the worst case",
    "i got 12, is that right",
    "can you say that again, which part moves",
    "no idea, maybe the cache?",
)
TEACHER = (
    "Good start. What happens to the work when the input gets twice as long?",
    "Let us take three elements, 4, 1 and 3. Which two would you compare first, and why?",
    "You are close. Which of the two processes holds the lock at that moment?",
    "Think of a small tree. How many nodes does its last level have?",
    "Suppose the guess were right. What would the next step then give you?",
    "Look at the loop again. Which value never changes inside it?",
)
CRITERIA = ("Understanding", "Explanation", "Language", "Readability")


def number(*parts: bytes | str) -> int:
    """64 bits that belong to the parts alone."""
    hasher = hashlib.blake2b(digest_size=8)
    for part in parts:
        hasher.update(part.encode("utf-8", "replace") if isinstance(part, str) else part)
        hasher.update(b"\0")
    return int.from_bytes(hasher.digest(), "big")


def share(*parts: bytes | str) -> float:
    """A number in [0, 1) that belongs to the parts alone."""
    return number(*parts) / 2**64


def student(request: bytes) -> str:
    drawn = number(b"student", request)
    return f"{STUDENT[drawn % len(STUDENT)]} ({drawn >> 40:06x})"


def teacher(request: bytes) -> str:
    drawn = number(b"teacher", request)
    return f"{TEACHER[drawn % len(TEACHER)]} ({drawn >> 40:06x})"


def judge(request: bytes, unreadable: float = 0.0) -> str:
    """A judgment with its decision on the last line: 45 % (a), 40 % (b), 15 % (c) of the readable ones."""
    lines = [f"{name}: A {'asks' if number(name, request) % 2 else 'tells'}, B is brief." for name in CRITERIA]
    overall = "Overall: both stay with the student's question."
    if share(b"unreadable", request) < unreadable:
        return "\n".join([*lines, overall, "I cannot decide."])
    point = share(b"letter", request)
    letter = "a" if point < 0.45 else "b" if point < 0.85 else "c"
    return "\n".join([*lines, "", overall, f"### ({letter})"])


def filled(schema: Any, request: bytes, root: Any = None, path: str = "") -> Any:
    """A value that a JSON schema allows, drawn by the request."""
    root = schema if root is None else root
    if not isinstance(schema, dict):
        return None
    if "$ref" in schema:
        target: Any = root
        for part in str(schema["$ref"]).removeprefix("#/").split("/"):
            target = target[part.replace("~1", "/").replace("~0", "~")]
        return filled(target, request, root, path)
    if "const" in schema:
        return schema["const"]
    drawn = number(b"schema", path, request)
    if schema.get("enum"):
        return schema["enum"][drawn % len(schema["enum"])]
    for key in ("anyOf", "oneOf"):
        if schema.get(key):
            return filled(schema[key][drawn % len(schema[key])], request, root, path)
    if schema.get("allOf"):
        merged: dict[str, Any] = {}
        for part in schema["allOf"]:
            merged |= part
        return filled(merged, request, root, path)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    kind = kind[drawn % len(kind)] if isinstance(kind, list) else kind
    return _of_kind(kind, schema, request, root, path, drawn)


def _of_kind(kind: str, schema: dict[str, Any], request: bytes, root: Any, path: str, drawn: int) -> Any:
    if kind == "object":
        return {
            name: filled(part, request, root, f"{path}/{name}")
            for name, part in schema.get("properties", {}).items()
        }
    if kind == "array":
        fewest = schema.get("minItems", 1)
        size = fewest + drawn % (min(schema.get("maxItems", fewest + 2), fewest + 3) - fewest + 1)
        return [filled(schema.get("items", {}), request, root, f"{path}/{place}") for place in range(size)]
    if kind in ("integer", "number"):
        low = schema.get("minimum", 0)
        whole = low + drawn % (int(schema.get("maximum", low + 10) - low) + 1)
        return whole if kind == "integer" else float(whole)
    if kind == "boolean":
        return bool(drawn % 2)
    if kind == "null":
        return None
    text = f"{TEACHER[drawn % len(TEACHER)]} ({drawn >> 40:06x})"
    return text[: schema["maxLength"]] if "maxLength" in schema else text.ljust(schema.get("minLength", 0), ".")
