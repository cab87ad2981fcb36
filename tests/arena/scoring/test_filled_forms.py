import json
import re

import pytest

from arena.rubrics.form import Wanted, schema, skeleton
from arena.rubrics.rubric import Rubric, load_rubric
from arena.scoring.filled import FLAGS, Filled, read_filled
from tests.support.qac_sheets import QAC, answer_to_schema, sheet_text

WHOLE = Wanted.whole(QAC)


def read(raw: str, rubric: Rubric = QAC, finish: str = "stop") -> Filled:
    return read_filled(raw, rubric, Wanted.whole(rubric), finish=finish)


def test_a_whole_sheet_is_read_strictly() -> None:
    filled = read(sheet_text(1, A1={"curriculum_hierarchy": 0}))
    assert not filled.missing(WHOLE)
    assert (filled.steps, filled.reason) == (set(), None)
    assert filled.values["A1_math_expertise", "curriculum_hierarchy"] == 0
    assert filled.values[FLAGS, "reached_content"] == 1
    assert len(filled.evidence) == 33


LATEX = r"""{"reached_content": {"evidence": "[3] \"complete the square\"", "value": 1},
"A1_math_expertise": {
  "concept_accuracy": {"value": 1, "evidence": "[2] gives \(\frac{b}{2a}\) and $x \times y \neq \beta$"},
  "curriculum_hierarchy": {"value": 0, "evidence": "no year"},
  "terminology_appropriateness": {"value": 1, "evidence": "[2] \"축의 방정식 \theta\""},
  "problem_direction_specificity": {"value": 1, "evidence": "line one\nline two"}}}"""


def test_formulas_with_single_backslashes_in_the_evidence_do_no_harm() -> None:
    raw = (
        LATEX[:-1]
        + ","
        + sheet_text(1)[1:]
        .replace('"A1_math_expertise"', '"unused"')
        .replace('"reached_content"', '"also_unused"')
    )
    assert re.search(r"[^\\]\\[a-zA-Z(]", raw)
    filled = read(raw)
    assert not filled.missing(WHOLE)
    assert filled.steps == {"latex"}
    evidence = filled.evidence["A1_math_expertise", "concept_accuracy"]
    assert evidence == r"[2] gives \(\frac{b}{2a}\) and $x \times y \neq \beta$"
    assert filled.evidence["A1_math_expertise", "terminology_appropriateness"].endswith(r"\theta" + '"')
    assert filled.evidence["A1_math_expertise", "problem_direction_specificity"] == "line one\nline two"
    assert sum(filled.values["A1_math_expertise", slot] for slot in QAC.items[0].slots) == 3


def test_thinking_fences_and_a_wrapper_around_the_sheet_are_taken_off() -> None:
    draft = sheet_text(0)
    raw = f'<think>{draft}</think>Here it is:\n```json\n{{"evaluation": {sheet_text(1)}}}\n```'
    filled = read(raw)
    assert set(filled.values.values()) == {1}
    assert not filled.missing(WHOLE)


def test_short_labels_bare_values_and_words_are_understood() -> None:
    raw = '{"A1": {"concept_accuracy": 1, "curriculum_hierarchy": "미충족", "terminology_appropriateness": true}}'
    filled = read(raw)
    assert [filled.values.get(("A1_math_expertise", slot)) for slot in QAC.items[0].slots] == [1, 0, 1, None]


def test_unescaped_quotes_cost_no_value() -> None:
    raw = sheet_text(1, evidence="plain").replace('"plain"', '"says "so" there"', 3)
    filled = read(raw)
    assert not filled.missing(WHOLE)
    assert filled.steps & {"repair", "scan"}


@pytest.mark.parametrize("finish", ["length", "content_filter"])
def test_a_reply_that_was_cut_off_gives_nothing_however_much_is_there(finish: str) -> None:
    filled = read(sheet_text(1), finish=finish)
    assert len(filled.missing(WHOLE)) == len(WHOLE) == 33
    assert filled.reason


