"""How long a server asks to be left alone: headers, RetryInfo, rate headers, and its words.

Whatever cannot be read, or makes no sense (negative, past, not finite), is no wait asked for: the caller then
backs off in its own way. Nothing here raises.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from gateway.adapters import reading

Clock = Callable[[], float]
"""Seconds since the epoch."""

_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,15})?", re.ASCII)
_SPAN = re.compile(
    r"(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m(?!s))?(?:(\d{1,9}(?:\.\d{1,9})?)s)?(?:(\d{1,9})ms)?", re.ASCII
)
_IN_WORDS = re.compile(
    r"(?:(?:try again|retry|retrying) (?:in|after)|wait(?: for)?) (?:about )?(\d[\dhms.]*)"
    r"(?:\s*(milliseconds?|msec|ms|sec(?:ond)?s?|min(?:ute)?s?|h(?:ou)?rs?|days?)\b)?",
    re.IGNORECASE,
)
_UNITS = {"mil": 0.001, "ms": 0.001, "sec": 1.0, "min": 60.0, "h": 3600.0, "day": 86_400.0}
"""Seconds by how a unit begins."""
_DAILY = re.compile(r"per[ _-]?(?:day|month)|/ ?(?:day|month)\b|daily|monthly|\bRPD\b|\bTPD\b", re.IGNORECASE)
_SHORTER = re.compile(r"per[ _-]?(?:min|second|hour)|\bRPM\b|\bTPM\b", re.IGNORECASE)
_ADDRESS = re.compile(r"https?://\S+", re.IGNORECASE)
_YEAR_S = 365 * 86_400.0


def asked_wait(headers: Mapping[str, str], details: Sequence[Any], message: str, now: Clock) -> float | None:
    """Seconds from now, or None. The longest of Retry-After and RetryInfo, else rate headers or words."""
    wait = _named_wait(headers, details, now)
    return wait if wait is not None else _in_words(message)


def names_a_wait(headers: Mapping[str, str], details: Sequence[Any], now: Clock) -> bool:
    """Whether headers or RetryInfo say when to come again, words aside."""
    return _named_wait(headers, details, now) is not None


def _named_wait(headers: Mapping[str, str], details: Sequence[Any], now: Clock) -> float | None:
    asked = [wait for wait in (_retry_after(headers, now), _retry_info(details)) if wait is not None]
    return max(asked) if asked else _rate_reset(headers, now)


def violated_quotas(details: Sequence[Any]) -> list[str]:
    """The names of the quotas that were used up: of QuotaFailure, else of ErrorInfo."""
    known = [reading.as_dict(detail) for detail in details]
    violations = [each for detail in known for each in reading.as_list(detail.get("violations"))]
    named = [_name(reading.as_dict(violation).get("quotaId")) for violation in violations]
    limits = [_name(reading.as_dict(detail.get("metadata")).get("quota_limit")) for detail in known]
    return [quota for quota in named if quota] or [limit for limit in limits if limit]


def _name(value: object) -> str:
    return reading.shown(str(value)) if value else ""


def is_daily(message: str, details: Sequence[Any]) -> bool:
    """Whether a limit counts by the day: by the names of the violated quotas, else by the message's words.

    Of two periods in one message the first is the one that was met; what an address spells is no word.
    """
    quotas = violated_quotas(details)
    if quotas:
        return any(_DAILY.search(quota) for quota in quotas)
    words = _ADDRESS.sub(" ", message)
    daily, shorter = _DAILY.search(words), _SHORTER.search(words)
    return daily is not None and (shorter is None or daily.start() < shorter.start())


def _retry_after(headers: Mapping[str, str], now: Clock) -> float | None:
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    if value is None:
        return None
    seconds = _number(value)
    if seconds is not None:
        return seconds
    span = _span(value.strip())
    return span if span is not None else _until(value, now)


def _number(value: str | None) -> float | None:
    return float(value.strip()) if value is not None and _NUMBER.fullmatch(value.strip()) else None


def _until(value: str, now: Clock) -> float | None:
    """Seconds until a date as HTTP or RFC 3339 writes it; a date that is past is no wait."""
    try:
        date = datetime.fromisoformat(value.strip()) if "T" in value[:12] else parsedate_to_datetime(value)
        wait = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now()
    except (ValueError, TypeError, OverflowError, OSError, IndexError):
        return None
    return wait if 0 < wait < 100 * _YEAR_S else None


def _retry_info(details: Sequence[Any]) -> float | None:
    for detail in details:
        info = reading.as_dict(detail)
        if str(info.get("@type", "")).endswith("RetryInfo"):
            return _delay(info.get("retryDelay", info.get("retry_delay")))
    return None


def _delay(value: object) -> float | None:
    if isinstance(value, str):
        return _span(value.strip())
    parts = reading.as_dict(value)
    seconds, nanos = parts.get("seconds", 0), parts.get("nanos", 0)
    try:
        wait = float(seconds) + float(nanos) / 1e9
    except (TypeError, ValueError):
        return None
    return wait if parts and math.isfinite(wait) and wait >= 0 else None


def _span(text: str) -> float | None:
    """Seconds of ``37s``, ``1.500s``, ``6m0s``, ``20ms``, ``1h2m``."""
    match = _SPAN.fullmatch(text)
    if match is None or not any(match.groups()):
        return None
    days, hours, minutes, seconds, thousandths = (float(part or 0) for part in match.groups())
    return days * 86_400 + hours * 3600 + minutes * 60 + seconds + thousandths / 1000


_RATE_HEADERS = (
    ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
    ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
    ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
    ("anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"),
    ("anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"),
    ("anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"),
    ("x-ratelimit-remaining", "x-ratelimit-reset"),
    ("ratelimit-remaining", "ratelimit-reset"),
)
_USED_UP = re.compile(r"\b(?:remaining|r)=0\b.{0,40}?\b(?:reset|t)=(\d{1,9})\b", re.ASCII)
"""In the one header of the later drafts of the same."""


def _rate_reset(headers: Mapping[str, str], now: Clock) -> float | None:
    """The longest time until a used-up allowance is there again."""
    waits = [
        _reset(headers.get(reset, ""), now)
        for remaining, reset in _RATE_HEADERS
        if _number(headers.get(remaining)) == 0
    ]
    waits += [float(match[1]) for match in [_USED_UP.search(headers.get("ratelimit", ""))] if match]
    return max((wait for wait in waits if wait is not None), default=None)


def _reset(value: str, now: Clock) -> float | None:
    number = _number(value)
    if number is None:
        span = _span(value.strip())
        return span if span is not None else _until(value, now) if value else None
    if number > 1e12:
        number /= 1000
    if number > _YEAR_S:  # a moment, not a span
        number -= now()
    return number if 0 <= number < _YEAR_S else None


def _in_words(message: str) -> float | None:
    match = _IN_WORDS.search(message)
    if match is None:
        return None
    amount, unit = match.group(1).rstrip("."), (match.group(2) or "s").lower()
    number = _number(amount)
    if number is None:
        return _span(amount)
    return number * next((seconds for start, seconds in _UNITS.items() if unit.startswith(start)), 1.0)
