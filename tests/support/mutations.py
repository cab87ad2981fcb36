"""Responses that went wrong somewhere between a model and us: good ones and errors of each provider, mutated.

Each is drawn from its number alone: in the JSON (values, names), in the bytes, in the encoding, or in the head.
Some are large, and made to keep a reader busy.
"""

from __future__ import annotations

import gzip
import random
import zlib
from collections.abc import Callable
from typing import Any

import orjson

from tests.support import fake_shapes

NOTHING: tuple[Any, ...] = (None, True, False, "", " ", "\u200b", [], {}, [[]], [None], {"text": None})
NUMBERS: tuple[Any, ...] = (0, -1, 0.5, 1e300, 10**18, -(10**18), "7", "NaN", 404, 429, 503)
TEXTS = (
    "context length",
    "try again in 9e9s",
    "per day",
    "<think>",
    "THOUGHT: hm",
    "a\x00b",
    "<html><style>x",
    "가나다",
    "x" * 5_000,
    "[ERROR:",
)
LARGE = (
    "<style",
    "<",
    "</think>",
    "<think>",
    "context ",
    "input token count ",
    "per day ",
    "try again in 1",
    "https://a ",
    "\u200b",
    "\ud55c",
    " ",
    "\n",
    "&lt;",
    '"',
    "THOUGHT: ",
    "1",
)
"""Repeated, each sends some pattern or other back to its start."""
STATUSES = (
    200,
    200,
    201,
    204,
    206,
    299,
    301,
    304,
    400,
    401,
    403,
    404,
    408,
    413,
    422,
    424,
    429,
    500,
    503,
    529,
    599,
)
HEADERS = (
    "Retry-After: -1",
    "Retry-After: 9e99",
    "Retry-After: Thu, 99 Foo 10000000 00:00:00 GMT",
    "retry-after-ms: 1e400",
    "x-ratelimit-remaining-requests: 0\r\nx-ratelimit-reset-requests: 99999999999999999999",
    "x-should-retry: perhaps",
    "Content-Type: text/html; charset=no-such",
    "Content-Type: \xff",
    "Location: http://[::1",
    "Location: //",
    "x-amzn-errortype: :::#",
    "Set-Cookie: a=b; Domain=..",
    "Connection: close",
    "x: " + "y" * 9_000,
    "no colon here",
    "x-request-id: \xe9\xff",
)


def raw_response(shape: fake_shapes.Shape, asked: fake_shapes.Asked, name: str) -> bytes:
    """The bytes that a server sends, head and body, before it closes. ``name`` decides all that is drawn."""
    chance = random.Random(name)
    status, value = _meant(shape, asked, chance)
    if chance.random() < 0.6:
        value = _in_json(value, chance)
    try:
        body = orjson.dumps(value)
    except (TypeError, orjson.JSONEncodeError):
        body = repr(value).encode()
    if chance.random() < 0.4:
        body = chance.choice(_BYTES)(body, chance)
    return _sent(status, body, chance)


