"""Counting battles by cell: (pair, outcome, shown first), chunk by chunk, whatever models are still to come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

UNKNOWN_FIRST = 1
_DENSE_CELLS = 16_000_000
_MOST_PARTS = 16
_SIDE = 1 << 24


def sums(key: NDArray[np.integer[Any]], amount: Floats, size: int) -> Floats:
    """For each number below ``size`` the sum of the amounts whose key it is."""
    return np.bincount(key, amount, size).astype(np.float64, copy=False)


def keys(a: Ints, b: Ints, outcome: Ints, first: Ints) -> tuple[Ints, ...]:
    """What each side of a battle adds to its oriented key ``(a * 2**24 + b) * 9 + outcome * 3 + first``."""
    return a * (_SIDE * 9), b * 9, outcome * 3, first


def coded(columns: Sequence[tuple[NDArray[np.integer[Any]], Ints]]) -> tuple[NDArray[np.integer[Any]], Ints]:
    """(rows,) code of each row's combination of columns, and the key of each code.

    A column is its rows' codes, and what each of these adds to the key.
    """
    shape = tuple(len(adds) for _, adds in columns)
    small = np.int32 if prod(shape) < 1 << 31 else np.int64
    code = columns[0][0].astype(small)
    for codes, adds in columns[1:]:
        code *= len(adds)
        code += codes.astype(small, copy=False)
    if prod(shape) <= _DENSE_CELLS:
        return code, reduce(np.add.outer, (adds for _, adds in columns)).ravel()
    unique, code = np.unique(code, return_inverse=True)
    places = np.unravel_index(unique, shape)
    return code, np.sum([adds[place] for (_, adds), place in zip(columns, places, strict=True)], axis=0)


class CellCounts:
    """(number, weight, squared weight) of battles by oriented key."""

    def __init__(self) -> None:
        self._parts: list[tuple[Ints, list[Floats]]] = []

    def add(self, code: NDArray[np.integer[Any]], key: Ints, weight: Floats | None) -> None:
        number = np.bincount(code, minlength=len(key)).astype(np.float64)
        totals = [number, number, number]
        if weight is not None:
            totals[1:] = sums(code, weight, len(key)), sums(code, weight**2, len(key))
        used = np.flatnonzero(number)
        self._parts.append((key[used], [total[used] for total in totals]))
        if len(self._parts) > _MOST_PARTS:
            self._parts = [self._joined()]

    def _joined(self) -> tuple[Ints, list[Floats]]:
        if not self._parts:
            return np.empty(0, np.int64), [np.empty(0)] * 3
        unique, inverse = np.unique(np.concatenate([key for key, _ in self._parts]), return_inverse=True)
        totals = (np.concatenate([part[n] for _, part in self._parts]) for n in range(3))
        return unique, [sums(inverse, total, len(unique)) for total in totals]

    def folded(self, order: Ints) -> Cells:
        wide, totals = self._joined()
        key, _ = _fold(wide, order)
        own = key < 0
        unique, inverse = np.unique(key[~own], return_inverse=True)
        folded = [sums(inverse, total[~own], len(unique)) for total in totals]
        return Cells(len(order), unique, folded, int(totals[0][own].sum()))


def _fold(wide: Ints, order: Ints) -> tuple[Ints, NDArray[np.bool_]]:
    """Keys with i < j in sorted order (-1 for a game against itself), and which rows had to be turned round."""
    pair, kind = np.divmod(wide, 9)
    a, b = np.divmod(pair, _SIDE)
    a, b = order[a], order[b]
    swapped = a > b
    # Turning a row round makes a win a loss and shown-first shown-second: kind 8 - k holds both mirrored.
    key = (np.minimum(a, b) * len(order) + np.maximum(a, b)) * 9 + np.where(swapped, 8 - kind, kind)
    return np.where(a == b, -1, key), swapped


@dataclass(frozen=True)
class Cells:
    models: int
    key: Ints
    sums: list[Floats]
    self_play: int

    def arrays(self) -> tuple[Ints, Ints, Ints, Ints, Floats, Floats, Ints]:
        pair, kind = np.divmod(self.key, 9)
        i, j = np.divmod(pair, max(self.models, 1))
        outcome, first = np.divmod(kind, 3)
        number, weight, square = self.sums
        return i, j, outcome, first - 1, weight, square, number.astype(np.int64)

    def locate(self, wide: Ints, order: Ints) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """The cell of each oriented key (-1 for a game against itself), and whether it was turned round."""
        key, swapped = _fold(wide, order)
        if not len(self.key):
            return np.full(len(key), -1, np.int32), swapped
        at = np.minimum(np.searchsorted(self.key, key), len(self.key) - 1)
        return np.where(self.key[at] == key, at, -1).astype(np.int32), swapped
