"""Profiles are counts, distances put people at 0, and intervals know that dialogues are clusters."""

from __future__ import annotations

from statistics import median
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runstore.records import Dialogue, Utterance
from simulator.realism.distance import places, realism
from simulator.realism.features import FEATURES, REFERENCES
from simulator.realism.gate import LIMITS
from simulator.realism.near import near_pairs
from simulator.realism.profile import counts_of, distinct, length_by_turn, measure, point, resampled
from simulator.realism.talk import talk_of


def student(name: str, *said: str, persona: str = "p", **fields: Any) -> Dialogue:
    talk = [Utterance(role="student", text="an opener of five words")]
    for text in said:
        talk += [Utterance(role="teacher", text="Why?"), Utterance(role="student", text=text)]
    told: dict[str, Any] = {"question": "q", "subject": "s", "turns": len(said), "end": "turns reached"} | fields
    return Dialogue(id=name, persona=persona, utterances=tuple(talk), complete=True, **told)


def test_features_are_counted_by_hand_and_the_opener_is_out() -> None:
    talks = list(
        map(
            talk_of,
            [
                student("a", "n log n?", "Thanks, I get it now."),
                student("b", "maybe it is the left half", "\u200b"),
            ],
        )
    )
    found = dict(zip(FEATURES, point(counts_of(talks)), strict=True))
    assert found == pytest.approx(
        {
            "median_words": 5,
            "at_most_3_words": 1 / 3,
            "question_mark": 1 / 3,
            "ends_sentence": 2 / 3,
            "lower_case_start": 2 / 3,
            "thanks": 1 / 3,
        }
    )
    assert length_by_turn(talks) == [
        {"turn": 1, "utterances": 2, "median_words": 5.0},
        {"turn": 2, "utterances": 2, "median_words": 4.5},
        {"turn": 3, "utterances": 1, "median_words": 5.0},
    ]
    assert distinct(["a b a b", "a b"], 2) == pytest.approx(2 / 4)
    assert distinct([], 2) is None


@given(st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=4), min_size=1, max_size=6), st.data())
@settings(max_examples=40, deadline=None)
def test_weighted_medians_are_those_of_the_drawn_dialogues(lengths: list[list[int]], data: st.DataObject) -> None:
    dialogues = [student(str(at), *("w " * n for n in own)) for at, own in enumerate(lengths)]
    weights = data.draw(st.lists(st.integers(0, 3), min_size=len(lengths), max_size=len(lengths)).filter(any))
    drawn = [n for own, times in zip(lengths, weights, strict=True) for n in own * times]
    found = measure(counts_of(list(map(talk_of, dialogues))), np.asarray([weights], dtype=float))
    assert found[0, 0] == median(drawn)


def test_people_are_at_0_and_llm_students_are_not() -> None:
    limit = LIMITS["realism_distance"].value
    for reference in REFERENCES:
        place = places(np.asarray([getattr(reference, name) for name in FEATURES], dtype=float))
        if reference.human:
            assert place == pytest.approx(0)
        else:
            assert limit < 0.6 < np.abs(place).mean() < 1.1


def test_between_two_groups_of_people_is_no_distance_and_beyond_has_a_side() -> None:
    def place(words: float) -> float:
        return float(places(np.asarray([words, 0.5, 0.2, 0.2, 0.4, 0.02]))[0])

    assert [place(words) for words in (1, 3, 7)] == [0, 0, 0]
    assert place(38) == pytest.approx(1, abs=0.02)
    assert 0 < place(10) < place(20)


HUMAN = (
    "idk",
    "n log n",
    "is it the left half of the list?",
    "The pivot goes to the middle.",
    "wait so what is it then",
)
ESSAY = (
    "I believe that the algorithm chooses a pivot, and that it then divides the list into two parts. Thank you!"
)


def test_students_like_people_pass_and_essayists_fail() -> None:
    people = [student(f"h{at}", *HUMAN, persona="person") for at in range(12)]
    machines = [student(f"m{at}", *[ESSAY] * 4, persona="machine") for at in range(12)]
    found = realism(list(map(talk_of, [*people, *machines])), "en", 0.5, 3)
    assert found["personas"]["person"]["passed"] is True
    assert found["personas"]["machine"]["passed"] is False
    assert found["gate"] == {"passed": 1, "failed": 1, "undecided": 0}
    assert found["personas"]["person"]["distance"] < found["distance"] < found["personas"]["machine"]["distance"]


def test_few_dialogues_decide_nothing() -> None:
    found = realism(list(map(talk_of, [student(str(at), *HUMAN) for at in range(4)])), "en", 0.5, 3)
    assert found["personas"]["p"]["passed"] is None
    assert found["personas"]["p"]["reason"] == "4 dialogues, 5 needed"
    one = realism(list(map(talk_of, [student("a", "hm")])), "en", 0.5, 3)
    assert (one["lower"], one["upper"]) == (None, None)
    none = realism(list(map(talk_of, [student("a")])), "en", 0.5, 3)
    assert none["distance"] is None
    assert none["reason"]


def test_korean_students_have_no_distance_to_english_people() -> None:
    found = realism(list(map(talk_of, [student("a", "모르겠어요", language="ko")])), "ko", 0.5, 3)
    assert found["distance"] is None
    assert "Korean" in found["reason"]


def test_saying_the_same_ten_times_in_a_dialogue_does_not_narrow_an_interval() -> None:
    once = [student(str(at), "one two?" if at % 2 else "one two three four five six") for at in range(20)]
    often = [student(str(at), *["one two?" if at % 2 else "one two three four five six"] * 10) for at in range(20)]
    widths: list[float] = []
    for dialogues in (once, often):
        draws = resampled(counts_of(list(map(talk_of, dialogues))), 3, "x")
        assert draws is not None
        widths.append(float(np.ptp(np.quantile(draws[:, 2], [0.025, 0.975]))))
    assert widths[1] == pytest.approx(widths[0])


@given(st.lists(st.frozensets(st.integers(0, 12), max_size=8), max_size=12), st.sampled_from([0.3, 0.5, 0.8, 1.0]))
@settings(max_examples=60, deadline=None)
def test_near_pairs_are_those_of_comparing_everything(sets: list[frozenset[int]], threshold: float) -> None:
    expected = [
        (one, other)
        for other in range(len(sets))
        for one in range(other)
        if len(sets[one]) >= 2 <= len(sets[other])
        and len(sets[one] & sets[other]) / len(sets[one] | sets[other]) >= threshold
    ]
    assert [(one, other) for one, other, _ in near_pairs(sets, threshold, 2)] == sorted(expected)
