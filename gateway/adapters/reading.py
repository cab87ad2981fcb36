"""Reading what a provider sent: one reader of bodies, contents and endings for every adapter.

Nothing of a reply is deleted here. Parts that the provider itself marks as thinking are no part of the text;
text that only looks like leaked thinking stays, with a warning on the answer.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, cast

import orjson

from gateway.adapters.base import WireReply
from gateway.answers import empty, says_something
from gateway.errors import NO, TRANSIENT, Fault
from gateway.prompt import Answer
from gateway.thinking import looks_like_thinking
from runstore import publish
from runstore.records import Usage

LEAKED_REASONING = "possible leaked reasoning"
UNKNOWN_USAGE = "usage unknown"
LONGEST_MESSAGE = 400
LARGEST_WHOLE = 2.0**62
LARGEST_COUNT = 100_000_000
"""Tokens that no single call takes: a count above it is a mistake of the server."""

AT_A_LIMIT = re.compile("length|max|limit|exceed|incomplete|truncat", re.IGNORECASE)
HELD_BACK = re.compile("filter|safety|sensitive|guardrail|block|recitation|prohibit", re.IGNORECASE)
BROKEN_OFF = re.compile("error|abort|cancel|insufficient|fail|time_?out|interrupt", re.IGNORECASE)
"""Endings of a reply, by what servers of one interface call them: ``length``, ``MAX_TOKENS``, ``model_length``."""

_TOOL_TEXT = re.compile(
    r"\s*(?:<tool_call>.*</tool_call>|<function=.*</function>|\[TOOL_CALLS\].*|<\|python_tag\|>.*)\s*", re.DOTALL
)
_TOOL_NAME = re.compile(r'"name"\s*:\s*"([^"]{1,60})"|<function=(\w{1,60})')
_TAG = re.compile(r"<(?:style|script).*?(?:</(?:style|script)>|\Z)|<[^<>]*>", re.DOTALL | re.IGNORECASE)


def dumps(value: object) -> bytes:
    """JSON bytes in the order of insertion; lone surrogates become U+FFFD."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return publish.to_json(value)


def loads(data: bytes) -> Any:
    """Any JSON. Escaped lone surrogates, which the fast parser refuses, become U+FFFD. Raises ValueError."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as refused:
        try:
            known = json.loads(data, parse_constant=_no_number, parse_int=_number, parse_float=_number)
            return orjson.loads(publish.to_json(known))
        except (ValueError, TypeError, RecursionError):
            raise ValueError(str(refused)) from None


def _no_number(constant: str) -> dict[str, str]:
    """NaN and the infinities are no JSON: kept apart from a text and from nothing."""
    return {"no number": constant}


def _number(text: str) -> float | dict[str, str]:
    """A number that is beyond all bounds is none, and does not spoil the rest."""
    number = float(text)
    if not math.isfinite(number) or (text.lstrip("-").isdecimal() and abs(number) > LARGEST_WHOLE):
        return _no_number(text[:40])
    return int(text) if text.lstrip("-").isdecimal() else number


def load_any(reply: WireReply) -> Any:
    """The JSON of a successful response, whatever its content type says. Raises Fault ``malformed``."""
    try:
        return loads(reply.body)
    except ValueError:
        raise _malformed(reply) from None


def load(reply: WireReply) -> dict[str, Any]:
    """The same where it must be an object. Raises Fault ``malformed`` (transient)."""
    data = load_any(reply)
    if type(data) is dict:
        return cast("dict[str, Any]", data)
    raise Fault("malformed", f"expected a JSON object, got {shown(reply.body)}", TRANSIENT, status=reply.status)


def _malformed(reply: WireReply) -> Fault:
    kind = reply.headers.get("content-type", "no content type")
    what = shown(reply.body) or "an empty body"
    return Fault("malformed", f"the response ({kind}) is not JSON: {what}", TRANSIENT, status=reply.status)


def shown(data: bytes | str, limit: int = 160) -> str:
    """The beginning of a body on one line, without its HTML tags."""
    data = data[: limit * 20]
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    if "<" in text:
        text = _TAG.sub(" ", text)
    text = publish.clean_unicode(" ".join(text.split()))
    return text if len(text) <= limit else f"{text[:limit]}…"


def as_dict(value: object) -> dict[str, Any]:
    """The value if it is a JSON object, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """The value if it is a JSON array, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def word(value: object) -> str | None:
    """The value if it is a text: a name out of a list of names, such as an ending; else None."""
    return value if isinstance(value, str) else None


def cut(ending: str | None, usage: Usage, limit: int | None) -> str | None:
    """The word that says that a reply stopped at its limit, or that nobody said how one ended that used it up."""
    if ending:
        return ending if AT_A_LIMIT.search(ending) else None
    is_used_up = limit is not None and (usage.output or 0) + (usage.thinking or 0) >= limit
    return "not told" if is_used_up else None


def first(value: object) -> dict[str, Any]:
    """The object that a JSON array begins with, else an empty one."""
    items = as_list(value)
    return as_dict(items[0]) if items else {}


def count(value: object) -> int | None:
    """A count of tokens: a whole number from 0 to LARGEST_COUNT; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= LARGEST_COUNT:
        return None
    return int(value) if value == int(value) else None


