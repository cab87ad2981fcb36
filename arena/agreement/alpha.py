"""Cronbach's alpha, and Krippendorff's alpha for nominal, ordinal, interval and ratio data with gaps."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import fdtri

from arena.agreement.coincidences import MEASUREMENTS, Measurement, Pairable, alphas
from arena.agreement.jackknife import Clusters, groups, interval, mode_of, units_of
from arena.agreement.result import FloatArray, Statistic, missing, settle


def cronbach(ratings: ArrayLike, *, level: float = 0.95) -> Statistic:
    """Cronbach's alpha of items x raters (NaN = no rating) over complete items; equals ICC(3,k) of these.

    Interval: Feldt (1965). A negative alpha is no reliability and is not reported as a figure.
    """
    table = np.asarray(ratings, dtype=np.float64)
    n = len(table)
    table = settle(table[np.isfinite(table).all(axis=1)])
    key, name = "cronbach_alpha", f"Cronbach's alpha of k = {table.shape[1]} raters"
    used, k = table.shape
    if k < 2 or used < 2:
        return missing(key, name, "fewer than two raters or two items with every rating", used, n)
    columns, total = float(table.var(axis=0, ddof=1).sum()), float(table.sum(axis=1).var(ddof=1))
    if total <= 1e-12 * max(columns, 1e-300):
        reason = (
            "no variance: every rater gives one value throughout" if columns == 0 else "negative, not meaningful"
        )
        return missing(key, name, reason, used, n)
    value = cronbach_from_variances(k, columns, total)
    if value < -1e-10:
        return missing(key, name, "negative, not meaningful", used, n)
    value = max(value, 0.0)
    if value > 1 - 1e-10:
        method = "no interval: raters leave no residual variance to build it on"
        return Statistic(key, name, 1.0, used, n, interval_method=method)
    tail = (1 - level) / 2
    df1, df2 = float(used - 1), float((used - 1) * (k - 1))
    low, high = (1 - (1 - value) * float(fdtri(df1, df2, share)) for share in (1 - tail, tail))
    return Statistic(key, name, value, used, n, interval=(low, high), level=level, interval_method="F, Feldt 1965")


def cronbach_from_variances(k: int, sum_of_variances: float, variance_of_sum: float) -> float:
    """k / (k - 1) (1 - sum of the k variances / variance of the sum)."""
    return k / (k - 1) * (1 - sum_of_variances / variance_of_sum)


def krippendorff(
    ratings: ArrayLike, measurement: Measurement, *, level: float = 0.95, clusters: Clusters | None = None
) -> Statistic:
    """Krippendorff's alpha of items x raters (NaN = no rating), Krippendorff (2011), with coincidences.

    Ordinal distances are those of the method: differences of mid-ranks among all pairable ratings. ``clusters``
    names the cluster of each item, where items come in clusters. Nothing of values x values is kept: memory is
    that of the ratings, and time n log n. Raises ValueError for an unknown measurement.
    """
    if measurement not in MEASUREMENTS:
        raise ValueError(f"measurement is {measurement!r}, not one of {', '.join(MEASUREMENTS)}")
    table = settle(ratings)
    key, name = f"krippendorff_{measurement}", f"Krippendorff's alpha, {measurement}"
    n, pairable = len(table), np.isfinite(table).sum(axis=1) >= 2
    table = table[pairable]
    if not len(table):
        return missing(key, name, "no item has two ratings", 0, n)
    data = _pairable(table)
    if len(data.values) == 1:
        return missing(key, name, "no variance: all ratings are equal", len(table), n)
    if measurement == "ratio" and data.values[0] < 0:
        return missing(key, name, "ratio data cannot be negative", len(table), n)
    own = None if clusters is None else np.asarray(clusters, dtype=str)[pairable]
    among = groups(len(table), own, table)
    value, left = alphas(data, measurement, among)
    if value > 1 - 1e-12:
        return Statistic(key, name, 1.0, len(table), n, interval_method="no interval: complete agreement")
    mode = mode_of(data.code, units_of(len(table), own)[data.item])
    is_never_equal = measurement == "nominal" and _never_equal(data)
    limits, method = interval(value, left, among, level, mode=mode, is_never_equal=is_never_equal)
    return Statistic(
        key, name, value, len(table), n,
        interval=limits, level=level if limits else None, interval_method=method,
    )  # fmt: skip


def _never_equal(data: Pairable) -> bool:
    pairs = data.item * len(data.values) + data.code
    return len(np.unique(pairs)) == len(pairs)


def _pairable(table: FloatArray) -> Pairable:
    there = np.isfinite(table)
    values, code = np.unique(table[there], return_inverse=True)
    return Pairable(values, code.astype(np.int64), np.nonzero(there)[0].astype(np.int64), len(table))
