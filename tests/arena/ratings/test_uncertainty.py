"""Intervals, tests and ranks: against each other, against closed forms, and under dependence."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest

from arena.agreement.holm import holm
from arena.ratings.battles import Battles, from_columns
from arena.ratings.bootstrap import quantiles
from arena.ratings.estimate import SCALE, estimate
from arena.ratings.leaderboard import build
from arena.ratings.settings import Settings
from arena.ratings.significance import binomial_interval, sign_flip_test, sign_test
from arena.ratings.uncertainty import gap_deviation
from arena.ratings.winrates import against
from tests.support.battles import battles_of, model, random_rows, ratings, rows_of


def _clustered(seed: int, copies: int = 3, clusters: int = 60, models: int = 4) -> Battles:
    """Every battle ``copies`` times in its cluster: as dependent as can be."""
    rows = [row for row in random_rows(seed, models, clusters - models) for _ in range(copies)]
    names = [f"d{n // copies}" for n in range(len(rows))]
    return from_columns(*([row[k] for row in rows] for k in range(3)), cluster=names, cluster_name="dialogue")


def test_the_sandwich_of_one_pair_is_the_closed_form():
    found = estimate(battles_of(rows_of([("a", "b", 60, 30, 0)])), Settings(intervals="sandwich"))

    assert found.covariance is not None
    gap = gap_deviation(found.covariance)[0, 1]
    assert gap == pytest.approx(np.sqrt(1 / 60 + 1 / 30), rel=1e-9)


def test_ties_as_halves_make_the_sandwich_narrower_than_the_inverse_information():
    found = estimate(battles_of(rows_of([("a", "b", 40, 20, 40)])), Settings(intervals="sandwich"))

    assert found.covariance is not None and found.fitted is not None
    robust = gap_deviation(found.covariance)[0, 1]
    assert robust < 0.9 * gap_deviation(found.fitted.curvature)[0, 1]
    assert robust == pytest.approx(np.sqrt((0.6 - 0.2**2) / 100) / (2 * 0.24), rel=1e-6)


@pytest.mark.parametrize("ties", ["half", "davidson", "rao_kupper"])
def test_bootstrap_by_refit_and_by_one_step_agree_with_the_sandwich(ties: str):
    battles = battles_of(random_rows(6, 4, 900))
    common = Settings(ties=ties, resamples=400, intervals="bootstrap")  # pyright: ignore[reportArgumentType]
    sandwich = estimate(battles, replace(common, intervals="sandwich"))

    assert sandwich.covariance is not None
    expected = np.sqrt(np.diag(sandwich.covariance))
    for refit in ("exact", "one-step"):
        draws = estimate(battles, replace(common, refit=refit)).draws  # pyright: ignore[reportArgumentType]
        assert draws is not None and draws.refit == refit
        assert draws.values.std(0) == pytest.approx(expected, rel=0.15)


def test_repeating_each_battle_in_its_cluster_does_not_narrow_anything():
    three, one = _clustered(1, copies=3), _clustered(1, copies=1)
    for method in ("jackknife", "sandwich", "bootstrap"):
        settings = Settings(intervals=method)
        wide, plain = build(three, settings), build(one, settings)
        naive = build(three, replace(settings, clustered=False))
        assert wide.intervals.cluster == "dialogue" and naive.intervals.cluster is None
        for name in three.names:
            widths = [
                (model(board, name).upper or np.nan) - (model(board, name).lower or np.nan)
                for board in (wide, plain, naive)
            ]
            assert widths[0] == pytest.approx(widths[1], rel=1e-6)
            assert widths[2] < 0.75 * widths[0]


def test_the_same_seed_gives_the_same_figures_and_another_seed_others():
    battles = _clustered(2)
    first, again, other = (build(battles, Settings(intervals="bootstrap", seed=seed)) for seed in (3, 3, 4))

    assert first.to_json() == again.to_json()
    assert [entry.lower for entry in first.models] != [entry.lower for entry in other.models]
    assert ratings(first) == ratings(other)


def test_many_clusters_take_the_normal_limit_and_agree(monkeypatch):
    from arena.ratings import bootstrap, sandwich

    battles = _clustered(3, clusters=300)
    settings = Settings(intervals="bootstrap", refit="one-step", resamples=4000)
    picked = estimate(battles, settings).draws
    monkeypatch.setattr(bootstrap, "_MANY_CLUSTERS", 10)
    limit = estimate(battles, settings).draws
    monkeypatch.setattr(sandwich, "_DENSE_SCORES", 10)
    sparse = estimate(battles, settings).draws

    assert picked is not None and limit is not None and sparse is not None
    assert limit.note is not None and "normal limit" in limit.note
    assert limit.values.std(0) == pytest.approx(picked.values.std(0), rel=0.08)
    assert sparse.values == pytest.approx(limit.values)


def test_weighted_battles_without_clusters_are_resampled_with_their_variance():
    rows = random_rows(7, 4, 600)
    columns = [[row[k] for row in rows] for k in range(3)]
    weight = np.where(np.arange(len(rows)) % 5 == 0, 4.0, 0.5)
    battles = from_columns(*columns, weight=weight)
    sandwich = estimate(battles, Settings(intervals="sandwich"))
    draws = estimate(battles, Settings(intervals="bootstrap", refit="one-step", resamples=4000)).draws

    assert sandwich.covariance is not None and draws is not None
    assert draws.values.std(0) == pytest.approx(np.sqrt(np.diag(sandwich.covariance)), rel=0.08)


def test_gaps_come_from_the_full_covariance_and_survive_an_anchor():
    battles = battles_of(random_rows(9, 5, 400))
    plain, anchored = (build(battles, Settings(intervals="sandwich", anchor=a)) for a in (None, ("m1", 1200.0)))

    gaps = {(pair.a, pair.b): (pair.gap, pair.gap_lower, pair.gap_upper) for pair in plain.pairs}
    assert gaps == {(pair.a, pair.b): (pair.gap, pair.gap_lower, pair.gap_upper) for pair in anchored.pairs}
    fixed = model(anchored, "m1")
    assert (fixed.lower, fixed.rating, fixed.upper) == (1200, 1200, 1200)
    wider = [(model(anchored, n).upper or 0) - (model(anchored, n).lower or 0) for n in ("m0", "m2")]
    usual = [(model(plain, n).upper or 0) - (model(plain, n).lower or 0) for n in ("m0", "m2")]
    assert all(a > b for a, b in zip(wider, usual, strict=True))


def test_decisions_and_rank_ranges_follow_the_gaps():
    results = [("A", "B", 55, 45, 0), ("A", "C", 95, 5, 0), ("B", "C", 90, 10, 0)]
    for method in ("jackknife", "bootstrap", "sandwich"):
        board = build(battles_of(rows_of(results)), Settings(intervals=method))
        decisions = {(pair.a, pair.b): pair.decision for pair in board.pairs}
        assert decisions == {("A", "B"): "not told apart", ("A", "C"): "a", ("B", "C"): "a"}
        assert [entry.rank_range for entry in board.models] == [(1, 2), (1, 2), (3, 3)]


def test_no_intervals_asked_for_means_none_given():
    board = build(battles_of(random_rows(1, 3, 60)), Settings(intervals="none"))

    assert all((entry.lower, entry.upper, entry.rank_range) == (None, None, None) for entry in board.models)
    assert board.intervals.method == "none" and board.intervals.level is None


@pytest.mark.parametrize(("wins", "losses"), [(7, 3), (0, 5), (10, 10), (180, 140)])
def test_the_sign_test_is_the_exact_binomial_test(wins: int, losses: int):
    assert sign_test(wins, losses) == pytest.approx(binomtest(wins, wins + losses).pvalue, abs=1e-12)
    net = np.array([1] * wins + [-1] * losses)
    assert sign_flip_test(net) == pytest.approx(binomtest(wins, wins + losses).pvalue, abs=1e-9)


def test_the_sign_flip_test_is_the_enumeration():
    net = np.array([3, -1, 2, 2, 0, 5, -2])
    sums = [sum(s * v for s, v in zip(signs, net, strict=True)) for signs in product((1, -1), repeat=len(net))]
    expected = np.mean([abs(value) >= abs(net.sum()) for value in sums])

    assert sign_flip_test(net) == pytest.approx(expected, abs=1e-12)
    assert sign_flip_test(np.array([0, 0])) is None and sign_test(0, 0) is None


def test_a_pair_is_tested_by_whole_clusters():
    three, one = _clustered(4, copies=3, models=2), _clustered(4, copies=1, models=2)

    assert build(three).pairs[0].p_value == pytest.approx(build(one).pairs[0].p_value, abs=1e-9)
    assert build(three).counts.pair_test == "exact sign-flip test by cluster"
    naive = build(three, Settings(clustered=False))
    assert (naive.pairs[0].p_value or 0) <= (build(three).pairs[0].p_value or 0)


def test_weighted_battles_in_clusters_say_that_their_test_is_not_exact():
    rows = _rows(8, [("a", "b")])
    weighted = build(from_columns(*rows[:3], cluster=rows[3], weight=[0.5 + n % 3 for n in range(len(rows[0]))]))

    assert weighted.counts.pair_test == "normal test of weighted wins"
    assert weighted.pairs[0].p_value is not None and weighted.pairs[0].smallest_p is None


def test_a_gap_without_limits_says_why():
    few = build(from_columns(*(rows := _rows(3, [("a", "b")]))[:3], cluster=rows[3], cluster_name="dialogue"))
    assert (few.pairs[0].gap_lower, few.pairs[0].gap_upper) == (None, None)
    assert few.pairs[0].reason == "no interval: 3 dialogues; an interval takes 5 that differ"

    alone, once = _rows(8, [("a", "b")]), _rows(1, [("a", "c")])
    columns = [[*one, *other] for one, other in zip(alone, once, strict=True)]
    columns[3][-len(once[3]) :] = ["d99"] * len(once[3])
    hangs = build(from_columns(*columns[:3], cluster=columns[3], cluster_name="dialogue"))
    assert (pair := hangs.pair("a", "b")) is not None and pair.gap_lower is not None and pair.reason is None
    assert (pair := hangs.pair("a", "c")) is not None and pair.gap is not None and pair.gap_lower is None
    assert pair.reason == "no interval: without one dialogue it has no estimate"

    prior = build(from_columns(["a"] * 6, ["b"] * 6, ["model_a"] * 6), Settings(prior=1))
    assert prior.pairs[0].gap is not None and prior.pairs[0].gap_lower is None
    assert prior.pairs[0].reason == "the gap comes from the prior, so it has no interval"


def _rows(clusters: int, pairs: list[tuple[str, str]]) -> list[list[str]]:
    """Columns of battles that go both ways in each cluster, and not in all clusters alike."""
    kinds = [["model_a", "model_b", "model_a"], ["model_b", "model_a"]]
    rows = [(a, b, won, f"d{g}") for g in range(clusters) for a, b in pairs for won in kinds[g % 2]]
    return [list(column) for column in zip(*rows, strict=True)]


def test_holm_is_stepwise_and_leaves_gaps_alone():
    assert holm([0.01, 0.04, None, 0.03]) == pytest.approx([0.03, 0.06, None, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_clopper_pearson_and_the_win_rate_against_a_reference():
    assert binomial_interval(8, 10, 0.95) == pytest.approx((0.4439, 0.9748), abs=1e-4)
    assert binomial_interval(0, 0, 0.95) is None
    battles = battles_of(rows_of([("ref", "X", 2, 8, 0), ("Y", "X", 1, 1, 0)]))
    board = build(battles, Settings(reference="ref"))

    found = model(board, "X").reference
    assert found is not None
    assert (found.win_rate, found.matches) == (0.8, 10)
    assert (found.lower, found.upper) == pytest.approx((0.4439, 0.9748), abs=1e-4)
    assert model(board, "Y").reference is None


def test_the_reference_interval_is_by_cluster_where_there_are_clusters():
    three, one = _clustered(5, copies=3), _clustered(5, copies=1)

    for left, right in zip(against(three, 0, 0.95)[1:], against(one, 0, 0.95)[1:], strict=True):
        assert left is not None and right is not None
        assert left[:3] == pytest.approx(right[:3], abs=1e-9)


def test_quantiles_count_infinite_draws_as_extremes_and_leave_missing_ones_out():
    draws = np.stack([np.arange(100.0), np.where(np.arange(100) < 10, np.inf, np.arange(100.0))], axis=1)
    draws[::2, 0] = np.nan
    lower, upper = quantiles(draws, 0.9)

    assert lower[0] == pytest.approx(1 + 0.05 * 98) and np.isfinite(lower[1])
    assert upper[1] == np.inf


def test_rating_points_are_four_hundred_per_factor_of_ten():
    assert SCALE * np.log(10) == pytest.approx(400)
