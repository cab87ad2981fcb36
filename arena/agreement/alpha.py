"""Cronbach's alpha, and Krippendorff's alpha for nominal, ordinal, interval and ratio data with gaps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from arena.agreement.coincidences import MEASUREMENTS, Measurement, Pairable, alphas
from arena.agreement.icc import icc
from arena.agreement.jackknife import Clusters, groups, interval, mode_of, units_of
from arena.agreement.result import FloatArray, Statistic, find, missing, settle


def cronbach(ratings: ArrayLike, *, level: float = 0.95) -> Statistic:
    """Cronbach's alpha of items x raters (NaN = no rating) over complete items.

    It is ICC(3,k) of these, so its limits are too: Feldt's (1965) where ratings can be normal. A negative alpha is
    no reliability and is not reported as a figure.
    """
    table = np.asarray(ratings, dtype=np.float64)
    n = len(table)
    table = table[np.isfinite(table).all(axis=1)]
    key, name = "cronbach_alpha", f"Cronbach's alpha of k = {table.shape[1]} raters"
    used, k = table.shape
    if k < 2 or used < 2:
        return missing(key, name, "fewer than two raters or two items with every rating", used, n)
    return replace(find(icc(table, level=level), "icc_3_k"), key=key, name=name, n=n)


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
    two = len(data.values) == 2  # one distance, so all four alphas are the nominal one
    is_never_equal = (measurement == "nominal" or two) and _never_equal(data)
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
