"""Pearson, Spearman and Kendall with intervals through Fisher's z.

Correlation is not agreement: a rater who is always 6 too high correlates perfectly (see bland_altman).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from arena.agreement.jackknife import Ints
from arena.agreement.result import FloatArray, Statistic, mid_ranks, missing, paired, settle


def pearson(x: ArrayLike, y: ArrayLike, *, level: float = 0.95) -> Statistic:
    """Pearson's r; interval: Fisher's z with standard error 1 / sqrt(n - 3)."""
    return _correlation("pearson", "Pearson's r", x, y, level)


def spearman(x: ArrayLike, y: ArrayLike, *, level: float = 0.95) -> Statistic:
    """Spearman's rho; interval: Fisher's z with sqrt((1 + rho^2 / 2) / (n - 3)) (Bonett & Wright 2000)."""
    return _correlation("spearman", "Spearman's rho", x, y, level)


def kendall(x: ArrayLike, y: ArrayLike, *, level: float = 0.95) -> Statistic:
    """Kendall's tau-b; interval: Fisher's z with sqrt(.437 / (n - 4)) (Fieller, Hartley & Pearson 1957)."""
    return _correlation("kendall", "Kendall's tau-b", x, y, level)


def _correlation(key: str, name: str, x: ArrayLike, y: ArrayLike, level: float) -> Statistic:
    first, second, n = paired(x, y)
    first, second = settle(first), settle(second)
    used = len(first)
    if used < 3:
        return missing(key, name, f"{used} pairs; at least 3 are needed", used, n, unit="pairs")
    for which, values in (("first", first), ("second", second)):
        if float(values.max()) == float(values.min()):
            return missing(
                key, name, f"no variance: the {which} rater gives one value throughout", used, n, unit="pairs"
            )
    value = _coefficient(key, first, second)
    interval, method = _interval(key, value, used, level)
    return Statistic(
        key, name, value, used, n, unit="pairs",
        interval=interval, level=level if interval else None, interval_method=method,
    )  # fmt: skip


def _coefficient(key: str, x: FloatArray, y: FloatArray) -> float:
    if key == "kendall":
        coefficient = _tau_b(x, y)
    else:
        if key == "spearman":
            x, y = mid_ranks(x), mid_ranks(y)
        x, y = x - x.mean(), y - y.mean()
        coefficient = float(x @ y) / math.sqrt(float(x @ x) * float(y @ y))
    return min(max(coefficient, -1.0), 1.0)


def _tau_b(x: FloatArray, y: FloatArray) -> float:
    """Knight (1966): exact counts of pairs in n log n; SciPy's would take most of a second to load."""
    first, second = (np.unique(values, return_inverse=True)[1].astype(np.int64) for values in (x, y))
    joint = first * (int(second.max()) + 1) + second
    tied_first, tied_second, tied_both = (_pairs_within(codes) for codes in (first, second, joint))
    every = len(x) * (len(x) - 1) // 2
    concordant_less_discordant = (
        every - tied_first - tied_second + tied_both - 2 * _inversions(second[np.argsort(joint)])
    )
    return concordant_less_discordant / math.sqrt(every - tied_first) / math.sqrt(every - tied_second)


def _pairs_within(codes: Ints) -> int:
    times = np.unique(codes, return_counts=True)[1]
    return int((times * (times - 1) // 2).sum())


def _inversions(codes: Ints) -> int:
    """How many pairs stand in descending order: bit by bit, the highest first, among those alike so far."""
    count = 0
    for bit in reversed(range(int(codes.max()).bit_length())):
        upper, ones = codes >> bit + 1, codes >> bit & 1
        before = np.cumsum(ones) - ones
        count += int(((before - before[np.searchsorted(upper, upper)]) * (1 - ones)).sum())
        codes = codes[np.argsort(codes >> bit, kind="stable")]
    return count


def _interval(key: str, value: float, n: int, level: float) -> tuple[tuple[float, float] | None, str]:
    if abs(value) > 1 - 1e-12:
        return None, "no interval: the relation is perfect in these pairs"
    fewest = 5 if key == "kendall" else 4
    if n < fewest:
        return None, f"no interval: fewer than {fewest} pairs"
    errors = {
        "pearson": 1 / math.sqrt(n - 3),
        "spearman": math.sqrt((1 + value**2 / 2) / (n - 3)),
        "kendall": math.sqrt(0.437 / max(n - 4, 1)),
    }
    half = float(ndtri((1 + level) / 2)) * errors[key]
    centre = math.atanh(value)
    return (math.tanh(centre - half), math.tanh(centre + half)), "Fisher's z"
