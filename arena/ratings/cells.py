"""Counting battles by cell: (pair, outcome, shown first), chunk by chunk, whatever models are still to come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

UNKNOWN_FIRST = 1
_DENSE_CELLS = 16_000_000


def sums(key: NDArray[np.integer[Any]], amount: Floats, size: int) -> Floats:
    """For each number below ``size`` the sum of the amounts whose key it is."""
    return np.bincount(key, amount, size).astype(np.float64, copy=False)


class CellCounts:
    """(number, weight, squared weight) of oriented keys ``((a * models) + b) * 9 + outcome * 3 + first``.

    A dense table while it is small, else sorted unique keys that are merged at the end.
    """

    def __init__(self) -> None:
        self._dense: dict[int, tuple[int, list[Floats]]] = {}
        self._sparse: list[tuple[Ints, list[Floats]]] = []

    def add(self, key: Ints, weight: Floats | None, models: int, kinds: int) -> None:
        cells = models * models * kinds
        if cells > _DENSE_CELLS:
            unique, inverse = np.unique(key, return_inverse=True)
            self._sparse.append((_spread(unique, models, kinds), _sums(inverse, weight, len(unique))))
            return
        known, before = self._dense.get(kinds, (models, None))
        added = _sums(key, weight, cells)
        if before is not None:
            for total, old in zip(added, before, strict=True):
                cube = total.reshape(models, models, kinds)
                cube[:known, :known] += old.reshape(known, known, kinds)
        self._dense[kinds] = (models, added)

    def folded(self, order: Ints) -> Cells:
        parts = list(self._sparse)
        for kinds, (models, dense) in self._dense.items():
            used = np.flatnonzero(dense[0])
            parts.append((_spread(used, models, kinds), [total[used] for total in dense]))
        if not parts:
            return Cells(len(order), np.empty(0, np.int64), [np.empty(0)] * 3, 0)
        wide = np.concatenate([keys for keys, _ in parts])
        totals = [np.concatenate([part[n] for _, part in parts]) for n in range(3)]
        key, _ = _fold(wide, order)
        own = key < 0
        unique, inverse = np.unique(key[~own], return_inverse=True)
        folded = [sums(inverse, total[~own], len(unique)) for total in totals]
        return Cells(len(order), unique, folded, int(totals[0][own].sum()))


def _sums(key: Ints, weight: Floats | None, size: int) -> list[Floats]:
    number = np.bincount(key, minlength=size).astype(np.float64)
    if weight is None:
        return [number, number.copy(), number.copy()]
    return [number, sums(key, weight, size), sums(key, weight**2, size)]


_SIDE = 1 << 24


def _spread(key: NDArray[np.integer[Any]], models: int, kinds: int) -> Ints:
    """The chunk's key as one that does not depend on how many models were known at the time."""
    pair, kind = np.divmod(key.astype(np.int64), kinds)
    a, b = np.divmod(pair, models)
    kind = kind if kinds == 9 else kind * 3 + UNKNOWN_FIRST
    return (a * _SIDE + b) * 9 + kind


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

    def locate(
        self, key: NDArray[np.integer[Any]], models: int, kinds: int, order: Ints
    ) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """Each row's cell, and whether the row was turned round; -1 for a game against itself."""
        size = models * models * kinds
        if size > _DENSE_CELLS:
            return self._find(*_fold(_spread(key, models, kinds), order))
        cell, swapped = self._find(*_fold(_spread(np.arange(size), models, kinds), order))
        return cell[key], swapped[key]

    def _find(self, key: Ints, swapped: NDArray[np.bool_]) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        if not len(self.key):
            return np.full(len(key), -1, np.int32), swapped
        at = np.minimum(np.searchsorted(self.key, key), len(self.key) - 1)
        return np.where(self.key[at] == key, at, -1).astype(np.int32), swapped
