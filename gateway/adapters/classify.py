"""What a failed response means, for every provider: status + headers + body -> Fault with its Retry.

Also used for an error object inside a response with status 200, whose own code then stands for the status.
Status, code, type, reason, the names of violated quotas, RetryInfo and headers decide; the message's words count
only where none of these speaks, for the same sentence about plan and billing comes with a limit that passes in a
second and with an empty account.
Shapes read: ``{"error": {message, type, code, status, param, details}}`` (OpenAI, Gemini, Anthropic, vLLM,
OpenRouter), ``{"error": "text"}`` (Ollama), ``{"detail": ...}`` (FastAPI), ``{"message": ...}`` (AWS, its type
in a header), a list of one of these, and pages of HTML.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from gateway.adapters import reading
from gateway.adapters.base import WireReply
from gateway.adapters.waits import Clock, asked_wait, is_daily, names_a_wait, violated_quotas
from gateway.errors import NO, TRANSIENT, Fault, FaultKind, Retry

_CONTEXT = re.compile(
    r"context.{0,12}(?:length|window|size|limit)|maximum context|prompt is too long|input is too long"
    r"|too many tokens|input length.{0,40}exceed|inputs?`? tokens.{0,40}must be|input token count.{0,60}exceed"
    r"|exceeds? the (?:maximum|max).{0,30}tokens|reduce the length of the messages",
    re.IGNORECASE | re.DOTALL,
)
_TOO_LARGE = re.compile(r"request too large for", re.IGNORECASE)
"""A limit of tokens a minute that is smaller than the one request: waiting does not help."""
_CAN_BE_TOO_LONG = frozenset({400, 404, 413, 422, 429, 500})
"""500 too: servers of local models answer so, and the same request would meet it again."""
_CAN_MEAN_MONEY = frozenset({400, 403, 412})
"""Statuses of an account that is empty or held up, where only the words say so; 402 says it itself."""
_NO_MODEL = re.compile(r"\bmodels?\b", re.IGNORECASE)
_BAD_KEY = re.compile(
    r"api[ _-]?key (?:not valid|expired|invalid)|(?:invalid|incorrect|no) api[ _-]?key", re.IGNORECASE
)
_NO_MONEY = re.compile(
    r"insufficient[_ ](?:quota|balance|funds|credit)|credit balance is too low|plan and billing details"
    r"|billing (?:hard limit|account)|enable billing|余额不足|欠费"
    r"|credits are depleted|have (?:no|any) credits|spending (?:cap|limit)"
    r"|API usage limits",
    re.IGNORECASE,
)
_NO_CREDITS = re.compile(r"credits? (?:is|are|have been) (?:depleted|exhausted)", re.IGNORECASE)
"""What no limit that passes says: it counts beside RESOURCE_EXHAUSTED too, which an empty account is called."""
_OUT_OF_MONEY = frozenset(
    {
        "insufficient_quota",
        "billing_error",
        "billing_hard_limit_reached",
        "billing_not_active",
        "exceeded_current_quota_error",
        "insufficient_balance",
        "Arrearage",
        "insufficient_funds",
    }
)
"""Codes and types of an account that is empty, whatever the status: waiting does not help."""

_OUT_OF_MONEY_SPELT = re.compile(
    r"insufficient.?(?:quota|balance|credits?|funds)|credit.?limit|billing|arrear|overdue|payment.?required"
    r"|free.?tier.?only",
    re.IGNORECASE,
)
_LIMIT_SPELT = re.compile(
    r"rate.?limit|throttl|too.?many.?requests|limit.?(?:requests|tokens|burst)|resource.?exhausted", re.IGNORECASE
)
"""The same, and limits that pass, as further providers spell them."""

_STATUS_OF_NAME: dict[str, int] = {
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "RESOURCE_EXHAUSTED": 429,
    "CANCELLED": 499,
    "INTERNAL": 500,
    "UNKNOWN": 500,
    "UNAVAILABLE": 503,
    "DEADLINE_EXCEEDED": 504,
    "invalid_request_error": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    **dict.fromkeys(_OUT_OF_MONEY, 402),
    "permission_error": 403,
    "not_found_error": 404,
    "model_not_found": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "RATE_LIMIT_EXCEEDED": 429,
    "rateLimitExceeded": 429,
    "userRateLimitExceeded": 429,
    "quotaExceeded": 429,
    "dailyLimitExceeded": 429,
    "api_error": 500,
    "server_error": 500,
    "ThrottlingException": 429,
    "ServiceQuotaExceededException": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_AGAIN_LATER = frozenset({408, 409, 424, 425, 499})


LONGEST_NAME = 200
"""Characters of a code or a type that are read; the patterns go through all of them."""
_BESIDE = ("status", "code", "type", "__type", "details", "errors")
"""Members that say more of an error whose message stands beside them."""
_REQUEST_IDS = ("x-request-id", "request-id", "x-amzn-requestid")


class Said(NamedTuple):
    """What the error's body says, in one shape."""

    message: str
    names: tuple[str, ...] = ()
    code: int | None = None
    details: tuple[Any, ...] = ()
    headers: Mapping[str, str] = MappingProxyType({})
    """What a router says that the provider's headers were."""


