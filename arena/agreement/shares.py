"""A share with its interval, where the things counted come in clusters (the subsets of one dialogue)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Share:
    """``value`` = ``hits`` / ``of``; None of nothing. Limits are None where they can't be known."""

    hits: float
    of: int
    value: float | None
    lower: float | None
    upper: float | None


def share_of(hits: Sequence[float], clusters: Sequence[str], level: float) -> Share:
    """Mean of 0, 0.5 and 1 with Wilson's interval for as many independent items as the clusters are worth.

    The design effect (Kish 1965) compares the variance between clusters with that of independent items and is
    never taken below 1; the quantile is Student's with clusters - 1 degrees of freedom (Korn & Graubard 1998).
    Items that are all alike say nothing about how alike a cluster is: then each cluster counts as one. One
    cluster gives no interval.
    """
    of, total = len(hits), float(sum(hits))
    if not of:
        return Share(0, 0, None, None, None)
    values = np.asarray(hits, dtype=np.float64)
    mean = float(values.mean())
    _, member = np.unique(np.asarray(clusters, dtype=object).astype(str), return_inverse=True)
    if int(member.max()) < 1:
        return Share(total, of, mean, None, None)
    spread = float(values.var(ddof=1))
    lower, upper = share_limits(mean, of, spread, np.bincount(member, values - mean).astype(np.float64), level)
    return Share(total, of, mean, lower, upper)


def share_limits(
    mean: float, of: int, spread: float, off: NDArray[np.float64], level: float
) -> tuple[float, float]:
    """The limits of :func:`share_of` from the items' variance and each cluster's sum of (item - mean)."""
    count = len(off)
    if spread == 0:
        effective = float(count)
    else:
        between = count / (count - 1) * float((off**2).sum()) / of**2
        effect = max(between / (spread / of), 1.0)
        effective = of * mean * (1 - mean) / (spread * effect)
    return _wilson(mean, effective, _student(level, count - 1))


def _wilson(share: float, n: float, z: float) -> tuple[float, float]:
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * float(np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)))
    return min(max(0.0, centre - half), share), max(min(1.0, centre + half), share)  # 0 of n has 0 for a limit


def _student(level: float, freedom: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + level) / 2))
