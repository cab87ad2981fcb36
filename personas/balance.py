"""A balanced fraction of a crossing.

Columns are dealt one after the other: the rows are put in order of the columns they already have, and the new
column's levels go round. That keeps every level within one of equal and all rows different. Swaps inside a
column then even out the pairs of levels (a coordinate exchange on the sum of squared pair counts), from several
drawn starts; the best of them is taken. Sizes that an orthogonal array exists for usually end at one.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence

from runstore.ids import draw_seed

Row = list[int]
_STARTS = 8
_THOROUGH = 64
_TRIES = 20_000


def balanced_rows(levels: Mapping[str, Sequence[str]], size: int, seed: int) -> list[dict[str, str]]:
    """``size`` different combinations, one level of each factor (name -> levels) per row.

    Every level of a factor occurs equally often within one; pairs of levels of two factors as evenly as found.
    The result depends on the names and the seed, not on the order in which factors and levels are given.
    ``size`` must be from 1 to the number of combinations.
    """
    factors = sorted(levels)
    ordered = [sorted(levels[factor]) for factor in factors]
    counts = [len(each) for each in ordered]
    best: list[Row] = []
    best_cost = -1
    for start in range(_STARTS if size <= _THOROUGH else 1):
        generator = random.Random(draw_seed(seed, "design", size, start, *factors))
        rows = _dealt(counts, size, generator)
        _even_pairs(rows, generator)
        cost = pair_cost(rows)
        if best_cost < 0 or cost < best_cost:
            best, best_cost = rows, cost
    return [{factor: ordered[at][row[at]] for at, factor in enumerate(factors)} for row in sorted(best)]


def pair_cost(rows: Sequence[Sequence[int]]) -> int:
    """The sum over pairs of columns of the squared counts of their pairs of levels: least when they are even."""
    width = len(rows[0])
    return sum(
        count * count
        for a in range(width)
        for b in range(a + 1, width)
        for count in Counter((row[a], row[b]) for row in rows).values()
    )


def _dealt(counts: Sequence[int], size: int, generator: random.Random) -> list[Row]:
    rows: list[Row] = [[-1] * len(counts) for _ in range(size)]
    done: list[int] = []
    for column in generator.sample(range(len(counts)), len(counts)):
        generator.shuffle(rows)
        rows.sort(key=lambda row: [row[each] for each in done])
        wheel = generator.sample(range(counts[column]), counts[column])
        for at, row in enumerate(rows):
            row[column] = wheel[at % len(wheel)]
        done.insert(generator.randrange(len(done) + 1), column)
    return rows


def _even_pairs(rows: list[Row], generator: random.Random) -> None:
    """Swap inside columns while that lowers the cost: every swap in turn, or a fixed number of drawn ones."""
    width, size = len(rows[0]), len(rows)
    if width < 2 or size < 2:
        return
    tables = {
        (a, b): Counter((row[a], row[b]) for row in rows) for a in range(width) for b in range(width) if a != b
    }
    present = {tuple(row) for row in rows}
    if size > _THOROUGH:
        for _ in range(_TRIES):
            one, other = generator.sample(range(size), 2)
            _try_swap(rows[one], rows[other], generator.randrange(width), tables, present)
        return
    moved = True
    while moved:
        moved = False
        for column in range(width):
            for one in range(size):
                for other in range(one + 1, size):
                    moved |= _try_swap(rows[one], rows[other], column, tables, present)


def _try_swap(
    one: Row,
    other: Row,
    column: int,
    tables: dict[tuple[int, int], Counter[tuple[int, int]]],
    present: set[tuple[int, ...]],
) -> bool:
    """Swap two rows' levels in a column if the cost falls and no row comes to be there twice."""
    x, y = one[column], other[column]
    if x == y:
        return False
    gain = 0
    for b in range(len(one)):
        if b != column and one[b] != other[b]:
            table = tables[column, b]
            gain += table[x, one[b]] + table[y, other[b]] - table[y, one[b]] - table[x, other[b]] - 2
    if gain <= 0:
        return False
    before = {tuple(one), tuple(other)}
    one[column], other[column] = y, x
    if any(tuple(row) in present for row in (one, other)):
        one[column], other[column] = x, y
        return False
    present -= before
    present |= {tuple(one), tuple(other)}
    for b in range(len(one)):
        if b != column:
            for row, old in ((one, x), (other, y)):
                tables[column, b][old, row[b]] -= 1
                tables[column, b][row[column], row[b]] += 1
                tables[b, column][row[b], old] -= 1
                tables[b, column][row[b], row[column]] += 1
    return True
