import pytest

from arena.reading import NOT_APPLICABLE, read_flag, read_integer, read_score

PREFIX = "Score (an integer between 1 and 5) - the tutor asked 3 questions but gave the answer in turn 2. "


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        (PREFIX + "Score: 2", 2),
        (PREFIX + "Score: 2/5", 2),
        ("Score: 4 for warmth, but the overall Score: 2", 2),
        ("Score: 3%", None),
        (PREFIX + "Score: 2 out of 5", 2),
        (PREFIX + "Score: 4.5", None),
        (PREFIX + "Score: 7", None),
        (PREFIX, None),
        ("Score: 0", None),
        ("Score: -2", None),
        ("Score: 2-3", None),
        ("Score: 2 or 3", None),
        ("Score: 4/10", None),
        ("Score: 4 (out of 10)", None),
        ("Score: 4.0", 4),
        ("**Score:** 3", 3),
        ("score = 3.", 3),
        ("점수: 3점", 3),
        ("점수: 5점 만점에 4점", 4),
        ("점수: 10점 만점에 4점", None),
        ("Score：４", 4),
        ("Score: 4\nOn reflection\nScore: 2", 2),
        ("4", 4),
        ("4/5", 4),
        ("In turn 4 it asked.", None),
        ("<think>Score: 5</think>Score: 2", 2),
        ("Score: **4**", 4),
        ("Score: 1*5", None),
        ("1_5", None),
        ("1**5", None),
        ("sub-score: 4", None),
        ("Score: Four", None),
        ("Score: 4 because it asks", None),
        ("Score: 4\nMaximum score: 5", 4),
        ("Highest possible score: 5", None),
        ("Not a score: 4", None),
        ("A's score: 3\nB's score: 4", None),
        ("Score: 4\n\nRevised score: 3", 3),
        ("최고 점수: 5", None),
        ("Overall score: 4\nWarmth score: 2", 4),
        ("Pedagogy score: 4", 4),
        ("1. It asks.\n2. It waits.\nScore: 4", 4),
        ("4. It waits.", None),
        ("점수: 5점 만점 중 4점", 4),
    ],
)
def test_only_the_given_score_is_read(reply: str, value: int | None) -> None:
    reading = read_score(reply, 1, 5)
    assert reading.value == value
    assert (reading.reason is None) == (value is not None)


def test_a_cut_off_score_is_unreadable() -> None:
    assert read_score("Score: 1", 1, 15, finish="length").value is None


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (4, 4),
        (4.0, 4),
        ("4", 4),
        ("4/5", 4),
        ("4점", 4),
        (0, 0),
        (6, None),
        (-1, None),
        (4.5, None),
        (True, None),
        (None, None),
        ("", None),
        ("four", None),
        ([4], None),
        ("４", 4),
        ("４／５", 4),
        ("4.0", 4),
        ("4 of 5", 4),
        ("4 out of 5", 4),
        (" \u200b4\n", 4),
        ("3~4", None),
        ("1|2|3|4|5", None),
        ("0-5", None),
        ("5 reasons for a 2", None),
        ("3, 4", None),
        ("3\u20114", None),
        ("3\u22124", None),
        ("4, out of 10", None),
        ("4/10", None),
        ("4 or 5", None),
        ("4 (good)", None),
        ("between 3 and 4", None),
        ("0\u200b4", None),
        ("٤", None),
        ("④", None),
        (float("nan"), None),
        (float("inf"), None),
        *((f"3{dash}4", None) for dash in "-‐‒–—―~〜～…·÷:/"),
        *((f"3 {dash} 4", None) for dash in "-‐‒–—―~〜～…·÷:/"),
        ("IV", None),
        ("Ⅳ", None),
        ("4️⃣", None),
        ("4 (out of 5)", None),
        ("4.", None),
        ("4,0", None),
        ("4e0", None),
        ("0x4", None),
        ("-4", None),
        ("≥4", None),
        ("4+", None),
        ("약 4", None),
        ("4점 이상", None),
        ("네 점", None),
        ("1~5 사이의 정수", None),
        ("Level 4", None),
        ({"value": 4}, None),
    ],
)
def test_a_json_value_is_a_whole_number_on_the_scale_or_nothing(value: object, read: int | None) -> None:
    assert read_integer(value, 0, 5).value == read


@pytest.mark.parametrize("value", [1, True, 1.0, "1", "true", "Yes", " MET ", "O", "충족", "예", "네", "Met."])
def test_met(value: object) -> None:
    assert read_flag(value) == 1


@pytest.mark.parametrize("value", [0, False, 0.0, "0", "false", "No", "unmet", "not met", "X", "미충족", "아니오"])
def test_unmet(value: object) -> None:
    assert read_flag(value) == 0


@pytest.mark.parametrize(
    "value",
    [
        2, -1, 0.5, "on", "maybe", "", None, [], {}, "10", float("nan"), "[x]", "(x)", "[ ]", "!true", "!met",
        ".1", "1/0", "met/unmet", "yes or no", "met?", "충족 여부", "1\n0",
    ],
)  # fmt: skip
def test_anything_else_is_missing(value: object) -> None:
    assert read_flag(value) is None


@pytest.mark.parametrize("value", ["N/A", "na", "n.a.", "not applicable", "해당 없음"])
def test_not_applicable_is_its_own_answer(value: str) -> None:
    assert read_flag(value) == NOT_APPLICABLE


def test_numbers_of_any_length_are_off_the_scale_and_no_error() -> None:
    assert read_score("Score: " + "9" * 5000, 1, 5).value is None
    assert read_integer("1" * 400, 1, 5).value is None
    assert read_integer(10**30, 1, 5).value is None
    assert read_integer(1e300, 1, 5).value is None
