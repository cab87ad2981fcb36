"""Exact tests between two models, and binomial intervals."""

from __future__ import annotations

import math
from collections import Counter
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv, ndtr

Floats = NDArray[np.float64]
_EXACT_RANGE = 200_000


def sign_test(wins: float, losses: float) -> float | None:
    """Two-sided exact binomial test of wins against losses, ties left out; None where there is neither."""
    n = round(wins + losses)
    if not n:
        return None
    fewer = min(round(wins), round(losses))
    return min(1.0, 2 * float(betainc(n - fewer, fewer + 1, 0.5)))


def sign_flip_test(net: NDArray[np.int64]) -> float | None:
    """Two-sided exact test that clusters lean neither way: every cluster's net wins keep or change their sign.

    ``net`` is wins minus losses, a whole number per cluster. With one battle a cluster it is the sign test.
    The distribution of the sum is built by convolution, size by size; beyond 200,000 it is the normal limit.
    None where every cluster is even.
    """
    sizes: list[int] = [abs(lead) for lead in net.tolist() if lead]
    if not sizes:
        return None
    observed, total = abs(int(net.sum())), sum(sizes)
    if total > _EXACT_RANGE:
        return 2 * float(ndtr(-observed / math.sqrt(sum(size * size for size in sizes))))
    chance = np.ones(1)
    for value, count in sorted(Counter(sizes).items()):
        step = np.zeros(value * count + 1)
        step[::value] = _fair(count)
        chance = _convolved(chance, step)
    # Entry s of the distribution belongs to a sum of 2 s - total.
    at = 2 * np.arange(total + 1) - total
    return float(min(1.0, max(0.0, chance[np.abs(at) >= observed].sum())))


def _convolved(a: Floats, b: Floats) -> Floats:
    if len(a) * len(b) < 1e7:
        return np.convolve(a, b)
    from scipy.signal import fftconvolve  # half a second to load, for large tables only

    return fftconvolve(a, b)


@lru_cache(maxsize=256)
def _fair(count: int) -> Floats:
    """Chances of 0 to ``count`` heads; many pairs ask for the same few."""
    heads = np.arange(count // 2, count)
    rising = np.concatenate(([1.0], np.cumprod((count - heads) / (heads + 1))))
    chance = np.concatenate((rising[:0:-1], rising[count % 2 :]))
    return chance / chance.sum()


def binomial_interval(wins: float, n: float, level: float) -> tuple[float, float] | None:
    """Clopper-Pearson 1934: exact limits of a share; None where n is 0. Half wins are allowed."""
    if n <= 0:
        return None
    tail = (1 - level) / 2
    lower = 0.0 if wins <= 0 else float(betaincinv(wins, n - wins + 1, tail))
    upper = 1.0 if wins >= n else float(betaincinv(wins + 1, n - wins, 1 - tail))
    return lower, upper
