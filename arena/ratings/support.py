"""What a result rests on: how many independent units say something of their own, and which outweighs all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FLOOR = 5
"""Units (clusters, or battles where those are independent) below which nothing has an interval."""
DOMINANT = 0.5
"""Share of all information from which on one cluster is named."""
_SILENT = 1e-7


@dataclass(frozen=True)
class Support:
    """``units`` took part; ``informative`` of them say something of their own: their score is not zero.

    A unit by itself, and units that all say the same, have no score either: they are worth one. ``degrees`` are
    those of Student's t. ``largest`` is the share of the information that the unit ``heaviest`` (its number among
    the battles' clusters; None for single battles) carries.
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


def too_few(units: int, informative: int, unit: str | None) -> str:
    """Why so few clusters (named ``unit``), or battles, give no interval."""
    several = f"{unit or 'battle'}s"
    if units > 1 and informative <= 1:
        return f"{units} {several} that all say the same; an interval takes {FLOOR} that differ"
    if informative < units:
        return (
            f"{informative} of {units} {several} say something of their own; an interval takes {FLOOR} that differ"
        )
    name = several if informative != 1 else unit or "battle"
    return f"{informative} {name}; an interval takes {FLOOR} that differ"


def of_battles(number: Ints, score: Floats) -> Support:
    """Of single battles: (n,) how many each cell has, and (n, d) the score of one."""
    said = np.abs(score).max(1, initial=0.0) > _SILENT
    total = int(number.sum())
    return Support(total, _worth(total, int(number[said].sum())), total - 1, 1 / max(total, 1))


class Seen:
    """What the clusters of a fit weigh and say, collected block by block."""

    def __init__(self, clusters: int) -> None:
        self._leverage, self._said = np.zeros(clusters), np.zeros(clusters, bool)

    def add(self, low: int, scores: Floats, leverage: Floats, cluster: Ints) -> None:
        """Clusters from ``low`` on: (g, P) scores, (g,) leverages, and the (N,) cluster of each battle."""
        here = slice(low, low + len(scores))
        length = np.sqrt(np.einsum("gp,gp->g", scores, scores))
        self._leverage[here] = leverage
        said = length > _SILENT * max(len(cluster), 1)
        if not said.all():
            said = length > _SILENT * np.maximum(np.bincount(cluster, minlength=len(scores)), 1)
        self._said[here] = said

    def support(self) -> Support:
        """What they amount to."""
        taking_part, share = self._leverage > 0, self._leverage / max(float(self._leverage.sum()), 1e-300)
        heaviest = int(np.argmax(share)) if len(share) else None
        top, units = float(share.max(initial=0.0)), int(taking_part.sum())
        return Support(units, _worth(units, int(self._said.sum())), degrees(share[taking_part]), top, heaviest)


def _worth(units: int, differing: int) -> int:
    return differing or min(units, 1)


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
