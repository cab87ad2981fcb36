"""Effect sizes, each under the name that says what it was divided by, and the S/M/L letter."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from arena.agreement.result import (
    FloatArray,
    Statistic,
    clipped,
    differences,
    mid_ranks,
    missing,
    paired,
    present,
    settle,
)


def letter(d: float | None) -> Literal["N", "S", "M", "L"] | None:
    """Size of a d: below 0.2 "N" (negligible), below 0.5 "S", up to 0.8 "M", above "L". None stays None."""
    if d is None:
        return None
    size = float(settle(abs(d), 1.0))
    if size < 0.2:
        return "N"
    return "S" if size < 0.5 else "M" if size <= 0.8 else "L"


def pooled_d(
    x: ArrayLike, y: ArrayLike, *, ddof: Literal[0, 1] = 1, matched: bool = False, level: float = 0.95
) -> Statistic:
    """Cohen's d: difference of means over the pooled standard deviation, of two groups or two matched columns.

    ``ddof`` 1 is the sample form, 0 the population form. Interval: Hedges & Olkin (1985) for two groups; for
    matched columns Borenstein's (2009, ch. 4) variance with their correlation.
    """
    a, b, n = _columns(x, y, matched)
    key, name = "cohen_d_pooled", f"Cohen's d, pooled standard deviation (ddof {ddof})"
    unit = "pairs" if matched else "values"
    if min(len(a), len(b)) < 2:
        return missing(key, name, "fewer than two values in a group", _used(a, b, matched), n, unit=unit)
    m1, m2 = len(a) - ddof, len(b) - ddof
    pooled = math.sqrt((m1 * float(a.var(ddof=ddof)) + m2 * float(b.var(ddof=ddof))) / (m1 + m2))
    return _d(key, name, a, b, pooled, n, matched, level)


def hedges_g(x: ArrayLike, y: ArrayLike, *, matched: bool = False, level: float = 0.95) -> Statistic:
    """Pooled d times 1 - 3 / (4 df - 1), df = n1 + n2 - 2 (Hedges 1981)."""
    d = pooled_d(x, y, matched=matched, level=level)
    key, name = "hedges_g", "Hedges' g (pooled d, corrected for small samples)"
    if d.value is None:
        return missing(key, name, d.reason or "", d.n_used, d.n, unit=d.unit)
    a, b, _ = _columns(x, y, matched)
    J = 1 - 3 / (4 * (len(a) + len(b) - 2) - 1)
    interval = (J * d.interval[0], J * d.interval[1]) if d.interval else None
    return Statistic(
        key, name, J * d.value, d.n_used, d.n, unit=d.unit,
        interval=interval, level=d.level, interval_method=d.interval_method,
    )  # fmt: skip


def d_z(x: ArrayLike, y: ArrayLike, *, level: float = 0.95) -> Statistic:
    """Mean difference over the standard deviation of the differences; interval with sqrt(1/n + d^2 / (2 n))."""
    first, second, n = paired(x, y)
    d = differences(first, second)
    key, name = "d_z", "Cohen's d_z (mean difference / sd of differences)"
    if len(d) < 2:
        return missing(key, name, "fewer than two pairs", len(d), n, unit="pairs")
    sd = float(d.std(ddof=1))
    if float(d.max()) == float(d.min()):
        if d[0] == 0:
            return Statistic(key, name, 0.0, len(d), n, unit="pairs", interval_method="no interval: no difference")
        return missing(key, name, "no variance: every difference is the same", len(d), n, unit="pairs")
    value = float(d.mean()) / sd
    half = float(ndtri((1 + level) / 2)) * math.sqrt(1 / len(d) + value**2 / (2 * len(d)))
    return Statistic(
        key, name, value, len(d), n, unit="pairs", interval=(value - half, value + half), level=level,
        interval_method="large sample",
    )  # fmt: skip


def d_av(x: ArrayLike, y: ArrayLike, *, level: float = 0.95) -> Statistic:
    """Mean difference over the mean of the two standard deviations (Lakens 2013)."""
    a, b, n = _columns(x, y, True)
    key, name = "d_av", "Cohen's d_av (mean difference / average sd)"
    if len(a) < 2:
        return missing(key, name, "fewer than two pairs", len(a), n, unit="pairs")
    return _d(key, name, a, b, (float(a.std(ddof=1)) + float(b.std(ddof=1))) / 2, n, True, level)


def matched_rank_biserial(x: ArrayLike, y: ArrayLike | None = None, *, level: float = 0.95) -> Statistic:
    """(positive - negative rank sum) / their total over x - y (or differences x), zeros dropped (Kerby 2014).

    Interval through Fisher's z with the signed-rank sum's null standard error. No difference at all is effect 0.
    """
    if y is None:
        d, n = settle(present(x)), len(np.asarray(x))
    else:
        first, second, n = paired(x, y)
        d = differences(first, second)
    key, name = "rank_biserial_matched", "Matched-pairs rank-biserial correlation"
    if not len(d):
        return missing(key, name, "no complete pair", 0, n, unit="pairs")
    moving = d[d != 0]
    used = len(moving)
    if not used:
        return Statistic(key, name, 0.0, 0, n, unit="pairs", interval_method="no interval: every difference is 0")
    ranks = mid_ranks(np.abs(moving))
    value = float((ranks * np.sign(moving)).sum() / ranks.sum())
    if abs(value) > 1 - 1e-12:
        return Statistic(key, name, value, used, n, unit="pairs", interval_method="no interval: all one way")
    error = math.sqrt((2 * used**3 + 3 * used**2 + used) / 6) / ((used**2 + used) / 2)
    half = float(ndtri((1 + level) / 2)) * error
    bounds = (math.tanh(math.atanh(value) - half), math.tanh(math.atanh(value) + half))
    return Statistic(
        key, name, value, used, n, unit="pairs", interval=bounds, level=level, interval_method="Fisher's z"
    )


def cliffs_delta(x: ArrayLike, y: ArrayLike, *, level: float = 0.95) -> Statistic:
    """P(x > y) - P(x < y) over all pairs of two groups; Cliff's (1996) unbiased variance, asymmetric interval."""
    a, b = present(x), present(y)
    n = len(np.asarray(x)) + len(np.asarray(y))
    key, name, used = "cliffs_delta", "Cliff's delta", len(a) + len(b)
    if not len(a) or not len(b):
        return missing(key, name, "a group is empty", used, n, unit="values")
    both = settle(np.concatenate([a, b]))
    a, b = both[: len(a)], both[len(a) :]
    m1, m2 = len(a), len(b)
    (below, above), (under, over) = _around(a, b), _around(b, a)
    value = float((below - above).sum()) / (m1 * m2)
    if abs(value) > 1 - 1e-12 or min(m1, m2) < 2:
        why = "no interval: the groups do not overlap" if min(m1, m2) > 1 else "no interval: a group of one"
        return Statistic(key, name, value, used, n, unit="values", interval_method=why)
    rows = float(np.square((below - above) / m2 - value).sum())
    columns = float(np.square((over - under) / m1 - value).sum())
    every = float((below + above).sum()) - m1 * m2 * value**2
    variance = (m2**2 * rows + m1**2 * columns - every) / (m1 * m2 * (m1 - 1) * (m2 - 1))
    variance = max(variance, (1 - value**2) / (m1 * m2 - 1))
    z = float(ndtri((1 + level) / 2))
    spread = z * math.sqrt(variance) * math.sqrt((1 - value**2) ** 2 + z**2 * variance)
    divisor = 1 - value**2 + z**2 * variance
    bounds = clipped((value - value**3 - spread) / divisor, (value - value**3 + spread) / divisor)
    return Statistic(
        key,
        name,
        value,
        used,
        n,
        unit="values",
        interval=bounds,
        level=level,
        interval_method="asymmetric, Cliff 1996",
    )


