"""The ways in which the fake provider goes wrong, by name. CHAOS passes on a retry; PERMANENT does not."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any, Literal

import orjson

from tests.support import fake_shapes
from tests.support.fake_shapes import Asked

How = Literal["whole", "cut", "reset", "hang", "drip", "close-soon"]


@dataclass(slots=True)
class Reply:
    """A response, and how it goes out: whole, cut in the middle, not at all, a byte at a time, ..."""

    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    how: How = "whole"
    content_type: str = "application/json"


Good = Callable[[Asked], bytes]
Make = Callable[[Asked, Good, float], Reply]


def _error(status: int, message: str, **headers: str) -> Make:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda asked, good, wait_s: Reply(
        orjson.dumps(fake_shapes.error(asked.shape, status, message)),
        status,
        {name: value.format(s=f"{wait_s:g}", ms=f"{wait_s * 1000:g}") for name, value in named.items()},
    )


def _busy(asked: Asked, headers: dict[str, str], details: list[Any] | None = None, words: str = "") -> Reply:
    message = f"too many requests{words}"
    return Reply(orjson.dumps(fake_shapes.error(asked.shape, 429, message, details)), 429, headers)


def _retry_info(asked: Asked, good: Good, wait_s: float) -> Reply:
    details = [
        {
            "@type": "type.googleapis.com/google.rpc.QuotaFailure",
            "violations": [{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel"}],
        },
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{wait_s:.3f}s"},
    ]
    return _busy(asked, {}, details)


def _daily(asked: Asked, good: Good, wait_s: float) -> Reply:
    details = [
        {
            "@type": "type.googleapis.com/google.rpc.QuotaFailure",
            "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}],
        },
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"},
    ]
    return _busy(asked, {}, details, ": requests per day")


def _rate_headers(asked: Asked, good: Good, wait_s: float) -> Reply:
    reset = f"{math.ceil(wait_s * 1000)}ms"
    return _busy(asked, {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": reset})


def _date(asked: Asked, good: Good, wait_s: float) -> Reply:
    return _busy(asked, {"Retry-After": formatdate(time.time() + max(1.0, wait_s), usegmt=True)})


def _error_in_200(asked: Asked, good: Good, wait_s: float) -> Reply:
    if asked.shape == "ureka":
        return Reply(b'{"ai_response":"Let us look at [ERROR: 503 the model is overloaded]"}')
    inner = {"message": "upstream busy", "code": 429}
    return Reply(orjson.dumps({"error": inner, "choices": None}))


def _text(text: str | None, finish: str = "stop") -> Make:
    return lambda asked, good, wait_s: Reply(fake_shapes.answer(asked, text, finish=finish))  # type: ignore[arg-type]


def _whole(how: How) -> Make:
    return lambda asked, good, wait_s: Reply(good(asked), how=how)


def _surrogate(asked: Asked, good: Good, wait_s: float) -> Reply:
    """The right answer, with half an emoji in a field beside it."""
    return Reply(good(asked)[:-1] + b',"system_fingerprint":"fp \\ud83d"}')


def _half_json(asked: Asked, good: Good, wait_s: float) -> Reply:
    body = good(asked)
    return Reply(body[: len(body) // 2])


def _page(status: int) -> Make:
    page = b"<html><head><title>Bad gateway</title></head><body><h1>%d</h1>\xe2\x80\xa6</body></html>" % status
    return lambda asked, good, wait_s: Reply(page, status, content_type="text/html; charset=utf-8")


CHAOS: dict[str, Make] = {
    "429-seconds": _error(429, "too many requests", Retry_After="{s}"),
    "429-date": _date,
    "429-ms": _error(429, "too many requests", retry_after_ms="{ms}"),
    "429-retryinfo": _retry_info,
    "429-rate-headers": _rate_headers,
    "429-words": lambda asked, good, wait_s: _busy(asked, {}, None, f". Please try again in {wait_s:g}s."),
    "429-garbage": _error(429, "too many requests", Retry_After="soon"),
    "429-plain": _error(429, "too many requests"),
    "408": _error(408, "request timeout"),
    "500": _error(500, "internal error"),
    "502-html": _page(502),
    "503": _error(503, "overloaded"),
    "503-retry-after": _error(503, "overloaded", Retry_After="{s}"),
    "529": _error(529, "overloaded"),
    "200-error": _error_in_200,
    "empty": _text(""),
    "null-content": _text(None),
    "no-choices": lambda asked, good, wait_s: Reply(b"{}"),
    "empty-body": lambda asked, good, wait_s: Reply(b""),
    "cut-body": _whole("cut"),
    "reset": _whole("reset"),
    "hang": _whole("hang"),
    "drip": _whole("drip"),
    "close-soon": _whole("close-soon"),
    "html-200": _page(200),
    "malformed-json": _half_json,
    "not-an-object": lambda asked, good, wait_s: Reply(b"[1, 2]"),
    "surrogate": _surrogate,
}

PERMANENT: dict[str, Make] = {
    "400": _error(400, "the request is not valid"),
    "401": _error(401, "invalid api key"),
    "403": _error(403, "not permitted"),
    "404-model": _error(404, "the model does not exist"),
    "context-length": _error(400, "This model's maximum context length is 8192 tokens"),
    "429-daily": _daily,
    "429-long": _error(429, "too many requests", Retry_After="86400"),
    "truncated": _text("The first step is", "length"),
    "truncated-empty": _text("", "length"),
    "blocked": _text("", "blocked"),
    "refused": _text("", "refused"),
}

FAULTS = CHAOS | PERMANENT
