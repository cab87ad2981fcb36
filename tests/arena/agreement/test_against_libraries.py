"""The same figures from other libraries, on random data."""

from __future__ import annotations

import itertools
import math
from typing import Any

import krippendorff as reference
import numpy as np
import pytest
from scipy import stats

from arena.agreement.alpha import MEASUREMENTS, krippendorff
from arena.agreement.correlation import kendall, pearson, spearman
from arena.agreement.holm import holm
from arena.agreement.paired import ZeroRule, mcnemar, sign_test, wilcoxon
from arena.agreement.two_groups import mann_whitney, mean_difference, welch


def test_alpha_equals_the_reference_package_on_300_random_tables_with_gaps() -> None:
    rng = np.random.default_rng(11)
    compared = 0
    for _ in range(300):
        items, raters = int(rng.integers(2, 40)), int(rng.integers(2, 7))
        table = rng.integers(1, int(rng.integers(3, 8)), size=(items, raters)).astype(float)
        table[rng.random(table.shape) < rng.uniform(0, 0.6)] = np.nan
        for measurement in MEASUREMENTS:
            ours = krippendorff(table, measurement)
            pairable = table[np.isfinite(table).sum(axis=1) >= 2]
            if len(np.unique(pairable[np.isfinite(pairable)])) < 2:
                assert ours.value is None
                continue
            theirs = reference.alpha(reliability_data=table.T, level_of_measurement=measurement)
            assert ours.value == pytest.approx(theirs, abs=1e-10)
            compared += 1
    assert compared > 1000


def test_correlations_equal_scipy() -> None:
    rng = np.random.default_rng(5)
    for _ in range(30):
        x = rng.integers(0, 6, 25).astype(float)
        y = x + rng.integers(0, 5, 25)
        assert pearson(x, y).value == pytest.approx(stats.pearsonr(x, y).statistic)
        assert pearson(x, y).interval == pytest.approx(tuple(stats.pearsonr(x, y).confidence_interval(0.95)))
        assert spearman(x, y).value == pytest.approx(stats.spearmanr(x, y).statistic)
        assert kendall(x, y).value == pytest.approx(stats.kendalltau(x, y).statistic)


@pytest.mark.parametrize("zeros", ["wilcox", "pratt"])
def test_exact_signed_ranks_equal_a_listing_of_every_sign_pattern(zeros: str) -> None:
    rng = np.random.default_rng(8)
    for _ in range(12):
        d = rng.integers(-3, 5, int(rng.integers(4, 10))).astype(float)
        if not d.any():
            continue
        kept = d[d != 0] if zeros == "wilcox" else d
        ranks = stats.rankdata(np.abs(kept))
        moving, observed = ranks[kept != 0], ranks[kept > 0].sum()
        sums = [
            sum(r for r, up in zip(moving, signs, strict=True) if up)
            for signs in itertools.product((False, True), repeat=len(moving))
        ]
        upper, lower = np.mean([s >= observed for s in sums]), np.mean([s <= observed for s in sums])
        found = wilcoxon(d, zeros=zeros)  # pyright: ignore[reportArgumentType]
        assert found.p_value == pytest.approx(min(1.0, 2 * min(upper, lower)))


def test_signed_ranks_equal_scipy_without_ties_and_for_many_pairs() -> None:
    rng = np.random.default_rng(2)
    few = rng.normal(0.4, 1, 18)
    assert wilcoxon(few).p_value == pytest.approx(stats.wilcoxon(few, method="exact").pvalue)
    many = rng.integers(-4, 6, 60).astype(float)
    theirs: Any = stats.wilcoxon
    rules: dict[ZeroRule, str] = {"wilcox": "wilcox", "pratt": "pratt", "split": "zsplit"}
    for ours, name in rules.items():
        expected = theirs(many, zero_method=name, method="asymptotic").pvalue
        assert wilcoxon(many, zeros=ours).p_value == pytest.approx(expected)


def test_sign_and_mcnemar_are_binomial() -> None:
    assert sign_test([1, 1, 1, -1, 0, 2]).p_value == pytest.approx(stats.binomtest(4, 5).pvalue)
    x, y = [1] * 12 + [0] * 8, [1] * 5 + [0] * 7 + [0] * 6 + [1] * 2
    assert mcnemar(x, y).p_value == pytest.approx(stats.binomtest(7, 9).pvalue)
    assert mcnemar(x, y).n_used == 9


def test_mann_whitney_equals_scipy_without_ties_and_a_listing_with_ties() -> None:
    rng = np.random.default_rng(6)
    x, y = rng.normal(0, 1, 12), rng.normal(0.7, 1, 15)
    theirs = stats.mannwhitneyu(x, y, method="exact")
    assert mann_whitney(x, y).statistic == theirs.statistic
    assert mann_whitney(x, y).p_value == pytest.approx(theirs.pvalue)
    a, b = [1, 2, 2, 3], [2, 3, 3, 4, 4]
    ranks = stats.rankdata(a + b)
    sums = [float(ranks[list(chosen)].sum()) for chosen in itertools.combinations(range(9), 4)]
    centre = sum(sums) / len(sums)
    gap = abs(float(ranks[:4].sum()) - centre)
    as_far = sum(abs(one - centre) >= gap - 1e-9 for one in sums)
    assert mann_whitney(a, b).p_value == pytest.approx(as_far / len(sums))
    many_x, many_y = rng.integers(0, 6, 50).astype(float), rng.integers(1, 7, 40).astype(float)
    expected = stats.mannwhitneyu(many_x, many_y, method="asymptotic", use_continuity=False).pvalue
    assert mann_whitney(many_x, many_y).p_value == pytest.approx(expected)


def test_welch_equals_scipy() -> None:
    rng = np.random.default_rng(9)
    x, y = rng.normal(0, 1, 20), rng.normal(0.5, 3, 12)
    theirs = stats.ttest_ind(x, y, equal_var=False)
    assert welch(x, y).p_value == pytest.approx(theirs.pvalue)
    assert mean_difference(x, y).interval == pytest.approx(tuple(theirs.confidence_interval(0.95)))


def test_holm_equals_its_definition_and_keeps_tests_without_p_out_of_the_family() -> None:
    p = [0.01, 0.04, 0.03, 0.005]
    assert holm(p) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.01, None, 0.04]) == [0.02, None, 0.04]
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([math.nan])
