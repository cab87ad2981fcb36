"""Published worked examples, to the digits in which they are printed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from arena.agreement.alpha import MEASUREMENTS, Measurement, cronbach, krippendorff
from arena.agreement.effects import d_av, d_z, hedges_g, matched_rank_biserial, pooled_d
from arena.agreement.icc import icc, mean_squares
from arena.agreement.kappa import category_counts, cohen_kappa, fleiss_kappa, gwet_ac1, kappa_from_counts
from arena.agreement.paired import wilcoxon
from arena.agreement.result import find

N = np.nan
SHROUT_FLEISS = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float
)
KRIPPENDORFF = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, N, N, N],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, N, 3],
        [N, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, N],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, N],
    ]
).T
WIKIPEDIA = np.array(
    [
        [N, N, N, N, N, 3, 4, 1, 2, 1, 1, 3, 3, N, 3],
        [1, N, 2, 1, 3, 3, 4, 3, N, N, N, N, N, N, N],
        [N, N, 2, 1, 3, 4, 4, N, 2, 1, 1, 3, 3, N, 4],
    ]
).T
FLEISS = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip
A = [4, 5, 3, 4, 5, 4, 2, 5, 4, 3, 4, 5]
B = [3, 4, 3, 2, 4, 4, 3, 3, 3, 3, 2, 4]


def test_shrout_and_fleiss_mean_squares() -> None:
    found = mean_squares(SHROUT_FLEISS)
    assert found == pytest.approx({"MSB": 11.241667, "MSW": 6.263889, "MSJ": 32.486111, "MSE": 1.019444}, abs=1e-6)


@pytest.mark.parametrize(
    ("key", "value", "name"),
    [
        ("icc_1_1", 0.165742, "ICC(1,1) one-way random, absolute agreement, single rater"),
        ("icc_2_1", 0.289764, "ICC(2,1) two-way random, absolute agreement, single rater"),
        ("icc_3_1", 0.714841, "ICC(3,1) two-way mixed, consistency, single rater"),
        ("icc_1_k", 0.442797, "ICC(1,k) one-way random, absolute agreement, average of k = 4 raters"),
        ("icc_2_k", 0.620051, "ICC(2,k) two-way random, absolute agreement, average of k = 4 raters"),
        ("icc_3_k", 0.909316, "ICC(3,k) two-way mixed, consistency, average of k = 4 raters"),
    ],
)
def test_shrout_and_fleiss_coefficients_with_their_full_names(key: str, value: float, name: str) -> None:
    found = find(icc(SHROUT_FLEISS), key)
    assert found.value == pytest.approx(value, abs=5e-7)
    assert found.name == name
    assert (found.n_used, found.n, found.level) == (6, 6, 0.95)


def test_interval_of_absolute_agreement() -> None:
    assert find(icc(SHROUT_FLEISS), "icc_2_1").interval == pytest.approx((0.01878651, 0.76108437), abs=5e-9)


def test_a_coefficient_that_is_not_there_is_an_error_and_not_its_neighbour() -> None:
    with pytest.raises(KeyError, match="icc_2_1"):
        find(icc(SHROUT_FLEISS), "ICC2")


def test_cronbach() -> None:
    """k / (k - 1) (1 - sum of the k variances / variance of the sum), and Feldt's limits of these."""
    table = np.asarray(SHROUT_FLEISS, dtype=np.float64)
    n, k = table.shape
    expected = k / (k - 1) * (1 - table.var(axis=0, ddof=1).sum() / table.sum(axis=1).var(ddof=1))
    found = cronbach(table)
    assert found.value == pytest.approx(expected, abs=1e-12)
    limits = [1 - (1 - expected) * stats.f.ppf(share, n - 1, (n - 1) * (k - 1)) for share in (0.975, 0.025)]
    assert found.interval == pytest.approx(limits, abs=1e-12)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (KRIPPENDORFF, {"nominal": 0.743421, "ordinal": 0.815388, "interval": 0.849107, "ratio": 0.797403}),
        (WIKIPEDIA, {"nominal": 0.691358, "ordinal": 0.806721, "interval": 0.810845}),
    ],
)
def test_krippendorff(table: np.ndarray, expected: dict[Measurement, float]) -> None:
    for measurement, value in expected.items():
        assert krippendorff(table, measurement).value == pytest.approx(value, abs=5e-7)


