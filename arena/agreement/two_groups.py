"""Two independent groups: difference of means with its interval, Welch's test, Mann-Whitney exact with ties."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, stdtr, stdtrit

from arena.agreement.effects import cliffs_delta, hedges_g
from arena.agreement.holm import holm
from arena.agreement.result import (
    FloatArray,
    SignificanceTest,
    Statistic,
    StatisticRow,
    TestRow,
    mid_ranks,
    missing,
    present,
    settle,
)
from runstore.results import Number, Result

EXACT_UP_TO = 40


class ComparisonRow(Result):
    """A :class:`Comparison` as it stands in files."""

    label: str
    mean_first: Number | None
    mean_second: Number | None
    difference: StatisticRow
    welch: TestRow
    mann_whitney: TestRow
    effect: StatisticRow
    adjusted_p: Number | None
    adjusted_by: str


@dataclass(frozen=True)
class Comparison:
    """Two groups compared on one measure: means, difference first - second, both tests, Hedges' g.

    ``adjusted_p`` is the Welch p after Holm's correction over the measures compared together.
    """

    label: str
    mean_first: float | None
    mean_second: float | None
    difference: Statistic
    welch: SignificanceTest
    mann_whitney: SignificanceTest
    effect: Statistic
    adjusted_p: float | None = None
    adjusted_by: str = "Holm"

    def row(self) -> ComparisonRow:
        """The comparison as it stands in files."""
        return ComparisonRow.taken_from(self)


def compare(x: ArrayLike, y: ArrayLike, *, label: str = "", level: float = 0.95) -> Comparison:
    """Everything about one measure in two groups (vectors, NaN = missing)."""
    means = [float(values.mean()) if len(values) else None for values in (present(x), present(y))]
    effect = hedges_g(x, y, level=level)
    return Comparison(
        label, means[0], means[1], mean_difference(x, y, level=level), welch(x, y), mann_whitney(x, y), effect
    )


def compare_many(measures: Sequence[tuple[str, ArrayLike, ArrayLike]], *, level: float = 0.95) -> list[Comparison]:
    """:func:`compare` for (label, first, second) of each measure, with Holm's correction over all of them."""
    comparisons = [compare(x, y, label=label, level=level) for label, x, y in measures]
    adjusted = holm([comparison.welch.p_value for comparison in comparisons])
    return [replace(comparison, adjusted_p=p) for comparison, p in zip(comparisons, adjusted, strict=True)]


def _groups(x: ArrayLike, y: ArrayLike) -> tuple[FloatArray, FloatArray, int]:
    a, b = present(x), present(y)
    both = settle(np.concatenate([a, b]))
    return both[: len(a)], both[len(a) :], len(np.asarray(x)) + len(np.asarray(y))


def _welch_parts(a: FloatArray, b: FloatArray) -> tuple[float, float]:
    """Standard error of the difference and Welch-Satterthwaite degrees of freedom; (0, 0) without variance."""
    u, v = float(a.var(ddof=1)) / len(a), float(b.var(ddof=1)) / len(b)
    scale = float(np.abs(np.concatenate([a, b])).max())
    if float(settle(math.sqrt(u + v), scale)) == 0:
        return 0.0, 0.0
    return math.sqrt(u + v), (u + v) ** 2 / (u**2 / (len(a) - 1) + v**2 / (len(b) - 1))


def mean_difference(x: ArrayLike, y: ArrayLike, *, level: float = 0.95) -> Statistic:
    """Mean of x - mean of y with Welch's t interval."""
    a, b, n = _groups(x, y)
    key, name, used = "mean_difference", "Difference of means (first - second)", len(a) + len(b)
    if not len(a) or not len(b):
        return missing(key, name, "a group is empty", used, n, unit="values")
    value = float(settle(a.mean() - b.mean(), float(np.abs(np.concatenate([a, b])).max())))
    error, df = _welch_parts(a, b) if min(len(a), len(b)) > 1 else (0.0, 0.0)
    if error == 0:
        why = (
            "no interval: a group of one"
            if min(len(a), len(b)) < 2
            else "no interval: no variance in either group"
        )
        return Statistic(key, name, value, used, n, unit="values", interval_method=why)
    half = float(stdtrit(df, (1 + level) / 2)) * error
    return Statistic(
        key, name, value, used, n, unit="values", interval=(value - half, value + half), level=level,
        interval_method="Welch's t",
    )  # fmt: skip


def welch(x: ArrayLike, y: ArrayLike) -> SignificanceTest:
    """Welch's t test of two means."""
    a, b, n = _groups(x, y)
    key, name, used = "welch", "Welch's t test, two-sided", len(a) + len(b)
    reason = "fewer than two values in a group" if min(len(a), len(b)) < 2 else None
    error, df = (0.0, 0.0) if reason else _welch_parts(a, b)
    if error == 0:
        why = reason or "no variance in either group"
        return SignificanceTest(key, name, None, None, "none", used, n, unit="values", reason=why)
    t = (float(a.mean()) - float(b.mean())) / error
    p = min(1.0, 2 * float(stdtr(df, -abs(t))))
    how = f"t distribution, {df:.2f} degrees of freedom"
    return SignificanceTest(key, name, t, p, how, used, n, unit="values")


def mann_whitney(x: ArrayLike, y: ArrayLike) -> SignificanceTest:
    """Mann-Whitney test; U counts pairs in which x is larger, ties half. The effect is Cliff's delta.

    Up to 40 values in all, every division of the mid-ranks at hand is counted, so ties are exact; beyond that a
    normal approximation with tie correction and without continuity correction.
    """
    a, b, n = _groups(x, y)
    key, name, used = "mann_whitney", "Mann-Whitney test, two-sided", len(a) + len(b)
    effect = cliffs_delta(x, y)
    both = np.concatenate([a, b])
    if not len(a) or not len(b) or float(np.ptp(both)) == 0:
        why = "a group is empty" if not len(a) or not len(b) else "all values are equal, no difference to test"
        return SignificanceTest(key, name, None, None, "none", used, n, unit="values", effect=effect, reason=why)
    ranks = mid_ranks(both)
    total = float(ranks[: len(a)].sum())
    U = total - len(a) * (len(a) + 1) / 2
    divisions = math.comb(used, len(a))
    if used <= EXACT_UP_TO:
        p, how = _exact_p(ranks, len(a), total), f"exact: all {divisions} divisions of the ranks counted"
    else:
        variance = len(a) * len(b) * float(ranks.var(ddof=1)) / used
        p = min(1.0, 2 * float(ndtr(-abs(U - len(a) * len(b) / 2) / math.sqrt(variance))))
        how = "normal approximation, ties corrected, no continuity correction"
    return SignificanceTest(
        key, name, U, p, how, used, n, unit="values", smallest_p=min(1.0, 2 / divisions), effect=effect
    )


def _exact_p(ranks: FloatArray, size: int, observed: float) -> float:
    """Two-sided p of the rank sum of ``size`` of these ranks drawn at random (multiples of 1/2)."""
    doubled = np.rint(2 * ranks).astype(np.int64)
    ways = np.zeros((size + 1, int(doubled.sum()) + 1))
    ways[0, 0] = 1.0
    for rank in doubled:
        ways[1:, rank:] += ways[:-1, : ways.shape[1] - rank].copy()
    chance = ways[size] / ways[size].sum()
    gap = np.abs(np.arange(len(chance)) - doubled.sum() * size / len(ranks))
    return min(1.0, float(chance[gap >= abs(2 * observed - doubled.sum() * size / len(ranks)) - 1e-9].sum()))
