from itertools import permutations
from typing import Any

import pytest

from arena.rubrics.rubric import Rubric, load_rubric
from arena.scoring.combine import Combined, combine, combine_all
from arena.scoring.sessions import Message, Session
from runstore.records import Sheet
from tests.support.qac_sheets import QAC

SOCRATIC = load_rubric("socratic")


def sheet(values: dict[str, Any], repeat: int = 1, rubric: Rubric = QAC, **more: Any) -> Sheet:
    full = {item.key: dict.fromkeys(item.slots, 1) | values.get(item.name, {}) for item in rubric.items}
    return Sheet(subject="s", judge="j", repeat=repeat, values=full, readable=True, raw="", **more)


def combined(*sheets: Sheet, rubric: Rubric = QAC, asked: int = 3) -> Combined:
    results = [combine(rubric, order, asked, {}) for order in permutations(sheets)]
    assert all(result == results[0] for result in results)
    return results[0]


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ([1, 1, 0], 1),
        ([0, 0, 1], 0),
        ([1, 1, None], 1),
        ([1, 0, None], None),
        ([1, None, None], None),
        ([1, 1], 1),
        ([1, 0], None),
        ([0], None),
    ],
)
def test_an_element_needs_more_than_half_of_the_sheets_asked(given: list[int | None], value: int | None) -> None:
    sheets = [sheet({"A1": {"concept_accuracy": one}}, number) for number, one in enumerate(given)]
    result = combined(*sheets)
    assert result.values["A1_math_expertise"]["concept_accuracy"] == value
    assert (("A1_math_expertise", "concept_accuracy") in result.missing) == (value is None)
    assert (result.readable, result.asked) == (len(given), 3)
    assert (result.scores.total is None) == (value is None)


@pytest.mark.parametrize(
    ("given", "value"), [([2, 5, 3], 3), ([2, 5, None], 3.5), ([4, None, None], None), ([1, 1, 5], 1)]
)
def test_a_scale_is_the_median_of_a_majority(given: list[int | None], value: float | None) -> None:
    sheets = [sheet({"language": {"score": one}}, number, SOCRATIC) for number, one in enumerate(given)]
    assert combined(*sheets, rubric=SOCRATIC).values["language"]["score"] == value


def test_the_floor_is_decided_by_the_majority_of_the_sheets_flags() -> None:
    flags = [{"reached_content": 0}, {"reached_content": 0}, {"reached_content": 1}]
    result = combined(*(sheet({}, number, flags=flag) for number, flag in enumerate(flags)))
    assert (result.scores.before.total, result.scores.total) == (40, 28)


def test_sheets_of_different_judges_are_not_combined() -> None:
    other = sheet({}).model_copy(update={"judge": "k"})
    with pytest.raises(ValueError, match="one judge"):
        combine(QAC, [sheet({}), other], 3, {})


def test_a_subject_without_any_sheet_still_has_its_row() -> None:
    sessions = [Session(id=name, messages=(Message(role="student", text="?"),)) for name in ("s", "t")]
    rows = combine_all(QAC, [sheet({})], sessions, ["j", "k"], 1)
    assert [(row.session, row.judge, row.readable, row.scores.total) for row in rows] == [
        ("s", "j", 1, 40),
        ("s", "k", 0, None),
        ("t", "j", 0, None),
        ("t", "k", 0, None),
    ]
