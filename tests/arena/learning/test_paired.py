"""The mean of clustered differences: its interval holds what it says it holds."""

from __future__ import annotations

import numpy as np
import pytest

from arena.learning.paired import clustered_mean


def test_it_is_the_t_interval_of_the_clusters_where_they_are_of_one_size() -> None:
    values = [1.0, 3.0, 2.0, 4.0, 5.0, 5.0, 0.0, 2.0, 3.0, 1.0]
    found = clustered_mean(values, [name for name in "abcde" for _ in range(2)])
    means = np.array(values).reshape(5, 2).mean(axis=1)
    half = 2.7764451 * means.std(ddof=1) / 5**0.5
    assert (found.value, found.clusters) == (pytest.approx(2.6), 5)
    assert (found.lower, found.upper) == (pytest.approx(2.6 - half), pytest.approx(2.6 + half))


def test_below_five_clusters_there_is_no_interval() -> None:
    found = clustered_mean([1.0, 2.0, 3.0, 4.0], list("abcd"))
    assert (found.value, found.lower, found.reason) == (2.5, None, "4 clusters, 5 needed")
    assert clustered_mean([], []).reason == "no values"


def test_equal_tutors_are_called_different_as_often_as_said() -> None:
    """Four subsets a dialogue with a luck of their own: by subset it would be thrice as often."""
    drawn, called, by_subset = np.random.default_rng(3), 0, 0
    for _ in range(400):
        luck = np.repeat(drawn.normal(0, 0.04, 60), 4)
        values = [float(x) for x in luck + drawn.normal(0, 0.06, 240)]
        found = clustered_mean(values, [str(at // 4) for at in range(240)])
        alone = clustered_mean(values, [str(at) for at in range(240)])
        called += not (found.lower or 0) <= 0 <= (found.upper or 0)
        by_subset += not (alone.lower or 0) <= 0 <= (alone.upper or 0)
    assert 0.03 <= called / 400 <= 0.07
    assert by_subset / 400 > 0.12
