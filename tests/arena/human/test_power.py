"""How many documents and raters, held against the tests that a study uses."""

from __future__ import annotations

import numpy as np
import pytest

from arena.human.power import (
    Correlation,
    Difference,
    correlated_items_needed,
    correlation_limits,
    correlation_power,
    difference_power,
    items_needed,
    seen_difference,
)
from bench.power import correlation_truth, difference_truth
from runstore.problems import Problem


@pytest.mark.parametrize(("items", "raters"), [(8, 3), (30, 2)])
def test_a_claimed_power_is_what_wilcoxons_test_finds(items, raters):
    one = Difference(0.6, 0.4, 0.2, 1.0)
    true = difference_truth(one, items, raters, 1000, np.random.default_rng(1))
    assert difference_power(one, items, raters) == pytest.approx(true, abs=0.045)


def test_a_claimed_power_is_what_pearsons_test_finds():
    one = Correlation(0.6, 0.4)
    true = correlation_truth(one, 25, 3, 1000, np.random.default_rng(2))
    assert correlation_power(one, 25, 3) == pytest.approx(true, abs=0.045)


def test_five_documents_cannot_reach_a_level_of_95_percent():
    assert difference_power(Difference(10.0, 0.1, 0.0, 0.1), 5, 9) == 0.0
    assert difference_power(Difference(10.0, 0.1, 0.0, 0.1), 6, 9) == 1.0
    assert difference_power(Difference(10.0, 0.1, 0.0, 0.1), 6, 9, level=0.99) == 0.0


def test_many_documents_go_on_where_few_end():
    one = Difference(0.15, 0.5, 0.0, 1.0)
    assert difference_power(one, 201, 2) == pytest.approx(difference_power(one, 200, 2), abs=0.03)


def test_raters_differences_are_not_averaged_out_by_documents():
    assert items_needed(Difference(0.5, 0.5, 0.0, 1.0), 3) is not None
    assert items_needed(Difference(0.2, 0.5, 1.0, 1.0), 2) is None
    assert items_needed(Difference(0.0), 3) is None


def test_needed_numbers_have_the_power():
    one, two = Difference(0.5, 0.5, 0.1, 1.0), Correlation(0.5, 0.5)
    items, correlated = items_needed(one, 3), correlated_items_needed(two, 3)
    assert items is not None and correlated is not None
    assert difference_power(one, items, 3) == pytest.approx(0.8, abs=0.03)
    assert correlation_power(two, correlated, 3) >= 0.8 > correlation_power(two, correlated - 1, 3)
    assert two.seen_with(1) < two.seen_with(10) < 0.5
    low, high = correlation_limits(two, correlated, 3) or (0, 0)
    assert 0 < low < two.seen_with(3) < high
    assert correlation_limits(two, 3, 3) is None


def test_what_a_table_shows():
    generator = np.random.default_rng(3)
    table = 0.5 + 0.8 * generator.standard_normal((400, 1)) + 0.3 * generator.standard_normal((1, 12))
    table = table + generator.standard_normal((400, 12))
    table[generator.random(table.shape) < 0.2] = np.nan
    found, limits = seen_difference(table)
    assert found.item_sd == pytest.approx(0.8, abs=0.1)
    assert found.residual_sd == pytest.approx(1.0, abs=0.05)
    assert limits[0] < found.difference < limits[1]
    single, _ = seen_difference(table[:, :1])
    assert (single.item_sd, single.rater_sd) == (0.0, 0.0)
    with pytest.raises(Problem, match="items rated"):
        seen_difference(table[:1])


@pytest.mark.parametrize(
    "bad",
    [
        lambda: Difference(0.1, -1.0),
        lambda: Difference(0.1, 0.0, 0.0, 0.0),
        lambda: Correlation(1.0),
        lambda: Correlation(0.5, 0.0),
        lambda: difference_power(Difference(0.1), 10, 0),
        lambda: correlation_power(Correlation(0.5), 10, 3, level=0),
        lambda: items_needed(Difference(0.1), 3, power=1.0),
    ],
)
def test_what_is_no_plan_is_refused(bad):
    with pytest.raises(Problem):
        bad()
