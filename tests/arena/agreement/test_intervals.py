"""Intervals hold their own estimate, go by clusters, are null where they could not be trusted, and cost little."""

from __future__ import annotations

import tracemalloc

import krippendorff as reference
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from arena.agreement.alpha import MEASUREMENTS, Measurement, cronbach, krippendorff
from arena.agreement.effects import cliffs_delta
from arena.agreement.icc import icc
from arena.agreement.kappa import (
    category_counts,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac2,
    mean_item_agreement,
    percent_agreement,
)
from arena.agreement.report import agree
from arena.agreement.result import FloatArray, Statistic, find
from bench.agreement import DESIGNS
from frontdesk.report.sentences import spoken

N = np.nan
SCALE = [1, 2, 3, 4, 5]


def rated(items: int, raters: int, seed: int, spread: float = 1.0) -> FloatArray:
    rng = np.random.default_rng(seed)
    return np.clip(np.round(3 + rng.normal(0, 1.3, (items, 1)) + rng.normal(0, spread, (items, raters))), 1, 5)


def every(table: FloatArray, clusters: list[str] | None = None) -> list[Statistic]:
    counts, _ = category_counts(table, SCALE)
    return [
        *(krippendorff(table, kind, clusters=clusters) for kind in MEASUREMENTS),
        fleiss_kappa(counts, clusters=clusters),
        gwet_ac1(counts, clusters=clusters),
        gwet_ac2(counts, "quadratic", clusters=clusters),
        percent_agreement(table, clusters=clusters),
        *(
            cohen_kappa(table[:, 0], table[:, 1], scale=SCALE, weights=weights, clusters=clusters)
            for weights in ("none", "quadratic")
        ),
    ]


@settings(max_examples=40, deadline=None)
@given(
    items=st.integers(2, 40),
    raters=st.integers(2, 4),
    seed=st.integers(0, 10_000),
    spread=st.sampled_from([0.2, 1.0, 3.0]),
)
def test_an_interval_holds_its_own_estimate_or_is_null_with_a_reason(items, raters, seed, spread):
    table = rated(items, raters, seed, spread)
    for one in (*every(table), *icc(table)):
        if one.interval is None:
            assert one.reason or one.interval_method
        else:
            assert one.interval[0] <= one.value <= one.interval[1] <= 1, one


def test_a_rater_who_is_always_one_higher_gets_limits_around_the_figure():
    first = np.arange(10.0, 38.0)
    for kind in ("ordinal", "interval", "ratio"):
        found = krippendorff(np.column_stack([first, first + 1]), kind)
        assert found.interval[0] <= found.value <= found.interval[1]


def test_too_few_items_have_no_interval_and_say_so():
    for one in every(rated(9, 3, 1)):
        if one.key != "percent_agreement":
            assert one.value is not None and one.interval is None
            assert "fewer than" in one.interval_method
    weighted = gwet_ac2(category_counts(rated(29, 3, 1), SCALE)[0], "quadratic")
    assert weighted.interval is None and weighted.interval_method == "no interval: 29 items, fewer than 30"


def test_a_category_that_hardly_occurs_gives_no_interval():
    table = np.ones((60, 3))
    table[:5, 0] = 2
    assert "5 items hold another rating" in krippendorff(table, "nominal").interval_method
    assert "5 items hold another rating" in fleiss_kappa(category_counts(table, [1, 2])[0]).interval_method
    assert gwet_ac1(category_counts(table, [1, 2])[0]).interval is not None


@pytest.mark.parametrize("is_one_pair_of_labels", [True, False])
def test_complete_disagreement_has_no_interval(is_one_pair_of_labels: bool):
    """Only the chance agreement moves when an item is left out: the limits would be a hair's breadth apart."""
    first = np.arange(20) % 2 if is_one_pair_of_labels else 2 * np.arange(20)
    second = 1 - first if is_one_pair_of_labels else first + 1
    table = np.column_stack([first, second]).astype(float)
    counts, _ = category_counts(table)
    for found in (
        gwet_ac1(counts),
        fleiss_kappa(counts),
        krippendorff(table, "nominal"),
        *(krippendorff(table, kind) for kind in MEASUREMENTS if is_one_pair_of_labels),
        cohen_kappa(first, second),
    ):
        assert found.value is not None
        assert found.value <= 0
        assert found.interval is None
        assert found.interval_method == "no interval: the items show no spread"


