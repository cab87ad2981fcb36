"""How long a server asks to wait, in every form in which servers say it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.adapters.waits import asked_wait, is_daily

NOON = datetime(2026, 8, 5, 10, 0, 0, tzinfo=UTC).timestamp()


def now() -> float:
    return NOON


@pytest.mark.parametrize(
    ("value", "wait"),
    [
        ("Wed, 05 Aug 2026 10:00:07 GMT", 7.0),
        ("Wednesday, 05-Aug-26 10:00:07 GMT", 7.0),
        ("2026-08-05T10:00:07Z", 7.0),
        ("2", 2.0),
        (" 1.5 ", 1.5),
        ("0", 0.0),
        ("86400", 86400.0),
        ("7s", 7.0),
        ("1m30s", 90.0),
        ("Wed, 05 Aug 2026 09:00:00 GMT", None),
        ("soon", None),
        ("-4", None),
        ("", None),
        ("inf", None),
        ("nan", None),
        ("1e9", None),
        ("٣", None),
        ("9" * 400, None),
        ("1, 2", None),
        ("Wed, 99 Foo 2026 10:00:07 GMT", None),
        ("Wed, 05 Aug 99999 10:00:07 GMT", None),
    ],
)
def test_retry_after_as_seconds_or_date_and_nonsense_is_no_wait(value: str, wait: float | None) -> None:
    assert asked_wait({"retry-after": value}, (), "", now) == wait


def test_milliseconds_are_more_exact_than_whole_seconds() -> None:
    assert asked_wait({"retry-after-ms": "1250", "retry-after": "2"}, (), "", now) == 1.25
    assert asked_wait({"retry-after-ms": "x", "retry-after": "2"}, (), "", now) == 2.0


@pytest.mark.parametrize(
    ("delay", "wait"),
    [
        ("37s", 37.0),
        ("1.500s", 1.5),
        ({"seconds": 3, "nanos": 500_000_000}, 3.5),
        ("soon", None),
        ("-3s", None),
        (None, None),
        ({"seconds": "x"}, None),
        (["37s"], None),
    ],
)
def test_retry_info(delay: object, wait: float | None) -> None:
    details = ["odd", {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}]
    assert asked_wait({}, details, "", now) == wait


def test_header_and_retry_info_together_never_ask_early() -> None:
    details = [{"@type": "x/google.rpc.RetryInfo", "retryDelay": "37s"}]
    assert asked_wait({"retry-after": "5"}, details, "", now) == 37.0
    assert asked_wait({"retry-after": "50"}, details, "", now) == 50.0


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s"}, 360.0),
        ({"x-ratelimit-remaining-requests": "3", "x-ratelimit-reset-requests": "6m0s"}, None),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "20ms"}, 0.02),
        (
            {
                "anthropic-ratelimit-requests-remaining": "0",
                "anthropic-ratelimit-requests-reset": "2026-08-05T10:00:09Z",
            },
            9.0,
        ),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(NOON + 4) * 1000)}, 4.0),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(NOON + 4))}, 4.0),
        ({"ratelimit-remaining": "0", "ratelimit-reset": "11"}, 11.0),
        ({"ratelimit-remaining": "0"}, None),
        ({"ratelimit": "limit=10, remaining=0, reset=5"}, 5.0),
        ({"ratelimit": '"minute";r=0;t=30'}, 30.0),
        ({"ratelimit": "limit=10, remaining=3, reset=5"}, None),
    ],
)
def test_rate_headers_count_where_the_allowance_is_used_up(headers: dict[str, str], wait: float | None) -> None:
    assert asked_wait(headers, (), "", now) == wait


@pytest.mark.parametrize(
    ("words", "wait"),
    [
        ("Rate limit reached. Please try again in 1.2s.", 1.2),
        ("Please try again in 6m0s.", 360.0),
        ("Please retry after 12 seconds", 12.0),
        ("try again in 20ms", 0.02),
        ("try again in 2 minutes", 120.0),
        ("try again in 1 minute.", 60.0),
        ("Please try again in 2 hours", 7200.0),
        ("retry after 3 days", 259_200.0),
        ("Please wait 5 seconds before retrying.", 5.0),
        ("try again in 500 ms", 0.5),
        ("try again later", None),
    ],
)
def test_words_are_the_last_resort(words: str, wait: float | None) -> None:
    assert asked_wait({}, (), words, now) == wait
    assert asked_wait({"retry-after": "77"}, (), words, now) == 77.0


def test_daily_quota_by_name_of_the_quota_before_words() -> None:
    def quota(name: str) -> list[object]:
        return [{"@type": "x/google.rpc.QuotaFailure", "violations": [{"quotaId": name}]}]

    assert is_daily("quota", quota("GenerateRequestsPerDayPerProject"))
    assert not is_daily("see limits per day in the docs", quota("GenerateRequestsPerMinutePerProject"))
    assert is_daily("Limit 200 requests per day (RPD)", ())
    assert not is_daily("Limit 3 requests per min (RPM)", ())


@settings(max_examples=150, deadline=None)
@given(
    st.text(max_size=60),
    st.text(max_size=60),
    st.recursive(st.none() | st.text(max_size=9) | st.integers(), st.lists),
)
def test_nothing_a_server_says_breaks_the_reader(value: str, words: str, detail: object) -> None:
    details = [detail, {"@type": "RetryInfo", "retryDelay": value}, {"violations": detail}]
    headers = {"retry-after": value, "x-ratelimit-remaining": "0", "x-ratelimit-reset": value}
    wait = asked_wait(headers, details, words, now)
    assert wait is None or wait >= 0
    is_daily(words, details)
