"""Plans of human studies: every invariant counted again from ``plan.csv``, refusals with the arithmetic."""

from __future__ import annotations

import csv
import json
import tomllib
from collections import Counter, defaultdict
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
import yaml

from arena.human.balance import split_in_two, williams
from arena.human.budget import budget
from arena.human.certificate import Assignment
from arena.human.folder import StudyFolder
from arena.human.plan import make_plan, read_plan, replace_rater, write_rows
from arena.human.studies import FOLDER
from arena.human.study import Document, Study, load_documents, load_study, parse_study
from runstore.problems import InputProblem, Problem

SOURCE = FOLDER / "document_review.toml"


def small_study(
    raters: int, items: int, strata: dict[str, int], conditions: str = "AB", **group: object
) -> tuple[Study, list[Document]]:
    study = parse_study(
        {
            "id": "small",
            "title": "t",
            "strata": strata,
            "conditions": {name: {"name": f"system {name}"} for name in conditions},
            "groups": {"g": {"label": "g", "size": raters, "items": items, "form": "f", **group}},
            "forms": {"f": {"questions": [{"id": "q", "kind": "text", "text": "?"}]}},
            "consent": {"paragraphs": ["you are told"]},
        },
        "small.toml",
    )
    return study, load_documents(study, Path())


def recount(rows: list[dict[str, str]]) -> None:
    """What the 30 x 5 x 2 design promises, counted without any of the product's code."""
    raters: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        raters[row["rater"]].append(row)
    assert len(rows) == 150
    assert len(raters) == 30
    documents = Counter(row["document"] for row in rows)
    assert set(documents.values()) == {5}
    assert len(documents) == 30
    cells = Counter((row["document"], row["condition"]) for row in rows)
    assert len(cells) == 60
    assert set(cells.values()) <= {2, 3}
    assert set(Counter((row["stratum"], row["condition"]) for row in rows).values()) == {25}
    assert set(Counter((row["position"], row["condition"]) for row in rows).values()) == {15}
    assert set(Counter((row["position"], row["stratum"]) for row in rows).values()) == {10}
    steps: Counter[tuple[str, str]] = Counter()
    met: Counter[tuple[str, str]] = Counter()
    for mine in raters.values():
        mine.sort(key=lambda row: int(row["position"]))
        assert [row["position"] for row in mine] == ["1", "2", "3", "4", "5"]
        assert len({row["document"] for row in mine}) == 5
        assert sorted(Counter(row["stratum"] for row in mine).values()) == [1, 2, 2]
        assert sorted(Counter(row["condition"] for row in mine).values()) == [2, 3]
        steps.update(pairwise(row["condition"] for row in mine))
        met.update(combinations(sorted(row["document"] for row in mine), 2))
    assert set(steps.values()) == {30}
    assert len(steps) == 4
    assert set(met.values()) == {1}


