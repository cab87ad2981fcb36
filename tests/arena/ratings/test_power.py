"""How many dialogues, subsets and rounds tell two endpoints apart, from votes within matches within dialogues."""

from __future__ import annotations

import numpy as np
import pytest

from arena.ratings.battles import from_columns
from arena.ratings.components import Seen, components, of_battles, of_verdicts
from arena.ratings.leaderboard import build
from arena.ratings.power import (
    Plan,
    detectable,
    dialogues_needed,
    gap_of_win_rate,
    named,
    power_of,
    spendings,
    win_rate_of_gap,
)
from arena.ratings.votes import Votes, chances, moments
from bench.power import naive, outcomes, run_of, simulated
from runstore.problems import Problem
from runstore.records import Verdict, Vote
from tests.support.battles import battles_of

WORDS = np.array(["model_b", "tie", "model_a"])


def test_the_rule_that_is_planned_for_is_the_leaderboards_own():
    generator = np.random.default_rng(5)
    told = set()
    for _ in range(60):
        dialogues, subsets = int(generator.integers(4, 26)), int(generator.integers(1, 5))
        votes = Votes(float(generator.normal(0.4, 1.0)), 0.5, 0.5, 0.3)
        found = outcomes(votes, Plan(dialogues, subsets), 1, generator)[0]
        board = build(
            from_columns(
                ["x"] * found.size,
                ["y"] * found.size,
                WORDS[found.ravel() + 1].tolist(),
                cluster=np.repeat(np.arange(dialogues), subsets).astype(str).tolist(),
            )
        )
        pair = board.pairs[0]
        nets = np.arange(-subsets, subsets + 1.0)
        counts = np.bincount(found.sum(1) + subsets, minlength=len(nets))[None, :]
        mine = bool(named(nets, counts, subsets, 0.95)[0])
        assert mine == (pair.decision == ("a" if pair.a == "x" else "b")), (dialogues, subsets, counts)
        told.add(mine)
    assert told == {True, False}


@pytest.mark.parametrize("gap", [0.3, 1.0])
@pytest.mark.parametrize("subset_sd", [0.0, 1.5])
@pytest.mark.parametrize("dialogue_sd", [0.0, 1.0])
@pytest.mark.parametrize("plan", [Plan(10, 3, 3), Plan(60, 2, 1)])
def test_what_is_claimed_is_what_simulated_votes_find(gap, subset_sd, dialogue_sd, plan):
    votes = Votes(gap, subset_sd, dialogue_sd, 0.4)
    assert power_of(votes, plan) == pytest.approx(simulated(votes, plan, 3000, np.random.default_rng(2)), abs=0.03)


def test_subsets_that_differ_and_calls_that_repeat_are_not_taken_for_independent_votes():
    votes, plan = Votes(0.3, 0.5), Plan(100, 1, 3)
    true = simulated(votes, plan, 3000, np.random.default_rng(3))
    assert power_of(votes, plan) == pytest.approx(true, abs=0.03)
    assert naive(votes, plan) > true + 0.05


def test_more_evidence_of_every_kind_helps_and_dialogues_most():
    votes = Votes(0.5, 0.7, 0.7, 0.3)
    start = power_of(votes, Plan(30, 2, 1))
    assert (
        start < power_of(votes, Plan(30, 2, 3)) < power_of(votes, Plan(30, 6, 1)) < power_of(votes, Plan(90, 2, 1))
    )
    assert power_of(votes, Plan(30, 2, 1), pairs=6) < start
    assert power_of(votes, Plan(30, 2, 1), level=0.99) < start < power_of(votes, Plan(30, 2, 1), level=0.8)
    assert power_of(Votes(-0.5, 0.7, 0.7, 0.3), Plan(30, 2, 1)) == pytest.approx(start, abs=0.03)
    assert power_of(votes, Plan(4, 50, 3)) == 0.0, "below the floor nothing is told apart"


def test_the_needed_dialogues_have_the_power_and_fewer_have_not():
    votes = Votes(0.6, 0.5, 0.5, 0.3)
    needed = dialogues_needed(votes, Plan(0, 2, 1))
    assert needed is not None
    assert power_of(votes, Plan(needed, 2, 1)) == pytest.approx(0.8, abs=0.03)
    assert power_of(votes, Plan(round(0.8 * needed), 2, 1)) < 0.8
    assert dialogues_needed(votes, Plan(0, 2, 1), level=0.99) > needed
    assert dialogues_needed(Votes(0.0), Plan(0)) is None
    assert dialogues_needed(Votes(0.0005, 0.5), Plan(0)) is None


def test_the_detectable_win_rate_has_the_power_at_the_level_that_was_asked_for():
    shape = Votes(0.0, 0.5, 0.5, 0.3)
    for level in (0.8, 0.99):
        rate = detectable(shape, Plan(60, 2), level=level)
        assert rate is not None
        gap = gap_of_win_rate(rate, 0.5, 0.5, moments(shape, 1).tied)
        assert power_of(gap, Plan(60, 2), level) == pytest.approx(0.8, abs=0.05)
    assert detectable(shape, Plan(60, 2), level=0.8) < detectable(shape, Plan(60, 2), level=0.99)
    assert detectable(shape, Plan(5, 1)) is None
    assert win_rate_of_gap(400) == pytest.approx(10 / 11)


