"""The interval of a chance-corrected coefficient: leave one item, or one cluster of items, out at a time.

With theta the coefficient of all G clusters and theta_g that without cluster g, the standard error is the root of
the sum of (theta_g - theta)^2 (Efron & Stein 1981, without the factor (G - 1) / G), and the quantile Student's
with one degree of freedom less than clusters move theta: (sum d^2)^2 / sum d^4 of those differences d, which is G
where all move it alike and 1 where one does (then 1 degree is taken). Three intervals are made of it: around
theta, around theta freed of the jackknife's estimate of its bias, and around log(1 - theta), the disagreement
beside that of chance, which can't fall below 0. The outermost limits hold what each alone misses at few items, and
the estimate always lies between them.
``bench/agreement.py`` measures how often they hold the truth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from arena.agreement.result import FloatArray, clipped

MOST_GROUPS = 100
FEWEST_CLUSTERS = 10
FEWEST_OFF_MODE = 8
"""Clusters that hold a rating other than the commonest: with fewer, chance agreement itself is hardly known."""
MOST_OF_ONE = 0.6
"""Share of the commonest of three ratings or more, above which the rare large distances are not in the sample."""

_MANY_MOVE = 0.5
_POOLING_SEED = 20210

Ints = NDArray[np.int64]
Clusters = Sequence[str] | NDArray[np.str_]


@dataclass(frozen=True)
class Groups:
    """``of``: (items,) number of the group that each item is left out with. ``clusters`` as they came."""

    of: Ints
    count: int
    clusters: int
    unit: str

    def sums(self, values: FloatArray) -> FloatArray:
        """(groups, ...) sums of (items, ...) values."""
        out = np.zeros((self.count, *values.shape[1:]))
        np.add.at(out, self.of, values)
        return out

    def rest(self, values: FloatArray) -> FloatArray:
        """(groups, ...) sums of what is left of (items, ...) values without each group."""
        return values.sum(axis=0) - self.sums(values)


def groups(items: int, clusters: Clusters | None, content: FloatArray | None = None) -> Groups:
    """What is left out together: items, or clusters of items where there are any.

    More than 100 are pooled into 100 groups by lot, since each costs a pass over the ratings. Items have no names,
    so the lot goes by their ``content`` (items x anything): their order must not matter.
    """
    unit = "items" if clusters is None else "clusters"
    if clusters is None:
        member = np.arange(items)
        if items > MOST_GROUPS and content is not None:
            member[np.lexsort(_small(np.nan_to_num(content, nan=np.inf)).T)] = np.arange(items)
        count = items
    else:
        names, member = np.unique(np.asarray(clusters, dtype=str), return_inverse=True)
        count = len(names)
    if count > MOST_GROUPS:
        lot = np.random.default_rng(_POOLING_SEED).permutation(count) % MOST_GROUPS
        return Groups(lot[member].astype(np.int64), MOST_GROUPS, count, unit)
    return Groups(member.astype(np.int64), count, count, unit)


def _small(content: FloatArray) -> FloatArray | NDArray[np.int16]:
    """Small whole numbers as such: they sort in the same order, eight times as fast."""
    with np.errstate(invalid="ignore"):
        whole = content.astype(np.int16)
    return whole if (whole == content).all() else content


def interval(
    value: float,
    left_out: FloatArray,
    among: Groups,
    level: float,
    *,
    fewest: int = FEWEST_CLUSTERS,
    mode: Mode | None = None,
    is_never_equal: bool = False,
    where: str = "",
) -> tuple[tuple[float, float] | None, str]:
    """The limits and how they were made, or None and why there are none.

    ``left_out``: (groups,) the coefficient without each, NaN where it has none. ``mode``: for coefficients whose
    chance agreement is estimated from the ratings. ``is_never_equal``: no item has two equal
    ratings; then only the chance agreement moves, and its small spread says nothing about the agreement. ``where``
    says of which tables ``fewest`` holds, if not of all.
    """
    if among.clusters < fewest:
        return None, f"no interval: {among.clusters} {among.unit}, fewer than {fewest}{where}"
    if mode is not None and mode.off < FEWEST_OFF_MODE:
        rare = f"{mode.off} {among.unit} hold another rating than the commonest, fewer than {FEWEST_OFF_MODE}"
        return None, f"no interval: {rare}"
    if mode is not None and mode.values > 2 and mode.share > MOST_OF_ONE:
        heap = f"the commonest of {mode.values} ratings is {mode.share:.0%} of all, more than {MOST_OF_ONE:.0%}"
        return None, f"no interval: {heap}"
    if not np.isfinite(left_out).all():
        return None, f"no interval: without one of the {among.unit} there is no coefficient"
    moved = np.square(left_out - value)
    error = float(np.sqrt(moved.sum()))
    if is_never_equal or error < 1e-9:
        return None, f"no interval: the {among.unit} show no spread"
    movers = error**4 / float(np.square(moved).sum())
    degrees = max(movers - 1, 1.0)
    half = float(stdtrit(degrees, (1 + level) / 2)) * error
    bias = (among.count - 1) * float(left_out.mean() - value)
    apart = 1 - value
    wide = math.exp(min(half / apart, 700.0))
    lower = min(value - half, value - bias - half, 1 - apart * wide)
    upper = max(value + half, value - bias + half, 1 - apart / wide)
    is_pooled = among.clusters > among.count
    method = f"jackknife over {among.clusters} {among.unit}{f' in {among.count} groups' if is_pooled else ''}, t"
    if lower <= -1 and upper >= 1:  # left out, those that are made would be of samples without what is rare
        parts = "groups" if is_pooled else among.unit
        few = (
            f"{max(1, int(movers + 1e-9))} of {among.count} {parts} hold what moves it, so it reaches from -1 to 1"
        )
        many = f"from {among.clusters} {among.unit} it reaches from -1 to 1"
        method += f"; {many if movers > _MANY_MOVE * among.count else few}"
    return clipped(lower, upper), method


@dataclass(frozen=True)
class Mode:
    """The commonest rating: clusters ``off`` it, the ``share`` of ratings it is, of how many ``values``."""

    off: int
    share: float
    values: int


def mode_of(code: Ints, unit: Ints) -> Mode:
    """The mode of (ratings,) codes from 0 on; ``unit`` numbers the item or cluster of each."""
    counts = np.bincount(code)
    commonest = int(counts.argmax())
    off = int(np.count_nonzero(np.bincount(unit[code != commonest])))
    return Mode(off, float(counts[commonest] / len(code)), int(np.count_nonzero(counts)))


def units_of(items: int, clusters: Clusters | None) -> Ints:
    """(items,) number of the cluster of each, or of the item itself."""
    if clusters is None:
        return np.arange(items)
    return np.unique(np.asarray(clusters, dtype=str), return_inverse=True)[1].astype(np.int64)
