"""Tests by betting: worked values, what may never happen, and how often they are wrong with constant peeking."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.sequential.evidence import (
    BETS,
    log_threshold,
    log_wealth_path,
    mean_limits,
    pair_test,
)

SCORES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=1, max_size=60)


def test_wealth_is_the_mean_of_the_bets_products():
    path = log_wealth_path([1, 1, 0, 0.5])
    after_two = np.mean((1 + BETS) ** 2)
    assert np.exp(path) == pytest.approx(
        [
            np.mean(1 + BETS),
            after_two,
            np.mean((1 + BETS) ** 2 * (1 - BETS)),
            np.mean((1 + BETS) ** 2 * (1 - BETS)),
        ]
    )


def test_wealth_is_a_fair_game_under_equal_chances():
    """The mean over all 2^10 equally likely sequences is exactly 1 at every step."""
    every = (np.arange(1024)[:, None] >> np.arange(10)) & 1
    assert np.exp(log_wealth_path(every)).mean(axis=0) == pytest.approx(np.ones(10))


@given(SCORES)
@settings(max_examples=50, deadline=None)
def test_sides_swap_and_ties_alone_say_nothing(scores):
    one, other = pair_test(scores, 0.05), pair_test([1 - score for score in scores], 0.05)
    assert one.winner == (None if other.winner is None else -other.winner)
    assert one.after == other.after
    assert one.log_wealth == pytest.approx(other.log_wealth[::-1])
    assert pair_test([0.5] * len(scores), 0.05).log_wealth == (0.0, 0.0)
    assert pair_test([*scores, *[0.5] * 9], 0.05).winner == one.winner


@given(SCORES)
@settings(max_examples=30, deadline=None)
def test_a_winner_is_certain_exactly_when_the_interval_leaves_one_half(scores):
    looks = [mean_limits(scores[:n], 0.05) for n in range(1, len(scores) + 1)]
    lower, upper = np.array(looks).T
    assert (lower <= upper).all()
    assert (np.diff(lower) >= 0).all()
    assert (np.diff(upper) <= 0).all()
    leaves = (lower >= 0.5 - 1e-9) | (upper <= 0.5 + 1e-9)
    after = pair_test(scores, 0.05).after
    assert (after or 0) == (int(leaves.argmax()) + 1 if leaves.any() else 0)


@given(SCORES, st.integers(0, 60))
@settings(max_examples=30, deadline=None)
def test_what_has_no_verdict_moves_no_limit(scores, at):
    known = mean_limits(scores, 0.05)
    at = min(at, len(scores))
    gained, held = [*scores[:at], 0.0, *scores[at:]], [*[1.0] * at, 0.0, *[1.0] * (len(scores) - at)]
    assert mean_limits(gained, 0.05, held) == known


def test_one_sided_rows_are_told_apart_soon_and_equal_ones_rarely_ever():
    assert pair_test([1.0] * 30, 0.05).winner == 1
    assert (pair_test([1.0] * 30, 0.05).after or 99) <= 9
    generator = np.random.default_rng(5)
    scores = generator.choice([0.0, 0.5, 1.0], p=[0.4, 0.2, 0.4], size=(1000, 300))
    paths = np.maximum(log_wealth_path(scores), log_wealth_path(1 - scores))
    wrong = (paths.max(axis=1) >= log_threshold(0.05)).mean()
    assert wrong <= 0.05
    z = np.abs(np.cumsum(scores - 0.5, axis=1)) / np.sqrt(np.cumsum((scores - 0.5) ** 2, axis=1) + 1e-9)
    assert (z[:, 9:] > 1.96).any(axis=1).mean() > 0.2


def test_whole_dialogues_keep_the_rate_where_single_subsets_break_it():
    """Five subsets of a dialogue all end alike: taken one by one, equal endpoints are often told apart."""
    generator = np.random.default_rng(6)
    dialogues = generator.choice([0.0, 1.0], size=(400, 60))
    wrong = {"dialogues": 0, "subsets": 0}
    for row in dialogues:
        scores = np.repeat(row, 5)
        wrong["dialogues"] += pair_test(scores.reshape(-1, 5).mean(axis=1), 0.05).winner is not None
        wrong["subsets"] += pair_test(scores, 0.05).winner is not None
    assert wrong["dialogues"] <= 0.05 * 400
    assert wrong["subsets"] > 0.15 * 400


def test_limits_hold_the_mean_at_every_look():
    generator = np.random.default_rng(7)
    missed, looks = 0, (10, 20, 40, 80, 150)
    for _ in range(60):
        scores = generator.choice([0.0, 0.5, 1.0], p=[0.2, 0.2, 0.6], size=150)
        limits = np.array([mean_limits(scores[:n], 0.05) for n in looks])
        missed += bool(((limits[:, 0] > 0.7) | (limits[:, 1] < 0.7)).any())
    assert missed <= 3
    assert limits[-1, 1] - limits[-1, 0] < 0.35


def test_what_is_no_score_and_no_error_is_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        pair_test([0.5, 1.2], 0.05)
    with pytest.raises(ValueError, match="between 0 and 1"):
        mean_limits([float("nan")], 0.05)
    with pytest.raises(ValueError, match="error"):
        log_threshold(0.0)
    assert mean_limits([], 0.05) == (0.0, 1.0)
    assert pair_test([], 0.05).winner is None
