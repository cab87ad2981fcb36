import math
from collections.abc import Mapping
from typing import Any

import pytest

from arena.scoring.combine import Combined, combine_all
from arena.scoring.compare import compare_groups
from arena.scoring.disagreement import disagreements
from arena.scoring.judges import AgreementWishes, agreement
from arena.scoring.sessions import Message, Session
from arena.scoring.tables import ALL_JUDGES, breakdown_columns, judge_record, measures, score_table, summary
from runstore.problems import Problem
from runstore.records import Failure, Sheet
from tests.support.qac_sheets import QAC

TOTAL = measures(QAC)[-1]


def scored(name: str, **columns: str) -> Session:
    return Session(id=name, messages=(Message(role="student", text=name),), columns=columns)


def sheet(name: str, judge: str, met: int | None, repeat: int = 1, **more: Any) -> Sheet:
    """``met`` of the 32 elements are met, from the first one on; None: nothing was readable."""
    values: dict[str, dict[str, int | None]] = {item.key: dict.fromkeys(item.slots) for item in QAC.items}
    for place, (item, slot) in enumerate(QAC.slots()):
        values[item][slot] = None if met is None else int(place < met)
    return Sheet(subject=name, judge=judge, repeat=repeat, values=values, readable=met is not None, raw="", **more)


def rows_of(scores: Mapping[str, Mapping[str, int | None]], **columns: Mapping[str, str]) -> list[Combined]:
    """Rows by judge and subject; a subject that a judge has no sheet for is missing."""
    names = list(dict.fromkeys(name for given in scores.values() for name in given))
    sessions = [scored(name, **columns.get(name, {})) for name in names]
    sheets = [sheet(name, judge, met) for judge, given in scores.items() for name, met in given.items()]
    return combine_all(QAC, sheets, sessions, list(scores), 1)


def test_means_say_out_of_how_many_so_that_failing_cannot_flatter() -> None:
    rows = rows_of(
        {"j": {"a": 4, "b": 2, "c": 3, "d": 5, "e": 4, "f": None, "g": None, "h": 5}},
        **{name: {"tutor": "T1" if name in "abcd" else "T2"} for name in "abcdefgh"},
    )
    found = {
        one.value: one for one in summary(QAC, rows, ["tutor"]) if one.measure == "total" and one.column == "tutor"
    }
    assert (found["T1"].mean, found["T1"].n, found["T1"].of) == (8 + 3.5, 4, 4)
    assert (found["T2"].mean, found["T2"].n, found["T2"].of) == (8 + 4.5, 2, 4)


def test_nothing_scored_is_said_and_no_number() -> None:
    rows = rows_of({"j": {"a": None}})
    one = next(one for one in summary(QAC, rows, []) if one.measure == "total")
    assert (one.mean, one.n, one.of, one.reason) == (None, 0, 1, "nothing scored")


def test_all_judges_together_count_a_subject_only_where_each_scored_it() -> None:
    rows = rows_of({"j": {"a": 10, "b": 20}, "k": {"a": 20, "b": None}})
    one = next(one for one in summary(QAC, rows, []) if one.judge == ALL_JUDGES and one.measure == "total")
    assert (one.mean, one.n, one.of) == (8 + 15, 1, 2)


def test_a_score_row_has_items_areas_and_totals_before_and_after_floors() -> None:
    floored = sheet("a", "j", 32, flags={"reached_content": 0})
    rows = combine_all(QAC, [floored], [scored("a", mode="agent", total="mine")], ["j"], 1)
    header, (cells,) = score_table(QAC, rows)
    row = dict(zip(header, cells, strict=True))
    assert [row[name] for name in ("A1", "B1", "A", "B", "C", "total")] == [5, 1, 15, 3, 10, 28]
    assert (row["B_before"], row["total_before"], row["total_after"], row["floored"]) == (15, 40, 28, "B")
    assert (row["mode"], row["input_total"]) == ("agent", "mine")
    assert not any(isinstance(cell, float) for cell in cells)


def test_a_missing_score_is_an_empty_cell_with_a_reason() -> None:
    header, cells = score_table(QAC, rows_of({"j": {"a": None}, "k": {"a": 3}}))
    first = dict(zip(header, cells[0], strict=True))
    assert (first["total"], first["A1"], first["reason"]) == (None, None, "no readable sheet")
    assert first["values_missing"] == 32


def test_a_judge_is_told_by_what_it_delivered() -> None:
    found = {"A1_math_expertise": {"concept_accuracy": True, "curriculum_hierarchy": False}}
    sheets = [
        sheet("a", "j", 5, 1, evidence_found=found, repair="latex"),
        sheet("a", "j", 6, 2, asked_again=("more",)),
        sheet("b", "j", None, 1, reason="the reply is empty"),
        sheet("a", "other", 5),
    ]
    failures = [Failure(stage="score", item="b#j#2", endpoint="j", kind="blocked", message="no")]
    record = judge_record("j", sheets, failures, sessions=2, repeats=2)
    assert (record.asked, record.failed, record.received, record.readable) == (4, 1, 3, 2)
    assert (record.values, record.values_missing) == (96, 32)
    assert (record.quotes, record.quotes_found, record.asked_again) == (2, 1, 1)
    assert (record.repeated, record.steady) == (32, 31)
    assert (record.repairs, record.reasons) == ({"latex": 1}, {"the reply is empty": 1})
    assert record.quotes_found_share == 0.5


