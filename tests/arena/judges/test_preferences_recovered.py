"""Judges with known habits: each is found, with an interval that holds it, and what is not there is not found."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.judges.preferences import first_slot, length_preference, self_preference
from arena.ratings.settings import Settings
from tests.support.judging_crowds import Habits, crowd

HOW = Settings()
STRENGTHS = {"ada": 0.6, "bell": 0.1, "cray": -0.2, "dijkstra": -0.5}


def by_reply(replies):
    return {(reply.subset, reply.endpoint): reply for reply in replies}


def random_words(name, generator):
    return int(np.exp(generator.normal(3.5, 0.6))) + 1


def holds(effect, value):
    return effect.lower < value < effect.upper


@pytest.mark.parametrize("effect", [-0.6, 0.0, 0.9])
def test_the_first_slot(effect):
    judgments, _ = crowd(STRENGTHS, {"judge": Habits(first=effect)}, subsets=300, seed=3)
    found = first_slot(judgments, HOW)
    assert holds(found, effect)
    assert found.upper - found.lower < 0.4


def test_the_first_slot_is_nothing_else_than_the_first_slot():
    """A judge that likes long replies of the weak endpoint has no preference for a place."""
    habits = Habits(doubling=0.8, own=1.0, favours=("dijkstra",))
    judgments, _ = crowd(STRENGTHS, {"judge": habits}, subsets=300, seed=5, words=random_words)
    assert holds(first_slot(judgments, HOW), 0)


@pytest.mark.parametrize("effect", [-0.4, 0.0, 0.7])
def test_length_per_doubling(effect):
    judgments, replies = crowd(
        STRENGTHS, {"judge": Habits(doubling=effect, first=0.5)}, subsets=300, seed=8, words=random_words
    )
    characters, words = length_preference(judgments, by_reply(replies), HOW)
    assert (characters.unit, words.unit) == ("characters", "words")
    for found in (characters, words):
        assert holds(found.effect, effect)
    if effect:
        assert (words.longer_won.value > 0.5) == (effect > 0)


def test_a_better_tutor_that_writes_more_is_no_preference_for_length():
    def wordy(name, generator):
        return random_words(name, generator) * (4 if name == "ada" else 1)

    judgments, replies = crowd(
        {"ada": 1.2, "bell": 0.0, "cray": 0.0}, {"judge": Habits()}, subsets=300, words=wordy
    )
    words = length_preference(judgments, by_reply(replies), HOW)[1]
    assert words.longer_won.lower > 0.55
    assert holds(words.effect, 0)


def test_own_family_against_judges_of_other_families():
    families = {"g-judge": "g", "o-judge": "o", "ada": "g", "bell": "o", "cray": None, "dijkstra": "x"}
    judges = {"g-judge": Habits(own=0.9, favours=("ada",), first=0.3), "o-judge": Habits(first=-0.3)}
    judgments, _ = crowd(STRENGTHS, judges, subsets=300, seed=11)
    found, common = self_preference(judgments, families, HOW)
    by_judge = {one.judge: one for one in found}
    assert by_judge["g-judge"].own == ("ada",) and by_judge["o-judge"].own == ("bell",)
    assert holds(by_judge["g-judge"].effect, 0.9)
    assert holds(by_judge["o-judge"].effect, 0)
    assert 0 < common.value < 0.9


def test_two_judges_that_favour_their_own_alike_are_told_by_one_common_figure_even_with_two_endpoints():
    families = {"g-judge": "g", "o-judge": "o", "ada": "g", "bell": "o"}
    judges = {"g-judge": Habits(own=0.5, favours=("ada",)), "o-judge": Habits(own=0.5, favours=("bell",))}
    judgments, _ = crowd({"ada": 0.3, "bell": 0.0}, judges, subsets=600, seed=13)
    found, common = self_preference(judgments, families, HOW)
    assert holds(common, 0.5)
    for one in found:
        assert one.effect.value is None and "judges of other families" in one.effect.reason


def test_people_tell_one_judges_preference_from_strength():
    families = {"judge": "g", "ada": "g"}
    alone, _ = crowd(STRENGTHS, {"judge": Habits(own=1.0, favours=("ada",))}, subsets=200, seed=17)
    [found], common = self_preference(alone, families, HOW)
    assert found.effect.value is None and common.value is None
    assert "judges of other families" in found.effect.reason
    people = {f"person:{n}": Habits() for n in range(3)}
    both, _ = crowd(STRENGTHS, {"judge": Habits(own=1.0, favours=("ada",)), **people}, subsets=200, seed=17)
    [found], common = self_preference(both, families, HOW)
    assert holds(found.effect, 1.0)
    assert found.effect.value == pytest.approx(common.value, abs=1e-6)


def test_what_is_not_estimable_says_why():
    judgments, replies = crowd({"ada": 0.0, "bell": 0.0}, {"judge": Habits()}, subsets=60)
    assert first_slot([], HOW).reason == "no round could be read"
    unread, _ = crowd({"ada": 0.0, "bell": 0.0}, {"judge": Habits(unreadable=1.0)}, subsets=5)
    assert first_slot(unread, HOW).reason == "no round could be read"
    always_first = [one.model_copy(update={"winner": one.slot_a, "letter": "a"}) for one in judgments]
    assert first_slot(always_first, HOW).value is None and first_slot(always_first, HOW).reason
    assert length_preference(judgments, {}, HOW)[0].effect.reason == "no round whose replies are at hand"
    assert length_preference(judgments, by_reply(replies), HOW)[0].effect.reason == "all replies are equally long"
    fixed = {"ada": 10, "bell": 30}
    judgments, replies = crowd({"ada": 0.0, "bell": 0.0}, {"judge": Habits()}, words=lambda name, _: fixed[name])
    reason = length_preference(judgments, by_reply(replies), HOW)[0].effect.reason
    assert "all of one length" in reason
    [none], common = self_preference(judgments, {"ada": "x"}, HOW)
    assert none.effect.reason == common.reason == "the family is not known"
    [none], _ = self_preference(judgments, {"ada": "x", "judge": "y"}, HOW)
    assert none.effect.reason == "no endpoint is of the same family"
    [none], _ = self_preference(judgments, {"ada": "x", "bell": "x", "judge": "x"}, HOW)
    assert none.effect.reason == "every match was within the family or outside of it"


def test_one_dialogue_gives_an_effect_without_an_interval():
    judgments, _ = crowd(STRENGTHS, {"judge": Habits(first=0.4)}, subsets=40, per_dialogue=40, seed=2)
    found = first_slot(judgments, HOW)
    assert found.value is not None and found.lower is None and found.upper is None


@given(seed=st.integers(0, 10_000), effect=st.floats(-1.0, 1.0))
@settings(max_examples=12, deadline=None)
def test_swapping_the_slots_turns_the_effect_round_and_names_do_not_matter(seed, effect):
    judgments, _ = crowd({"x": 0.4, "y": 0.0, "z": -0.3}, {"judge": Habits(first=effect)}, subsets=40, seed=seed)
    found = first_slot(judgments, HOW).value
    swapped = [one.model_copy(update={"slot_a": one.slot_b, "slot_b": one.slot_a}) for one in judgments]
    names = {"x": "z=1", "y": "=y", "z": "</b>"}
    renamed = [
        one.model_copy(
            update={
                "slot_a": names[one.slot_a],
                "slot_b": names[one.slot_b],
                "winner": None if one.winner is None else names[one.winner],
            }
        )
        for one in reversed(judgments)
    ]
    if found is None:
        assert first_slot(swapped, HOW).value is None
        return
    assert math.isclose(first_slot(swapped, HOW).value, -found, abs_tol=1e-7)
    assert math.isclose(first_slot(renamed, HOW).value, found, abs_tol=1e-7)
