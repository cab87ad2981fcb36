"""What every statistic of this package returns: the figure with its full name, or the reason why there is none.

A figure that could not be computed is ``None`` with a reason, never NaN and never a number that stands in for it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import ValidationInfo, field_validator

from runstore.results import Figure, Number, Result

FloatArray = NDArray[np.float64]

SIGNIFICANT_DIGITS = 12
_NOISE = 1e-12
"""A figure below it is 0: what is left of it is the processor's."""


class StatisticRow(Result):
    """A :class:`Statistic` as it stands in files."""

    key: str
    name: str
    value: Figure | None
    interval: tuple[Figure, Figure] | None
    level: Number | None
    interval_method: str | None
    n_used: int
    n: int
    unit: str
    reason: str | None
    notes: tuple[str, ...]

    @field_validator("level")
    @classmethod
    def _belongs_to_an_interval(cls, level: Number | None, info: ValidationInfo) -> Number | None:
        return level if info.data.get("interval") else None


class TestRow(Result):
    """A :class:`SignificanceTest` as it stands in files."""

    key: str
    name: str
    statistic: Figure | None
    p_value: Figure | None
    method: str
    n_used: int
    n: int
    unit: str
    zero_rule: str | None
    smallest_p: Figure | None
    reason: str | None
    effect: StatisticRow | None


@dataclass(frozen=True)
class Statistic:
    """One figure. ``interval`` is (lower, upper) at confidence ``level``; ``n_used`` of ``n`` counts ``unit``.

    ``reason`` says why ``value`` is None. ``interval_method`` names how the interval was made, or says why there
    is none although there is a value.
    """

    key: str
    name: str
    value: float | None
    n_used: int
    n: int
    unit: str = "items"
    interval: tuple[float, float] | None = None
    level: float | None = None
    interval_method: str | None = None
    reason: str | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.value is None and not self.reason:
            raise ValueError(f"{self.key}: no value and no reason")
        numbers = [self.value, *(self.interval or ())]
        if any(number is not None and not math.isfinite(number) for number in numbers):
            raise ValueError(f"{self.key}: {numbers} are not all finite")
        if self.value is not None and abs(self.value) < _NOISE:
            object.__setattr__(self, "value", 0.0)

    def row(self) -> StatisticRow:
        """The statistic as it stands in ``agreement.json`` and other files."""
        return StatisticRow.taken_from(self)


@dataclass(frozen=True)
class SignificanceTest:
    """One test. ``p_value`` is two-sided. ``smallest_p`` is the least p this many observations could give."""

    key: str
    name: str
    statistic: float | None
    p_value: float | None
    method: str
    n_used: int
    n: int
    unit: str = "pairs"
    zero_rule: str | None = None
    smallest_p: float | None = None
    effect: Statistic | None = None
    reason: str | None = None

    def __post_init__(self) -> None:
        if self.p_value is None and not self.reason:
            raise ValueError(f"{self.key}: no p value and no reason")

    def row(self) -> TestRow:
        """The test as it stands in files."""
        return TestRow.taken_from(self)


def find(statistics: Iterable[Statistic], key: str) -> Statistic:
    """The one statistic with this key. Raises KeyError, listing what there is, rather than give a neighbour."""
    by_key = {statistic.key: statistic for statistic in statistics}
    if key not in by_key:
        raise KeyError(f"no statistic {key!r}; there are {', '.join(sorted(by_key))}")
    return by_key[key]


def missing(
    key: str, name: str, reason: str, n_used: int, n: int, *, unit: str = "items", notes: tuple[str, ...] = ()
) -> Statistic:
    """A statistic that is not estimable because of ``reason``."""
    return Statistic(key, name, None, n_used, n, unit=unit, reason=reason, notes=notes)


def mid_ranks(values: FloatArray) -> FloatArray:
    """(n,) -> (n,) ranks from 1; equal values share the mean of theirs."""
    _, where, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[where]


def settle(values: ArrayLike, magnitude: float | None = None) -> FloatArray:
    """Values without float noise: rounded to 12 digits of ``magnitude`` (default: the largest of them).

    Zeros and ties are decided on the result, so that .1 + .2 - .3 counts as no difference.
    """
    array = np.asarray(values, dtype=np.float64)
    finite = np.abs(array[np.isfinite(array)])
    largest = magnitude if magnitude is not None else (float(finite.max()) if finite.size else 0.0)
    if largest <= 0 or not math.isfinite(largest):
        return array + 0.0
    decimals = SIGNIFICANT_DIGITS - math.ceil(math.log10(largest))
    return np.round(array, min(decimals, 300)) + 0.0


def differences(x: ArrayLike, y: ArrayLike) -> FloatArray:
    """x - y without float noise, judged by the size of x and y (not of what is left of them)."""
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    both = np.abs(np.concatenate([first, second]))
    finite = both[np.isfinite(both)]
    return settle(first - second, float(finite.max()) if finite.size else 0.0)


def paired(x: ArrayLike, y: ArrayLike) -> tuple[FloatArray, FloatArray, int]:
    """The pairs with both values there, and how many pairs there were. Raises ValueError on unequal lengths."""
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError(f"pairs need two vectors of one length, not {first.shape} and {second.shape}")
    there = np.isfinite(first) & np.isfinite(second)
    return first[there], second[there], len(first)


def present(x: ArrayLike) -> FloatArray:
    """The values of a vector that are there."""
    array = np.asarray(x, dtype=np.float64)
    return array[np.isfinite(array)]


def clipped(lower: float, upper: float, low: float = -1.0, high: float = 1.0) -> tuple[float, float]:
    """An interval cut to what the figure can be."""
    return max(low, float(lower)), min(high, float(upper))