class Counts:
    """Reads counts of tokens by their paths in what a provider says of usage.

    ``warnings`` names each that is there and is no count, once: it is unknown, which is not 0.
    """

    def __init__(self, usage: object) -> None:
        self._usage = usage
        self.warnings: tuple[str, ...] = ()

    def __call__(self, *path: str) -> int | None:
        value: Any = self._usage
        for name in path:
            if not isinstance(value, dict):
                return None
            value = cast("dict[str, Any]", value).get(name)
        if value is None or (type(value) is int and 0 <= value <= LARGEST_COUNT):
            return value
        return self.checked(".".join(path), value)

    def checked(self, name: str, value: object) -> int | None:
        """A value that was found elsewhere, under the name that the warning gives it."""
        known = count(value)
        if known is None and value is not None:
            self.warnings += (f"{UNKNOWN_USAGE}: {name} = {shown(dumps(value), 40)}",)
        return known


def called_tool(names: list[object], usage: Usage) -> Fault:
    """The fault of a reply that calls tools in place of saying something: the same would come again."""
    shown_names = ", ".join(shown(str(name), 60) for name in names if name) or "without a name"
    message = f"the reply calls a tool ({shown_names}) and says nothing; no tools were offered"
    return Fault("tool_call", message, NO, usage=usage)


def _no_tool(text: str, usage: Usage) -> None:
    """Raises the fault of a text that is nothing but the call of a tool, as a server leaves it that reads none."""
    if _TOOL_TEXT.fullmatch(text) is not None:
        match = _TOOL_NAME.search(text)
        raise called_tool([match and (match[1] or match[2])], usage)


def joined(content: object) -> str:
    """The text of a message's content: a string, nothing, or a list of chunks of which only text counts.

    Raises Fault ``malformed`` (transient) for anything else.
    """
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if isinstance(content, list):
        return "".join(_chunk(chunk) for chunk in cast("list[Any]", content))
    raise Fault("malformed", f"expected text as content, got {type(content).__name__}", TRANSIENT)


def _chunk(chunk: object) -> str:
    if isinstance(chunk, str):
        return chunk
    part = as_dict(chunk)
    text = part.get("text")
    if part.get("type", "text") in ("text", "output_text") and isinstance(text, str) and not part.get("thought"):
        return text
    return ""


def leaks(text: str) -> tuple[str, ...]:
    """A warning if the text looks as if the model's private reasoning were in it."""
    return (LEAKED_REASONING,) if looks_like_thinking(text) else ()


def settle(
    text: str,
    usage: Usage,
    *,
    model: object = None,
    request_id: object = None,
    cut: str | None = None,
    limit: int | None = None,
    accept_truncated: bool = False,
    warnings: tuple[str, ...] = (),
) -> Answer:
    """The answer, or the Fault that stands for it.

    ``cut`` is the provider's word for "stopped at the token limit", given only where that is what happened.
    A cut reply is ``truncated`` and carries its text, unless the endpoint accepts such replies and there is
    text. A reply that says nothing (:func:`gateway.answers.says_something`) is ``empty`` (transient).
    """
    has_text = says_something(text)
    if "<" in text[:40] or "[" in text[:40]:
        _no_tool(text, usage)
    named = request_id if isinstance(request_id, str) else None
    if cut is not None and not (accept_truncated and has_text):
        said = "with its text unfinished" if has_text else "before any text"
        thought = f", {usage.thinking} thought tokens" if usage.thinking is not None else ""
        bound = f"a limit of {limit} output tokens" if limit is not None else "the provider's own output limit"
        message = f"truncated {said}: finish reason {cut}{thought}, {bound}"
        raise Fault("truncated", message, NO, text=text if has_text else "", usage=usage, request_id=named)
    if not has_text:
        raise empty(usage, named)
    finish = "stop" if cut is None else "length"
    return Answer(text, finish, usage, model if isinstance(model, str) else None, named, warnings + leaks(text))