def fault(reply: WireReply, now: Clock) -> Fault:
    """The fault of a response whose status is not a success."""
    said = _said(reply)
    if named := reply.headers.get("x-amzn-errortype"):
        said = said._replace(names=(re.split("[:#]", named)[0], *said.names))
    return _classified(reply.status, said, reply.headers, now, reply.status)


def embedded_fault(error: object, reply: WireReply, now: Clock) -> Fault:
    """The fault of an error object that came with a status of success; one with no known code is transient."""
    said = _of_error(error)
    status = said.code if said.code is not None and said.code >= 400 else _named_status(said)
    return _classified(500 if status is None else status, said, reply.headers, now, reply.status)


def _said(reply: WireReply) -> Said:
    try:
        body = reading.loads(reply.body)
    except ValueError:
        return Said(reading.shown(reply.body))
    whole = reading.as_dict(body) or reading.first(body)
    for name in ("error", "detail", "message", "Message", "errors"):
        if value := whole.get(name):
            beside = {kept: whole[kept] for kept in _BESIDE if kept in whole}
            return _of_error({"message": value, **beside} if isinstance(value, str) else value)
    return Said(reading.shown(reply.body))


def _of_error(error: object) -> Said:
    if isinstance(error, str):
        return Said(reading.shown(error, reading.LONGEST_MESSAGE))
    whole = reading.as_dict(error) or reading.first(error)
    inner = reading.as_dict(whole.get("error"))
    if inner and "message" not in whole:
        return _of_error(inner)
    message = next((whole[key] for key in ("message", "msg", "detail") if isinstance(whole.get(key), str)), None)
    details = reading.as_list(whole.get("details"))
    names = [reading.as_dict(each).get("reason") for each in reading.as_list(whole.get("errors"))]
    names += [whole.get(key) for key in ("status", "code", "type")]
    names += [reading.as_dict(detail).get("reason") for detail in details]
    names.append((reading.word(whole.get("__type")) or "").rpartition("#")[2] or None)
    code = next((number for number in map(_code, names) if number is not None), None)
    text = reading.shown(message if message is not None else reading.dumps(error), reading.LONGEST_MESSAGE)
    known = tuple(name[:LONGEST_NAME] for name in names if isinstance(name, str))
    return Said(text, known, code, tuple(details), _passed_on(whole))


def _passed_on(error: Mapping[str, Any]) -> Mapping[str, str]:
    headers = reading.as_dict(reading.as_dict(error.get("metadata")).get("headers"))
    return {name.lower(): value for name, value in headers.items() if isinstance(value, str)}


