"""Gaps between rated models, with their intervals and their tests for all pairs at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from arena.agreement.holm import holm_matrix
from arena.ratings.bootstrap import quantiles
from arena.ratings.estimate import Estimate

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Gaps:
    """(M, M) log-odds of the row over the column; NaN where the results give none.

    ``lower`` and ``upper`` are infinite where open, NaN where there is no interval. ``p_joint`` are Holm's p
    values of all gaps together (Student's t): those up to 1 - level are not 0, all at once, at that level.
    """

    gap: Floats
    lower: Floats
    upper: Floats
    p_joint: Floats


def gaps_of(estimated: Estimate, level: float) -> Gaps:
    """The gaps of an estimate; where only a prior makes one, it has no interval."""
    total = len(estimated.structure.group)
    nothing = np.full((total, total), np.nan)
    gap, lower, upper, p_joint = (nothing.copy() for _ in range(4))
    if estimated.fitted is None or not len(estimated.members):
        return Gaps(gap, lower, upper, p_joint)
    block = np.ix_(estimated.members, estimated.members)
    theta, core, group = (
        estimated.fitted.theta,
        estimated.structure.core[estimated.members],
        estimated.structure.group[estimated.members],
    )
    own = np.where(group[:, None] == group[None, :], theta[:, None] - theta[None, :], np.nan)
    gap[block] = own
    told = estimated.uncertainty
    if told is None:
        return Gaps(gap, lower, upper, p_joint)
    from_results = (core[:, None] == core[None, :]) & (core[:, None] >= 0)
    np.fill_diagonal(from_results, False)
    deviation = np.where(from_results, told.gap_deviation(len(theta)), np.nan)
    lower[block], upper[block] = _limits(estimated, own, deviation, from_results, level)
    with np.errstate(divide="ignore", invalid="ignore"):
        p_values: Floats = np.asarray(2 * stdtr(told.support.degrees, -np.abs(own) / deviation), np.float64)
    p_values[(deviation == 0) & (own == 0)] = 1.0
    p_joint[block] = holm_matrix(p_values)
    return Gaps(gap, lower, upper, p_joint)


def _limits(
    estimated: Estimate, gap: Floats, deviation: Floats, known: NDArray[np.bool_], level: float
) -> tuple[Floats, Floats]:
    told = estimated.uncertainty
    if told is None or told.draws is None:
        half = np.nan if told is None else told.quantile(level) * deviation
        return gap - half, gap + half
    size = len(gap)
    lower, upper = np.full((size, size), np.nan), np.full((size, size), np.nan)
    draws = told.draws.values[:, :size]
    for a in range(size):
        others = a + 1 + np.flatnonzero(known[a, a + 1 :])
        with np.errstate(invalid="ignore"):
            lower[a, others], upper[a, others] = quantiles(draws[:, [a]] - draws[:, others], level)
        lower[others, a], upper[others, a] = -upper[a, others], -lower[a, others]
    return lower, upper
