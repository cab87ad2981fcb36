"""Colouring and ordering: the two steps that make an assignment counterbalanced.

:func:`split_in_two` is the Euler split of a bipartite graph (pair the edges at every vertex, walk the pairs,
alternate): at every vertex, and at every union of vertices named as a coarser key, the two colours differ by
at most one. :func:`williams` are the squares of Williams 1949.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

_ENUMERATED = 12
_SAMPLED_WORDS = 600


def permuted(count: int, rng: np.random.Generator) -> list[int]:
    """0 to ``count`` - 1 in drawn order."""
    return [int(number) for number in rng.permutation(count)]


def split_in_two(
    left: Sequence[Sequence[Hashable]], right: Sequence[Sequence[Hashable]], rng: np.random.Generator
) -> list[int]:
    """A colour (0 or 1) per edge. ``left[e]`` and ``right[e]`` are the keys of edge e, from fine to coarse.

    Each finer key must determine the coarser ones. At every key of either side the colours differ by at most 1.
    """
    sides = (_partners(left), _partners(right))
    colours = [-1] * len(left)
    for start in range(len(left)):
        if colours[start] >= 0:
            continue
        colours[start] = int(rng.integers(2))
        waiting = [start]
        while waiting:
            edge = waiting.pop()
            for partners in sides:
                other = partners[edge]
                if other >= 0 and colours[other] < 0:
                    colours[other] = 1 - colours[edge]
                    waiting.append(other)
    return colours


def _partners(keys: Sequence[Sequence[Hashable]]) -> list[int]:
    partners = [-1] * len(keys)
    single = list(range(len(keys)))
    for level in range(len(keys[0]) if keys else 0):
        waiting: dict[Hashable, int] = {}
        for edge in single:
            key = keys[edge][level]
            other = waiting.pop(key, None)
            if other is None:
                waiting[key] = edge
            else:
                partners[edge], partners[other] = other, edge
        single = sorted(waiting.values())
    return partners


def williams(size: int) -> list[list[int]]:
    """Orders of ``size`` treatments in which each follows each other equally often (n rows; 2n where n is odd)."""
    first = [0]
    low, high = 1, size - 1
    while low <= high:
        first.append(low)
        if low < high:
            first.append(high)
        low, high = low + 1, high - 1
    square = [[(value + shift) % size for value in first] for shift in range(size)]
    return square if size % 2 == 0 or size == 1 else square + [row[::-1] for row in square]


def words(length: int, zeros: int, rng: np.random.Generator) -> NDArray[np.int8]:
    """Sequences of two conditions with this many 0s, one a row: all of them, or a sample of long ones."""
    if length <= _ENUMERATED:
        places = list(combinations(range(length), zeros))
        rows = np.ones((len(places), length), dtype=np.int8)
        for row, place in zip(rows, places, strict=True):
            row[list(place)] = 0
        return rows
    base = np.array([0] * zeros + [1] * (length - zeros), dtype=np.int8)
    return np.array([rng.permutation(base) for _ in range(_SAMPLED_WORDS)], dtype=np.int8)


def order_conditions(zeros: Sequence[int], length: int, rng: np.random.Generator) -> NDArray[np.int8]:
    """A condition sequence per rater (``zeros[i]`` 0s in ``length`` places).

    Chosen by Gibbs sampling with falling temperature, so that at every place both conditions come equally often
    over the raters and each of the four first-order transitions comes equally often.
    """
    pools = {count: words(length, count, rng) for count in sorted(set(zeros))}
    features = {count: _features(pool) for count, pool in pools.items()}
    chosen = [int(rng.integers(len(pools[count]))) for count in zeros]
    total = np.sum([features[count][pick] for count, pick in zip(zeros, chosen, strict=True)], axis=0)
    goal = np.zeros(length + 4)
    goal[length:] = len(zeros) * (length - 1) / 4
    for temperature in (3.0, 1.5, 0.8, 0.4, 0.2, 0.1, 0.0, 0.0):
        for rater in permuted(len(zeros), rng):
            rows = features[zeros[rater]]
            total = total - rows[chosen[rater]]
            cost = np.square(total + rows - goal).sum(axis=1)
            chosen[rater] = int(np.argmin(cost + temperature * rng.gumbel(size=len(cost))))
            total = total + rows[chosen[rater]]
    return np.array([pools[count][pick] for count, pick in zip(zeros, chosen, strict=True)], dtype=np.int8)


def _features(pool: NDArray[np.int8]) -> NDArray[np.float64]:
    """Per word: +1 or -1 at each place, then how often 00, 01, 10 and 11 follow."""
    signs = 1.0 - 2.0 * pool
    steps = pool[:, :-1] * 2 + pool[:, 1:]
    counts = np.stack([(steps == kind).sum(axis=1) for kind in range(4)], axis=1)
    return np.concatenate([signs, counts], axis=1).astype(np.float64)


def transitions(sequence: Sequence[str]) -> list[tuple[str, str]]:
    """What follows what: first-order carry-over of one rater's sequence."""
    return list(pairwise(sequence))
