"""What parses is never cleaned, what is repaired says what it said, and no number but the value is read."""

import json
import random
import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.reading import read_choice, read_integer, read_object


@pytest.mark.parametrize(
    "said",
    [
        "It leaks <think>they are wrong</think> to the student.",
        "<think>never closed",
        "Its last line is </think>",
        "It leaks. </think> Then it asks.",
        'It writes {"verdict": "b"} into the reply.',
        "```json\n{}\n```",
        "### (a)",
        "Two gaps:\ne.g. units",
    ],
)
@pytest.mark.parametrize("frame", ["%s", "\n%s\n", "Here it is:\n```json\n%s\n```", "Here it is: %s"])
def test_what_an_object_quotes_stays_in_it(said: str, frame: str) -> None:
    written = {"comparison": said, "verdict": "a"}
    reading = read_object(frame % json.dumps(written), keys=("verdict",))
    assert reading.value == written


def test_a_repaired_object_quotes_too() -> None:
    raw = '{"comparison": "It leaks. </think> Then\\ne.g. \\ud83c\\udf78", "verdict": "a",}'
    assert read_object(raw).value == {"comparison": "It leaks. </think> Then\ne.g. 🍸", "verdict": "a"}


@pytest.mark.parametrize(
    "raw",
    [
        '{"verdict":"a","verdict":"b"}',
        '{"verdict":"a","verdict":"b",}',
        "{'verdict':'a','verdict':'b'}",
        'So: {"verdict":"a",\n"verdict":"b",}',
        '{"verdict":"a"} or {"verdict":"b"}',
        '{"verdict":"a",} or {"verdict":"b"}',
        '{"verdict":"a"} // or {"verdict":"b"}',
        '{"verdict":"a"} /* or {"verdict":"b"} */',
        '[{"verdict":"a"}, {"verdict":"b"}]',
        '```json\n{"verdict":"a"}\n```\n```json\n{"verdict":"b"}\n```',
        '{"verdict":"a|b|c"}',
        '~~{"verdict":"a"}~~',
        'Not {"verdict":"a"}',
        '{"verdict":"a"}\nOr, {"comparison": "x", "ver',
        '{"verdict":"a" or "b"}',
        '{"verdict":"a"} or {"verdict":b or c}',
        '{"comparison":"x","verdict":"a',
        '{"comparison":{"x":"y"}, "verdict":"a"',
    ],
)
def test_two_answers_or_half_of_one_are_unreadable(raw: str) -> None:
    reading = read_object(raw, keys=("verdict",))
    assert read_choice((reading.value or {}).get("verdict")).letter is None


@pytest.mark.parametrize(
    "raw",
    [
        'Draft: {"verdict":"b"}\n### Answer\n{"verdict":"a"}',
        'Draft: {"verdict":"b"}\n```json\n{"verdict":"a"}\n```',
        '{"verdict":"a"}\nOnce more: {"verdict": "a"}',
        'The set {1, 2}. {"verdict":"a"}',
    ],
)
def test_an_object_that_stands_where_answers_stand_is_read(raw: str) -> None:
    assert read_object(raw, keys=("verdict",)).value == {"verdict": "a"}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("{'score': 4, 'note': 'it\\'s so'}", {"score": 4, "note": "it's so"}),
        ('{score: 4, "note": None}', {"score": 4, "note": None}),
        (
            '{"score": 4\n"note": "x"\n"more": {"a": true}\n"last": 1}',
            {"score": 4, "note": "x", "more": {"a": True}, "last": 1},
        ),
        ('{"note": "says "x" there", "score": 4}', {"note": 'says "x" there', "score": 4}),
        ('{"note": "two\nlines", "score": 4,,}', {"note": "two\nlines", "score": 4}),
        ("{“score”：４}", {"score": 4}),
        ("{‘score’: 4, ‘note’: ‘it’s so’}", {"score": 4, "note": "it’s so"}),
        ('{"score":\u200b4}', {"score": 4}),
        ('{"score":\u00a04,\u3000"note": "a\u3000b"}', {"score": 4, "note": "a\u3000b"}),
        ('{"note": "a, ] b, }", "score": 4,}', {"note": "a, ] b, }", "score": 4}),
    ],
)
def test_what_can_mean_one_thing_is_repaired(written: str, value: object) -> None:
    reading = read_object(written)
    assert reading.value == value
    assert reading.steps == ("repair",)


@pytest.mark.parametrize(
    "written",
    [
        '{"k": "a"}"}',
        '{"k": "a"} b", "n": 1}',
        '{"k": ["x" "y", "z"]}',
        '{"k": "x" "n": 1}',
        '{"k": 4 or 5}',
        '{"k": 4/5}',
        '{"k": 4//5\n}',
    ],
)
def test_what_can_mean_several_things_is_not(written: str) -> None:
    assert read_object(written).value is None


@pytest.mark.parametrize("number", ["0.99999999999999999", "4.0000000000000000001", "5e-1", "4.5"])
def test_a_fraction_is_not_rounded_to_a_score(number: str) -> None:
    reading = read_object('{"score": ' + number + "}")
    assert reading.value is not None
    assert read_integer(reading.value["score"], 0, 5).value is None


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
KEYS = st.text(min_size=1, max_size=6)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3)
)


def _comma_before_the_end(value: object, ascii_only: bool) -> str:
    return f"{json.dumps(value, ensure_ascii=ascii_only)[:-1]},}}"


def _fenced(value: object, ascii_only: bool) -> str:
    return f"Here you are:\n```json\n{_comma_before_the_end(value, ascii_only)}\n```"


