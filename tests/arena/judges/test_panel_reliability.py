"""A panel of judges of known reliability: their order is found, and the ratings are freed of the bad ones."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.judges.reliability import panel
from tests.support.judging_crowds import Habits, crowd

STRENGTHS = {"ada": 1.2, "bell": 0.4, "cray": -0.4, "dijkstra": -1.2}
JUDGES = {
    "sharp": Habits(reliability=0.97),
    "good": Habits(reliability=0.85),
    "weak": Habits(reliability=0.68),
    "coin": Habits(reliability=0.5),
}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_order_of_reliability_and_of_strength_is_found(seed):
    judgments, _ = crowd(STRENGTHS, JUDGES, subsets=200, seed=seed)
    found = panel(judgments)
    assert found.converged
    by_name = {one.name: one for one in found.judges}
    assert sorted(by_name, key=lambda name: -by_name[name].value) == list(JUDGES)
    assert by_name["coin"].lower < 0.5 < by_name["coin"].upper
    assert by_name["weak"].lower > 0.5
    ratings = {one.name: one.value for one in found.endpoints}
    assert sorted(ratings, key=lambda name: -ratings[name]) == list(STRENGTHS)
    assert sum(ratings.values()) == pytest.approx(4000)


def test_a_judge_that_says_the_opposite_is_found_out_and_turned_round():
    judges = {"one": Habits(), "two": Habits(), "contrary": Habits(reliability=0.05)}
    judgments, _ = crowd(STRENGTHS, judges, subsets=100, seed=4)
    found = {one.name: one for one in panel(judgments).judges}
    assert found["contrary"].upper < 0.5 < found["one"].lower


def test_noise_shrinks_the_vote_but_not_the_model():
    """Half of the votes are a coin's: counted alike they halve every gap; weighed by reliability they do not."""
    judges = {
        "sharp": Habits(),
        "sharp too": Habits(),
        "coin": Habits(reliability=0.5),
        "die": Habits(reliability=0.5),
    }
    judgments, _ = crowd(STRENGTHS, judges, subsets=300, seed=6)
    found = {one.name: one for one in panel(judgments).endpoints}
    gap = (found["ada"].value - found["dijkstra"].value) * math.log(10) / 400
    truth = STRENGTHS["ada"] - STRENGTHS["dijkstra"]
    assert gap == pytest.approx(truth, abs=0.5)
    assert gap > 1.5 * truth / 2


def test_one_judge_is_no_panel_and_two_endpoints_rest_on_the_prior():
    judgments, _ = crowd(STRENGTHS, {"judge": Habits()}, subsets=10)
    alone = panel(judgments)
    assert alone.reason == "1 judges; at least 2 are needed" and alone.judges == ()
    assert panel([]).reason
    pair, _ = crowd({"a": 0.5, "b": -0.5}, {"one": Habits(), "two": Habits(reliability=0.7)}, subsets=100)
    assert "prior" in panel(pair).note
    one_dialogue, _ = crowd(STRENGTHS, JUDGES, subsets=10, per_dialogue=10)
    assert all(one.lower is None for one in panel(one_dialogue).judges)


def test_coins_are_not_reliable_because_the_prior_says_so():
    """Two judges that flip coins over endpoints of any strength: null with the reason, but for one time in 100."""
    coins = {"coin": Habits(reliability=0.5), "die": Habits(reliability=0.5)}
    found = [panel(crowd(STRENGTHS, coins, subsets=60, seed=seed)[0]) for seed in range(40)]
    unknown = [one for one in found if one.judges == ()]
    assert len(unknown) >= 38
    for one in unknown:
        assert one.endpoints == () and "coin flips" in one.reason and "prior's 0.9" in one.reason


def test_judges_of_equal_endpoints_have_no_reliability_either():
    equal = dict.fromkeys(STRENGTHS, 0.0)
    found = panel(crowd(equal, {"one": Habits(), "two": Habits()}, subsets=100, seed=3)[0])
    assert found.judges == () and found.reason


def test_an_undefeated_endpoint_and_ties_stay_finite():
    judgments, _ = crowd({"a": 30.0, "b": 0.0, "c": 0.0}, {"one": Habits(ties=0.2), "two": Habits()}, subsets=50)
    found = panel(judgments)
    assert found.converged
    assert all(math.isfinite(one.value) for one in (*found.endpoints, *found.judges))


@given(seed=st.integers(0, 10_000))
@settings(max_examples=4, deadline=None)
def test_neither_names_nor_order_matter(seed):
    judgments, _ = crowd({"x": 0.8, "y": 0.0, "z": -0.8}, JUDGES, subsets=40, seed=seed)
    names = {"x": "zz", "y": "=y()", "z": "a"}
    benches = dict(zip(JUDGES, ("q", "b", "x", "0"), strict=True))
    renamed = [
        one.model_copy(
            update={
                "judge": benches[one.judge],
                "slot_a": names[one.slot_a],
                "slot_b": names[one.slot_b],
                "winner": None if one.winner is None else names[one.winner],
            }
        )
        for one in reversed(judgments)
    ]
    one, other = panel(judgments), panel(renamed)
    there = {each.name: each.value for each in (*other.judges, *other.endpoints)}
    for each in one.judges:
        assert there[benches[each.name]] == pytest.approx(each.value, abs=2e-3)
    for each in one.endpoints:
        assert there[names[each.name]] == pytest.approx(each.value, abs=1.0)


def test_dialogues_that_all_say_the_same_give_the_panel_no_intervals():
    """Nine copies of one dialogue are told from coin flips, and say nothing of how far dialogues differ."""
    one, _ = crowd(STRENGTHS, {"one": Habits(), "two": Habits(reliability=0.8)}, subsets=6, seed=3)
    copies = [
        judgment.model_copy(update={"dialogue": f"d{copy}", "subset": f"{judgment.subset} {copy}"})
        for copy in range(9)
        for judgment in one
    ]
    found = panel(copies)
    assert (
        found.reason is None
        and found.note == "no interval: 9 dialogues that all say the same; an interval takes 5 that differ"
    )
    assert all((each.lower, each.upper) == (None, None) for each in (*found.judges, *found.endpoints))
