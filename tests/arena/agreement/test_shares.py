"""Shares with intervals that respect clusters."""

from __future__ import annotations

import numpy as np
import pytest

from arena.agreement.shares import share_of


def test_independent_items_give_wilsons_interval_with_students_quantile() -> None:
    hits = [1.0] * 30 + [0.0] * 70
    share = share_of(hits, [str(at) for at in range(100)], 0.95)
    z = 1.984217
    centre, half = (0.3 + z**2 / 200) / (1 + z**2 / 100), z / (1 + z**2 / 100) * np.sqrt(0.0021 + z**2 / 40000)
    assert share.value == 0.3
    # The sample variance divides by n - 1, so the items count as 99.
    assert share.lower == pytest.approx(centre - half, abs=2e-3)
    assert share.upper == pytest.approx(centre + half, abs=2e-3)


def test_copies_of_an_item_add_no_certainty() -> None:
    rng = np.random.default_rng(1)
    hits = rng.integers(0, 2, 40).astype(float).tolist()
    names = [str(at) for at in range(40)]
    once, five = share_of(hits, names, 0.95), share_of(hits * 5, names * 5, 0.95)
    assert five.value == once.value
    assert five.lower == pytest.approx(once.lower, abs=0.01)
    assert five.upper == pytest.approx(once.upper, abs=0.01)


def test_nothing_one_cluster_and_no_variance() -> None:
    assert share_of([], [], 0.95).value is None
    alone = share_of([1.0, 0.0], ["d", "d"], 0.95)
    assert (alone.value, alone.lower, alone.upper) == (0.5, None, None)
    same = share_of([1.0] * 20, ["a", "b"] * 10, 0.95)
    assert same.upper == 1.0
    assert same.lower is not None
    assert same.lower < 0.05  # two dialogues that agree prove little, however many subsets they have


def test_coverage_with_clusters_is_near_the_level() -> None:
    rng = np.random.default_rng(7)
    inside, draws, names = 0, 400, [str(at // 4) for at in range(160)]
    for _ in range(draws):
        strength = np.repeat(rng.beta(3, 2, 40), 4)
        share = share_of((rng.random(160) < strength).astype(float).tolist(), names, 0.95)
        inside += share.lower is not None and share.upper is not None and share.lower <= 0.6 <= share.upper
    assert 0.91 <= inside / draws <= 0.99