def test_a_win_rate_and_ties_are_those_of_single_votes():
    votes = gap_of_win_rate(0.65, 0.8, 0.6, 0.25)
    shown = moments(votes, 1)
    assert (shown.win_rate, shown.tied) == pytest.approx((0.65, 0.25), abs=1e-6)
    assert gap_of_win_rate(0.5).gap == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    "bad",
    [
        lambda: gap_of_win_rate(1.0),
        lambda: gap_of_win_rate(0.6, ties=1.0),
        lambda: Votes(0.1, subset_sd=-1),
        lambda: Plan(5, 0),
        lambda: power_of(Votes(0.1), Plan(10), level=1.0),
        lambda: dialogues_needed(Votes(0.1), Plan(0), power=0.0),
    ],
)
def test_what_is_no_plan_is_refused(bad):
    with pytest.raises(Problem):
        bad()


def test_calls_are_spent_on_subsets_before_rounds_unless_subsets_do_not_differ_or_dialogues_run_out():
    best = spendings(600, Votes(0.3, 1.0, 0.3, 0.3), 2, draws=1000)
    assert (best[0].plan.rounds, best[0].plan.matches) == (1, 600)
    assert all(one.plan.calls <= 600 for one in best)
    same = {(one.plan.rounds, one.plan.rule): one.power for one in spendings(240, Votes(0.3), 1, draws=2000)}
    assert same[3, "mean"] == pytest.approx(same[1, "majority"], abs=0.04)
    assert same[3, "majority"] < same[3, "mean"]
    held = spendings(600, Votes(0.3, 1.0, 0.3), dialogues=50, draws=500)
    assert {one.plan.dialogues for one in held} == {50}
    assert {one.plan.subsets for one in held} == {12, 6, 4, 2}


def test_the_model_is_found_from_its_own_votes():
    votes = Votes(0.4, 1.0, 0.6, 0.3)
    seen = run_of(votes, Plan(3000, 3, 3), np.random.default_rng(3))
    found = components(seen, subset_sd=1.0, dialogue_sd=0.5, draws=5)
    assert found.votes.gap == pytest.approx(0.4, abs=0.06)
    assert found.votes.subset_sd == pytest.approx(1.0, abs=0.12)
    assert found.votes.dialogue_sd == pytest.approx(0.6, abs=0.12)
    assert found.votes.ties == pytest.approx(0.3, abs=0.03)
    assert found.knows_subsets and found.knows_dialogues


def test_what_nothing_repeats_is_assumed_and_said():
    single = run_of(Votes(0.4, 1.0, 0.6, 0.3), Plan(400, 1, 1), np.random.default_rng(4))
    found = components(single, subset_sd=0.7, dialogue_sd=0.2, draws=3)
    assert (found.knows_subsets, found.knows_dialogues) == (False, False)
    assert (found.votes.subset_sd, found.votes.dialogue_sd) == pytest.approx((0.7, 0.2), abs=1e-3)
    rounds = components(
        run_of(Votes(0.4, 1.0, 0.0), Plan(400, 1, 3), np.random.default_rng(4)),
        subset_sd=0.7,
        dialogue_sd=0.2,
        draws=3,
    )
    assert (rounds.knows_subsets, rounds.knows_dialogues) == (True, False)


def test_a_range_from_few_dialogues_is_wide_and_mostly_holds_the_true_power():
    votes, wanted, inside = Votes(0.5, 0.5, 0.5, 0.4), Plan(60, 2, 3), 0
    true = power_of(votes, wanted)
    for number in range(12):
        seen = run_of(votes, Plan(15, 2, 3), np.random.default_rng([9, number]))
        found = components(seen, subset_sd=1.0, dialogue_sd=0.5, draws=40, identity=(str(number),))
        powers = [power_of(one, wanted, draws=150) for one in (found.votes, *found.draws)]
        low, high = np.quantile(powers, [0.025, 0.975])
        inside += low - 0.03 <= true <= high + 0.03
    assert inside >= 10


def test_votes_of_verdicts_and_of_battles_are_counted_for_the_pair():
    verdicts = [
        Verdict(
            subset=f"s{n}",
            dialogue=f"d{n // 2}",
            endpoints=("B", "A"),
            criterion="overall",
            outcome="win",
            winner="A",
            agreement="majority",
            votes=tuple(
                Vote(judge="j", round=k, outcome=outcome, winner=winner)
                for k, (outcome, winner) in enumerate(
                    [("win", "A"), ("win", "B"), ("tie", None), ("unreadable", None)], 1
                )
            ),
        )
        for n in range(4)
    ]
    seen = of_verdicts(verdicts, "A", "B")
    assert (seen.matches, seen.dialogues, seen.rounds) == (4, 2, 3)
    assert (seen.won.sum(), seen.lost.sum(), seen.tied.sum()) == (4, 4, 4)
    plain = of_battles(
        battles_of([("X", "Y", "model_a")] * 3 + [("Y", "X", "tie"), ("X", "Z", "model_b")]), "Y", "X"
    )
    assert (plain.won.sum(), plain.lost.sum(), plain.tied.sum(), plain.dialogues) == (0, 3, 1, 4)
    with pytest.raises(Problem, match="no decided vote"):
        components(of_battles(battles_of([("X", "Y", "tie")] * 3), "X", "Y"), subset_sd=1, dialogue_sd=0)


def test_a_pair_that_won_every_vote_has_a_finite_gap():
    seen = Seen(np.arange(6), np.full(6, 3.0), np.zeros(6), np.zeros(6))
    found = components(seen, subset_sd=1.0, dialogue_sd=0.5, draws=10)
    assert 1 < found.votes.gap < 10


def test_chances_add_up_and_ties_take_from_both():
    table = chances(np.array([-1.0, 0.0, 2.0]), 0.5)
    assert table.sum(-1) == pytest.approx([1, 1, 1])
    assert table[1, 0] == table[1, 2]
