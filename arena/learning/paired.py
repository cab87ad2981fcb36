"""The mean of values that come in clusters, with its interval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arena.ratings.uncertainty import quantile
from runstore.results import Number, Result

FEWEST = 5
"""Clusters below which no interval is given: its spread would be a guess."""


class Mean(Result):
    """``n`` values in ``clusters`` clusters. Limits are None with ``reason`` where they can't be known."""

    value: Number | None
    lower: Number | None
    upper: Number | None
    se: Number | None
    n: int
    clusters: int
    reason: str | None = None


def clustered_mean(values: Sequence[float], clusters: Sequence[str], level: float = 0.95) -> Mean:
    """Mean of (n,) values and a two-sided interval for as many independent units as there are clusters.

    The variance is that of a ratio, linearised: G / (G - 1) times the sum over clusters of the squared sums of
    (value - mean), over n squared; the quantile is Student's with G - 1 degrees of freedom. For clusters of one
    size that is the t interval of the clusters' means.
    """
    n, names = len(values), sorted(set(clusters))
    if not n:
        return Mean(value=None, lower=None, upper=None, se=None, n=0, clusters=0, reason="no values")
    x = np.asarray(values, dtype=np.float64)
    mean = float(x.mean())
    count = len(names)
    if count < FEWEST:
        reason = f"{count} clusters, {FEWEST} needed"
        return Mean(value=mean, lower=None, upper=None, se=None, n=n, clusters=count, reason=reason)
    place = {name: at for at, name in enumerate(names)}
    sums = np.bincount([place[name] for name in clusters], x - mean, minlength=count)
    se = float(np.sqrt(count / (count - 1) * float((sums**2).sum()))) / n
    half = quantile(level, count - 1) * se
    return Mean(value=mean, lower=mean - half, upper=mean + half, se=se, n=n, clusters=count, reason=None)
