"""What a result rests on: how many independent units say something of their own, and which outweighs all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arena.ratings.battles import Battles
from arena.ratings.cells import sums
from arena.ratings.jackknife import Cells
from arena.ratings.sandwich import Scores

Floats = NDArray[np.float64]

FLOOR = 5
"""Units (clusters, or battles where those are independent) below which nothing has an interval."""
DOMINANT = 0.5
"""Share of all information from which on one cluster is named."""
_SILENT = 1e-7


@dataclass(frozen=True)
class Support:
    """``units`` took part; ``informative`` of them say something of their own: their score is not zero.

    ``degrees`` are those of Student's t. ``largest`` is the share of the information that the unit ``heaviest``
    (its number among the battles' clusters; None for single battles) carries.
    """

    units: int
    informative: int
    degrees: float
    largest: float
    heaviest: int | None = None

    @property
    def enough(self) -> bool:
        return self.informative >= FLOOR

    @property
    def few(self) -> float:
        """(G - 1) / G: the jackknife's factor for the units that are left."""
        return 1 - 1 / max(self.units, 1)


def support_of(units: Scores, cells: Cells, battles: Battles) -> Support:
    """Count the clusters, or the single battles, behind a fit."""
    rows = battles.rows
    if units.by_cluster is None or rows is None or rows.cluster is None:
        number = battles.number[cells.at]
        said = np.abs(cells.score).max(1, initial=0.0) > _SILENT
        total = int(number.sum())
        return Support(total, int(number[said].sum()), total - 1, 1 / max(total, 1))
    of_cell = np.zeros(len(battles.i))
    of_cell[cells.at] = cells.leverage
    leverage, battles_each = np.zeros(rows.clusters), np.zeros(rows.clusters)
    for cell, cluster, weight in rows.blocks():
        leverage += sums(cluster, of_cell[cell] * weight, rows.clusters)
        battles_each += sums(cluster, weight, rows.clusters)
    taking_part = leverage > 0
    share = leverage / max(float(leverage.sum()), 1e-300)
    own = units.by_cluster
    top_and_low = (own.max(axis=1), own.min(axis=1))
    high, low = (np.asarray(one.todense() if hasattr(one, "todense") else one).ravel() for one in top_and_low)
    largest = np.maximum(high, -low)
    said = largest > _SILENT * np.maximum(battles_each, 1)
    heaviest = int(np.argmax(share)) if len(share) else None
    top = float(share.max(initial=0.0))
    return Support(int(taking_part.sum()), int(said.sum()), degrees(share[taking_part]), top, heaviest)


def degrees(share: Floats) -> float:
    """Degrees of freedom of Student's t from the clusters' shares of the information.

    Equal clusters give G - 1. Satterthwaite's degrees for independent battles (Bell & McCaffrey 2002) fall to 1 as
    one cluster outweighs the rest, and G - 1 holds where clusters vary alike whatever their size; between the two
    models the geometric mean is taken, whose coverage is simulated in ``bench/coverage.py``.
    """
    count = len(share)
    if count < 2 or float(share.max()) >= 1:
        return 0.0
    odds = share / (1 - share)
    squares = float((odds**2).sum())
    spread = squares + squares**2 - float((odds**4).sum())
    return float(np.sqrt((count - 1) * float(odds.sum()) ** 2 / spread))