def test_the_written_plan_of_the_example_study_keeps_every_promise(tmp_path: Path) -> None:
    StudyFolder(tmp_path).plan(SOURCE, None)
    with (tmp_path / "plan.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["rater", "group", "position", "document", "stratum", "condition"]
    recount([row for row in rows if row["group"] == "lay"])
    experts = [row for row in rows if row["group"] == "expert"]
    assert set(Counter((row["document"], row["condition"]) for row in experts).values()) == {3}
    assert len(experts) == 15
    certificate = json.loads((tmp_path / "certificate.json").read_text())
    assert certificate["holds"]
    assert all(set(row) >= {"bound", "value", "holds"} for row in certificate["invariants"])


def test_a_thousand_seeds_keep_every_promise_and_differ() -> None:
    study = load_study(SOURCE)
    documents = load_documents(study, FOLDER)
    lay_only = study.model_copy(update={"groups": {"lay": study.groups["lay"]}})
    plans: set[tuple[Assignment, ...]] = set()
    for seed in range(1000):
        plan = make_plan(lay_only, documents, seed)
        assert plan.holds
        recount([{k: str(v) for k, v in row.model_dump().items()} for row in plan.rows])
        plans.add(plan.rows)
    assert len(plans) == 1000


def test_the_same_seed_gives_the_same_plan_whatever_else_was_planned() -> None:
    study = load_study(SOURCE)
    documents = load_documents(study, FOLDER)
    assert make_plan(study, documents, 5).rows == make_plan(study, documents, 5).rows
    alone = study.model_copy(update={"groups": {"lay": study.groups["lay"]}})
    lay = tuple(row for row in make_plan(study, documents, 0).rows if row.group == "lay")
    assert make_plan(alone, documents, 0).rows == lay


@pytest.mark.parametrize("conditions", ["A", "AB"])
@pytest.mark.parametrize("strata", [{"s": 9}, {"a": 4, "b": 5}, {"a": 7, "b": 8, "c": 9}, {"a": 2, "b": 20}])
@pytest.mark.parametrize(("raters", "items"), [(7, 7), (12, 4), (20, 5), (31, 3), (33, 6)])
def test_other_sizes_are_balanced_within_one(
    raters: int, items: int, strata: dict[str, int], conditions: str
) -> None:
    study, documents = small_study(raters, items, strata, conditions)
    if raters * items < len(documents) * len(conditions):
        pytest.skip("an impossible size, tested elsewhere")
    plan = make_plan(study, documents, 3)
    assert plan.holds, [row for row in plan.certificate if not row.holds]
    uses = Counter(row.document for row in plan.rows)
    assert max(uses.values()) - min(uses.values()) <= 1
    assert len({(row.rater, row.document) for row in plan.rows}) == raters * items
    for document in documents:
        counts = Counter(row.condition for row in plan.rows if row.document == document.id)
        assert max(counts.values()) - min(counts.get(name, 0) for name in conditions) <= 1
    for place in range(1, items + 1):
        counts = Counter(row.condition for row in plan.rows if row.position == place)
        assert max(counts.values()) - min(counts.get(name, 0) for name in conditions) <= 1


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6, 7, 8])
def test_in_a_williams_square_each_follows_each_equally_often(size: int) -> None:
    square = williams(size)
    assert len(square) == size * (1 if size % 2 == 0 else 2)
    follow = Counter(step for row in square for step in pairwise(row))
    assert set(follow.values()) == {len(square) * (size - 1) // (size * (size - 1))}
    for column in zip(*square, strict=True):
        assert set(Counter(column).values()) == {len(square) // size}


def test_a_full_design_shows_everything_to_everyone_in_williams_order() -> None:
    study, documents = small_study(12, 6, {"s": 6}, assignment="full")
    plan = make_plan(study, documents, 1)
    assert plan.holds
    orders: dict[str, list[str]] = defaultdict(list)
    for row in plan.rows:
        orders[row.rater].append(row.document)
    follow = Counter(step for order in orders.values() for step in pairwise(order))
    assert set(follow.values()) == {2}
    assert len(follow) == 30


def test_a_common_set_in_both_conditions_keeps_the_two_views_apart() -> None:
    study, documents = small_study(4, 8, {"a": 5, "b": 5}, assignment="common", both_conditions=True)
    plan = make_plan(study, documents, 1)
    assert plan.holds
    cells = Counter((row.document, row.condition) for row in plan.rows)
    assert len(cells) == 8
    assert set(cells.values()) == {4}
    for rater in {row.rater for row in plan.rows}:
        seen: dict[str, list[int]] = defaultdict(list)
        for row in plan.rows:
            if row.rater == rater:
                seen[row.document].append(row.position)
        assert all(second - first == 4 for first, second in map(sorted, seen.values()))


def test_the_euler_split_is_even_at_every_vertex() -> None:
    rng = np.random.default_rng(0)
    edges = [(int(a), int(b)) for a, b in rng.integers(0, 12, size=(150, 2))]
    colours = split_in_two([((a,),) for a, _ in edges], [((b,), (b % 3 + 100,)) for _, b in edges], rng)
    for side in (0, 1):
        for vertex in range(12):
            own = [colour for edge, colour in zip(edges, colours, strict=True) if edge[side] == vertex]
            assert abs(2 * sum(own) - len(own)) <= 1


@pytest.mark.parametrize(
    ("raters", "items", "strata", "group", "arithmetic"),
    [
        (5, 5, {"s": 30}, {}, r"30 documents x 2 conditions x 1 = 60 .* 5 raters x 5 items = 25: take 12 raters"),
        (30, 5, {"s": 4}, {}, r"5 items per rater need 5 different documents, but there are 4"),
        (
            3,
            4,
            {"s": 6},
            {"ratings_per_document": 3},
            r"6 documents x 3 ratings = 18, but 3 raters x 4 items = 12",
        ),
        (3, 4, {"s": 6}, {"assignment": "full"}, r"rates all 6 documents, but items = 4"),
        (3, 5, {"s": 6}, {"assignment": "common", "both_conditions": True}, r"even number of items"),
    ],
)
def test_impossible_plans_are_refused_with_the_arithmetic(
    raters: int, items: int, strata: dict[str, int], group: dict[str, object], arithmetic: str
) -> None:
    study, documents = small_study(raters, items, strata, **group)
    with pytest.raises(Problem, match=arithmetic):
        make_plan(study, documents)


def test_the_open_items_of_a_rater_who_left_go_to_another(tmp_path: Path) -> None:
    study, documents = small_study(3, 4, {"s": 6}, "A", ratings_per_document=2)
    rows = make_plan(study, documents, 11).rows
    first = next(row.document for row in rows if row.rater == "g-03")
    changed, moved = replace_rater(rows, "g-03", "g-04", [first])
    assert moved == 3
    assert [row.document for row in changed if row.rater == "g-03"] == [first]
    uses: dict[str, set[str]] = defaultdict(set)
    for row in changed:
        uses[row.document].add(row.rater)
    assert {len(raters) for raters in uses.values()} == {2}
    assert len({(row.rater, row.document) for row in changed}) == 12
    assert replace_rater(make_plan(study, documents, 11).rows, "g-03", "g-04", [first])[0] == changed
    write_rows(changed, tmp_path)
    assert read_plan(tmp_path / "plan.csv") == changed
    with pytest.raises(Problem, match="would be seen twice"):
        replace_rater(rows, "g-03", "g-01", [first])
    with pytest.raises(Problem, match="no rater is called"):
        replace_rater(rows, "nobody", "g-04", [])


def test_the_budget_adds_up_as_in_the_protocol() -> None:
    found = budget(load_study(SOURCE))
    assert [line.amount for line in found.lines] == [600_000, 900_000, 100_000, 100_000]
    assert found.total == 1_700_000
    assert [minutes for _, minutes in found.minutes] == [90, 90]
    assert round(found.days / 7) == 7


def test_a_mistake_in_the_study_file_is_named(tmp_path: Path) -> None:
    text = SOURCE.read_text(encoding="utf-8")
    bad = tmp_path / "study.toml"
    bad.write_text(text.replace("retention_years", "retension_years"), encoding="utf-8")
    with pytest.raises(InputProblem, match="retention_years"):
        load_study(bad)
    bad.write_text(text.replace("size = 30 ", 'size = "many" '), encoding="utf-8")
    with pytest.raises(InputProblem, match=r"groups\.lay\.size"):
        load_study(bad)
    bad.write_text(text.replace('answer = "yes"', 'answer = "perhaps"'), encoding="utf-8")
    with pytest.raises(InputProblem, match="E7n"):
        load_study(bad)


def test_a_study_in_yaml_is_the_same_study(tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    file.write_text(yaml.safe_dump(tomllib.loads(SOURCE.read_text(encoding="utf-8"))), encoding="utf-8")
    assert load_study(file) == load_study(SOURCE)
    file.write_text("id: [", encoding="utf-8")
    with pytest.raises(InputProblem, match="YAML"):
        load_study(file)


def test_documents_must_be_what_the_study_declares(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(SOURCE.read_text(encoding="utf-8"), encoding="utf-8")
    lines = (FOLDER / "documents.jsonl").read_text(encoding="utf-8").splitlines()
    study = load_study(tmp_path / "study.toml")
    (tmp_path / "documents.jsonl").write_text("\n".join(lines[1:]), encoding="utf-8")
    with pytest.raises(InputProblem, match="10 documents of stratum high"):
        load_documents(study, tmp_path)
    (tmp_path / "documents.jsonl").write_text("\n".join([*lines, lines[3]]), encoding="utf-8")
    with pytest.raises(InputProblem, match=r"31.*d04"):
        load_documents(study, tmp_path)


def test_the_example_takes_the_protocols_ninety_minutes() -> None:
    study = load_study(SOURCE)
    one = study.time.per_item
    assert (study.time.training, study.time.survey, one) == (15, 15, {"read": 2, "review": 5, "answer": 5})
    assert study.time.training + 5 * sum(one.values()) + study.time.survey == 90
    told = " ".join(paragraph["ko"] for paragraph in study.consent.paragraphs)
    assert [word for word in ("목적", "절차", "90분", "개인", "철회", "사례비") if word not in told] == []


def test_the_example_asks_fifteen_and_twelve_questions_of_the_protocols_kinds() -> None:
    forms = load_study(SOURCE).forms
    kinds = {
        name: Counter(each.kind for each in forms[name].questions if each.shown_if is None)
        for name in ("expert", "lay")
    }
    assert {name: sum(kind.values()) for name, kind in kinds.items()} == {"expert": 15, "lay": 12}
    sevens = [each.id for each in forms["lay"].questions if each.kind == "likert" and each.points == 7]
    assert len(sevens) == 2
