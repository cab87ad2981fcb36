"""Cronbach's alpha, and Krippendorff's alpha for nominal, ordinal, interval and ratio data with gaps."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from arena.agreement.result import FloatArray, Statistic, missing, settle

Measurement = Literal["nominal", "ordinal", "interval", "ratio"]
MEASUREMENTS: tuple[Measurement, ...] = get_args(Measurement)

_CHUNK_CELLS = 4_000_000
_FEWEST_TO_RESAMPLE = 5


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
    df = (used - 1, (used - 1) * (k - 1))
    bounds = tuple(1 - (1 - value) * float(stats.f.ppf(q, *df)) for q in (1 - tail, tail))
    return Statistic(
        key, name, value, used, n, interval=(bounds[0], bounds[1]), level=level, interval_method="F, Feldt 1965"
    )


def cronbach_from_variances(k: int, sum_of_variances: float, variance_of_sum: float) -> float:
    """k / (k - 1) (1 - sum of the k variances / variance of the sum)."""
    return k / (k - 1) * (1 - sum_of_variances / variance_of_sum)


def krippendorff(
    ratings: ArrayLike,
    measurement: Measurement,
    *,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> Statistic:
    """Krippendorff's alpha of items x raters (NaN = no rating), Krippendorff (2011), with coincidences.

    Ordinal distances are those of the method: differences of mid-ranks among all pairable ratings.
    The interval is a percentile bootstrap over items. Raises ValueError for an unknown measurement.
    """
    if measurement not in MEASUREMENTS:
        raise ValueError(f"measurement is {measurement!r}, not one of {', '.join(MEASUREMENTS)}")
    table = settle(ratings)
    key, name = f"krippendorff_{measurement}", f"Krippendorff's alpha, {measurement}"
    n = len(table)
    table = table[np.isfinite(table).sum(axis=1) >= 2]
    if not len(table):
        return missing(key, name, "no item has two ratings", 0, n)
    values, codes = np.unique(table[np.isfinite(table)], return_inverse=True)
    if len(values) == 1:
        return missing(key, name, "no variance: all ratings are equal", len(table), n)
    if measurement == "ratio" and values[0] < 0:
        return missing(key, name, "ratio data cannot be negative", len(table), n)
    counts = np.zeros((len(table), len(values)))
    np.add.at(counts, (np.nonzero(np.isfinite(table))[0], codes), 1.0)
    counts = counts[np.lexsort(counts.T)]  # resamples then do not depend on the order of the items
    value = float(_alpha(counts, values, measurement, np.ones((1, len(table))))[0])
    if value > 1 - 1e-12 or len(table) < _FEWEST_TO_RESAMPLE or resamples < 1:
        why = "complete agreement" if value > 1 - 1e-12 else "too few items to resample"
        return Statistic(key, name, min(value, 1.0), len(table), n, interval_method=f"no interval: {why}")
    interval, method = _bootstrap(counts, values, measurement, level, resamples, seed)
    return Statistic(
        key, name, value, len(table), n,
        interval=interval, level=level if interval else None, interval_method=method,
    )  # fmt: skip


def _bootstrap(
    counts: FloatArray, values: FloatArray, measurement: Measurement, level: float, resamples: int, seed: int
) -> tuple[tuple[float, float] | None, str]:
    units = len(counts)
    rng = np.random.default_rng(seed)
    drawn: list[FloatArray] = []
    step = max(1, _CHUNK_CELLS // max(units, len(values)))
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        weights = rng.multinomial(units, np.full(units, 1 / units), size=size).astype(np.float64)
        drawn.append(_alpha(counts, values, measurement, weights))
    found = np.concatenate(drawn)
    found = found[np.isfinite(found)]
    method = f"percentile bootstrap over items, {len(found)} of {resamples} resamples estimable"
    if len(found) < 0.5 * resamples:
        return None, f"no interval: {method}"
    lower, upper = np.quantile(found, [(1 - level) / 2, (1 + level) / 2])
    return (float(lower), float(upper)), method


def _alpha(counts: FloatArray, values: FloatArray, measurement: Measurement, weights: FloatArray) -> FloatArray:
    """Alpha for each row of ``weights`` (how often each item is taken); NaN where a resample has no variance.

    counts: items x values. Squared distances of scores s give, per item, 2 (n sum s^2 - (sum s)^2), so interval
    and ordinal data need no matrix of distances; ordinal scores are mid-ranks and change with the resample.
    """
    per_item = counts.sum(axis=1)
    marginal = weights @ counts
    total = marginal.sum(axis=1)
    if measurement in ("ordinal", "interval"):
        if measurement == "interval":
            scores = np.broadcast_to(values - values.mean(), marginal.shape)
        else:
            scores = np.cumsum(marginal, axis=1) - marginal / 2
        first, second = counts @ scores.T, counts @ np.square(scores).T
        spread = (per_item[:, None] * second - first**2) / (per_item[:, None] - 1)
        observed = 2 * np.einsum("bi,ib->b", weights, spread)
        sums = np.einsum("bv,bv->b", marginal, scores)
        expected = 2 * (total * np.einsum("bv,bv->b", marginal, np.square(scores)) - sums**2)
    else:
        distance = _distances(values, measurement)
        spread = np.einsum("iv,iv->i", counts @ distance, counts) / (per_item - 1)
        observed = weights @ spread
        expected = np.einsum("bv,bv->b", marginal @ distance, marginal)
    usable = (np.count_nonzero(marginal, axis=1) > 1) & (expected > 0)
    ratio = np.divide(observed, expected, out=np.full(len(total), np.nan), where=usable)
    return 1 - (total - 1) * ratio


def _distances(values: FloatArray, measurement: Measurement) -> FloatArray:
    first, second = values[:, None], values[None, :]
    if measurement == "nominal":
        return (first != second).astype(np.float64)
    whole = first + second
    return np.square(np.divide(first - second, whole, out=np.zeros_like(whole), where=whole > 0))