@pytest.mark.parametrize(("items", "apart"), [(20, 1), (20, 2), (100, 1), (400, 1)])
def test_an_interval_that_is_everything_says_what_it_hangs_on(items: int, apart: int):
    """Left out, the intervals that are made would be those of samples without what is rare."""
    first = np.arange(items) % 2 + 1.0
    second = np.where(np.arange(items) < apart, 3 - first, first)
    table = np.column_stack([first, second])
    counts, _ = category_counts(table)
    found = (gwet_ac1(counts), fleiss_kappa(counts), krippendorff(table, "nominal"), cohen_kappa(first, second))
    for one in found:
        assert one.value == pytest.approx(1 - 2 * apart / items, abs=0.01)
        assert one.interval == (-1.0, 1.0)
    over, unit = (f"{items} items in 100 groups", "groups") if items > 100 else (f"{items} items", "items")
    held = f"{apart} of {min(items, 100)} {unit} hold what moves it, so it reaches from -1 to 1"
    assert found[-1].interval_method == f"jackknife over {over}, t; {held}"
    assert "잭나이프, t; 값을 움직이는 것이" in spoken(found[-1].interval_method, "ko")
    assert percent_agreement(table).interval is not None


def test_where_many_items_move_a_figure_few_are_not_said_to_hold_it():
    """Twelve items, five of them in dispute: the limits are everything because twelve are few."""
    first = np.array([1.0] * 9 + [2.0] * 3)
    second = np.array([1.0] * 6 + [2.0] * 3 + [1.0] * 2 + [2.0])
    found = gwet_ac1(category_counts(np.column_stack([first, second]), [1, 2])[0])
    assert found.value == pytest.approx(0.29, abs=0.01)
    assert found.interval == (-1.0, 1.0)
    assert found.interval_method == "jackknife over 12 items, t; from 12 items it reaches from -1 to 1"
    assert spoken(found.interval_method, "ko").endswith("; 항목 12개로는 -1에서 1까지 전부가 됨")


