from itertools import product

import pytest

from arena.rubrics.rubric import Item, Rubric, load_rubric
from arena.rubrics.score import NOTHING_APPLICABLE, Values, mean, score

QAC = load_rubric("qac")


def filled(value: int | None = 1, **changed: dict[str, int | None]) -> dict[str, dict[str, int | None]]:
    return {item.key: dict.fromkeys(item.slots, value) | changed.get(item.key, {}) for item in QAC.items}


def test_three_of_four_elements_are_four_points() -> None:
    values = filled(A1_math_expertise={"curriculum_hierarchy": 0})
    assert score(QAC, values).after.items["A1_math_expertise"] == 4


@pytest.mark.parametrize("met", range(5))
def test_an_item_is_the_number_met_plus_one(met: int) -> None:
    elements = {slot: int(place < met) for place, slot in enumerate(QAC.items[0].slots)}
    assert score(QAC, {QAC.items[0].key: elements}).after.items[QAC.items[0].key] == met + 1


def test_everything_met_is_forty_and_nothing_met_is_eight() -> None:
    best, worst = score(QAC, filled(1), flags={"reached_content": 1}), score(QAC, filled(0))
    assert (best.after.areas, best.total) == ({"A": 15, "B": 15, "C": 10}, 40)
    assert (worst.after.areas, worst.total) == ({"A": 3, "B": 3, "C": 2}, 8)


def test_replies_without_mathematical_content_leave_three_points_for_area_b() -> None:
    scores = score(QAC, filled(1), flags={"reached_content": 0})
    assert scores.before.areas == {"A": 15, "B": 15, "C": 10}
    assert scores.after.areas == {"A": 15, "B": 3, "C": 10}
    assert (scores.before.total, scores.after.total, scores.floored) == (40, 28, ("B",))


def test_the_floor_also_stands_where_an_element_of_its_area_is_missing() -> None:
    scores = score(
        QAC, filled(1, B1_learner_customization={"level_based_approach": None}), flags={"reached_content": 0}
    )
    assert (scores.before.areas["B"], scores.before.total) == (None, None)
    assert (scores.after.areas["B"], scores.after.total) == (3, 28)


def test_a_sheet_that_does_not_say_keeps_its_scores_and_is_told_apart() -> None:
    scores = score(QAC, filled(1), flags={"reached_content": None})
    assert (scores.total, scores.undecided) == (40, ("B",))
    strict = QAC.model_copy(update={"floors": (QAC.floors[0].model_copy(update={"if_missing": "null"}),)})
    assert score(strict, filled(1)).after.areas == {"A": 15, "B": None, "C": 10}
    assert "reached_content is missing" in score(strict, filled(1)).reasons["B1_learner_customization"]
    assert score(strict, filled(0)).after.areas["B"] == 3


def test_a_missing_element_leaves_item_area_and_total_without_a_score() -> None:
    scores = score(QAC, filled(1, A2_question_structure={"sentence_logic": None}))
    assert scores.after.items["A2_question_structure"] is None
    assert scores.after.items["A1_math_expertise"] == 5
    assert (scores.after.areas["A"], scores.after.areas["C"], scores.total) == (None, 10, None)
    assert scores.reasons == {"A2_question_structure": "missing: sentence_logic"}


def test_an_absent_item_is_missing_too() -> None:
    assert score(QAC, {}).total is None


def weighted() -> Rubric:
    elements = [
        {"key": key, "question": "?", "weight": weight, "not_applicable": True}
        for key, weight in (("p", 2), ("q", 1), ("r", 1), ("s", 1))
    ]
    item = Item.model_validate({"key": "list", "title": "List", "arithmetic": "share", "elements": elements})
    return Rubric.model_validate(
        {"name": "w", "version": "1", "title": "W", "areas": [{"key": "A", "title": "A", "items": [item]}]}
    )


def test_what_does_not_apply_counts_on_neither_side() -> None:
    values: Values = {"list": {"p": 1, "q": 0, "r": None, "s": 1}}
    assert score(weighted(), values, not_applicable={"list": ["r"]}).total == 0.75
    assert score(weighted(), values).total is None


def test_nothing_applicable_is_no_score_and_leaves_the_mean_visibly() -> None:
    scores = score(weighted(), {}, not_applicable={"list": ["p", "q", "r", "s"]})
    assert (scores.total, scores.reasons) == (None, {"list": NOTHING_APPLICABLE})
    assert str(mean([0.75, scores.total])) == "0.75 (1 of 2)"


def test_a_scale_is_its_own_score_and_never_clipped() -> None:
    rubric = load_rubric("meeting_minutes")
    values = {item.key: {"score": number} for item, number in zip(rubric.items, [0, 5, 3, 4, 1], strict=True)}
    assert score(rubric, values).total == 13
    with pytest.raises(ValueError, match="not from 0 to 5"):
        score(rubric, values | {"clarity": {"score": 6}})


def test_a_total_is_the_sum_of_its_areas_and_rises_with_every_element() -> None:
    for bits in product([0, 1], repeat=4):
        elements: dict[str, int | None] = dict(zip(QAC.items[3].slots, bits, strict=True))
        lower, higher = score(QAC, filled(0)), score(QAC, filled(0, B1_learner_customization=elements))
        assert higher.total == sum(value for value in higher.after.areas.values() if value is not None)
        assert (higher.total or 0) - (lower.total or 0) == sum(bits)


def test_a_mean_says_out_of_how_many() -> None:
    assert str(mean([4, 2, 3, 5])) == "3.50 (4 of 4)"
    assert str(mean([4, None, None, 5])) == "4.50 (2 of 4)"
    assert (mean([None, None]).value, mean([None]).reason, mean([]).of) == (None, "nothing scored", 0)
