"""What must not matter does not matter, and what must hold holds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.agreement.alpha import MEASUREMENTS, cronbach, krippendorff
from arena.agreement.bland_altman import bland_altman
from arena.agreement.icc import icc
from arena.agreement.kappa import category_counts, cohen_kappa, fleiss_kappa, gwet_ac1, gwet_ac2
from arena.agreement.result import FloatArray, Statistic, find


def tables(gaps: float = 0.0, seed: int = 0, *, low: int = 1, high: int = 6) -> FloatArray:
    rng = np.random.default_rng(seed)
    truth = rng.integers(low, high, size=(25, 1))
    table = np.clip(truth + rng.integers(-1, 2, size=(25, 4)), low, high - 1).astype(float)
    table[rng.random(table.shape) < gaps] = np.nan
    return table


def figures(table: FloatArray) -> dict[str, Statistic]:
    counts, _ = category_counts(table, [1, 2, 3, 4, 5])
    every = [*icc(table), *(krippendorff(table, m) for m in MEASUREMENTS)]
    every += [fleiss_kappa(counts), gwet_ac1(counts), gwet_ac2(counts, "quadratic"), cronbach(table)]
    return {one.key: one for one in every}


def same(first: dict[str, Statistic], second: dict[str, Statistic]) -> None:
    assert first.keys() == second.keys()
    for key, one in first.items():
        assert second[key].value == pytest.approx(one.value, abs=1e-9), key


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), gaps=st.sampled_from([0.0, 0.2]))
def test_order_of_items_and_raters_does_not_matter(seed: int, gaps: float) -> None:
    table = tables(gaps, seed)
    rng = np.random.default_rng(seed)
    same(figures(table), figures(table[rng.permutation(25)][:, rng.permutation(4)]))


def test_the_order_of_items_does_not_move_an_interval() -> None:
    table = tables(0.2, 1)
    shuffled = table[np.random.default_rng(1).permutation(25)]
    for measurement in MEASUREMENTS:
        first, second = krippendorff(table, measurement), krippendorff(shuffled, measurement)
        assert first.interval == pytest.approx(second.interval)
    for first, second in zip(icc(table), icc(shuffled), strict=True):
        assert first.interval == pytest.approx(second.interval)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_renaming_categories_leaves_nominal_figures_alone(seed: int) -> None:
    table = tables(0.2, seed)
    renamed = np.array([np.nan, 40.0, 7.0, 300.0, -2.0, 11.0])[np.nan_to_num(table).astype(int)]
    first, _ = category_counts(table)
    second, _ = category_counts(renamed)
    value = krippendorff(table, "nominal").value
    assert krippendorff(renamed, "nominal").value == pytest.approx(value)
    assert fleiss_kappa(second).value == pytest.approx(fleiss_kappa(first).value)
    assert gwet_ac1(second).value == pytest.approx(gwet_ac1(first).value)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_rising_transformations_leave_ordinal_and_linear_ones_interval_alpha_alone(seed: int) -> None:
    table = tables(0.2, seed)
    ordinal, interval = (krippendorff(table, m).value for m in ("ordinal", "interval"))
    assert krippendorff(np.exp(table), "ordinal").value == pytest.approx(ordinal)
    assert krippendorff(3 * table - 40, "interval").value == pytest.approx(interval)
    assert find(icc(0.01 * table + 5), "icc_2_1").value == pytest.approx(find(icc(table), "icc_2_1").value)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_items_that_nobody_or_one_rated_add_nothing_to_alpha(seed: int) -> None:
    table = tables(0.2, seed)
    more = np.vstack([table, np.full((2, 4), np.nan), [[5.0, np.nan, np.nan, np.nan]]])
    for measurement in MEASUREMENTS:
        value = krippendorff(table, measurement).value
        assert krippendorff(more, measurement).value == pytest.approx(value)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_cronbach_is_the_consistency_of_the_mean(seed: int) -> None:
    table = tables(0.0, seed)
    expected = find(icc(table), "icc_3_k")
    assert cronbach(table).value == pytest.approx(expected.value, abs=1e-10)
    assert cronbach(table).interval == pytest.approx(expected.interval, abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_swapping_raters_keeps_kappa_and_turns_the_bias(seed: int) -> None:
    table = tables(0.2, seed)
    x, y = table[:, 0], table[:, 1]
    scale = [1, 2, 3, 4, 5]
    for weights in ("none", "linear", "quadratic"):
        first = cohen_kappa(x, y, scale=scale, weights=weights)
        second = cohen_kappa(y, x, scale=scale, weights=weights)
        assert first.value == pytest.approx(second.value)
        assert first.interval == pytest.approx(second.interval)
    assert bland_altman(x, y).bias.value == pytest.approx(-(bland_altman(y, x).bias.value or 0))


def test_quadratic_kappa_is_icc_like_and_two_category_weights_are_plain() -> None:
    table = tables(seed=3, low=1, high=3)
    plain = cohen_kappa(table[:, 0], table[:, 1], scale=[1, 2])
    for weights in ("linear", "quadratic"):
        weighted = cohen_kappa(table[:, 0], table[:, 1], scale=[1, 2], weights=weights)
        assert weighted.value == pytest.approx(plain.value)
        assert weighted.interval == pytest.approx(plain.interval)


def test_identity_weights_make_ac2_into_ac1() -> None:
    counts, _ = category_counts(tables(0.2, 9), [1, 2, 3, 4, 5])
    assert gwet_ac2(counts, "none").value == pytest.approx(gwet_ac1(counts).value)


def test_a_weight_matrix_follows_the_order_of_the_declared_scale() -> None:
    x, y = [1, 2, 3, 1, 2, 3, 1], [1, 3, 3, 2, 2, 1, 1]
    weights = [[0, 1, 3], [1, 0, 6], [3, 6, 0]]
    turned = [[0, 6, 3], [6, 0, 1], [3, 1, 0]]
    first = cohen_kappa(x, y, scale=[1, 2, 3], weights=weights)
    assert cohen_kappa(x, y, scale=[3, 2, 1], weights=turned).value == pytest.approx(first.value)
    assert first.name == "Cohen's weighted kappa, custom weights"


def test_intervals_cover_about_as_often_as_they_say() -> None:
    rng = np.random.default_rng(12)
    truth = 4 / (4 + 1 + 1)
    hits = {"complete": 0, "gaps": 0}
    for _ in range(120):
        table = rng.normal(0, 2, (60, 1)) + rng.normal(0, 1, (1, 12)) + rng.normal(0, 1, (60, 12))
        low, high = find(icc(table), "icc_2_1").interval or (2, 2)
        hits["complete"] += low <= truth <= high
        alone = rng.normal(0, 2, (60, 1)) + rng.normal(0, np.sqrt(2), (60, 3))
        alone[rng.random(alone.shape) < 0.15] = np.nan
        low, high = find(icc(alone), "icc_1_1").interval or (2, 2)
        hits["gaps"] += low <= truth <= high
    assert hits["complete"] >= 105
    assert hits["gaps"] >= 102


def ratings_of(categories: int, items: int, seed: int) -> FloatArray:
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=(items, 1)) + 0.7 * rng.normal(size=(items, 3))
    return np.digitize(latent, np.quantile(latent, np.linspace(0, 1, categories + 1)[1:-1])) + 1.0


def test_limits_that_presume_normal_ratings_stand_on_scales_and_not_on_two_categories() -> None:
    methods = {
        (categories, items): find(icc(ratings_of(categories, items, 3)), "icc_2_1").interval_method
        for categories in (2, 5)
        for items in (8, 30)
    }
    assert methods[5, 8].startswith("F distribution")
    assert methods[5, 30].startswith("F distribution")
    assert methods[2, 30] == "jackknife over 30 items, t"
    assert methods[2, 8] == "no interval: 8 items, fewer than 10 where ratings can't be normal"


def test_ratings_heaped_at_one_end_have_no_limits_that_presume_normal_ones() -> None:
    table = np.minimum(ratings_of(5, 30, 4) + 3, 5)
    assert table.min() == 4
    heaped = np.where(ratings_of(9, 30, 4) < 2, 1.0, np.minimum(ratings_of(9, 30, 4), 5))
    for one in (table, heaped):
        assert "F distribution" not in find(icc(one), "icc_1_1").interval_method