def _around(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(a,) how many values of b are below and above each of a: nothing of a x b is kept."""
    ordered = np.sort(b)
    below, up_to = (np.searchsorted(ordered, a, side) for side in ("left", "right"))
    return below.astype(np.float64), (len(b) - up_to).astype(np.float64)


def _columns(x: ArrayLike, y: ArrayLike, matched: bool) -> tuple[FloatArray, FloatArray, int]:
    if matched:
        a, b, n = paired(x, y)
    else:
        a, b, n = present(x), present(y), len(np.asarray(x)) + len(np.asarray(y))
    both = settle(np.concatenate([a, b]))
    return both[: len(a)], both[len(a) :], n


def _used(a: FloatArray, b: FloatArray, matched: bool) -> int:
    return len(a) if matched else len(a) + len(b)


def _r(a: FloatArray, b: FloatArray) -> float:
    a, b = a - a.mean(), b - b.mean()
    return float(a @ b) / math.sqrt(float(a @ a) * float(b @ b))


def _d(
    key: str, name: str, a: FloatArray, b: FloatArray, sd: float, n: int, matched: bool, level: float
) -> Statistic:
    used, unit = _used(a, b, matched), "pairs" if matched else "values"
    gap = float(settle(a.mean() - b.mean(), float(np.abs(np.concatenate([a, b])).max())))
    if float(settle(sd, max(float(np.abs(a).max()), float(np.abs(b).max())))) == 0:
        if gap == 0:
            return Statistic(key, name, 0.0, used, n, unit=unit, interval_method="no interval: no difference")
        return missing(key, name, "no variance within the groups", used, n, unit=unit)
    value = gap / sd
    if not matched:
        variance = (len(a) + len(b)) / (len(a) * len(b)) + value**2 / (2 * (len(a) + len(b)))
        method = "large sample, Hedges & Olkin 1985"
    elif float(np.ptp(a)) == 0 or float(np.ptp(b)) == 0:
        method = "no interval: no variance in a column, so no correlation"
        return Statistic(key, name, value, used, n, unit=unit, interval_method=method)
    else:
        variance = (1 / used + value**2 / (2 * used)) * 2 * (1 - _r(a, b))
        method = "large sample with the pairs' correlation, Borenstein 2009"
    half = float(ndtri((1 + level) / 2)) * math.sqrt(max(variance, 0.0))
    return Statistic(
        key,
        name,
        value,
        used,
        n,
        unit=unit,
        interval=(value - half, value + half),
        level=level,
        interval_method=method,
    )
