"""Levels that show in the words are found, levels that don't are not, and the gate says which limit was missed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runstore.ids import draw, pick
from runstore.problems import Problem
from runstore.publish import to_json, write_json
from runstore.records import Dialogue, Language, Utterance
from simulator.realism import Material, assess
from simulator.realism.diversity import balance, diversity
from simulator.realism.fidelity import fidelity
from simulator.realism.gate import LIMITS, with_changes
from simulator.realism.result import read_quality
from simulator.realism.talk import talk_of

WORDS = [
    "heap",
    "tree",
    "list",
    "node",
    "left",
    "right",
    "root",
    "pivot",
    "stack",
    "queue",
    "graph",
    "edge",
    "cost",
]


def run_of(n: int, *, marked: bool, seed: int = 1, terse: str = "low", questions: int = 20) -> list[Dialogue]:
    """``n`` dialogues of two levels of motivation; marked: one of them is terse. Years show in nothing."""
    dialogues: list[Dialogue] = []
    for at in range(n):
        level, year = "low" if at % 2 else "high", str(1 + (at // 2) % 4)
        talk = [Utterance(role="student", text=f"an opener number {at % questions}")]
        for turn in range(3):
            size = 2 if marked and level == terse else 8
            text = " ".join(pick(WORDS, seed, at, turn, place) for place in range(size))
            talk += [Utterance(role="teacher", text=f"Why {at} {turn}?"), Utterance(role="student", text=text)]
        dialogues.append(
            Dialogue(
                id=f"d{at}", persona=f"m-{level}.y-{year}", levels={"motivation": level, "year": year},
                question=f"q{at % questions}", subject=f"s{at % 2}", turns=4, utterances=tuple(talk),
                end="turns reached", complete=True,
            )
        )  # fmt: skip
    return dialogues


def test_a_level_that_shows_is_recovered_and_one_that_does_not_is_not() -> None:
    found = fidelity(list(map(talk_of, run_of(120, marked=True, questions=21))), 5)["recoverability"]["factors"]
    assert found["motivation"]["recall"] > 0.9
    assert found["motivation"]["p"] <= 0.01
    assert found["motivation"]["chance"] == pytest.approx(0.5, abs=0.06)
    assert found["year"]["p"] > 0.05
    assert found["year"]["chance"] == pytest.approx(0.25, abs=0.06)


def test_words_of_a_question_that_only_one_level_met_give_nothing_away() -> None:
    dialogues = run_of(80, marked=False)
    topical = [
        each.model_copy(
            update={
                "utterances": tuple(
                    Utterance(role=said.role, text=f"{said.text} topic{each.question}") for said in each.utterances
                )
            }
        )
        for each in dialogues
    ]
    found = fidelity(list(map(talk_of, topical)), 5)["recoverability"]["factors"]["motivation"]
    assert found["recall"] < 0.75


def test_chance_is_held_for_students_without_any_difference() -> None:
    hits = 0
    for seed in range(20):
        found = fidelity(list(map(talk_of, run_of(40, marked=False, seed=seed, questions=21))), seed)
        hits += found["recoverability"]["factors"]["motivation"]["p"] <= 0.05
    assert hits <= 4


def test_directions_follow_the_levels() -> None:
    def words(terse: str, marked: bool) -> dict[str, Any]:
        return fidelity(list(map(talk_of, run_of(40, marked=marked, terse=terse))), 5)["directions"][0]

    right, wrong, none = words("low", True), words("high", True), words("low", False)
    assert (right["found"], right["difference"], right["lower"]) == ("as expected", 6, 6)
    assert wrong["found"] == "opposite"
    assert none["found"] is None


def test_too_little_is_said_to_be_too_little() -> None:
    few = fidelity(list(map(talk_of, run_of(8, marked=True))), 5)["recoverability"]
    assert few["factors"]["motivation"]["p"] is None
    assert few["factors"]["motivation"]["reason"] == "8 dialogues, 20 needed"
    one = fidelity(list(map(talk_of, run_of(30, marked=True, questions=1))), 5)["recoverability"]["factors"]
    assert one["motivation"]["reason"] == "one seed question only"


def test_the_order_of_dialogues_changes_nothing() -> None:
    dialogues = run_of(40, marked=True)
    mixed = sorted(dialogues, key=lambda each: draw(3, each.id))
    one, other = (assess(each, Material(4), seed=9) for each in (dialogues, mixed))
    assert to_json(one) == to_json(other)


def test_variety_is_compared_at_one_length() -> None:
    small, large = (diversity(list(map(talk_of, run_of(n, marked=False))), 5) for n in (40, 200))
    distinct = [found["distinct"]["2"] for found in (small, large)]
    assert distinct[0]["all"] > distinct[1]["all"] * 1.3
    assert distinct[0]["matched"] == pytest.approx(distinct[1]["matched"], abs=0.05)
    tiny = diversity(list(map(talk_of, run_of(2, marked=False))), 5)["distinct"]["2"]
    assert tiny["matched"] is None
    assert tiny["reason"] == "42 n-grams, 500 needed"


def test_openers_that_differ_by_a_word_are_near() -> None:
    texts = ["why does quicksort need a pivot in the middle", "why does quicksort need a pivot in the end"]
    texts += ["what is a semaphore good for then", texts[0]]
    base = run_of(4, marked=False)
    dialogues = [
        each.model_copy(update={"utterances": (Utterance(role="student", text=text), *each.utterances[1:])})
        for each, text in zip(base, texts, strict=True)
    ]
    openers = diversity(list(map(talk_of, dialogues)), 5)["openers"]
    assert (openers["different"], openers["shared"]) == (3, 2)
    assert [sorted(pair["dialogues"]) for pair in openers["near_duplicates"]] == [["d0", "d1"]]


def test_copies_are_as_alike_as_can_be() -> None:
    one = run_of(1, marked=False)[0]
    said = (*one.utterances, *one.utterances[1:])
    copies = [one.model_copy(update={"id": name, "utterances": said}) for name in ("a", "b", "c")]
    words = [Utterance(role="student", text=" ".join(WORDS + [f"w{n}" for n in range(20)]))]
    copies = [each.model_copy(update={"utterances": (each.utterances[0], *words)}) for each in copies]
    found = diversity(list(map(talk_of, copies)), 5)["self_similarity"]
    assert found["all"] == pytest.approx(1)
    assert found["same_persona"] == pytest.approx(1)


def test_balance_counts_every_pair() -> None:
    found = balance(list(map(talk_of, run_of(16, marked=False))))
    assert found["personas"]["m-low.y-1"] == 2
    assert sum(sum(row.values()) for row in found["persona_by_subject"].values()) == 16
    assert found["spread"]["personas"] == 0
    assert found["levels"]["motivation"] == {"high": 8, "low": 8}


def test_a_gate_names_what_failed_and_limits_can_be_changed() -> None:
    dialogues = run_of(40, marked=True)
    whole = assess(dialogues, Material(4), seed=5).gate
    strict = with_changes({name: 0 for name in LIMITS if name != "factors_recovered"})
    loose = with_changes({name: 1e9 if LIMITS[name].at == "most" else 0 for name in LIMITS})
    assert assess(dialogues, Material(4), loose, seed=5).gate.failed == ()
    broken = [dialogues[0].model_copy(update={"complete": False, "end": "failure"}), *dialogues[1:]]
    failed = assess(broken, Material(4), strict, seed=5).gate
    assert failed.passed is False
    assert "premature_end" in failed.failed
    assert [check.name for check in whole.checks] == list(LIMITS)


def test_an_unknown_limit_is_refused() -> None:
    with pytest.raises(Problem, match="expected one of realism_distance"):
        with_changes({"reality": 1})
    with pytest.raises(Problem, match="a number"):
        with_changes({"loop": float("nan")})


def test_no_dialogues_are_no_numbers() -> None:
    found = assess([], Material(4))
    assert (found.dialogues, found.utterances, found.profile.median_words) == (0, 0, None)
    assert found.gate.passed is None


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("dialogues", [0, 1, 40])
def test_the_assessment_reads_its_own_file_and_writes_it_again(
    tmp_path: Path, language: Language, dialogues: int
) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    write_json(first, assess(run_of(dialogues, marked=True), Material(4), language=language, seed=5))
    write_json(second, read_quality(first))
    assert second.read_bytes() == first.read_bytes()