def test_columns_for_breakdowns_are_those_with_few_values() -> None:
    rows = rows_of(
        {"j": dict.fromkeys("abcdefghi", 3)},
        **{name: {"mode": "xy"[n % 2], "level": "123"[n % 3], "own": name} for n, name in enumerate("abcdefghi")},
    )
    assert breakdown_columns(rows) == ["mode", "level"]
    assert breakdown_columns(rows, ["own"]) == ["own"]


MODES = {
    name: {"mode": "agent" if name in "abcd" else "free", "q": str("abcdefgh".index(name) % 4)}
    for name in "abcdefgh"
}


def test_two_groups_are_compared_on_every_measure() -> None:
    scores = {"a": 20, "b": 22, "c": 24, "d": 30, "e": 10, "f": 12, "g": 15, "h": 9}
    (one,) = compare_groups(QAC, rows_of({"j": scores}, **MODES), "mode")
    total = one.comparisons[-1]
    assert (one.first, one.second, total.label) == ("agent", "free", "total")
    assert (total.mean_first, total.mean_second, total.difference.value) == (32.0, 19.5, 12.5)
    assert total.adjusted_p is None
    assert [found.label for found in one.comparisons[:8]] == [item.name for item in QAC.items]
    assert any(found.adjusted_p is not None for found in one.comparisons[:8])


def test_a_group_with_gaps_is_compared_on_common_rows_too() -> None:
    scores: dict[str, int | None] = {"a": 4, "b": 2, "c": 3, "d": 5, "e": 4, "f": None, "g": None, "h": 5}
    (one,) = compare_groups(QAC, rows_of({"j": scores}, **MODES), "mode", matched="q")
    assert one.scored == ((4, 4), (2, 4))
    name, test, pairs = one.common[-1]
    assert (name, pairs, test.p_value or 1.0) == ("total", 2, 1.0)
    assert one.row().scored_second == "2 of 4"


@pytest.mark.parametrize(
    ("column", "values", "told"),
    [
        ("q", None, "found 4 values, expected two"),
        ("mode", ("agent", "other"), "expected 'other' among them"),
        ("none", None, "found 0 values"),
    ],
)
def test_groups_that_are_not_there_are_refused(column: str, values: tuple[str, str] | None, told: str) -> None:
    with pytest.raises(Problem, match=told):
        compare_groups(QAC, rows_of({"j": dict.fromkeys("abcdefgh", 3)}, **MODES), column, values)


def test_rows_that_cannot_be_paired_are_refused() -> None:
    rows = rows_of({"j": dict.fromkeys("abcdefgh", 3)}, **MODES)
    with pytest.raises(Problem, match="cannot be paired"):
        compare_groups(QAC, rows, "mode", matched="mode")


def test_agreement_covers_total_areas_items_and_elements() -> None:
    j = {"a": 5, "b": 12, "c": 20, "d": 28, "e": 31}
    k = {"a": 6, "b": 14, "c": 19, "d": 30, "e": None}
    found = agreement(QAC, rows_of({"j": j, "k": k}), AgreementWishes(resamples=20))
    assert [one.measure for one in found[:5]] == ["total", "A", "B", "C", "A1"]
    assert len(found) == 1 + 3 + 8 + 32
    total = {one.key: one for one in found[0].statistics}
    icc = total["icc_2_1"]
    assert icc.value > 0.9
    assert (icc.n_used, icc.n) == (4, 5)
    bias = {one.key: one for one in found[0].pairs[0].statistics}["bias"]
    assert (bias.value, bias.n_used, bias.n) == (-1.0, 4, 5)
    for measure in found:
        for one in measure.statistics:
            assert one.value is not None or one.reason
            assert one.value is None or math.isfinite(one.value)


def test_agreement_is_also_reported_per_value_of_a_column() -> None:
    scores = {
        "j": dict(zip("abcdefgh", range(3, 27, 3), strict=True)),
        "k": dict(zip("abcdefgh", range(8), strict=True)),
    }
    found = agreement(QAC, rows_of(scores, **MODES), AgreementWishes(resamples=0, by=("mode",)))
    assert [(group.column, group.value, group.units) for group in found[0].groups] == [
        ("mode", "agent", 4),
        ("mode", "free", 4),
    ]


def test_one_judge_alone_agrees_with_nobody() -> None:
    found = agreement(QAC, rows_of({"j": {"a": 5, "b": 9}}), AgreementWishes(resamples=0))
    assert {one.value for one in found[0].statistics} == {None}


def test_subjects_on_which_judges_are_furthest_apart_come_first() -> None:
    rows = rows_of({"j": {"a": 5, "b": 12, "c": 20}, "k": {"a": 6, "b": 30, "c": 20}})
    found = disagreements(QAC, rows)
    assert [(one.session, one.apart, len(one.values)) for one in found] == [("b", 18, 18), ("a", 1, 1)]
    assert found[1].values == {("A2", "condition_completeness"): {"j": 0, "k": 1}}
