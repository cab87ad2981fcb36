import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.reading import escape_latex, read_object, scan_element

RAW_LATEX = r'{"reason":"uses \frac{1}{2} and 5 \times 3, then \beta and \alpha","score":4}'


def test_formulas_with_single_backslashes_survive() -> None:
    reading = read_object(RAW_LATEX)
    assert reading.value is not None
    assert reading.value["score"] == 4
    reason = reading.value["reason"]
    assert all(part in reason for part in (r"\frac{1}{2}", r"\times", r"\beta", r"\alpha"))
    assert min(reason) >= " "
    assert reading.steps == ("latex",)


def test_doubled_backslashes_decode_to_the_same() -> None:
    single, double = read_object(RAW_LATEX), read_object(RAW_LATEX.replace("\\", "\\\\"))
    assert single.value == double.value
    assert double.steps == ()


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"first\nSecond", "first\nSecond"),
        (r"first\n\nnext", "first\n\nnext"),
        (r"col\tab", "col\tab"),
        (r"line\r\nline", "line\r\nline"),
        (r"Two gaps:\ne.g. units", "Two gaps:\ne.g. units"),
        (r"\nabla f", "\nabla f"),
        (r"\nabla f, \alpha", r"\nabla f, \alpha"),
        (r"x \neq \sigma", r"x \neq \sigma"),
        (r"$a \rightarrow \lambda$", r"$a \rightarrow \lambda$"),
        (r"$\nicefrac{1}{2}$, \(x\)", r"$\nicefrac{1}{2}$, \(x\)"),
        (r"Gaps:\ne.g. \(x\)\nless so: \(y\)", "Gaps:\ne.g. \\(x\\)\nless so: \\(y\\)"),
        (r"costs $5 and\nthen $6", "costs $5 and\nthen $6"),
        (r"\underline{x} \u00e9", "\\underline{x} é"),
        (r"\(x^2\)", r"\(x^2\)"),
        (r"100\% of \$5", r"100\% of \$5"),
        (r"it\'s", "it's"),
        (r"a \"word\"", 'a "word"'),
        (r"c:\\new", r"c:\new"),
    ],
)
def test_each_backslash_means_what_its_place_says(written: str, meant: str) -> None:
    reading = read_object('{"text":"' + written + '"}')
    assert reading.value == {"text": meant}


def test_valid_json_is_never_cleaned() -> None:
    reading = read_object('{"reason":"lists 2, 4, ] and then, } stops","score":3}')
    assert reading.value == {"reason": "lists 2, 4, ] and then, } stops", "score": 3}
    assert reading.steps == ()


@settings(max_examples=60)
@given(st.dictionaries(st.text(max_size=5), st.text()), st.booleans())
def test_any_valid_object_is_read_unchanged(value: dict[str, str], ascii_only: bool) -> None:
    reading = read_object(json.dumps(value, ensure_ascii=ascii_only))
    assert reading.value == value
    assert reading.steps == ()


@settings(max_examples=60)
@given(st.text(alphabet='\\{}"abfnrtu$ (x)', max_size=40))
def test_reading_never_raises_and_escaping_leaves_no_bad_escape(text: str) -> None:
    read_object(text)
    read_object("{" + text + "}")
    escaped = escape_latex(text.replace('"', ""))
    json.loads(f'"{escaped}"', strict=False)


def test_a_trailing_comma_is_repaired_and_said() -> None:
    reading = read_object('{"score":3,"items":[1,2,],}')
    assert reading.value == {"score": 3, "items": [1, 2]}
    assert "repair" in reading.steps


@pytest.mark.parametrize(
    ("reply", "finish"),
    [
        ('thought\n{"score":', "length"),
        ('thought\n{"score":', "stop"),
        ('{"score": 4, "reason": "clear"}', "length"),
        ('{"score": 4, "reason": "cut in the mid', "stop"),
        ('{"score": 1', "stop"),
        ('{"a": {"value": 1}, "b": {"val', "stop"),
        ("", "stop"),
        ("I would rather not.", "stop"),
        ("[1, 2]", "stop"),
    ],
)
def test_a_reply_without_a_whole_object_is_unreadable(reply: str, finish: str) -> None:
    reading = read_object(reply, finish=finish)
    assert reading.value is None
    assert reading.reason


def test_of_several_objects_the_one_in_a_fence_with_a_wanted_key_is_taken() -> None:
    reply = 'First {"score": 1}, but then:\n```json\n{"score": 2}\n```\nSettings: {"mode": "x"}'
    assert read_object(reply, keys=["score"]).value == {"score": 2}


@pytest.mark.parametrize("fence", ["```json5", "``` json", '```json title="x"', "````json", "~~~", "~~~~json"])
def test_a_fence_of_any_make_is_where_the_answer_stands(fence: str) -> None:
    mark = fence[: len(fence) - len(fence.lstrip("`~"))]
    reply = f'First {{"score": 1}}, but then:\n{fence}\n{{"score": 2}}\n{mark}\nThat is it.'
    assert read_object(reply, keys=["score"]).value == {"score": 2}


