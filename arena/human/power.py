"""How many documents and raters a comparison of mean scores takes, and a correlation of a judge with people.

A rater's difference between two conditions on one document is ``difference`` + document + rater + rest, all
normal. What a study tests (:mod:`arena.agreement.paired`) are the documents' mean differences over their raters,
by Wilcoxon's signed-rank test; dialogues scored by judges are the same. Its power is simulated by that very test.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import atanh, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from scipy.stats import rankdata

from runstore.ids import draw_seed
from runstore.problems import Problem

Floats = NDArray[np.float64]
DRAWS = 4000
EXACT_UP_TO = 20
MOST_ITEMS = 100_000
_LARGE = 200


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference of means in points of the scale, and the standard deviations around it.

    ``items`` (documents, or dialogues) differ in it by ``item_sd``, raters (people, or judges) by ``rater_sd``.
    """

    difference: float
    item_sd: float = 0.0
    rater_sd: float = 0.0
    residual_sd: float = 1.0

    def __post_init__(self) -> None:
        for name in ("item_sd", "rater_sd", "residual_sd"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise Problem(f"{name.replace('_', ' ')}: found {getattr(self, name):g}, expected at least 0")
        if self.item_sd + self.residual_sd <= 0:
            raise Problem("residual sd: found 0 and no item sd, expected one of them above 0")


def difference_power(
    expected: Difference, items: int, raters: int, level: float = 0.95, draws: int = DRAWS
) -> float:
    """Chance that so many items, each rated in both conditions by the same raters, show the difference.

    Raters' own differences are shared by all items, so more items do not average them out.
    """
    _check(level, items=items, raters=raters)
    if items == 0:
        return 0.0
    generator = np.random.default_rng(draw_seed(0, "power", "people", items))
    shift = abs(expected.difference) + expected.rater_sd / sqrt(raters) * generator.standard_normal(draws)
    spread = sqrt(expected.item_sd**2 + expected.residual_sd**2 / raters)
    if items > _LARGE:
        return float(_large(shift / spread, items, level).mean())
    differences = shift[:, None] + spread * generator.standard_normal((draws, items))
    ranks = rankdata(np.abs(differences), axis=1)
    positive = (ranks * (differences > 0)).sum(1)
    return float((positive >= _critical(items, level)).mean())


def _critical(items: int, level: float) -> float:
    """The least sum of positive ranks that the two-sided test calls a difference, exact up to 20 items."""
    whole = items * (items + 1) // 2
    if items > EXACT_UP_TO:
        deviation = sqrt(items * (items + 1) * (2 * items + 1) / 24)
        return whole / 2 - float(ndtri((1 - level) / 2)) * deviation
    chance = np.zeros(whole + 1)
    chance[0] = 1.0
    for rank in range(1, items + 1):
        taken = np.zeros_like(chance)
        taken[rank:] = chance[: len(chance) - rank]
        chance = (chance + taken) / 2
    tail = 2 * np.cumsum(chance[::-1])[::-1]
    passed = np.flatnonzero(tail <= 1 - level + 1e-12)
    return float(passed[0]) if len(passed) else float("inf")


def _large(effect: Floats, items: int, level: float) -> Floats:
    """Chance by the normal approximation: the test compares pairs of items, whose sum is above 0 so often."""
    above = ndtr(effect * sqrt(2))
    both = ndtr(effect)
    mean = items * both + items * (items - 1) / 2 * above
    variance = items * (items + 1) * (2 * items + 1) / 24
    return ndtr((mean - items * (items + 1) / 4) / sqrt(variance) + ndtri((1 - level) / 2))


def items_needed(expected: Difference, raters: int, power: float = 0.8, level: float = 0.95) -> int | None:
    """The fewest items with this power; None where no number has it, as raters' own differences may forbid."""
    if expected.difference == 0:
        return None
    return _least(lambda items: difference_power(expected, items, raters, level, 2000) >= power, power)


@dataclass(frozen=True, slots=True)
class Correlation:
    """Of a judge with people's true mean, and the ``reliability`` of one rater (ICC, single)."""

    correlation: float
    reliability: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < abs(self.correlation) < 1:
            raise Problem(f"correlation: found {self.correlation:g}, expected a number between -1 and 1, not 0")
        if not 0 < self.reliability <= 1:
            raise Problem(f"reliability: found {self.reliability:g}, expected more than 0 and at most 1")

    def seen_with(self, raters: int) -> float:
        """The correlation with the mean of so many raters (Spearman-Brown)."""
        stepped = raters * self.reliability / (1 + (raters - 1) * self.reliability)
        return self.correlation * sqrt(stepped)


def correlation_power(expected: Correlation, items: int, raters: int, level: float = 0.95) -> float:
    """Chance that a correlation of so many items is found to differ from 0 (Fisher's z, bias of r left in)."""
    _check(level, items=items, raters=raters)
    if items < 4:
        return 0.0
    seen = abs(expected.seen_with(raters))
    centre = (atanh(min(seen, 1 - 1e-12)) + seen / (2 * (items - 1))) * sqrt(items - 3)
    return float(ndtr(centre + ndtri((1 - level) / 2)))


def correlation_limits(
    expected: Correlation, items: int, raters: int, level: float = 0.95
) -> tuple[float, float] | None:
    """The interval that so many items give around the expected correlation; None with fewer than four."""
    _check(level, items=items, raters=raters)
    if items < 4:
        return None
    half = -float(ndtri((1 - level) / 2)) / sqrt(items - 3)
    centre = atanh(max(-1 + 1e-12, min(expected.seen_with(raters), 1 - 1e-12)))
    low, high = np.tanh([centre - half, centre + half])
    return float(low), float(high)


def correlated_items_needed(
    expected: Correlation, raters: int, power: float = 0.8, level: float = 0.95
) -> int | None:
    """The fewest items with this power."""
    return _least(lambda items: correlation_power(expected, items, raters, level) >= power, power)


def _least(reaches: Callable[[int], bool], power: float) -> int | None:
    if not 0 < power < 1:
        raise Problem(f"power: found {power:g}, expected a share between 0 and 1")
    high = 4
    while not reaches(high):
        high *= 2
        if high > MOST_ITEMS:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high


def _check(level: float, **counts: int) -> None:
    if not 0 < level < 1:
        raise Problem(f"level: found {level:g}, expected a share between 0 and 1")
    for name, value in counts.items():
        if value < (1 if name == "raters" else 0):
            raise Problem(f"{name}: found {value}, expected 1 or more")


def seen_difference(table: Floats, level: float = 0.95) -> tuple[Difference, tuple[float, float]]:
    """What an items x raters table of differences shows (NaN: not rated): its spreads, and limits of its mean.

    Limits by items with Student's t. Raises Problem with fewer than two items.
    """
    from arena.agreement.icc import components
    from arena.ratings.uncertainty import quantile

    table = table[np.isfinite(table).any(axis=1)][:, np.isfinite(table).any(axis=0)]
    if len(table) < 2:
        raise Problem(f"power: found {len(table)} items rated in both conditions, expected 2 or more")
    means = np.nanmean(table, axis=1)
    error = float(means.std(ddof=1)) / sqrt(len(means))
    half = quantile(level, len(means) - 1) * error
    centre = float(means.mean())
    parts = components(table) if table.shape[1] > 1 else None
    known = parts is not None and bool(np.isfinite([parts.target[0], parts.rater[0], parts.residual[0]]).all())
    if parts is None or not known:
        return Difference(centre, 0.0, 0.0, max(float(means.std(ddof=1)), 1e-9)), (centre - half, centre + half)
    item, rater, residual = (
        sqrt(max(0.0, float(part[0]))) for part in (parts.target, parts.rater, parts.residual)
    )
    start = Difference(centre, item, rater, max(residual, 1e-9))
    return start, (centre - half, centre + half)


def at_difference(expected: Difference, value: float) -> Difference:
    """The same spreads around another difference."""
    return replace(expected, difference=value)
