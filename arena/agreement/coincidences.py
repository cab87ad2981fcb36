"""Observed and expected disagreement of Krippendorff's alpha over pairable ratings, whole and without each group.

Alpha is 1 - (n - 1) observed / expected, with n the number of ratings; ``observed`` sums over items the distances
of their pairs over (ratings of the item - 1), ``expected`` those of all pairs, each pair in both directions. For
scores s the squared distances of m ratings sum to 2 (m sum s^2 - (sum s)^2), for categories to m^2 less the sum of
squared counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from arena.agreement.jackknife import Groups, Ints
from arena.agreement.result import FloatArray

Measurement = Literal["nominal", "ordinal", "interval", "ratio"]
MEASUREMENTS: tuple[Measurement, ...] = get_args(Measurement)

_CHUNK_CELLS = 1_000_000
_MOST_BY_PAIRS = 1000
_NARROW = 1.02
"""Largest over smallest value; below it 1 - sech^2 would leave too few digits."""


@dataclass(frozen=True)
class Pairable:
    """``values`` ascending; (ratings,) ``code`` into them and ``item``, ascending; every item has two or more."""

    values: FloatArray
    code: Ints
    item: Ints
    items: int

    @property
    def per_item(self) -> FloatArray:
        return np.bincount(self.item, minlength=self.items).astype(np.float64)


def alphas(data: Pairable, measurement: Measurement, among: Groups) -> tuple[float, FloatArray]:
    """Alpha, and (groups,) alpha without each group of items; NaN where what is left has no variance."""
    whole = np.zeros(data.items, dtype=np.int64)
    everything = Groups(whole, 1, 1, "items")
    if measurement == "ordinal":
        return _ordinal(data, among)
    disagree = {"nominal": _nominal, "interval": _interval, "ratio": _ratio}[measurement]
    own, expected, left = disagree(data, among)
    ratings = data.per_item
    value = _alpha(ratings.sum(), everything.sums(own)[0], expected)
    return float(value), _alpha(among.rest(ratings), among.rest(own), left)


def _alpha(ratings: FloatArray, observed: FloatArray, expected: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > 0, 1 - (ratings - 1) * observed / expected, np.nan)


Disagreement = tuple[FloatArray, FloatArray, FloatArray]
"""(items,) observed, () expected of all, (groups,) expected without each group."""


def _counted(data: Pairable, by: Ints) -> tuple[Ints, Ints, FloatArray]:
    """Distinct (by, code) with how often each occurs, ascending."""
    keys, counts = np.unique(by * len(data.values) + data.code, return_counts=True)
    return keys // len(data.values), keys % len(data.values), counts.astype(np.float64)


def _nominal(data: Pairable, among: Groups) -> Disagreement:
    m, total = data.per_item, np.bincount(data.code).astype(np.float64)
    item, _, counts = _counted(data, data.item)
    own = (m**2 - np.bincount(item, counts**2, data.items)) / (m - 1)
    group, code, counts = _counted(data, among.of[data.item])
    same = np.square(total).sum() + np.bincount(group, counts**2 - 2 * counts * total[code], among.count)
    return own, m.sum() ** 2 - np.square(total).sum(), among.rest(m) ** 2 - same


def _interval(data: Pairable, among: Groups) -> Disagreement:
    m, scores = data.per_item, (data.values - data.values.mean())[data.code]
    first, second = (np.bincount(data.item, power, data.items).astype(np.float64) for power in (scores, scores**2))
    own = 2 * (m * second - first**2) / (m - 1)
    expected = 2 * (m.sum() * second.sum() - first.sum() ** 2)
    left = 2 * (among.rest(m) * among.rest(second) - among.rest(first) ** 2)
    constant = _distinct_left(data, among) < 2
    return own, expected, np.where(constant, 0.0, left)


def _distinct_left(data: Pairable, among: Groups) -> Ints:
    """(groups,) how many different values are left without each group."""
    group, code, counts = _counted(data, among.of[data.item])
    gone = counts == np.bincount(data.code)[code]
    return len(data.values) - np.bincount(group, gone, among.count).astype(np.int64)


def _ratio(data: Pairable, among: Groups) -> Disagreement:
    item, code, counts = _counted(data, data.item)
    own = _within(data.values, item, code, counts, data.items) / (data.per_item - 1)
    group, code, counts = _counted(data, among.of[data.item])
    positive = data.values[data.values > 0]
    if len(positive) > _MOST_BY_PAIRS and positive[-1] > positive[0] * _NARROW:
        between = _between_by_waves(
            data.values, sparse.csr_array((counts, (group, code)), (among.count, len(data.values)))
        )
        expected = between.sum()
        return own, expected, expected - 2 * between.sum(axis=1) + between.diagonal()
    total = np.bincount(data.code).astype(np.float64)
    from_all = _summed_distances(data.values, total)
    expected = total @ from_all
    inside = _within(data.values, group, code, counts, among.count)
    return own, expected, expected - 2 * np.bincount(group, counts * from_all[code], among.count) + inside


def _between_by_waves(values: FloatArray, counts: sparse.csr_array) -> FloatArray:
    """(groups, groups) ratio distances summed over all pairs of their ratings; ``counts`` are groups x values.

    Of logarithms the ratio distance is tanh^2(difference / 2), that is 1 - sech^2, and sech^2(x / 2) has the
    Fourier transform 4 pi w / sinh(pi w): some hundred waves give the sum over all pairs to 1e-15.
    """
    positive = values > 0
    x = np.log(values[positive])
    step = 2 * np.pi / (float(np.ptp(x)) + 45)
    waves = step * np.arange(int(14 / step) + 2)
    strength = np.full(len(waves), 4 * step / (2 * np.pi))
    strength[1:] = 4 * np.pi * waves[1:] / np.sinh(np.pi * waves[1:]) * step / np.pi
    held = counts[:, np.flatnonzero(positive)].tocsc()
    summed = np.zeros((counts.shape[0], len(waves)), dtype=np.complex128)
    rows = max(1, _CHUNK_CELLS // len(waves))
    for start in range(0, len(x), rows):
        here = slice(start, start + rows)
        summed += held[:, here] @ np.exp(1j * x[here, None] * waves)
    near = np.real((summed * strength) @ np.conj(summed).T)
    every = np.asarray(counts.sum(axis=1)).ravel()
    zeros = every - np.asarray(held.sum(axis=1)).ravel()
    return np.outer(every, every) - np.outer(zeros, zeros) - near


def _within(values: FloatArray, part: Ints, code: Ints, counts: FloatArray, parts: int) -> FloatArray:
    """(parts,) sum of the ratio distances among the ratings of each part, which stand one after the other."""
    start = np.searchsorted(part, np.arange(parts))
    size = np.diff(np.append(start, len(part)))
    out = np.zeros(parts)
    if size.max(initial=0) > 64:
        for at, (begin, length) in enumerate(zip(start.tolist(), size.tolist(), strict=True)):
            here = slice(begin, begin + length)
            out[at] = counts[here] @ _summed_distances(values[code[here]], counts[here])
        return out
    for step in range(1, int(size.max(initial=0))):  # the step-th next of the same part
        first = np.flatnonzero(part[:-step] == part[step:])
        pair = _ratio_distance(values[code[first]], values[code[first + step]])
        out += 2 * np.bincount(part[first], pair * counts[first] * counts[first + step], parts)
    return out


def _summed_distances(values: FloatArray, counts: FloatArray) -> FloatArray:
    """(values,) sum over all ratings of their ratio distance from each value, in blocks of flat memory."""
    rows = max(1, _CHUNK_CELLS // len(values))
    return np.concatenate(
        [
            _ratio_distance(values[start : start + rows, None], values[None, :]) @ counts
            for start in range(0, len(values), rows)
        ]
    )


def _ratio_distance(first: FloatArray, second: FloatArray) -> FloatArray:
    whole = first + second
    share = np.divide(first - second, whole, out=np.zeros_like(whole), where=whole > 0)
    return np.multiply(share, share, out=share)


def _ordinal(data: Pairable, among: Groups) -> tuple[float, FloatArray]:
    """Mid-ranks change with the ratings that are left, so that each group costs a pass over all of them."""
    m, total = data.per_item, np.bincount(data.code).astype(np.float64)
    everything = _on_ranks(data, total[:, None], m, np.ones((data.items, 1), dtype=bool))
    group, code, counts = _counted(data, among.of[data.item])
    part = np.searchsorted(group, np.arange(among.count + 1))
    at_once = max(1, _CHUNK_CELLS // max(len(total), data.items))
    left: list[FloatArray] = []
    for number in range(0, among.count, at_once):
        several = np.arange(number, min(number + at_once, among.count))
        rest = np.repeat(total[:, None], len(several), axis=1)
        here = slice(part[several[0]], part[several[-1] + 1])
        rest[code[here], group[here] - number] -= counts[here]
        left.append(_on_ranks(data, rest, m, among.of[:, None] != several))
    return float(everything[0]), np.concatenate(left)


def _on_ranks(data: Pairable, counts: FloatArray, m: FloatArray, kept: NDArray[np.bool_]) -> FloatArray:
    """(sets,) ordinal alpha of the items that are ``kept`` (items, sets), by their (values, sets) ``counts``."""
    n = counts.sum(axis=0)
    ranks = np.cumsum(counts, axis=0) - counts / 2 - n / 2
    ratings = (np.ones(len(data.code)), data.code, np.append(0, np.cumsum(m)).astype(np.int64))
    of_item = sparse.csr_array(ratings, shape=(data.items, len(counts)))
    first, second = of_item @ ranks, of_item @ np.square(ranks)
    observed = ((m[:, None] * second - first**2) / (m[:, None] - 1) * kept).sum(axis=0)
    expected = n * (counts * ranks**2).sum(axis=0)
    return np.where((counts > 0).sum(axis=0) < 2, np.nan, _alpha(n, observed, expected))
