from __future__ import annotations

import json

import pytest

from arena.agent_runs.items import is_timeout, speed_score
from arena.agent_runs.payload import read_payload


@pytest.mark.parametrize(
    ("cell", "state"),
    [
        ("", "empty"),
        ("   \n", "empty"),
        ('{"error": null', "unreadable"),
        ("{'error': null}", "unreadable"),
        ('{"a": [1, 2,]}', "unreadable"),
        ('{"responseTimeSec": NaN}', "unreadable"),
        ("[]", "not an object"),
        ("null", "not an object"),
        ("3", "not an object"),
        ('"{}"', "ok"),
        ("{}", "ok"),
        ("[" * 50_000, "unreadable"),
    ],
)
def test_what_can_be_read_and_what_cannot(cell: str, state: str) -> None:
    assert read_payload(cell).state == state


def test_json_encoded_twice_is_decoded_and_said_so() -> None:
    once = json.dumps({"assistantMessage": "네", "error": ""})
    assert read_payload(once).layers == 1
    twice = read_payload(json.dumps(once))
    assert (twice.message, twice.layers) == ("네", 2)


def test_null_lists_and_strange_shapes_give_no_url_and_no_exception() -> None:
    for listed in (
        "null",
        "[]",
        "[null]",
        '"x"',
        "3",
        "{}",
        "[{}]",
        '[{"uiValue": null}]',
        '[{"uiValue": [null, 3]}]',
    ):
        found = read_payload(f'{{"dataUIList": {listed}}}')
        assert (found.state, found.urls) == ("ok", ())


def test_buttons_in_lists_and_in_encoded_values() -> None:
    listed = [
        {"uiValue": {"buttonUrl": " /a "}},
        {"uiValue": [{"buttonUrl": "/b"}, {"buttonUrl": ["/c", None, "/d"]}]},
        {"uiValue": json.dumps({"buttonUrl": "/e"})},
        {"uiValue": {"buttonUrl": ""}},
    ]
    assert read_payload(json.dumps({"dataUIList": listed})).urls == ("/a", "/b", "/c", "/d", "/e")


@pytest.mark.parametrize(
    ("value", "seconds", "problem"),
    [
        (4, 4.0, ""),
        ("4.25", 4.25, ""),
        (0, 0.0, ""),
        (None, None, "no responseTimeSec"),
        ("", None, "no responseTimeSec"),
        ("4초", None, "responseTimeSec is not a number"),
        (True, None, "responseTimeSec is not a number"),
        ([4], None, "responseTimeSec is not a number"),
        (-0.5, None, "responseTimeSec is not a time"),
        ("1e999", None, "responseTimeSec is not a time"),
    ],
)
def test_seconds_are_a_number_or_missing_with_a_reason(value: object, seconds: float | None, problem: str) -> None:
    found = read_payload(json.dumps({"responseTimeSec": value}))
    assert (found.seconds, found.seconds_problem) == (seconds, problem)


@pytest.mark.parametrize("value", [None, "", "  ", False, 0, [], {}])
def test_empty_errors_are_no_errors(value: object) -> None:
    assert read_payload(json.dumps({"error": value})).error == ""


@pytest.mark.parametrize("value", ["None", {"code": 3}, True, ["x"]])
def test_anything_else_is_an_error(value: object) -> None:
    assert read_payload(json.dumps({"error": value})).error


def test_half_a_surrogate_pair_is_still_json() -> None:
    found = read_payload('{"assistantMessage": "좋아요 \\ud83d", "error": null}')
    assert found.state == "ok"
    assert found.message.startswith("좋아요")


@pytest.mark.parametrize(
    ("seconds", "score"),
    [(0, 5), (5, 5), (5.0001, 4), (8, 4), (8.01, 3), (10, 3), (10.1, 2), (15, 2), (15.1, 1), (20, 1), (20.1, 0)],
)
def test_bands_hold_their_upper_bound(seconds: float, score: int) -> None:
    assert speed_score(seconds) == score


def test_time_outs_are_known_by_their_words() -> None:
    for text in (
        "Timeout",
        "request timed out",
        "ETIMEDOUT",
        "time-out",
        "시간 초과",
        "타임아웃",
        "DEADLINE_EXCEEDED",
    ):
        assert is_timeout(text)
    for text in ("", "HTTP 500", "시간 설정 오류", "out of time budget"):
        assert not is_timeout(text)
