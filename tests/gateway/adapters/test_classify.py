"""Status, headers and body of a failure become one kind and one word on trying again."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from multidict import CIMultiDict

from gateway.adapters import classify
from gateway.adapters.base import WireReply
from gateway.errors import Fault, Retry


def failed(status: int, body: Any, **headers: str) -> Fault:
    named = CIMultiDict({name.replace("_", "-"): value for name, value in headers.items()})
    data = body if isinstance(body, bytes) else orjson.dumps(body)
    return classify.fault(WireReply(status, named, data), lambda: 0.0)


PLAN = "You exceeded your current quota, please check your plan and billing details."


def google(status: int, name: str, message: str, *details: Any) -> Any:
    return {"error": {"code": status, "message": message, "status": name, "details": list(details)}}


def denied(reason: str) -> Any:
    return {"error": {"code": 403, "status": "PERMISSION_DENIED", "errors": [{"reason": reason}]}}


def openai(message: str, code: Any = None, kind: str = "invalid_request_error") -> Any:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


@pytest.mark.parametrize(
    ("status", "body", "kind", "again"),
    [
        (400, google(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."), "auth", "no"),
        (
            400,
            google(400, "INVALID_ARGUMENT", "x", {"@type": "ErrorInfo", "reason": "API_KEY_INVALID"}),
            "auth",
            "no",
        ),
        (400, google(400, "INVALID_ARGUMENT", "temperature must be in [0, 2]"), "bad_request", "no"),
        (403, denied("userRateLimitExceeded"), "rate_limit", "rate_limited"),
        (403, denied("dailyLimitExceeded"), "quota", "no"),
        (403, denied("forbidden"), "auth", "no"),
        (400, {"__type": "com.amazonaws#ThrottlingException", "message": "slow"}, "rate_limit", "rate_limited"),
        (400, {"code": "Arrearage", "message": "Access denied"}, "quota", "no"),
        (403, {"code": "AllocationQuota.FreeTierOnly", "message": "exhausted"}, "quota", "no"),
        (400, openai("You have reached your specified API usage limits."), "quota", "no"),
        (412, openai("Account x is suspended: monthly spending limit", "PRECONDITION_FAILED"), "quota", "no"),
        (403, {"code": "x", "error": "Your team doesn't have any credits or licenses yet."}, "quota", "no"),
        (429, google(429, "RESOURCE_EXHAUSTED", "Your prepayment credits are depleted."), "quota", "no"),
        (429, google(429, "RESOURCE_EXHAUSTED", "Please try again later."), "rate_limit", "rate_limited"),
        (429, google(429, "RESOURCE_EXHAUSTED", "exceeded its monthly spending cap"), "quota", "no"),
        (429, {"error": {"code": "1113", "message": "余额不足或无可用资源包"}}, "quota", "no"),
        (429, {"message": "A trial key is limited to 1000 API calls / month."}, "quota", "no"),
        (429, {"message": "quota", "code": "rate_limit_exceeded"}, "rate_limit", "rate_limited"),
        (429, {"message": PLAN, "code": "Throttling.RateQuota"}, "rate_limit", "rate_limited"),
        (429, {"error": {"message": PLAN, "code": "RateLimitReached"}}, "rate_limit", "rate_limited"),
        (429, {"error": {"message": PLAN, "type": "limit_requests"}}, "rate_limit", "rate_limited"),
        (403, {"error": {"message": "slow down", "code": "TooManyRequests"}}, "rate_limit", "rate_limited"),
        (429, {"error": {"message": "x", "code": "InsufficientBalance"}}, "quota", "no"),
        (403, {"error": {"message": "x", "code": "AccountOverdueError"}}, "quota", "no"),
        (429, {"error": {"message": "add a payment method", "type": "credit_limit"}}, "quota", "no"),
        (
            400,
            google(400, "INVALID_ARGUMENT", "The input token count (9) exceeds the maximum"),
            "context_length",
            "no",
        ),
        (
            404,
            google(404, "NOT_FOUND", "models/gemini-9 is not found for API version v1beta"),
            "unknown_model",
            "no",
        ),
        (503, google(503, "UNAVAILABLE", "The model is overloaded."), "server", "transient"),
        (401, openai("Incorrect API key provided: sk-***", "invalid_api_key"), "auth", "no"),
        (404, openai("The model `x` does not exist", "model_not_found"), "unknown_model", "no"),
        (400, openai("too long", "context_length_exceeded"), "context_length", "no"),
        (
            400,
            {"error": {"code": 400, "message": "x", "type": "exceed_context_size_error"}},
            "context_length",
            "no",
        ),
        (
            429,
            openai("You exceeded your current quota", "insufficient_quota", "insufficient_quota"),
            "quota",
            "no",
        ),
        (429, openai("Limit reached", "rate_limit_exceeded"), "rate_limit", "rate_limited"),
        (
            529,
            {"type": "error", "error": {"type": "overloaded_error", "message": "x"}},
            "rate_limit",
            "rate_limited",
        ),
        (
            400,
            {"type": "error", "error": {"type": "x", "message": "Your credit balance is too low"}},
            "quota",
            "no",
        ),
        (413, b"<html>too large</html>", "context_length", "no"),
        (500, openai("the request exceeds the available context size", "server_error"), "context_length", "no"),
        (400, openai("input length and `max_tokens` exceed context limit: 9 > 8", "x"), "context_length", "no"),
        (422, openai("`inputs` tokens + `max_new_tokens` must be <= 4096", "validation"), "context_length", "no"),
        (
            429,
            openai("Request too large for m: Limit 3, Requested 4", "rate_limit_exceeded"),
            "context_length",
            "no",
        ),
        (429, openai("too many tokens this minute", "rate_limit_exceeded"), "rate_limit", "rate_limited"),
        (402, {"error": "pay first"}, "quota", "no"),
        (403, {"detail": "forbidden"}, "auth", "no"),
        (404, b"<html><title>404</title></html>", "bad_request", "no"),
        (404, {"error": "model 'llama9' not found"}, "unknown_model", "no"),
        (301, b"", "bad_request", "no"),
        (501, b"", "bad_request", "no"),
        (408, b"", "timeout", "transient"),
        (409, b"", "server", "transient"),
        (500, b"\xff\xfe", "server", "transient"),
        (502, b"<html>", "server", "transient"),
        (504, b"", "timeout", "transient"),
        (520, b"", "server", "transient"),
        (500, [google(500, "INTERNAL", "boom")], "server", "transient"),
        (500, b'{"error":{"message":"half \\ud83d"}}', "server", "transient"),
        (422, {"detail": [{"loc": ["body"], "msg": "field required"}]}, "bad_request", "no"),
    ],
)
def test_kind_and_retry(status: int, body: Any, kind: str, again: str) -> None:
    fault = failed(status, body)
    assert (fault.kind, fault.retry.again, fault.status) == (kind, again, status)
    assert str(status) in fault.message


def test_a_quota_of_the_day_does_not_trust_its_short_retry_info() -> None:
    daily = {"@type": "x.QuotaFailure", "violations": [{"quotaId": "RequestsPerDayPerProject"}]}
    soon = {"@type": "x.RetryInfo", "retryDelay": "31s"}
    fault = failed(429, google(429, "RESOURCE_EXHAUSTED", "quota", daily, soon))
    assert (fault.kind, fault.retry.again) == ("quota", "no")
    fault = failed(429, openai("Limit 200 requests per day", "rate_limit_exceeded"), retry_after="4000")
    assert (fault.kind, fault.retry.again, fault.retry.wait_s) == ("quota", "rate_limited", 4000.0)


def test_a_quota_of_the_minute_is_a_rate_limit_with_its_wait() -> None:
    minute = {"@type": "x.QuotaFailure", "violations": [{"quotaId": "RequestsPerMinutePerProject"}]}
    soon = {"@type": "x.RetryInfo", "retryDelay": "31s"}
    fault = failed(429, google(429, "RESOURCE_EXHAUSTED", "current quota, see plan", minute, soon))
    assert (fault.kind, fault.retry.again, fault.retry.wait_s) == ("rate_limit", "rate_limited", 31.0)


BILLING = "You exceeded your current quota, please check your plan and billing details. See https://x.dev/billing"
SOON = {"@type": "x.RetryInfo", "retryDelay": "1.2s"}
PER_MINUTE = "Rate limit reached for m in organization o on requests per min (RPM): Limit 3, Used 3, Requested 1. "
PER_DAY = (
    "Rate limit reached for m in organization o on requests per day (RPD): Limit 200, Used 200, Requested 1. "
)
RAISE = "Please try again in 20s. You can raise the limit at https://x.com/account/billing."


def quota(name: str) -> Any:
    return {"@type": "x.QuotaFailure", "violations": [{"quotaId": name}]}


def error_info(limit: str) -> Any:
    return {"@type": "x.ErrorInfo", "reason": "RATE_LIMIT_EXCEEDED", "metadata": {"quota_limit": limit}}


@pytest.mark.parametrize(
    ("status", "body", "headers", "kind", "wait"),
    [
        # the same words about plan and billing: what is beside them tells the minute from the empty account
        (
            429,
            google(429, "RESOURCE_EXHAUSTED", BILLING, quota("RequestsPerMinute-FreeTier"), SOON),
            {},
            "rate_limit",
            1.2,
        ),
        (
            429,
            google(429, "RESOURCE_EXHAUSTED", BILLING, quota("RequestsPerDay-FreeTier"), SOON),
            {},
            "quota",
            None,
        ),
        (429, google(429, "RESOURCE_EXHAUSTED", BILLING, SOON), {}, "rate_limit", 1.2),
        (429, google(429, "RESOURCE_EXHAUSTED", BILLING, error_info("RequestsPerMinute")), {}, "rate_limit", None),
        (
            429,
            google(429, "RESOURCE_EXHAUSTED", BILLING, error_info("RequestsPerDayPerProject")),
            {},
            "quota",
            None,
        ),
        (429, openai(BILLING, "insufficient_quota", "insufficient_quota"), {"retry_after": "3"}, "quota", None),
        (429, openai(BILLING, None, "insufficient_quota"), {}, "quota", None),
        (429, openai(BILLING, "billing_hard_limit_reached"), {}, "quota", None),
        (403, openai("x", "insufficient_quota"), {}, "quota", None),
        (429, openai(BILLING), {"retry_after": "3"}, "rate_limit", 3.0),
        (429, openai(BILLING), {"x_ratelimit_remaining": "0", "x_ratelimit_reset": "2s"}, "rate_limit", 2.0),
        (429, openai(BILLING), {}, "quota", None),
        (429, {"error": "insufficient balance"}, {}, "quota", None),
        # a limit by its code: a mention of billing is an advertisement
        (429, openai(PER_MINUTE + RAISE, "rate_limit_exceeded", "requests"), {}, "rate_limit", 20.0),
        (429, openai(PER_MINUTE + RAISE, None, "requests"), {}, "rate_limit", 20.0),
        (429, openai(PER_DAY + RAISE, "rate_limit_exceeded", "requests"), {}, "quota", None),
        (
            429,
            openai(PER_MINUTE + "Accounts that pay have 10,000 per day", "rate_limit_exceeded"),
            {},
            "rate_limit",
            None,
        ),
        (429, openai("See https://x.com/docs/daily-limits", "rate_limit_exceeded"), {}, "rate_limit", None),
        (
            403,
            google(403, "PERMISSION_DENIED", "slow down", error_info("RequestsPerMinute"), SOON),
            {},
            "auth",
            None,
        ),
        (403, openai("slow down", "rateLimitExceeded"), {"retry_after": "4"}, "rate_limit", 4.0),
        # words of the prompt that come back in a refusal decide nothing
        (400, openai("Invalid value: 'Explain billing to me'", "invalid_value"), {}, "bad_request", None),
    ],
)
def test_what_is_named_decides_before_what_is_said(
    status: int, body: Any, headers: dict[str, str], kind: str, wait: float | None
) -> None:
    fault = failed(status, body, **headers)
    assert (fault.kind, fault.retry.wait_s) == (kind, wait)
    assert (fault.retry.again == "rate_limited") == (kind == "rate_limit")


def test_a_server_error_may_say_how_long() -> None:
    assert failed(503, b"", retry_after="9").retry.wait_s == 9.0


def test_the_server_decides_with_x_should_retry() -> None:
    assert failed(500, b"", x_should_retry="false").retry.again == "no"
    assert failed(400, b"", x_should_retry="true").retry.again == "transient"
    assert failed(401, b"", x_should_retry="true").retry.again == "no"
    assert failed(429, b"", x_should_retry="true", retry_after="3").retry.wait_s == 3.0


@pytest.mark.parametrize(
    ("error", "kind", "again"),
    [
        ({"message": "upstream busy", "code": 429}, "rate_limit", "rate_limited"),
        ({"message": "upstream busy", "code": "502"}, "server", "transient"),
        ({"message": "x", "code": 401}, "auth", "no"),
        ({"message": "x", "status": "RESOURCE_EXHAUSTED"}, "rate_limit", "rate_limited"),
        ({"type": "overloaded_error", "message": "x"}, "rate_limit", "rate_limited"),
        ({"message": "no idea", "code": "weird"}, "server", "transient"),
        ("just text", "server", "transient"),
        (True, "server", "transient"),
        (["a", "b"], "server", "transient"),
    ],
)
def test_an_error_inside_a_success(error: Any, kind: str, again: str) -> None:
    fault = classify.embedded_fault(error, WireReply(200, {}, b""), lambda: 0.0)
    assert (fault.kind, fault.retry.again, fault.status) == (kind, again, 200)
    said = error["message"] if isinstance(error, dict) else error if isinstance(error, str) else ""
    assert said in fault.message


def test_messages_stay_short_and_on_one_line() -> None:
    fault = failed(500, ("<html><style>b{}</style><h1>Down</h1>\n" + "<p>x</p>" * 9000).encode())
    assert "\n" not in fault.message
    assert "<" not in fault.message
    assert len(fault.message) < 500


def test_a_router_passes_on_the_headers_of_its_provider() -> None:
    passed_on = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "4000", "Retry-After": 7}
    body = {"error": {"code": 429, "message": "Provider returned error", "metadata": {"headers": passed_on}}}
    found = failed(429, body)
    assert (found.kind, found.retry) == ("rate_limit", Retry("rate_limited", 4000.0))
    assert failed(429, body, retry_after="3").retry == Retry("rate_limited", 3.0)
    body["error"]["metadata"] = {"headers": ["x"]}
    assert failed(429, body).retry == Retry("rate_limited", None)
