"""Inputs from which other programs make NaN, 6.0, an exception or a silent 1.0: here null and the reason."""

from __future__ import annotations

import numpy as np
import pytest

from arena.agreement.alpha import MEASUREMENTS, Measurement, cronbach, krippendorff
from arena.agreement.bland_altman import bland_altman
from arena.agreement.correlation import kendall, pearson, spearman
from arena.agreement.effects import cliffs_delta, d_av, d_z, letter, matched_rank_biserial, pooled_d
from arena.agreement.icc import icc
from arena.agreement.kappa import (
    category_counts,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    percent_agreement,
    prevalence_note,
)
from arena.agreement.paired import mcnemar, sign_test, wilcoxon
from arena.agreement.report import Settings, agree
from arena.agreement.result import Statistic, differences, find
from arena.agreement.two_groups import compare, mann_whitney, welch

N = np.nan
EQUAL = np.full((6, 3), 4.0)


def test_all_ratings_equal() -> None:
    for one in (*icc(EQUAL), cronbach(EQUAL), *(krippendorff(EQUAL, m) for m in MEASUREMENTS)):
        assert one.value is None
        assert "no variance" in (one.reason or "")
    counts, _ = category_counts(EQUAL)
    assert fleiss_kappa(counts).value is None
    assert percent_agreement(EQUAL).value == 1.0
    declared, _ = category_counts(EQUAL, [1, 2, 3, 4, 5])
    assert gwet_ac1(declared).value == 1.0
    assert "no scale" in (gwet_ac1(counts).reason or "")


def test_reversed_raters_have_no_coefficient() -> None:
    for one in icc(np.array([[1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1]], float).T):
        assert one.value is None
        assert "negative, not meaningful" in (one.reason or "")
    assert "negative" in (cronbach(np.array([[1, 2, 3, 4, 5, 7], [6, 5, 4, 3, 2, 1]], float).T).reason or "")


def test_what_float_noise_leaves_is_0() -> None:
    one_item = krippendorff(np.array([[3.0, 5.0, 4.0]]), "ratio")
    assert one_item.value == 0.0


def test_raters_who_never_change_their_mind() -> None:
    for one in icc(np.array([[2.0, 4.0]] * 5)):
        assert one.value is None
        assert "every rater gives one value" in (one.reason or "")


def test_a_missing_cell_leaves_the_other_ratings_of_the_item_in_use() -> None:
    rng = np.random.default_rng(3)
    table = np.round(rng.normal(size=(30, 1)) * 2 + rng.normal(size=(30, 4)), 1)
    full = find(icc(table), "icc_2_1")
    table[0, 1] = table[7, 3] = N
    holed = find(icc(table), "icc_2_1")
    assert (holed.n_used, holed.n) == (30, 30)
    assert holed.value == pytest.approx(full.value, abs=0.05)
    assert holed.interval is not None
    assert "2 of 120 ratings missing" in holed.notes[0]
    assert cronbach(table).n_used == 28


def test_items_rated_once_do_not_count_as_used() -> None:
    table = np.array([[1, 1], [2, 3], [4, 4], [5, N], [N, N]])
    assert (find(icc(table), "icc_1_1").n_used, krippendorff(table, "interval").n_used) == (3, 3)
    assert find(icc(table), "icc_1_1").n == 5


def test_raters_who_share_no_item_give_no_two_way_coefficient() -> None:
    table = np.full((8, 4), N)
    table[:4, :2] = [[1, 2], [3, 3], [5, 4], [2, 2]]
    table[4:, 2:] = [[1, 2], [3, 3], [5, 4], [2, 2]]
    assert "share no rater" in (find(icc(table), "icc_2_1").reason or "")
    assert find(icc(table), "icc_1_1").value is not None


def test_one_rater_or_one_item() -> None:
    for table in (np.ones((5, 1)), np.array([[1.0, 2.0]]), np.full((4, 3), N), np.empty((0, 3))):
        assert all(one.value is None for one in icc(table))
        assert cronbach(table).value is None
    assert krippendorff(np.array([[1.0], [2.0]]), "nominal").reason == "no item has two ratings"


def test_a_prevailing_category_is_explained_beside_all_three_figures() -> None:
    first, second = np.array([1.0] * 40), np.array([1.0] * 39 + [2.0])
    both = np.column_stack([first, second])
    counts, _ = category_counts(both)
    assert cohen_kappa(first, second).value == pytest.approx(0.0)
    assert krippendorff(both, "nominal").value == pytest.approx(0.0)
    assert (gwet_ac1(counts).value or 0) > 0.97
    assert "97.5%" in (prevalence_note(counts) or "")
    balanced, _ = category_counts(np.array([[1, 1], [2, 2], [1, 2], [2, 2], [1, 1]], float))
    assert prevalence_note(balanced) is None
    assert prevalence_note(category_counts(EQUAL)[0]) is None, "of one value throughout no figure is near 0"


