"""A model that takes the quiz in the student's place: admitted only where it answers as the student would."""

from __future__ import annotations

from pathlib import Path

import pytest

from frontdesk.cli import main
from frontdesk.runner import config_file as configuration
from frontdesk.runner import plan
from runstore.problems import Problem
from runstore.publish import read_json, read_records
from runstore.student_records import QuizRow
from tests.support.fake_provider import FakeProvider
from tests.support.student_runs import config_of, replies_of, rows_of, run_stage, write_student_config
from tests.support.student_world import Put, World, provider_script, subsets

TUTORS = ("good", "leak", "silent")


def agrees_with_anybody(put: Put) -> str:
    """Right as soon as a teacher has said anything, whatever it was; the wrong way it believes until then."""
    if put.said:
        return put.choice(lambda option: option.key, put.said.split("\n")[-1])
    return put.choice(lambda option: option.misconception is not None, put.knew[-60:])


def knows_the_subject(put: Put) -> str:
    """The model's own knowledge, with some words of the conversation for its support."""
    return put.choice(lambda option: option.key, "How does this work?")


def takes_the_first(put: Put) -> str:
    """Reads nothing: always the first option and the first reason."""
    first = {next(iter(sorted(tier))) for tier in put.marks}
    return put.choice(lambda option: any(tier.get(mark) is option for tier in put.marks for mark in first),
                      "How does this work?")  # fmt: skip


def test_one_who_answers_from_its_state_is_admitted_and_the_order_is_right(tmp_path: Path) -> None:
    cut = subsets(42, 1)
    config = config_of(TUTORS, quiz="student", own_rating=True, panel=56)
    side = run_stage(tmp_path, config, cut, replies_of(TUTORS, cut))
    assert side.panel.passed, [row for row in side.panel.gates if not row.passed]
    assert {"guess", "distractor", "selective"} <= {row.gate for row in side.panel.gates}
    arms = {arm.name: arm for arm in side.arms}
    assert (arms["good"].transfer or 0) > (arms["leak"].transfer or 0) + 0.05
    assert (arms["leak"].recall or 0) > (arms["silent"].recall or 0) + 0.1
    assert (arms["good"].own_rating, arms["good"].own_ratings) == (4.0, 2 * len(cut))
    assert side.made.quiz == "student"
    order = side.panel.option_order
    assert order is not None
    assert (order.items, order.changed, order.shift.value) == (56 * 4, 0, 0.0)


@pytest.mark.parametrize(
    ("student", "gates"),
    [
        (agrees_with_anybody, {"contrast_transfer", "selective"}),
        (knows_the_subject, {"guess", "distractor", "contrast_transfer"}),
        (takes_the_first, {"distractor", "selective"}),
    ],
)
def test_one_who_does_not_is_refused_by_name(tmp_path: Path, student: object, gates: set[str]) -> None:
    cut = subsets(14, 1)
    config = config_of(TUTORS, quiz="student", panel=28)
    side = run_stage(tmp_path, config, cut, replies_of(TUTORS, cut), world=World(quiz=student))  # pyright: ignore[reportArgumentType]
    assert gates <= {row.gate for row in side.panel.gates if not row.passed}
    assert side.counts.invalid == side.counts.verdicts
    assert side.order is None


def test_what_the_order_of_options_does_is_said(tmp_path: Path) -> None:
    cut = subsets(14, 1)
    config = config_of(TUTORS, quiz="student", panel=28)
    side = run_stage(tmp_path, config, cut, replies_of(TUTORS, cut), world=World(quiz=takes_the_first))
    order = side.panel.option_order
    assert order is not None
    assert (order.items, order.changed) == (28 * 4, 28 * 4)


def test_a_choice_without_words_it_rests_on_is_not_known(tmp_path: Path) -> None:
    def invents(put: Put) -> str:
        return put.choice(lambda option: option.key, "as everybody knows from the book")

    cut = subsets(4, 1)
    config = config_of(TUTORS, quiz="student", panel=5)
    run_stage(tmp_path, config, cut, replies_of(TUTORS, cut), world=World(quiz=invents))
    rows = read_records(tmp_path / "quiz.jsonl", QuizRow)
    assert {(row.p, row.answer, row.found) for row in rows} == {(0.0, "?", False)}


def test_an_answer_that_cannot_be_read_makes_the_verdict_invalid_and_not_wrong(tmp_path: Path) -> None:
    def mumbles(put: Put) -> str:
        return "hm" if put.said else put.choice(lambda option: option.key, put.knew[-40:])

    cut = subsets(4, 1)
    config = config_of(TUTORS, quiz="student", panel=5)
    side = run_stage(tmp_path, config, cut, replies_of(TUTORS, cut), world=World(quiz=mumbles))
    assert side.panel.missing == 5 * 6
    assert side.counts.branches == 0
    assert {row["outcome"] for row in rows_of(tmp_path, "student_verdicts.jsonl")} == {"invalid"}


def test_what_it_is_shown_holds_nothing_true_of_what_it_lacks(tmp_path: Path) -> None:
    world, cut = World(), subsets(14, 1)
    run_stage(
        tmp_path, config_of(("silent",), quiz="student", panel=5), cut, replies_of(("silent",), cut), world=world
    )
    roots = {row["subset"]: row for row in rows_of(tmp_path, "rollouts.jsonl") if row["arm"] == ""}
    asked = [
        prompt.messages[-1].content
        for _, prompt, _ in world.calls
        if prompt.schema and prompt.schema.name == "choice"
    ]
    assert len(asked) == 4 * (14 * 2 + 14 + 5 * (2 + 6 * 2))
    for subset in cut:
        topic, state = world.by_question[subset.question], roots[subset.id]["state"]
        own = [text for text in asked if subset.history[0].text in text and topic.items[0].ask in text]
        lacking = [one.states for one in topic.components if state[one.id] in ("absent", "told")]
        silent = [text for text in own if "Tell me" not in text]
        assert own
        assert not [text for text in silent[:1] for truth in lacking if truth in text]


def test_the_plan_counts_its_calls_and_the_provider_sees_so_many(tmp_path: Path) -> None:
    with FakeProvider(script=provider_script()) as provider:
        path = write_student_config(
            tmp_path / "c.toml", provider, ("good", "fair"), subsets=8, panel=10, quiz="student", own_rating=True
        )
        asked = sum(part.calls for part in plan.workload(configuration.load(path)).calls)
        run = tmp_path / "run"
        assert main(["run", str(path), "--run", str(run)]) in (0, 1)
        assert provider.stats.calls == asked
        assert main(["verify", "--run", str(run)]) == 0
        assert provider.stats.calls == asked
    made = read_json(run / "student.json")
    assert (made["made"]["quiz"], made["panel"]["option_order"]["items"]) == ("student", 40)
    report = (run / "report.md").read_text(encoding="utf-8")
    assert "The quiz was taken by student" in report
    assert "own rating" in report


def test_a_quiz_needs_an_endpoint_of_that_name() -> None:
    with pytest.raises(Problem, match=r"student\.quiz"):
        config_of(TUTORS, quiz="nobody")