def _code(value: object) -> int | None:
    if isinstance(value, str) and re.fullmatch(r"[1-5]\d\d", value, re.ASCII):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 100 <= value < 600 else None


def _named_status(said: Said) -> int | None:
    known = next((_STATUS_OF_NAME[name] for name in said.names if name in _STATUS_OF_NAME), None)
    return 429 if known is None and any(map(_LIMIT_SPELT.search, said.names)) else known


def _is_out_of_money(said: Said) -> bool:
    return any(name in _OUT_OF_MONEY or _OUT_OF_MONEY_SPELT.search(name) for name in said.names)


def _classified(status: int, said: Said, headers: Mapping[str, str], now: Clock, http_status: int) -> Fault:
    known = {**said.headers, **_lower(headers)} if said.headers else headers
    kind, retry = _kind_and_retry(status, said, known, now)
    wish = headers.get("x-should-retry", "").strip().lower()
    if wish == "false":
        retry = NO
    elif wish == "true" and retry.again == "no" and kind != "auth":
        retry = TRANSIENT
    name = next((name for name in said.names if _code(name) is None), "")
    where = f"HTTP {http_status}" if http_status == status else f"HTTP {http_status} with error {status}"
    message = f"{where} {name}".rstrip() + (f": {said.message}" if said.message else "")
    request_id = next((headers[name] for name in _REQUEST_IDS if name in headers), None)
    return Fault(kind, message, retry, status=http_status, request_id=request_id)


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _kind_and_retry(status: int, said: Said, headers: Mapping[str, str], now: Clock) -> tuple[FaultKind, Retry]:
    text = " ".join((said.message, *said.names))
    if status == 402 or (400 <= status < 500 and _is_out_of_money(said)):
        return "quota", NO
    is_limit = status in (429, 529) or (status in (400, 403) and _named_status(said) == 429)
    if is_limit and not _TOO_LARGE.search(said.message):
        return _limited(said, headers, now)
    if status in _CAN_BE_TOO_LONG and (_CONTEXT.search(text) or _TOO_LARGE.search(text)):
        return "context_length", NO
    if status >= 500 and status not in (501, 505):
        wait = asked_wait(headers, said.details, "", now)
        return ("timeout" if status in (504, 524) else "server"), Retry("transient", wait)
    if status in _AGAIN_LATER:
        return ("timeout" if status == 408 else "server"), Retry(
            "transient", asked_wait(headers, said.details, "", now)
        )
    if status in _CAN_MEAN_MONEY and _NO_MONEY.search(said.message):
        return "quota", NO
    if status in (401, 403, 407) or (status == 400 and ("API_KEY_INVALID" in said.names or _BAD_KEY.search(text))):
        return "auth", NO
    if status == 404 and _NO_MODEL.search(text):
        return "unknown_model", NO
    return ("context_length" if status == 413 else "bad_request"), NO


def _limited(said: Said, headers: Mapping[str, str], now: Clock) -> tuple[FaultKind, Retry]:
    """A rate limit passes in seconds or minutes; a quota of the day or of money does not.

    Gemini adds a RetryInfo of seconds even to a quota of the day, so there only a Retry-After header counts.
    """
    if is_daily(" ".join((said.message, *said.names)), said.details):
        wait = asked_wait(headers, (), "", now)
        return "quota", NO if wait is None else Retry("rate_limited", wait)
    is_empty = _NO_CREDITS.search(said.message) and not names_a_wait(headers, said.details, now)
    if is_empty or (_NO_MONEY.search(said.message) and not _is_named_limit(said, headers, now)):
        return "quota", NO
    return "rate_limit", Retry("rate_limited", asked_wait(headers, said.details, said.message, now))


def _is_named_limit(said: Said, headers: Mapping[str, str], now: Clock) -> bool:
    """Whether anything but words says that this is a limit on the rate, which passes."""
    is_named = _named_status(said) in (429, 529)
    return is_named or bool(violated_quotas(said.details)) or names_a_wait(headers, said.details, now)
