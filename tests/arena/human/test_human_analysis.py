"""The analysis of fixed ratings: reference values, the protocol's table, agreement, strata, money, votes."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from arena.human.analysis import Analysis, Comparison, analyse, describe
from arena.human.attention import attention
from arena.human.ballots import calibrated_pairs, compare_with_judges, judgments, sheets, verdicts
from arena.human.forms import NOT_APPLICABLE, Question, read_answer, read_form
from arena.human.material import gather, hide
from arena.human.ratings import Rating, read_ratings, scored
from arena.human.study import Document, Study, parse_study
from arena.ratings.leaderboard import build
from arena.ratings.verdicts import from_verdicts
from arena.rubrics.rubric import load_rubric
from arena.rubrics.score import misfit
from frontdesk.report.sections.study import table as tables
from frontdesk.report.writers.markdown import blocks_as_markdown
from runstore.languages import words
from runstore.problems import InputProblem
from runstore.publish import write_csv, write_jsonl
from runstore.records import Reply, Subset, Usage, Utterance, Verdict, Vote

A = (4, 5, 3, 4, 5, 4, 2, 5, 4, 3, 4, 5)
B = (3, 4, 3, 2, 4, 4, 3, 3, 3, 3, 2, 4)
LIKERT = {"kind": "likert", "text": "?", "anchors": ["low", "high"]}

SAY = words("frontdesk.report", "study", "en")


def study_of(**changes: object) -> Study:
    data: dict[str, object] = {
        "id": "fixed",
        "title": "t",
        "strata": {"high": 2, "low": 2},
        "conditions": {"A": {"name": "base", "label": "Baseline"}, "B": {"name": "new", "label": "Proposed"}},
        "groups": {"g": {"label": "g", "size": 12, "items": 2, "form": "f", "assignment": "common"}},
        "forms": {
            "f": {
                "questions": [
                    {"id": "q1", **LIKERT},
                    {"id": "q2", **LIKERT, "not_applicable": "none"},
                    {"id": "won", "kind": "number", "text": "?", "required": False, "not_applicable": "none"},
                    {"id": "why", "kind": "text", "text": "?"},
                ]
            }
        },
        "consent": {"paragraphs": ["you are told"]},
        "table": [{"metric": "m", "label": "Metric & <One>", "questions": ["q1"]}],
        "money": {"question": "won"},
    }
    return parse_study({**data, **changes}, "fixed.toml")


def rating(rater: int | str, document: str, condition: str, question: str, value: object) -> Rating:
    stratum = "high" if document in ("d1", "d2") else "low"
    return Rating(
        f"r{rater}", "g", document, stratum, condition, question, str(value), 60.0, "2026-01-01T00:00:00Z"
    )


def fixed() -> list[Rating]:
    """Twelve raters, one rating in each condition: second minus first is the reference example reversed."""
    rows = [rating(n, "d1", "A", "q1", b) for n, b in enumerate(B)]
    return rows + [rating(n, "d3", "B", "q1", a) for n, a in enumerate(A)]


def row_of(found: Analysis) -> Comparison:
    return found.table[0]


def test_the_comparison_equals_the_reference_values() -> None:
    row = row_of(analyse(study_of(), fixed(), []))
    assert row.test.p_value == pytest.approx(0.02734375, abs=1e-12)
    assert row.test.n_used == 9
    assert "exact" in row.test.method
    assert "dropped" in (row.test.zero_rule or "")
    assert {e.key: round(e.value or 0, 6) for e in row.effects} == {
        "cohen_d_pooled": 0.987511,
        "d_av": 0.997285,
        "d_z": 0.888949,
    }
    assert row.test.effect
    assert row.test.effect.value == pytest.approx(0.844444, abs=1e-6)
    assert (row.first.mean, row.second.mean) == (pytest.approx(np.mean(B)), pytest.approx(np.mean(A)))
    assert row.first.sd == pytest.approx(float(np.std(B, ddof=1)))
    assert (row.first.median, row.second.median) == (3, 4)


def test_without_ties_the_test_equals_scipy_on_means_per_rater() -> None:
    rng = np.random.default_rng(4)
    rows: list[Rating] = []
    means: dict[str, list[float]] = {"A": [], "B": []}
    for rater in range(10):
        for condition, count in (("A", 2), ("B", 3)):
            values = rng.integers(1, 6, size=count)
            values[0] = rater % 5 + 1
            means[condition].append(float(values.mean()))
            rows += [rating(rater, f"d{n}", condition, "q1", int(v)) for n, v in enumerate(values)]
    gaps = np.array(means["B"]) - np.array(means["A"])
    if len(set(np.abs(np.round(gaps, 9)))) == len(gaps) and gaps.all():
        expected = stats.wilcoxon(gaps, method="exact").pvalue
    else:
        signs = np.array(np.meshgrid(*[[-1, 1]] * np.count_nonzero(gaps))).reshape(np.count_nonzero(gaps), -1)
        ranks = stats.rankdata(np.abs(np.round(gaps[gaps != 0], 9)))
        centre = ranks.sum() / 2
        sums = np.asarray((signs > 0).T @ ranks, dtype=np.float64)
        observed = abs(float(ranks[gaps[gaps != 0] > 0].sum()) - centre)
        expected = sum(abs(float(one) - centre) >= observed - 1e-9 for one in sums) / len(sums)
    assert row_of(analyse(study_of(), rows, [])).test.p_value == pytest.approx(expected, abs=1e-12)


def test_the_table_prints_as_in_the_protocol() -> None:
    found = analyse(study_of(), fixed(), [])
    lines = blocks_as_markdown([tables.protocol_table(found, SAY)])
    assert lines[0] == "| Metric | Baseline (A) | Proposed (B) | p-value | Effect Size |"
    assert lines[2] == "| Metric & &lt;One> | 3.17 (0.72) | 4.00 (0.95) | 0.027* | 0.99 (L) |"
    assert r"Metric \& \textless{}One\textgreater{} & 3.17 (0.72) & 4.00 (0.95) & 0.027* & 0.99 (L) \\" in (
        tables.latex_table(found)
    )


def test_conditions_that_were_rated_on_different_documents_are_said_to_be() -> None:
    row = row_of(analyse(study_of(), fixed(), []))
    assert (row.documents, row.documents_in_both) == (2, 0)
    assert any("none of 2 documents was rated in both conditions" in line for line in tables.remarks([row], SAY))
    both = [rating(n, d, c, "q1", 1 + n % 5) for n in range(8) for d, c in (("d1", "A"), ("d1", "B"), ("d3", "B"))]
    row = row_of(analyse(study_of(), both, []))
    assert (row.documents, row.documents_in_both) == (2, 1)
    assert not any("documents" in line for line in tables.remarks([row], SAY))


def test_no_star_where_so_few_pairs_can_never_reach_it() -> None:
    few = [row for row in fixed() if row.rater in {"r0", "r1", "r3", "r4", "r7"}]
    row = row_of(analyse(study_of(), few, []))
    assert row.test.p_value == 0.0625
    assert row.stars == ""
    assert any("5 pairs can't reach p < 0.05" in line for line in tables.remarks([row], SAY))
    same = [rating(n, d, c, "q1", 3) for n in range(8) for d, c in (("d1", "A"), ("d3", "B"))]
    row = row_of(analyse(study_of(), same, []))
    assert row.test.p_value is None
    assert tables.rows([row])[0][3:] == ["-", "0.00 (N)"]
    assert "no difference to test" in tables.remarks([row], SAY)[0]


def test_not_applicable_and_missing_are_counted_and_never_numbers() -> None:
    study = study_of(table=[{"metric": "m", "label": "m", "questions": ["q1", "q2"]}])
    rows = [
        rating(0, "d1", "A", "q1", 2),
        rating(0, "d1", "A", "q2", 4),
        rating(1, "d1", "A", "q1", 5),
        rating(1, "d1", "A", "q2", NOT_APPLICABLE),
        rating(2, "d1", "A", "q2", NOT_APPLICABLE),
        rating(2, "d3", "B", "q1", 1),
    ]
    found = analyse(study, rows, [])
    first = row_of(found).first
    assert (first.n, first.of, first.mean) == (2, 3, 4.0)
    assert ("g", "q2", 1, 2, 4) in found.answered
    assert row_of(found).test.p_value is None
    assert describe([None]).mean is None


def test_alpha_is_ordinal_over_documents_in_a_condition() -> None:
    columns = {
        "x": "1 2 3 3 2 1 4 1 2 . . .",
        "y": "1 2 3 3 2 2 4 1 2 5 . 3",
        "z": ". 3 3 3 2 3 4 2 2 5 1 .",
        "w": "1 2 3 3 2 4 4 1 2 5 1 .",
    }
    rows = [
        rating(name, f"d{unit // 2}", "AB"[unit % 2], "q1", value)
        for name, values in columns.items()
        for unit, value in enumerate(values.split())
        if value != "."
    ]
    found = {key: one for _, key, one in analyse(study_of(), rows, []).agreement}
    assert found["q1"].value == pytest.approx(0.815388, abs=1e-6)
    assert found["q2"].value is None
    assert found["q2"].reason


def test_strata_and_money_are_broken_down() -> None:
    estimates = {"A": 1000.0, "B": 1300.0}
    documents = [Document(id="d1", stratum="high", estimates=estimates), Document(id="d3", stratum="low")]
    amounts = [1000, 960, 900, 700, 600, NOT_APPLICABLE, 0]
    rows = [rating(n, "d1", "A", "won", amount) for n, amount in enumerate(amounts)]
    rows += [rating(9, "d3", "A", "won", 5), rating(8, "d1", "A", "q1", 4), rating(8, "d3", "B", "q1", 2)]
    found = analyse(study_of(), rows, documents)
    bands = found.money[0]
    assert dict(bands.bands) == {
        "up to 5%": 2,
        "up to 10%": 0,
        "up to 30%": 1,
        "up to 50%": 1,
        "more than 50%": 1,
    }
    assert (bands.n, bands.of, bands.no_amount, bands.no_estimate) == (5, 8, 2, 1)
    cells = {(s, c): cell for m, s, c, cell in found.strata if m == "m"}
    assert cells["high", "A"].mean == 4
    assert cells["low", "B"].mean == 2
    assert cells["low", "A"].n == 0


def test_ratings_from_a_file_are_checked_row_by_row(tmp_path: Path) -> None:
    study, file = study_of(), tmp_path / "ratings.csv"
    documents = {f"d{n}": Document(id=f"d{n}", stratum="high") for n in (1, 3)}
    head = ("rater", "document", "condition", "question", "value", "seconds", "submitted_at")
    good = ["r1", "d1", "A", "q1", 4, 60.5, "2026-01-01T00:00:00Z"]
    write_csv(
        file, head, [good, ["r1", "d1", "A", "why", "=1+1", None, ""], ["r1", "d1", "A", "q2", "", None, ""]]
    )
    rows = read_ratings(file, study, documents)
    assert [(row.group, row.question, row.value) for row in rows] == [("g", "q1", "4"), ("g", "why", "=1+1")]
    for change, message in (
        ({4: 9}, "3: value: found 9"),
        ({3: "q7"}, "3: question"),
        ({2: "C"}, "3: condition"),
        ({1: "d9"}, "3: document"),
        ({0: " "}, "3: rater"),
        ({0: "r2", 5: "abc"}, "3: seconds: found abc"),
        ({0: "r2", 5: "nan"}, "3: seconds: found nan"),
        ({0: "r2", 5: "inf"}, "3: seconds: found inf"),
        ({}, "3: found the same as line 2"),
    ):
        write_csv(file, head, [good, [change.get(place, cell) for place, cell in enumerate(good)]])
        with pytest.raises(InputProblem, match=message):
            read_ratings(file, study, documents)


@pytest.mark.parametrize(
    ("raw", "value", "complaint"),
    [
        ("1,200,000 원", "1200000", None),
        ("１２", "12", None),
        ("3.50", "3.5", None),
        ("-0", "0", None),
        ("1e400", "", "number"),
        ("NaN", "", "number"),
        ("1 200 000", "1200000", None),
        ("3,5", "", "number"),
        ("1,20,000", "", "number"),
        ("1_000", "", "number"),
        ("12²", "", "number"),
        ("many", "", "number"),
        ("-1", "", "range"),
        ("n/a", "NA", None),
        ("  ", "", None),
    ],
)
def test_amounts_are_read_as_people_write_them(raw: str, value: str, complaint: str | None) -> None:
    question = Question(
        id="won", kind="number", text={"any": "?"}, unit={"ko": "원"}, minimum=0, not_applicable={"any": "none"}
    )
    assert read_answer(question, raw) == (value, complaint)


def test_a_follow_up_question_is_asked_only_under_its_condition() -> None:
    study = study_of(
        forms={
            "f": {
                "questions": [
                    {
                        "id": "q1", "kind": "choice", "text": "?",
                        "options": [{"id": "yes", "text": "y"}, {"id": "no", "text": "n"}],
                    },
                    {"id": "n", "kind": "number", "text": "?", "shown_if": {"question": "q1", "answer": "yes"}},
                    {"id": "won", "kind": "text", "text": "?"},
                ]
            }
        }
    )  # fmt: skip
    questions = study.forms["f"].questions
    assert read_form(questions, {"q1": "no", "n": "3"}).values == {"q1": "no"}
    assert read_form(questions, {"q1": "yes"}).missing == ("n",)
    assert read_form(questions, {"q1": "maybe"}).wrong == {"q1": "option"}
    assert questions[2].needed is False
    asked = questions[2].model_copy(update={"required": True})
    assert read_form([asked], {}).missing == ("won",)


def test_straight_lining_and_speed_are_signs_only_where_they_repeat() -> None:
    questions = [Question(id=f"q{n}", **LIKERT) for n in range(5)]  # type: ignore[arg-type]
    flat, lively = {f"q{n}": "3" for n in range(5)}, {f"q{n}": str(n + 1) for n in range(5)}
    assert attention([(90, flat), (90, flat), (90, lively)], questions, 20).flags == ("straight-lining",)
    assert attention([(90, flat), (90, lively), (90, lively)], questions, 20).flags == ()
    assert attention([(5, lively), (6, lively)], questions, 20).flags == ("too fast",)
    assert attention([(90, {"q0": "3"})] * 3, questions, 20).judged == 0
    assert attention([(None, lively)] * 5, questions, 20).flags == ()
    assert attention([(5, lively), (6, lively), *[(None, lively)] * 5], questions, 20).flags == ("too fast",)


def test_names_are_masked_as_whole_words_whatever_their_case() -> None:
    assert hide("I am GPT-4o, gpt-4o! Not GPT-4ox.", ["GPT-4o"]) == "I am ▮▮▮, ▮▮▮! Not GPT-4ox."
    assert hide("plain", [""]) == "plain"
    assert hide("&#1; GPT-4o &#x0; &none;", ["GPT-4o"]) == "&#1; ▮▮▮ &#x0; &none;", "references that name no sign"


def test_names_are_masked_where_korean_particles_follow_them() -> None:
    said = "저는 Gemini입니다. 우레카가 아니에요; gemini2도 아니고 ureka의 답도 아니에요."
    hidden = "저는 ▮▮▮입니다. ▮▮▮가 아니에요; gemini2도 아니고 ▮▮▮의 답도 아니에요."
    assert hide(said, ["gemini", "ureka", "우레카"]) == hidden


def vote_study(run: Path, **changes: object) -> Study:
    votes = [
        {"id": name, "kind": "vote", "text": "?", "required": name == "overall"} for name in ("overall", "help")
    ]
    data: dict[str, object] = {
        "id": "votes",
        "title": "t",
        "matches": {"run": str(run), "matches": 20},
        "groups": {"v": {"label": "v", "size": 4, "items": 10, "form": "vote", "material": "matches"}},
        "forms": {"vote": {"questions": [*votes, {"id": "why", "kind": "text", "text": "?"}]}},
        "consent": {"paragraphs": ["you are told"]},
    }
    return parse_study({**data, **changes}, "votes.toml")


def a_run(folder: Path, subsets: int = 30) -> Path:
    """A run with two tutors; the judges say that alpha wins two matches of three."""
    said = (Utterance(role="student", text="Why is that? zeta says so."),)
    rows = [
        Subset(
            id=f"s{n}",
            dialogue=f"d{n // 2}",
            persona="p",
            question="q",
            subject="math",
            cut=1,
            depth=1,
            history=said,
        )
        for n in range(subsets)
    ]
    write_jsonl(folder / "subsets.jsonl", rows)
    write_jsonl(
        folder / "replies.jsonl",
        [
            Reply(subset=row.id, dialogue=row.dialogue, endpoint=name, text=f"I am {name}, {row.id}",
                  finish="stop", usage=Usage(), latency_s=None, cost_usd=None)
            for row in rows
            for name in ("zeta", "alpha")
        ],
    )  # fmt: skip
    winners = ["alpha" if n % 3 else "zeta" for n in range(subsets)]
    write_jsonl(
        folder / "verdicts.jsonl",
        [
            Verdict(subset=row.id, dialogue=row.dialogue, endpoints=("zeta", "alpha"), criterion="overall",
                    outcome="win", winner=winner, agreement="unanimous",
                    votes=(Vote(judge="j", round=1, outcome="win", winner=winner),))
            for row, winner in zip(rows, winners, strict=True)
        ],
    )  # fmt: skip
    return folder


def votes_of(study: Study, run: Path, choose: dict[str, str]) -> tuple[list[Rating], dict[str, Document]]:
    """Everybody votes; ``choose`` maps the endpoint on the left to the vote."""
    from arena.human.plan import make_plan

    material = gather(study, run, 1)
    documents = {one.id: one for one in material.documents}
    ratings: list[Rating] = []
    for row in make_plan(study, material.documents, 1).rows:
        source = documents[row.document].source
        left = source["x"] if row.condition == "XY" else source["y"]
        ratings.append(
            Rating(
                row.rater, row.group, row.document, row.stratum, row.condition, "overall", choose[left], 30.0, "t"
            )
        )
    return ratings, documents


def test_match_material_hides_the_tutors_and_draws_both_sides(tmp_path: Path) -> None:
    study = vote_study(a_run(tmp_path))
    material = gather(study, tmp_path, 1)
    assert len(material.documents) == 20
    shown = " ".join(
        text
        for one in material.documents
        for texts in (*one.replies.values(), *one.right.values())
        for text in texts.values()
    ) + " ".join(said for one in material.documents for _, said in one.turns)
    assert "alpha" not in shown
    assert "zeta" not in shown
    assert material.masked == 41
    assert all(one.replies["XY"] == one.right["YX"] for one in material.documents)
    assert gather(study, tmp_path, 1) == material
    ratings, _ = votes_of(study, tmp_path, {"alpha": "left", "zeta": "right"})
    assert {row.condition for row in ratings} == {"XY", "YX"}


def test_votes_become_verdicts_by_people_and_are_rated_by_the_same_code(tmp_path: Path) -> None:
    study = vote_study(a_run(tmp_path))
    ratings, documents = votes_of(study, tmp_path, {"alpha": "left", "zeta": "right"})
    found = judgments(study, scored(ratings), documents)
    assert {one.judge for one in found} == {"person:v-01", "person:v-02", "person:v-03", "person:v-04"}
    assert {one.winner for one in found} == {"alpha"}
    assert {(one.slot_a, one.letter) for one in found} == {("alpha", "a"), ("zeta", "b")}
    people = verdicts(found)
    assert len(people) == 20
    assert {one.agreement for one in people} == {"unanimous"}
    board = build(from_verdicts(people, found))
    assert board.models[0].name == "alpha"
    assert board.models[0].wins == 20


def test_both_good_and_both_bad_are_ties_and_stay_apart_in_raw(tmp_path: Path) -> None:
    study = vote_study(a_run(tmp_path))
    ratings, documents = votes_of(study, tmp_path, {"alpha": "both_good", "zeta": "both_bad"})
    found = judgments(study, scored(ratings), documents)
    assert {(one.letter, one.outcome, one.winner) for one in found} == {("c", "tie", None)}
    assert {one.raw for one in found} == {"both_good", "both_bad"}
    assert {one.outcome for one in verdicts(found)} == {"tie"}


def test_people_and_judges_are_compared_and_the_win_rate_is_calibrated(tmp_path: Path) -> None:
    from runstore.publish import read_records

    study = vote_study(a_run(tmp_path, 60))
    ratings, documents = votes_of(study, tmp_path, {"alpha": "left", "zeta": "right"})
    people = verdicts(judgments(study, scored(ratings), documents))
    models = read_records(tmp_path / "verdicts.jsonl", Verdict)
    (compared,) = compare_with_judges(people, models)
    agree = sum(next(m for m in models if m.subset == one.subset).winner == one.winner for one in people)
    assert (compared.agree, compared.n, compared.unjudged) == (agree, 20, 0)
    assert sum(map(sum, compared.counts)) == 20
    (pair,) = calibrated_pairs(people, models)
    assert (pair.a, pair.b) == ("alpha", "zeta")
    assert pair.labelled == 20
    assert pair.unlabelled == 40
    assert pair.judge.value == pytest.approx(2 / 3)
    assert pair.human.value == 1
    assert pair.estimate.value == pytest.approx(1)
    assert pair.estimate.value is not None and math.isfinite(pair.estimate.value)


def test_a_rubric_filled_in_by_a_person_is_a_sheet(tmp_path: Path) -> None:
    study = vote_study(
        tmp_path,
        matches=None,
        groups={"t": {"label": "t", "size": 1, "items": 1, "form": "qac", "assignment": "common"}},
        forms={"qac": {"rubric": "qac"}},
    )
    questions = study.forms["qac"].questions
    assert sum("__" in question.id and not question.id.startswith("flags") for question in questions) == 32
    rows = [
        Rating("t-01", "t", "g001", "all", "", question.id, str(number % 2), None, "t")
        for number, question in enumerate(questions[:-1])
    ]
    document = Document(id="g001", source={"dialogue": "d-7"})
    (sheet,) = sheets(study, scored(rows), {"g001": document})
    assert (sheet.subject, sheet.judge) == ("d-7", "person:t-01")
    item, _, element = questions[-1].id.partition("__")
    assert sheet.values[item][element] is None
    item, _, element = questions[1].id.partition("__")
    assert sheet.values[item][element] == 1
    assert sheet.flags == {"reached_content": 0}
    assert misfit(load_rubric("qac"), sheet) is None


def test_what_a_person_set_aside_is_not_missing(tmp_path: Path) -> None:
    rubric = tmp_path / "share.yaml"
    rubric.write_text(
        "name: share\nversion: '1'\ntitle: t\nareas:\n- key: F\n  title: t\n  items:\n  - key: F1\n    title: t\n"
        "    arithmetic: share\n    elements:\n    - {key: a, question: q, not_applicable: true}\n"
        "    - {key: b, question: q}\n",
        encoding="utf-8",
    )
    study = vote_study(
        tmp_path,
        matches=None,
        groups={"t": {"label": "t", "size": 1, "items": 1, "form": "own", "assignment": "common"}},
        forms={"own": {"rubric": str(rubric)}},
    )
    rows = [Rating("t-01", "t", "g", "all", "", name, value, None, "") for name, value in (("F1__a", "NA"),)]
    (sheet,) = sheets(study, scored(rows), {})
    assert (sheet.subject, sheet.not_applicable, sheet.values) == (
        "g",
        {"F1": ("a",)},
        {"F1": {"a": None, "b": None}},
    )


@pytest.mark.parametrize(
    "spelled",
    [
        "beta-model",
        "beta_model",
        "betamodel",
        "Beta Model",
        "beta\u2011model",
        "be\u200bta-mo\u200bdel",
        "ｂｅｔａ－model",
        "beta--model",
        "beta - model",
        "beta/model",
        "beta\u3164model",
        "be*ta*-`model",
        "beta.model",
        "beta\u2212model",
        "beta·model",
        "beta:model",
        "beta -- model",
        "béta|model",
        "be\u0301ta~model",
        "beta</b>-<b>model",
        "beta&nbsp;model",
        "beta\\_model",
    ],
)
def test_a_name_is_masked_however_it_is_spelled(spelled: str) -> None:
    assert hide(f"I am {spelled}, and 저는 {spelled}입니다.", ["beta-model"]) == "I am ▮▮▮, and 저는 ▮▮▮입니다."
    assert (
        hide("The alphabetamodels of beta. Model it.", ["beta-model"]) == "The alphabetamodels of beta. Model it."
    )


@pytest.mark.parametrize(
    ("name", "hidden", "kept"),
    [
        ("gpt-4o", ["gpt 4 o", "GPT4o", "gpt-4-o"], ["gpt-4", "gpt"]),
        ("C++", ["c++"], ["C", "a+b"]),
        ("a1", ["A1"], ["a 1", "ba1"]),
        ("model (v2)", ["Model (V2)"], ["model v2"]),
        ("beta-model", ["beta_model"], ["beta, model", "beta (model)", "beta; model", "beta & model"]),
    ],
)
def test_a_name_is_hidden_and_what_is_another_word_is_kept(name: str, hidden: list[str], kept: list[str]) -> None:
    assert {hide(f"as {said} says", [name]) for said in hidden} == {"as ▮▮▮ says"}
    assert [hide(f"as {said} says", [name]) for said in kept] == [f"as {said} says" for said in kept]