@pytest.mark.parametrize("value", ["2", "-1", "0.5", '"maybe"', '"N/A"', "null", "[]", '""'])
def test_a_value_the_form_does_not_allow_is_missing(value: str) -> None:
    raw = sheet_text(1).replace(
        '"curriculum_hierarchy": {"value": 1', f'"curriculum_hierarchy": {{"value": {value}'
    )
    missing = read(raw).missing(WHOLE)
    assert missing.slots == {("A1_math_expertise", "curriculum_hierarchy")}


def test_scores_are_whole_numbers_on_their_scale() -> None:
    minutes = load_rubric("meeting_minutes")
    raw = json.dumps(
        {
            "factuality": {"rationale": "Backed.", "score": 5},
            "comprehensiveness": {"rationale": "Half.", "score": "3/5"},
            "structural_consistency": 4,
            "evidence_accuracy": {"rationale": "?", "score": 4.5},
            "clarity": {"rationale": "?", "score": 6},
        }
    )
    filled = read(raw, minutes)
    assert filled.values == {
        ("factuality", "score"): 5,
        ("comprehensiveness", "score"): 3,
        ("structural_consistency", "score"): 4,
    }
    assert filled.evidence["factuality", "score"] == "Backed."


def test_a_value_given_in_two_ways_that_differ_is_missing() -> None:
    minutes = load_rubric("meeting_minutes")
    raw = '{"factuality": {"value": 3, "score": 5}, "clarity": {"value": 4, "score": 4}}'
    assert read(raw, minutes).values == {("clarity", "score"): 4}
    short = '{"A1": {"concept_accuracy": 1}, "A1_math_expertise": {"concept_accuracy": 0}}'
    assert not read(short).values


def test_what_a_whole_object_lacks_is_not_looked_for_elsewhere_in_it() -> None:
    draft = '"draft": {"A1_math_expertise": {"concept_accuracy": {"value": 1}}}'
    raw = f'{{"A2_math_expertise": 1, "reached_content": 1, {draft}}}'
    filled = read(raw)
    assert filled.values == {(FLAGS, "reached_content"): 1}
    assert "scan" not in filled.steps


def test_not_applicable_counts_only_where_the_form_allows_it() -> None:
    rubric = Rubric.model_validate(
        {
            "name": "own",
            "version": "1",
            "title": "Own",
            "areas": [
                {
                    "key": "A",
                    "title": "A",
                    "items": [
                        {
                            "key": "list",
                            "title": "List",
                            "arithmetic": "share",
                            "elements": [
                                {"key": "p", "question": "P", "not_applicable": True},
                                {"key": "q", "question": "Q"},
                            ],
                        }
                    ],
                }
            ],
        }
    )
    filled = read('{"list": {"p": {"value": "해당 없음"}, "q": {"value": "N/A"}}}', rubric)
    assert filled.not_applicable == {("list", "p")}
    assert filled.missing(Wanted.whole(rubric)).slots == {("list", "q")}


def test_the_schema_asks_for_exactly_the_wanted_keys_and_the_skeleton_shows_them() -> None:
    wanted = Wanted(frozenset({("B2_explanation_systematicity", "key_emphasis")}), frozenset())
    asked = schema(QAC, wanted).schema
    assert asked["required"] == ["B2_explanation_systematicity"]
    assert asked["additionalProperties"] is False
    assert json.loads(skeleton(QAC, wanted)) == {
        "B2_explanation_systematicity": {"key_emphasis": {"evidence": "...", "value": "0|1"}}
    }


def test_an_answer_that_follows_the_schema_is_a_complete_sheet() -> None:
    for name in ("qac", "meeting_minutes", "socratic"):
        rubric = load_rubric(name)
        whole = Wanted.whole(rubric)
        raw = json.dumps(answer_to_schema(schema(rubric, whole).schema))
        assert not read_filled(raw, rubric, whole).missing(whole)