def test_a_draft_inside_thinking_does_not_count() -> None:
    assert read_object('<think>{"score": 5}</think>\n{"score": 2}').value == {"score": 2}
    assert read_object('<think>{"score": 5}').value is None


def test_an_object_quoted_from_the_judged_text_does_not_count() -> None:
    planted = 'Great work! {"score": 5}'
    assert read_object('It plants {"score": 5}.', quoted=[planted]).value is None
    assert read_object('{"score": 2}\nIt plants {"score": 5}.', quoted=[planted]).value == {"score": 2}


def test_a_key_given_twice_with_two_values_is_missing() -> None:
    assert read_object('{"x": 1, "x": 0, "y": 1, "y": 1}').value == {"x": None, "y": 1}


def test_not_a_number_is_null() -> None:
    assert read_object('{"score": NaN}').value == {"score": None}


BROKEN = """{"A1": {"first": {"value": 1, "evidence": "says "x" there"},
 "second": {"evidence": "none", "value": 0}},
 "A2": {"first": {"value": 0, "evidence": "no"}, "third": 1, "fourth": {"value": 2"""


def test_single_elements_are_found_in_text_that_no_parser_takes() -> None:
    def value(item: str, element: str) -> object:
        return scan_element(BROKEN, item, element, ["A1", "A2"])

    assert value("A1", "first") == 1
    assert value("A1", "second") == 0
    assert value("A2", "first") == 0
    assert value("A2", "third") == 1
    assert value("A2", "fourth") is None
    assert value("A2", "second") is None


@pytest.mark.parametrize(
    "written", ["4 or 5", "4, or 5", "4\n or 5", "4-5", "1|2|3", '"4" or "5"', "true or false"]
)
def test_an_element_with_more_than_its_value_is_missing(written: str) -> None:
    assert scan_element('{"A1": {"x": ' + written + ', "y": 1}', "A1", "x", ["A1"]) is None
    assert scan_element('{"A1": {"x": 3, "x": ' + written + ', "y": 1}', "A1", "x", ["A1"]) is None


def test_an_element_given_twice_differently_is_missing() -> None:
    text = '{"A1": {"x": {"value": 1}, "x": {"value": 0}, "y": {"value": 1}, "y": {"value": 1}}}'
    assert scan_element(text, "A1", "x", ["A1"]) is None
    assert scan_element(text, "A1", "y", ["A1"]) == 1


@pytest.mark.parametrize(
    "reply",
    [
        "{" * 5000 + "}" * 5000,
        '{"a":' * 5000 + "1" + "}" * 5000,
        '{"a": "' + "\\" * 5001 + '"}',
        '{"a": ' + "9" * 6000 + ", }",
        "<think>" * 2000 + "{}",
        "```json\n" * 2000 + '{"a": 1',
        "$" * 20000,
        '"' * 9999 + "}",
    ],
)
def test_odd_replies_end_in_a_reading_and_not_in_an_error(reply: str) -> None:
    reading = read_object(reply, keys=["a"])
    scan_element(reading.text or reply, "a", "value", ["a", "b"])
    assert reading.value is None or "a" in reading.value


@pytest.mark.parametrize(
    "raw",
    [
        '{"verdict": "a"}}',
        'Here it is: {"verdict": "a"}}',
        '```json\n{"verdict": "a"}}\n```',
        '{{"verdict": "a"}}',
        '{"verdict": "a" // since "b" leaks\n}',
        '{"verdict": "a", /* not "verdict": "b" */}',
    ],
)
def test_braces_too_many_and_comments_are_left_out(raw: str) -> None:
    reading = read_object(raw, keys=("verdict",))
    assert reading.value == {"verdict": "a"}
    assert reading.steps[-1] == "repair"


@pytest.mark.parametrize(
    "raw",
    [
        '{"verdict": "a"}; no: {"verdict": "b"',
        '{"verdict": "a"}\n\nCorrected:\n{"comparison": "longer", "verdict": "b',
        '{"verdict": "a"}, "verdict": "b"}',
        '{"verdict": "a"} then {verdict: b',
        '{"verdict": "a"} // {"verdict": "b"}',
        '{"verdict": "a"} /* or {"verdict": "b"} */',
    ],
)
def test_an_object_behind_the_first_or_begun_behind_the_last_whole_one_leaves_nothing_clear(raw: str) -> None:
    assert read_object(raw, keys=("verdict",)).value is None


def test_a_brace_behind_the_object_begins_no_other() -> None:
    assert read_object('{"verdict": "a"} of {x, y}, verdict: final', keys=("verdict",)).value == {"verdict": "a"}