def _meant(shape: fake_shapes.Shape, asked: fake_shapes.Asked, chance: random.Random) -> tuple[int, Any]:
    """What the provider meant to say: an answer, an answer of nothing, or an error."""
    if chance.random() < 0.65:
        finish = chance.choice(("stop", "stop", "length", "blocked", "refused"))
        text = chance.choice(("Why do you think so?", *TEXTS))
        if chance.random() < 0.03:
            unit = chance.choice(LARGE)
            text = unit * (chance.choice((20_000, 1_000_000)) // len(unit.encode()))
        return 200, orjson.loads(fake_shapes.answer(asked, text, finish=finish))
    status = chance.choice(STATUSES)
    message = chance.choice(TEXTS)
    if chance.random() < 0.1:
        unit = chance.choice(LARGE)
        message = unit * (chance.choice((20_000, 3_000_000)) // len(unit.encode()))
    return status, fake_shapes.error(shape, status, message, chance.choice((None, NOTHING, [{"reason": message}])))


def _in_json(value: Any, chance: random.Random) -> Any:
    """One to three places changed, somewhere."""
    for _ in range(chance.randint(1, 3)):
        value = _changed(value, chance)
    return value


def _changed(value: Any, chance: random.Random) -> Any:
    inner: list[Any] = list(value) if isinstance(value, dict | list) else []
    if not inner or chance.random() < 0.15:
        return chance.choice((*NOTHING, *NUMBERS, *TEXTS, [value, value], {"content": value}))
    place = chance.randrange(len(inner))
    if isinstance(value, list):
        return [*value[:place], _changed(value[place], chance), *value[place + 1 :]]
    name = inner[place]
    way = chance.random()
    if way < 0.1:
        return {other: kept for other, kept in value.items() if other != name}
    if way < 0.2:
        return {(f"{other}_" if other == name else other): kept for other, kept in value.items()}
    return value | {name: _changed(value[name], chance)}


def _cut(body: bytes, chance: random.Random) -> bytes:
    return body[: chance.randrange(len(body) + 1)]


def _flipped(body: bytes, chance: random.Random) -> bytes:
    data = bytearray(body or b"x")
    for _ in range(chance.randint(1, 8)):
        data[chance.randrange(len(data))] = chance.randrange(256)
    return bytes(data)


def _spliced(body: bytes, chance: random.Random) -> bytes:
    start, end = sorted((chance.randrange(len(body) + 1), chance.randrange(len(body) + 1)))
    return body[:start] + body[start:end] * chance.choice((0, 2, 50)) + body[end:]


def _replaced(_: bytes, chance: random.Random) -> bytes:
    lone, deep = rb'{"choices":[{"message":{"content":"\ud800 half"}}]}', b"[" * 200_000
    others = (b"", b"null", b"NaN", b'"text"', b"-" + b"9" * 6_000, deep, b'{"a":' * 50_000, lone, lone * 2)
    return chance.choice((*others, b"data: {}\n\ndata: [DONE]\n\n", chance.randbytes(chance.randrange(3_000))))


def _dressed(body: bytes, chance: random.Random) -> bytes:
    return chance.choice((b"\xef\xbb\xbf" + body, body + b"\n\n" + body, b" " * 9_000 + body, body[::-1]))


_BYTES: tuple[Callable[[bytes, random.Random], bytes], ...] = (_cut, _flipped, _spliced, _replaced, _dressed)


def _sent(status: int, body: bytes, chance: random.Random) -> bytes:
    """Head and body, most often as they should be."""
    way = chance.random()
    if way < 0.03:
        return chance.choice(
            (b"", b"HTTP/1.1 200", b"SSH-2.0-x\r\n\r\n", b"HTTP/9.9 20 X\r\n\r\n", chance.randbytes(300))
        )
    lines = [f"HTTP/1.1 {status} X".encode()]
    if chance.random() < 0.25:
        lines.append(chance.choice(HEADERS).encode("latin-1"))
    if chance.random() < 0.2:
        body, encoding = _packed(body, chance)
        lines.append(b"Content-Encoding: " + encoding)
    if way < 0.1:
        lines.append(b"Transfer-Encoding: chunked")
        body = chance.choice((b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body), b"zz\r\n" + body, b"5\r\nabc"))
    elif way < 0.9:
        lines.append(b"Content-Length: %d" % (len(body) + (chance.choice((-3, 5, 0, 0)) if way < 0.2 else 0)))
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def _packed(body: bytes, chance: random.Random) -> tuple[bytes, bytes]:
    gzipped, deflated = gzip.compress(body, 1, mtime=0), zlib.compress(body, 1)
    ways = ((gzipped, b"gzip"), (deflated, b"deflate"), (body, b"gzip"), (gzipped[:-6], b"gzip"), (gzipped, b"br"))
    return chance.choice((*ways, (gzipped + body, b"gzip"), (gzipped * 3, b"gzip"), (deflated[:5], b"deflate")))