def _commas_at_line_ends(value: object, ascii_only: bool) -> str:
    return json.dumps(value, ensure_ascii=ascii_only, indent=1).replace("\n}", ",\n}").replace("\n]", ",\n]")


def _keys_without_commas(value: object, ascii_only: bool) -> str:
    lines = json.dumps(value, ensure_ascii=ascii_only, indent=1).split("\n")
    return "\n".join(line.removesuffix(",") if at % 3 == 1 else line for at, line in enumerate(lines))


def _one_quote_bare(value: object, ascii_only: bool) -> str:
    written = json.dumps(value, ensure_ascii=ascii_only)
    at = next((escape.start() for escape in re.finditer(r"\\.", written) if escape[0] == '\\"'), None)
    return written if at is None else written[:at] + written[at + 1 :]


def _line_breaks_bare(value: object, ascii_only: bool) -> str:
    return json.dumps(value, ensure_ascii=ascii_only).replace("\\n", "\n")


def _as_python(value: object, ascii_only: bool) -> str:
    return repr(value)


def _last_brace_lost(value: object, ascii_only: bool) -> str:
    return json.dumps(value, ensure_ascii=ascii_only)[:-1]


DAMAGES = (
    _comma_before_the_end, _fenced, _commas_at_line_ends, _keys_without_commas, _one_quote_bare, _line_breaks_bare,
    _as_python, _last_brace_lost,
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=4), st.sampled_from(DAMAGES), st.booleans())
def test_a_damaged_object_is_read_as_it_was_or_not_at_all(
    value: dict[str, object], damage: Callable[[object, bool], str], ascii_only: bool
) -> None:
    reading = read_object(damage(value, ascii_only), keys=value.keys())
    assert reading.value is None or json.dumps(reading.value, sort_keys=True) == json.dumps(value, sort_keys=True)


REASONS = r"""
It asks first.
A 5 for warmth, a 2 for form
quotes \"score\": 1
says score: 3
{4}
학생에게 3번 물었다
\n2. It waits
<think>5</think>
uses \\frac{1}{2}
plain "score": 1, so
\frac{3}{4} of it \alpha
""".strip().split("\n")
ALONE = ("{n}", '"{n}"', "{n}.0", '"{n}/5"', '" {n} of 5"', '"{wide}"', '"{n}점"')
_WRITTEN = """
"1|2|3|4|5" 1|2|3|4|5 "0-5" {n}_or_{m} "{n}_or_{m}" "{n},_{m}" {n},_{m} "{n}‑{m}" "{n}−{m}" "{m}_reasons_for_a_{n}"
"{n}/10" "{n},_out_of_10" {n}.5 -{n}1 "{n}_{m}" null "" "{n}%" ["{n}"] <{n}> "about_{n}" {n}_//_or_{m} 0.{n}1
"{n}\u200b{m}" an_integer_from_0_to_5 "{n}–{m}" "{n}…{m}" "between_{n}_and_{m}" "{n}_(out_of_5)" "0x{n}" "{n}e0"
"{n}." [{n}] {{"value":_{n}}} "[{n}]" "~{n}" "IV" "four" "{n}*{m}" "{n}²"
"1~5_사이의_정수" "약_{n}" "{n}점_이상" NaN Infinity 0x{n} {n}.
"""
NOT_ALONE = _WRITTEN.split()
FRAMES = r"""
{{"reason": "{r}", "score": {v}}}
{{"score": {v}, "reason": "{r}"}}
{{"reason": "{r}", "score": {v},}}
Sure:|```json|{{"score": {v}, "reason": "{r}",}}|```
{{'reason': '{r}', 'score': {v}}}
{{"reason": "{r}"| "score": {v}}}
{{score: {v}, reason: "{r}"}}
Is {{"score": 1}} fair? {{"score": {v}}}
{{"score": {v}, "score": {v2}, "reason": "{r}"}}
{{“score”: {v}}}
{{"reason": "{r}", "score": {v}
<think>{{"score": 5}}</think>{{"score": {v}}}
{{"a": {{"score": {v}}}}} 5
score: {v}, {r}
~~~json|{{"score": {v}, "reason": "{r}"}}|~~~
\ufeff{{"score": {v}}}
{{"result": {{"reason": "{r}", "score": {v}}}}}
[{{"score": {v}}}]
Draft: {{"score": 0}}|````json5|{{"score": {v}}}|````
{{"draft": {{"score": 1}}, "score": {v}}}
# Score|```|{{'score': {v}, 'ok': True, 'note': None}}|```
""".strip().split("\n")


def test_no_number_is_read_that_was_not_written_as_the_value() -> None:
    draw = random.Random(20)
    readable = 0
    for _ in range(50_000):
        n, m = draw.sample(range(6), 2)
        is_alone = draw.random() < 0.5
        form = draw.choice(ALONE if is_alone else NOT_ALONE)
        written = form.format(n=n, m=m, wide=chr(0xFF10 + n)).replace("_", " ")
        frame = draw.choice(FRAMES).replace("|", "\n")
        reply = frame.replace("\\ufeff", "\ufeff").format(
            r=draw.choice(REASONS), v=written, v2=f'"{n}"' if m % 2 else m
        )
        value = (read_object(reply, keys=("score",)).value or {}).get("score")
        score = read_integer(value, 0, 5).value
        readable += score is not None
        allowed = [n] if is_alone else []
        assert score is None or score in allowed, reply
    assert 10_000 < readable < 25_000