@pytest.mark.parametrize("items", [3, 20])
def test_cronbachs_alpha_has_the_limits_of_the_coefficient_that_it_is(items: int):
    """Ratings that can't be normal have no F limits under this name either."""
    table = np.ones((items, 2))
    table[: items // 3, 0] = table[: items // 3, 1] = 2
    table[0, 1] = 1
    alpha, mean_of_k = cronbach(table), find(icc(table), "icc_3_k")
    assert (alpha.value, alpha.interval, alpha.interval_method) == (
        mean_of_k.value, mean_of_k.interval, mean_of_k.interval_method
    )  # fmt: skip


@pytest.mark.parametrize("kind", MEASUREMENTS)
def test_what_is_left_out_goes_together(kind: Measurement):
    """Twelve copies of each item are twelve times as many items, and no more clusters."""
    table = rated(20, 3, 5)
    names = [f"dialogue {number}" for number in range(20)]
    copied, clusters = np.repeat(table, 12, axis=0), [name for name in names for _ in range(12)]
    alone, clustered, blind = (
        krippendorff(table, kind, clusters=names),
        krippendorff(copied, kind, clusters=clusters),
        krippendorff(copied, kind),
    )
    widths = [high - low for low, high in (one.interval for one in (alone, clustered, blind))]
    assert widths[1] == pytest.approx(widths[0], rel=0.1)
    assert widths[2] < 0.5 * widths[0]
    assert "20 clusters" in clustered.interval_method


def test_pairs_of_judges_go_by_cluster_too():
    table = np.repeat(rated(20, 2, 5), 12, axis=0)
    clusters = [f"dialogue {number}" for number in range(20) for _ in range(12)]
    for blind, clustered in zip(every(table), every(table, clusters), strict=True):
        assert blind.value == clustered.value
        if clustered.interval is not None:
            widths = [one.interval[1] - one.interval[0] for one in (blind, clustered)]
            assert widths[1] > 1.5 * widths[0], blind.key
    alone = percent_agreement(table, clusters=["one"] * len(table))
    assert alone.interval is None and alone.interval_method == "no interval: a single cluster"


def test_percent_agreement_counts_pairs_and_the_mean_of_items_has_its_own_name():
    """An item of five raters with six agreeing pairs of ten, and 28 pairs of two that all agree: 34 of 38."""
    table = np.full((29, 5), N)
    table[0] = [1, 1, 1, 1, 2]
    table[1:, :2] = 1
    found = percent_agreement(table)
    assert found.value == pytest.approx(34 / 38)
    assert found.notes == ("34 of 38 pairs of ratings",)
    assert found.name == "Percent agreement (share of pairs of ratings that agree)"
    by_item = mean_item_agreement(table)
    assert by_item.value == pytest.approx((28 + 0.6) / 29)
    assert by_item.name.startswith("Mean over items")


def test_mean_of_raters_has_limits_in_order_or_none():
    found = {one.key: one for one in icc([[4, 3], [3, 3], [4, 3], [1, 2], [2, 4]])}
    assert found["icc_2_k"].value == pytest.approx(0.4166667)
    assert found["icc_2_k"].interval is None and "5 items, fewer than 10" in found["icc_2_k"].interval_method
    more = {one.key: one for one in icc([[2, 4], [4, 1], [6, 5], [2, 1], [1, 5]])}
    assert more["icc_2_k"].interval is None and "-1 / (k - 1)" in more["icc_2_k"].interval_method
    assert more["icc_2_1"].interval[0] == -1
    for one in (*found.values(), *more.values()):
        assert one.interval is None or one.interval[0] <= one.value <= one.interval[1] <= 1


def test_leaving_out_is_exact():
    """Items left out one by one by the reference package give the same standard error."""
    table = rated(14, 3, 3)
    for kind in MEASUREMENTS:
        value = reference.alpha(reliability_data=table.T, level_of_measurement=kind)
        left = [
            reference.alpha(reliability_data=np.delete(table, at, 0).T, level_of_measurement=kind)
            for at in range(len(table))
        ]
        error = np.sqrt(np.square(np.array(left) - value).sum())
        low, high = krippendorff(table, kind).interval
        t = stats.t.ppf(0.975, len(table) - 1)
        assert high - low >= 2 * t * error * 0.8
        assert low <= value - t * error + 1e-3


def test_many_values_of_ratio_data_are_summed_as_few_are():
    rng = np.random.default_rng(1)
    table = np.abs(np.round(rng.normal(3, 2, (700, 1)) + rng.normal(0, 1, (700, 3)), 4))
    table[0, 0] = table[5, 1] = 0

    def distance(x: FloatArray) -> float:
        whole = x[:, None] + x[None, :]
        return float(np.square(np.divide(x[:, None] - x, whole, out=np.zeros_like(whole), where=whole > 0)).sum())

    observed, flat = sum(distance(row) for row in table) / 2, table.ravel()
    expected = 1 - (len(flat) - 1) * observed / distance(flat)
    assert krippendorff(table, "ratio").value == pytest.approx(expected, abs=1e-10)


def test_thousands_of_items_with_decimals_stay_small():
    rng = np.random.default_rng(1)
    table = np.round(rng.normal(50, 10, (6000, 1)) + rng.normal(0, 5, (6000, 3)), 3)
    tracemalloc.start()
    found = {kind: krippendorff(table, kind) for kind in MEASUREMENTS}
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6, "18,000 values have 324 million pairs"
    for kind in ("ordinal", "interval", "ratio"):
        assert found[kind].value > 0.7
        assert found[kind].interval is not None
    assert "not categories" in agree(table[:60], ["a", "b", "c"]).statistic("krippendorff_nominal").reason


def test_an_effect_of_many_values_keeps_nothing_of_values_by_values():
    rng = np.random.default_rng(2)
    first, second = rng.normal(0.3, 1, 20_000), rng.normal(0, 1, 20_000)
    tracemalloc.start()
    found = cliffs_delta(first, second)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6, "20,000 x 20,000 signs take 3,200 MB"
    assert found.interval[0] < found.value < found.interval[1]
    few = cliffs_delta(first[:60], second[:50])
    assert few.value == np.sign(first[:60, None] - second[None, :50]).mean()


def test_f_limits_give_way_where_most_items_are_rated_alike():
    """Twelve of twenty items alike: the few disagreements are no normal error."""
    table = np.repeat(np.arange(20)[:, None] % 5 + 1.0, 3, axis=1)
    table[:8, 0] = np.where(table[:8, 0] < 5, table[:8, 0] + 1, 4)
    for one in icc(table)[:3]:
        assert (
            one.interval_method == "jackknife over 20 items, t" and one.interval[0] < one.value < one.interval[1]
        )
    table[8:11, 1] = np.where(table[8:11, 1] < 5, table[8:11, 1] + 1, 4)
    assert all(one.interval_method.startswith("F distribution") for one in icc(table)[:3])


def test_below_ten_items_a_table_heaped_at_one_end_has_no_limits():
    """A skewness between 0.7 and 1: too much for F at eight items, and not at sixteen."""
    table = np.array([[5, 4], [5, 4], [4, 5], [3, 4], [5, 3], [2, 1], [4, 3], [4, 5]], dtype=float)
    few, many = icc(table), icc(np.concatenate([table, table]))
    assert all(
        one.interval is None
        and one.interval_method == "no interval: 8 items, fewer than 10 where ratings can't be normal"
        for one in few
    )
    assert all(one.interval_method.startswith("F distribution") for one in many)


def test_limits_of_nearly_perfect_ratings_hold_the_truth():
    """Five points, correlation .97, 50 items: F held it in 89 of 100 draws (the long series is in bench)."""
    design = next(one for one in DESIGNS if "nearly perfect" in one.name)
    rng = np.random.default_rng(4)
    truth = {one.key: one.value for one in icc(design.draw(50_000, rng)[0])}
    held = [
        one.interval[0] <= truth[one.key] <= one.interval[1]
        for _ in range(100)
        for one in icc(design.draw(50, rng)[0])[:3]
        if one.interval is not None
    ]
    assert len(held) > 250 and np.mean(held) > 0.94
