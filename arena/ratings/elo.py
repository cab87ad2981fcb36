"""Elo as it runs: one update a battle, in the order of the battles. A view of a season, not an estimate.

The last figure depends on the order of play (Elo 1978); ratings to quote are Bradley-Terry's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arena.ratings.battles import Battles

_PER_POINT = math.log(10) / 400


@dataclass(frozen=True)
class Elo:
    """``ratings`` (M,) after the last battle; ``path`` (points, M) at the battles numbered in ``at``."""

    names: tuple[str, ...]
    ratings: NDArray[np.float64]
    at: NDArray[np.int64]
    path: NDArray[np.float64]
    k: float


def online(battles: Battles, *, k: float = 4.0, start: float = 1000.0, points: int = 100) -> Elo:
    """Run through the rows in order with step ``k``; ``points`` positions of the path are kept.

    Raises ValueError where the rows were not kept (read them with ``keep_rows``).
    """
    rows = battles.rows
    if rows is None:
        raise ValueError("the order of play was not kept")
    total = len(rows.cell)
    stops = np.unique(np.linspace(0, total, min(points, total) + 1).round().astype(np.int64))
    ratings: list[float] = [start] * len(battles.names)
    path = np.empty((len(stops), len(ratings)))
    i: list[int] = battles.i.tolist()
    j: list[int] = battles.j.tolist()
    outcome: list[float] = (battles.outcome / 2).tolist()
    cells: list[int] = rows.cell.tolist()
    before = 0
    for number, stop in enumerate(stops.tolist()):
        for cell in cells[before:stop]:
            a, b = i[cell], j[cell]
            expected = 1 / (1 + math.exp((ratings[b] - ratings[a]) * _PER_POINT))
            move = k * (outcome[cell] - expected)
            ratings[a] += move
            ratings[b] -= move
        path[number] = ratings
        before = stop
    return Elo(battles.names, np.array(ratings), stops, path, k)
