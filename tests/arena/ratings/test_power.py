"""How many matches, and how to spend calls."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from arena.ratings.battles import from_columns
from arena.ratings.power import (
    Contrast,
    detectable,
    matches_needed,
    observed,
    plans,
    power_of,
    subset_effect,
    win_rate_of_gap,
)
from runstore.problems import Problem
from runstore.records import Verdict, Vote
from tests.support.battles import battles_of, rows_of


@pytest.mark.parametrize("rate", [0.55, 0.6, 0.75, 0.25])
def test_the_needed_number_is_the_first_from_which_on_the_power_holds(rate: float):
    needed = matches_needed(Contrast(rate))

    assert needed is not None
    assert all(power_of(Contrast(rate), n) >= 0.8 for n in range(needed, needed + 40))
    assert power_of(Contrast(rate), needed - 1) < 0.8


def test_the_power_is_that_of_the_exact_test():
    wins = np.arange(101)
    two_sided = np.array([min(1.0, 2 * binom.cdf(min(w, 100 - w), 100, 0.5)) for w in wins])
    rejects = (two_sided <= 0.05) & (wins > 50)

    assert power_of(Contrast(0.6), 100) == pytest.approx(binom.pmf(wins, 100, 0.6)[rejects].sum(), abs=1e-12)


def test_ties_and_dependence_ask_for_more_and_no_gap_for_no_number():
    plain, tied, dependent = (
        matches_needed(c) for c in (Contrast(0.6), Contrast(0.6, ties=0.5), Contrast(0.6, design_effect=2))
    )

    assert plain is not None and tied is not None and dependent is not None
    assert tied == pytest.approx(2 * plain, abs=2) and dependent == pytest.approx(2 * plain, abs=2)
    assert matches_needed(Contrast(0.5)) is None and matches_needed(Contrast(0.50001)) is None
    assert power_of(Contrast(0.9), 0) == 0.0


def test_the_detectable_win_rate_has_the_power_that_was_asked_for():
    rate = detectable(200)

    assert rate is not None
    assert power_of(Contrast(rate), 200) == pytest.approx(0.8, abs=1e-6)
    assert detectable(3) is None
    assert win_rate_of_gap(400) == pytest.approx(10 / 11)


@pytest.mark.parametrize(
    "bad", [{"win_rate": 1.0}, {"win_rate": 0.6, "ties": 1.0}, {"win_rate": 0.6, "design_effect": 0.0}]
)
def test_shares_that_are_none_are_refused(bad: dict[str, float]):
    with pytest.raises(Problem):
        Contrast(**bad)


def test_what_a_finished_run_shows():
    contrast, matches = observed(battles_of(rows_of([("X", "Y", 30, 10, 10)])), "Y", "X")

    assert (contrast.win_rate, contrast.ties, matches) == (0.25, 0.2, 50)
    one_sided, _ = observed(battles_of(rows_of([("X", "Y", 5, 0, 0)])), "X", "Y")
    assert one_sided.win_rate == 0.9
    copied = [row for row in rows_of([("X", "Y", 20, 10, 0)]) for _ in range(3)]
    clustered = from_columns(
        *([row[k] for row in copied] for k in range(3)), cluster=[str(n // 3) for n in range(len(copied))]
    )
    assert observed(clustered, "X", "Y")[0].design_effect == pytest.approx(3)
    with pytest.raises(Problem, match="no decided match"):
        observed(battles_of([("X", "Y", "tie")]), "X", "Y")
    with pytest.raises(Problem, match="no model 'Z'"):
        observed(battles_of([("X", "Y", "tie")]), "X", "Z")


def test_more_subsets_come_before_more_rounds_unless_subsets_do_not_differ():
    best = plans(600, 0.3, 1.0)[0]
    assert (best.rounds, best.subsets) == (1, 600)
    same = {(plan.rounds, plan.rule): plan.z for plan in plans(600, 0.3, 0.0)}
    assert same[3, "mean"] == pytest.approx(same[1, "majority"], rel=1e-9)
    assert same[3, "majority"] < same[3, "mean"]


@pytest.mark.parametrize(("rounds", "effect"), [(1, 1.0), (3, 1.0), (3, 2.0)])
def test_the_planned_z_is_what_simulation_finds(rounds: int, effect: float):
    generator = np.random.default_rng(1)
    chance = 1 / (1 + np.exp(-(0.3 + effect * generator.normal(size=(3000, 200)))))
    votes = generator.binomial(rounds, chance)
    score = np.sign(2 * votes - rounds)
    z = (score.mean(1) / (score.std(1) / np.sqrt(200))).mean()
    planned = {(plan.rounds, plan.rule): plan.z for plan in plans(200 * rounds, 0.3, effect)}

    assert planned[rounds, "majority"] == pytest.approx(z, rel=0.04)


def test_the_effect_of_subsets_is_found_from_repeated_rounds():
    generator = np.random.default_rng(3)
    verdicts: list[Verdict] = []
    for n in range(3000):
        chance = 1 / (1 + np.exp(-(0.4 + 1.2 * generator.normal())))
        winners = ["A" if generator.random() < chance else "B" for _ in range(3)]
        verdicts.append(
            Verdict(
                subset=f"s{n}",
                dialogue=f"d{n}",
                endpoints=("A", "B"),
                criterion="overall",
                outcome="win",
                winner=max(set(winners), key=winners.count),
                agreement="majority",
                votes=tuple(
                    Vote(judge="j", round=k, outcome="win", winner=winner) for k, winner in enumerate(winners, 1)
                ),
            )
        )

    assert subset_effect(verdicts) == pytest.approx(1.2, abs=0.15)
    assert subset_effect([]) is None
