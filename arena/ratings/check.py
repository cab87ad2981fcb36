"""An independent oracle for the fit: the same estimate through another library."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from arena.ratings.battles import Battles
from arena.ratings.design import Design
from arena.ratings.estimate import SCALE, estimate
from arena.ratings.settings import Settings

Floats = NDArray[np.float64]
AGREED = 0.01
"""Rating points: a larger difference is an error in one of the two."""


@dataclass(frozen=True)
class Check:
    """The largest difference between the two estimates in rating points, over so many ``models``.

    None, for ``reason``, where there was nothing to compare.
    """

    models: int
    largest: float | None
    reason: str | None = None

    @property
    def is_refuted(self) -> bool:
        return self.largest is not None and not self.largest <= AGREED


def check(battles: Battles, settings: Settings) -> Check:
    """Compare the fit with choix's: ties as halves, no prior, the order of showing left out."""
    plain = replace(settings, ties="half", prior=0.0, position="ignore", intervals="none", anchor=None)
    own = estimate(battles, plain)
    if own.fitted is None:
        return Check(0, None, own.reason)
    other = by_choix(own.design, own.design.counts(battles.weight))
    return Check(len(own.members), float(SCALE * np.abs(own.fitted.theta - other).max()))


def by_choix(design: Design, counts: Floats) -> Floats:
    """(M,) estimates for ties as halves by I-LSR (Maystre & Grossglauser 2015), of mean 0 in each core."""
    import choix

    theta = np.zeros(design.size)
    wins = np.zeros((design.size, design.size))
    np.add.at(wins, (design.i, design.j), counts[:, 2] + counts[:, 1] / 2)
    np.add.at(wins, (design.j, design.i), counts[:, 0] + counts[:, 1] / 2)
    for label in range(int(design.core.max(initial=-1)) + 1):
        members = np.flatnonzero(design.core == label)
        own = choix.ilsr_pairwise_dense(wins[np.ix_(members, members)], tol=1e-10)
        theta[members] = own - own.mean()
    return theta
