"""Studies as protocols ask: documents from a pool, experts with roles, both conditions for the same raters."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from arena.human.against import against_people, read_scores, sessions
from arena.human.analysis import agreement
from arena.human.plan import make_plan
from arena.human.ratings import Rating, scored
from arena.human.study import Study, load_documents, parse_study
from arena.human.themes import read_coded
from runstore.problems import InputProblem, Problem
from runstore.publish import write_csv

SCALE = ["bad", "good"]


def question(name: str) -> dict[str, Any]:
    return {"id": name, "kind": "likert", "text": name, "anchors": SCALE}


def study(**more: Any) -> Study:
    data: dict[str, Any] = {
        "id": "s",
        "title": "S",
        "strata": {"high": 4, "low": 4},
        "conditions": {"A": {"name": "a"}, "B": {"name": "b"}},
        "groups": {"lay": {"label": "Lay", "size": 8, "items": 4, "form": "lay"}},
        "forms": {"lay": {"questions": [question("L1")]}},
        "consent": {"paragraphs": ["told"]},
        "table": [{"metric": "m", "label": "M", "questions": ["L1"]}],
    }
    return parse_study(data | more, "study")


EXPERTS: dict[str, Any] = {
    "groups": {
        "law": {"label": "A", "size": 1, "items": 4, "form": "law", "assignment": "common", "task": "The law."},
        "practice": {
            "label": "B", "size": 1, "items": 4, "form": "practice", "assignment": "common",
            "same_documents_as": "law",
        },
        "cross": {
            "label": "C", "size": 1, "items": 4, "form": "cross", "assignment": "common",
            "same_documents_as": "law",
        },
    },
    "forms": {
        "law": {"questions": [question("Q1")]},
        "practice": {"questions": [question("Q2")]},
        "cross": {"include": ["law", "practice"], "questions": [question("Q3")]},
    },
    "table": [],
}  # fmt: skip


def pool(folder: Path, count: int) -> None:
    rows = [
        {"id": f"{stratum}{n}", "stratum": stratum, "original": "o", "replies": {"A": "x", "B": "y"}}
        for n in range(count) for stratum in ("high", "low")
    ]  # fmt: skip
    (folder / "pool.jsonl").write_text("\n".join(map(json.dumps, rows)))


def test_documents_are_drawn_from_a_pool_by_stratum_and_seed(tmp_path: Path) -> None:
    pool(tmp_path, 40)
    drawing = study(documents="pool.jsonl", draw_documents=True)
    first = load_documents(drawing, tmp_path, 1)
    assert Counter(document.stratum for document in first) == {"high": 4, "low": 4}
    assert load_documents(drawing, tmp_path, 1) == first
    assert load_documents(drawing, tmp_path, 2) != first
    with pytest.raises(InputProblem, match="4 documents of stratum high"):
        load_documents(study(documents="pool.jsonl"), tmp_path)


def test_a_pool_that_is_too_small_is_refused(tmp_path: Path) -> None:
    pool(tmp_path, 3)
    with pytest.raises(InputProblem, match="4 documents of stratum high or more"):
        load_documents(study(documents="pool.jsonl", draw_documents=True), tmp_path)


def test_the_same_lay_raters_see_the_same_documents_in_both_conditions_in_controlled_order() -> None:
    lay = {"label": "Lay", "size": 8, "items": 8, "form": "lay", "both_conditions": True}
    both = study(groups={"lay": lay})
    plan = make_plan(both, load_documents(both, Path()), 3)
    assert plan.holds, [one for one in plan.certificate if not one.holds]
    seen: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for row in plan.rows:
        seen[row.rater][row.document].append(row.condition)
    assert all(sorted(conditions) == ["A", "B"] for own in seen.values() for conditions in own.values())
    assert {len(own) for own in seen.values()} == {4}
    first = Counter((name, conditions[0]) for own in seen.values() for name, conditions in own.items())
    documents = {name for name, _ in first}
    assert all(abs(first[name, "A"] - first[name, "B"]) <= 1 for name in documents)
    halves = {row.document for row in plan.rows if row.rater == "lay-01" and row.position <= 4}
    assert halves == set(seen["lay-01"])


def test_an_odd_number_of_items_cannot_be_rated_twice() -> None:
    lay = {"label": "Lay", "size": 8, "items": 5, "form": "lay", "both_conditions": True}
    with pytest.raises(Problem, match="even number"):
        make_plan(study(groups={"lay": lay}), load_documents(study(), Path()), 3)


def test_experts_with_roles_rate_the_same_documents_with_forms_of_their_own() -> None:
    experts = study(**EXPERTS)
    plan = make_plan(experts, load_documents(experts, Path()), 3)
    assert plan.holds
    cells: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for row in plan.rows:
        cells[row.rater].add((row.document, row.condition))
    assert set(cells) == {"law-01", "practice-01", "cross-01"}
    assert len({frozenset(own) for own in cells.values()}) == 1
    asked = {name: [q.id for q in experts.forms[group.form].questions] for name, group in experts.groups.items()}
    assert asked == {"law": ["Q1"], "practice": ["Q2"], "cross": ["Q1", "Q2", "Q3"]}
    assert experts.told("law")[-1] == {"any": "The law."}
    assert parse_study(experts.model_dump(mode="json"), "again") == experts


def test_agreement_is_taken_over_the_experts_who_were_asked() -> None:
    experts = study(**EXPERTS)
    plan = make_plan(experts, load_documents(experts, Path()), 3)
    asked = {"law": ["Q1"], "practice": ["Q2"], "cross": ["Q1", "Q2", "Q3"]}
    ratings = [
        Rating(row.rater, row.group, row.document, row.stratum, row.condition, name, str(1 + place % 5), 1.0, "")
        for place, row in enumerate(sorted(plan.rows, key=lambda row: row.document))
        for name in asked[row.group]
    ]
    found = {(group, key): figure for group, key, figure in agreement(experts, scored(ratings))}
    assert set(found) == {("law", "Q1"), ("law", "Q2"), ("law", "Q3")}
    assert (found["law", "Q1"].n_used, found["law", "Q3"].n_used) == (4, 0)


def test_two_forms_may_not_ask_different_questions_under_one_name() -> None:
    forms = {"lay": {"questions": [question("L1")]}, "other": {"questions": [question("L1") | {"text": "else"}]}}
    with pytest.raises(InputProblem, match="question L1 is in the forms lay and other"):
        study(forms=forms)


def test_a_role_needs_a_set_to_share() -> None:
    wrong = {**EXPERTS["groups"], "cross": EXPERTS["groups"]["cross"] | {"items": 6}}
    with pytest.raises(InputProblem, match="shared"):
        study(**(EXPERTS | {"groups": wrong}))


def test_screening_admits_by_the_answers_that_are_accepted() -> None:
    choice = {"kind": "choice", "options": [{"id": "yes", "text": "yes"}, {"id": "no", "text": "no"}]}
    screen = {"question": {"id": "adult", "text": "Adult?", **choice}, "accept": ["yes"]}
    screened = study(screening=[screen])
    assert [one.id for one in screened.screens("lay")] == ["adult"]
    assert screened.admits("lay", {"adult": "yes"})
    assert not screened.admits("lay", {"adult": "no"})
    assert not screened.admits("lay", {})
    with pytest.raises(InputProblem, match="no answer 'maybe'"):
        study(screening=[screen | {"accept": ["maybe"]}])


def test_judges_scores_are_correlated_with_the_peoples_means(tmp_path: Path) -> None:
    both = study()
    documents = load_documents(both, Path())
    units = [(document.id, condition) for document in documents for condition in ("A", "B")]
    ratings = [
        Rating(f"lay-{rater}", "lay", name, "high", condition, "L1", str(1 + place % 5), 1.0, "")
        for place, (name, condition) in enumerate(units)
        for rater in (1, 2)
    ]
    rows = [(name, condition, "j", 10 + 2 * (1 + place % 5)) for place, (name, condition) in enumerate(units[:12])]
    write_csv(tmp_path / "scores.csv", ("document", "condition", "judge", "total"), rows)
    (found,) = against_people(both, scored(ratings), read_scores(tmp_path / "scores.csv", both), "en")
    assert [figure.key for figure in found.statistics] == ["pearson", "spearman", "kendall"]
    assert [round(figure.value or 0, 9) for figure in found.statistics] == [1, 1, 1]
    assert found.statistics[0].n_used == 12


def test_a_studys_documents_are_what_score_reads(tmp_path: Path) -> None:
    pool(tmp_path, 4)
    rows = list(sessions(load_documents(study(documents="pool.jsonl"), tmp_path), "en"))
    assert len(rows) == 16
    assert rows[0] == {"id": "high0:A", "question": "o", "answer": "x", "document": "high0", "condition": "A",
                       "stratum": "high"}  # fmt: skip


def test_themes_of_two_coders_with_their_agreement(tmp_path: Path) -> None:
    lines = [
        ("r1", "d1", "A", "Q", "kim", "speed"), ("r1", "d1", "A", "Q", "lee", "speed"),
        ("r2", "d1", "A", "Q", "kim", ""), ("r2", "d1", "A", "Q", "lee", "speed"),
        ("r3", "d1", "B", "Q", "kim", ""), ("r3", "d1", "B", "Q", "lee", ""),
        ("r4", "d1", "B", "Q", "kim", "trust"), ("r4", "d1", "B", "Q", "lee", "trust"),
    ]  # fmt: skip
    write_csv(tmp_path / "coded.csv", ("rater", "document", "condition", "question", "coder", "theme"), lines)
    found = read_coded(tmp_path / "coded.csv")
    assert (found.coders, found.twice, dict(found.texts)) == (("kim", "lee"), 4, {"A": 2, "B": 2})
    speed, trust = found.themes
    (pair,) = speed.pairs
    assert (pair.both, pair.first_only, pair.second_only, pair.neither) == (1, 0, 1, 2)
    # Observed 3/4, by chance 1/4 * 2/4 + 3/4 * 2/4 = 1/2: kappa 1/2.
    assert pair.kappa.value == pytest.approx(0.5)
    assert (dict(speed.found_by_all), dict(speed.found_by_any)) == ({"A": 1, "B": 0}, {"A": 2, "B": 0})
    assert trust.pairs[0].kappa.value == pytest.approx(1.0)


def test_a_coder_finds_themes_or_none_in_a_text(tmp_path: Path) -> None:
    lines = [("r1", "d1", "Q", "kim", "speed"), ("r1", "d1", "Q", "kim", "")]
    write_csv(tmp_path / "coded.csv", ("rater", "document", "question", "coder", "theme"), lines)
    with pytest.raises(InputProblem, match="either themes or a blank one"):
        read_coded(tmp_path / "coded.csv")


@pytest.mark.parametrize("total", ["nan", "inf", "4 of 5", "3~4", "4²", "1e999"])
def test_a_judges_score_is_a_number_alone(tmp_path: Path, total: str) -> None:
    write_csv(tmp_path / "s.csv", ("document", "condition", "judge", "total"), [("d1", "A", "j", total)])
    with pytest.raises(InputProblem, match="a number"):
        read_scores(tmp_path / "s.csv", study())
