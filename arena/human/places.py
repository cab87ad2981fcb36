"""Evening out who rates what at which position: annealing over swaps inside a rater's list.

The objective is a sum of squares that is smallest exactly when, at every position, each stratum and each
condition comes as often as it should and each condition follows each equally often.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

import numpy as np


@dataclass(frozen=True, slots=True)
class Slot:
    """An item in a rater's list."""

    stratum: int
    condition: int
    document: int


class Table:
    """Counts over raters that swaps keep up to date: position x stratum, position x condition, transitions."""

    def __init__(self, rows: list[list[Slot]], conditions: int) -> None:
        self.rows = rows
        length = len(rows[0])
        strata = 1 + max(slot.stratum for row in rows for slot in row)
        self.strata = [[0] * strata for _ in range(length)]
        self.conditions = [[0] * conditions for _ in range(length)]
        self.steps = [[0] * conditions for _ in range(conditions)]
        self.counts_steps = conditions > 1 and length > 2
        for row in rows:
            self._count(row, range(length), 1)
        self.share = [sum(self.strata[p][s] for p in range(length)) / length for s in range(strata)]
        self.even = len(rows) / conditions
        self.step = len(rows) * (length - 1) / conditions**2

    def _count(self, row: Sequence[Slot], places: Sequence[int], sign: int) -> None:
        for place in places:
            self.strata[place][row[place].stratum] += sign
            self.conditions[place][row[place].condition] += sign
        for place in sorted({p for own in places for p in (own - 1, own) if 0 <= p < len(row) - 1}):
            self.steps[row[place].condition][row[place + 1].condition] += sign

    def cost(self, places: Sequence[int]) -> float:
        """The squared deviations that a swap of these places can change."""
        total = 0.0
        for place in places:
            total += sum((count - share) ** 2 for count, share in zip(self.strata[place], self.share, strict=True))
            total += sum((count - self.even) ** 2 for count in self.conditions[place])
        if self.counts_steps:
            total += sum((count - self.step) ** 2 for row in self.steps for count in row)
        return total

    def swap(self, rater: int, p: int, q: int) -> None:
        row = self.rows[rater]
        self._count(row, (p, q), -1)
        row[p], row[q] = row[q], row[p]
        self._count(row, (p, q), 1)

    def within_one(self) -> bool:
        """Whether no count is one or more away from its mean, and none apart by more than one."""
        columns = [*zip(*self.strata, strict=True), *self.conditions]
        if self.counts_steps:
            columns.append([count for row in self.steps for count in row])
        return all(max(column) - min(column) <= 1 for column in columns)


def even_out(rows: list[list[Slot]], conditions: int, rng: np.random.Generator, *, moves: int = 40_000) -> bool:
    """Swap items within raters' lists, in place, until all is within one; False if the moves ran out first."""
    table = Table(rows, conditions)
    length = len(rows[0])
    if length == 1:
        return table.within_one()
    temperature = 2.0
    raters = [int(value) for value in rng.integers(len(rows), size=moves)]
    firsts = [int(value) for value in rng.integers(length, size=moves)]
    shifts = [int(value) for value in rng.integers(1, length, size=moves)]
    chances = [float(value) for value in rng.random(moves)]
    for move in range(moves):
        if move % 64 == 0:
            temperature = 2.0 * (1 - (move % 8000) / 8000) ** 2 + 1e-3
            if table.within_one():
                return True
        rater, p = raters[move], firsts[move]
        q = (p + shifts[move]) % length
        a, b = rows[rater][p], rows[rater][q]
        if (a.stratum, a.condition) == (b.stratum, b.condition):
            continue
        before = table.cost((p, q))
        table.swap(rater, p, q)
        rise = table.cost((p, q)) - before
        if rise > 0 and chances[move] >= exp(-rise / temperature):
            table.swap(rater, p, q)
    return table.within_one()