def test_missing_ratings_are_no_category() -> None:
    judges = np.array([[1, 2, 3, 3, 2, N, 1, 2], [1, 2, 3, 4, 2, 4, N, 2], [N, 2, 3, 3, 3, 4, 1, N]]).T
    found = {m: krippendorff(judges, m).value for m in MEASUREMENTS}
    assert found["nominal"] == pytest.approx(0.7379, abs=1e-4)
    assert found["ordinal"] == pytest.approx(0.9031, abs=1e-4)
    assert found["interval"] == pytest.approx(0.8989, abs=1e-4)
    agreeing = np.array([[1, 1, 2, N], [1, 1, N, 2], [N, 1, 2, 2]]).T
    assert krippendorff(agreeing, "nominal").value == 1.0


def test_fleiss() -> None:
    assert fleiss_kappa(FLEISS).value == pytest.approx(0.209931, abs=5e-7)


def test_cohen() -> None:
    assert kappa_from_counts([[20, 5], [10, 15]]).value == pytest.approx(0.4)
    counts = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]
    assert kappa_from_counts(counts).value == pytest.approx(0.491525, abs=5e-7)
    own = [[0, 1, 3], [1, 0, 6], [3, 6, 0]]
    assert kappa_from_counts(counts, weights=own).value == pytest.approx(0.347826, abs=5e-7)
    assert kappa_from_counts(counts, weights="linear").value == pytest.approx(0.473684, abs=5e-7)
    assert kappa_from_counts(counts, weights="quadratic").value == pytest.approx(0.454545, abs=5e-7)


def test_weighted_kappa_counts_distances_on_the_scale_and_not_among_used_labels() -> None:
    first, second = [1, 2, 5, 5, 1, 2], [1, 5, 2, 5, 1, 2]
    scale = [1, 2, 3, 4, 5]
    assert cohen_kappa(first, second, scale=scale, weights="linear").value == pytest.approx(0.4375)
    assert cohen_kappa(first, second, scale=scale, weights="quadratic").value == pytest.approx(0.4808, abs=1e-4)
    undeclared = cohen_kappa(first, second, weights="linear")
    assert undeclared.value == pytest.approx(0.4375)
    assert "no scale declared" in undeclared.notes[0]


def test_two_judges_of_whom_one_is_always_two_higher() -> None:
    found = icc(np.array([[1, 2, 3, 4, 5], [3, 4, 5, 6, 7]], float).T)
    assert find(found, "icc_3_1").value == 1.0
    assert find(found, "icc_2_1").value == pytest.approx(0.5556, abs=1e-4)
    assert find(found, "icc_2_k").value == pytest.approx(0.7143, abs=1e-4)


def test_prevalent_category() -> None:
    counts, _ = category_counts(np.array([[1] * 40, [1] * 39 + [2]], float).T)
    assert gwet_ac1(counts).value == pytest.approx(0.974, abs=5e-4)


def test_wilcoxon_worked_example() -> None:
    x = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
    y = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
    found = wilcoxon(x, y)
    assert (found.statistic, found.p_value) == (40.0, 0.0390625)
    assert "exact" in found.method


def test_wilcoxon_with_zeros_and_ties() -> None:
    assert wilcoxon(A, B).p_value == 0.02734375
    assert wilcoxon(A, B, method="normal", correction=True).p_value == pytest.approx(0.02316207, abs=5e-9)
    assert wilcoxon(A, B, method="normal").p_value == pytest.approx(0.01969425, abs=5e-9)
    assert wilcoxon([1, 1, 2, -1, 1, 3, -2, 1, 2, 1]).p_value == 0.125


def test_wilcoxon_zero_rules() -> None:
    d = [0, 0, 0, 1, 2, -1, 3, 2, 2, 1]
    found = {rule: wilcoxon(d, zeros=rule, method="normal") for rule in ("wilcox", "pratt", "split")}
    assert [round(one.p_value or 0, 4) for one in found.values()] == [0.0396, 0.0418, 0.0451]
    assert len({one.zero_rule for one in found.values()}) == 3


@pytest.mark.parametrize(("pairs", "smallest"), [(5, 0.0625), (6, 0.03125)])
def test_the_smallest_p_that_so_many_pairs_can_give(pairs: int, smallest: float) -> None:
    found = wilcoxon(np.arange(1, pairs + 1))
    assert found.p_value == found.smallest_p == smallest


def test_effect_sizes() -> None:
    assert pooled_d(A, B).value == pytest.approx(0.987511, abs=5e-7)
    assert pooled_d(A, B, ddof=0).value == pytest.approx(1.031421, abs=5e-7)
    assert d_z(A, B).value == pytest.approx(0.888949, abs=5e-7)
    assert d_av(A, B).value == pytest.approx(0.997285, abs=5e-7)
    assert hedges_g(A, B).value == pytest.approx(0.953459, abs=5e-7)
    assert matched_rank_biserial(A, B).value == pytest.approx(0.844444, abs=5e-7)