def test_a_judge_who_is_always_six_too_high() -> None:
    teacher = np.array([12.0, 18, 25, 30, 33, 36, 20, 15])
    judge = teacher + 6
    assert pearson(judge, teacher).value == pytest.approx(1.0)
    limits = bland_altman(judge, teacher)
    assert limits.bias.value == pytest.approx(6.0)
    assert "same" in (limits.bias.interval_method or "")
    assert (find(icc(np.column_stack([judge, teacher])), "icc_2_1").value or 1) < 0.9


def test_identical_series_have_no_difference_to_test() -> None:
    found = wilcoxon([3.0] * 8, [3.0] * 8)
    assert found.p_value is None
    assert found.reason == "8 pairs, 8 tied, no difference to test"
    assert found.effect is not None
    assert found.effect.value == 0.0
    for test in (sign_test([0] * 8), mcnemar([1, 0], [1, 0])):
        assert test.p_value is None
        assert "no difference to test" in (test.reason or "")


def test_float_noise_is_no_difference() -> None:
    x, y = [0.1 + 0.2, 1.0, 0.7], [0.3, 1.0, 0.7]
    assert differences(x, y).tolist() == [0.0, 0.0, 0.0]
    assert wilcoxon(x, y).reason == "3 pairs, 3 tied, no difference to test"
    noisy = wilcoxon([0.3, 0.5, 0.9, 0.8], [0.2, 0.4, 0.8, 0.7])
    assert noisy.p_value == 0.125
    assert spearman([0.1 + 0.2, 0.3, 0.4, 0.5], [1, 1, 2, 3]).value == 1.0
    assert wilcoxon([1e-9, 2e-9, 3e-9]).n_used == 3


def test_constant_columns_have_no_correlation() -> None:
    for correlation in (pearson, spearman, kendall):
        found = correlation([1, 2, 3, 4], [2, 2, 2, 2])
        assert found.value is None
        assert "second rater" in (found.reason or "")
        assert correlation([1, N, 3], [1, 2, N]).value is None


def test_groups_without_variance() -> None:
    found = compare([3, 3, 3], [5, 5, 5], label="total")
    assert found.difference.value == -2.0
    assert found.difference.interval is None
    assert found.welch.p_value is None
    assert found.effect.value is None
    assert found.mann_whitney.p_value == pytest.approx(0.1)
    assert welch([1], [2, 3]).reason == "fewer than two values in a group"
    assert mann_whitney([2, 2], [2, 2]).p_value is None
    assert mann_whitney([], [2, 2]).reason == "a group is empty"


def test_effects_without_variance() -> None:
    assert d_z([2, 3, 4], [1, 2, 3]).value is None
    assert d_z([2, 3, 4], [2, 3, 4]).value == 0.0
    assert pooled_d([1, 1], [2, 2]).value is None
    assert pooled_d([1, 1], [1, 1]).value == 0.0
    assert d_av([1, 1], [2, 2]).value is None
    assert matched_rank_biserial([], []).value is None
    assert cliffs_delta([], [1.0]).value is None


@pytest.mark.parametrize(
    ("d", "expected"),
    [(0.0, "N"), (0.199, "N"), (0.2, "S"), (-0.49, "S"), (0.5, "M"), (0.8, "M"), (0.1 * 8, "M"), (-0.81, "L")],
)
def test_letters(d: float, expected: str) -> None:
    assert letter(d) == expected
    assert letter(None) is None


def test_a_figure_is_finite_or_has_a_reason() -> None:
    with pytest.raises(ValueError, match="no reason"):
        Statistic("k", "K", None, 0, 3)
    with pytest.raises(ValueError, match="finite"):
        Statistic("k", "K", float("nan"), 1, 3)


def test_values_off_the_declared_scale_are_refused() -> None:
    with pytest.raises(ValueError, match="value 6 is not on the declared scale"):
        cohen_kappa([1, 2, 6], [1, 2, 3], scale=[1, 2, 3, 4, 5])
    with pytest.raises(ValueError, match="0 and 1"):
        mcnemar([1, 2], [0, 1])


def test_no_table_however_odd_gives_a_warning_or_a_figure_that_is_not_finite() -> None:
    rng = np.random.default_rng(0)
    kinds: tuple[Measurement, ...] = MEASUREMENTS
    for turn in range(150):
        n, k = int(rng.integers(1, 14)), int(rng.integers(1, 5))
        whole = rng.integers(0, int(rng.integers(1, 5)) + 1, (n, k)).astype(np.float64)
        table = whole * float(rng.choice([1, 0.1, 1000]))
        table[rng.random(table.shape) < float(rng.choice([0, 0.3, 0.8]))] = N
        agree(table, [str(j) for j in range(k)], Settings(kinds[turn % 4], resamples=20))
        x, y = table[:, 0], table[:, -1]
        compare(x, y)
        for effect in (pooled_d, d_z, d_av, matched_rank_biserial, cliffs_delta):
            effect(x, y)
        for test in (wilcoxon, sign_test):
            test(x, y)
