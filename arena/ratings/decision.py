"""The one rule by which two models are told apart, and what follows from it for all of them.

A model is the better one where two things agree at the level of the intervals, each for all pairs together
(Holm 1979): the interval of the gap leaves out 0, and the exact test of the pair's own games is below the error.
Two models that never met have no test, and the interval decides alone; where results run one way only there is no
gap, and the test does. Everything that states a winner reads this.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log2

import numpy as np
from numpy.typing import NDArray

from arena.agreement.holm import holm_matrix
from arena.ratings.estimate import Estimate
from arena.ratings.gaps import Gaps
from arena.ratings.result import Decision
from arena.ratings.winrates import PairTable

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

MANY_UNITS = 50
"""Units from which on intervals alone settle places: Student's t is then as good as the exact test."""


@dataclass(frozen=True)
class Decisions:
    """(M, M) tables: the row is the ``better`` one, there is ``enough`` data to say, and places are settled.

    ``p_holm`` are the exact tests' p values for all pairs together.
    """

    better: Bools
    enough: Bools
    above: Bools
    p_holm: Floats

    def of(self, a: int, b: int) -> Decision:
        """What is said of two models, by their numbers."""
        if self.better[a, b]:
            return "a"
        if self.better[b, a]:
            return "b"
        return "not told apart" if self.enough[a, b] else "not enough data"


def decide(estimated: Estimate, gaps: Gaps, table: PairTable, level: float) -> Decisions:
    """All pairs, and which places that settles.

    ``above`` (who certainly stands above whom) is ``better``; with many units also what the gaps say alone, for
    all pairs together, of models whose own games are too few for a test.
    """
    error = 1 - level + 1e-12
    p_holm = holm_matrix(table.p_values)
    with np.errstate(invalid="ignore"):
        tested = (p_holm <= error) & (table.wins > table.wins.T)
        apart = (gaps.p_joint <= error) & (gaps.lower > 0)
    one_way = np.isnan(gaps.lower) & np.isnan(gaps.upper) & ~_with_gap(estimated)
    met = table.games() > 0
    better = (apart & (tested | ~met)) | (one_way & tested)
    has_limits = ~(np.isnan(gaps.lower) & np.isnan(gaps.upper))
    with np.errstate(invalid="ignore"):
        testable = table.smallest <= error
    above = better
    if estimated.uncertainty is not None and estimated.uncertainty.support.informative >= MANY_UNITS:
        above = better | apart
    return Decisions(better, has_limits | (one_way & testable), above, p_holm)


def clusters_needed(level: float, pairs: int) -> int:
    """How many clusters must lean the same way before the exact test, of so many pairs together, can reach it."""
    return ceil(1 + log2(max(pairs, 1) / (1 - level)) - 1e-9)


def _with_gap(estimated: Estimate) -> Bools:
    """(M, M) whether results of the two go both ways, so that they have a gap."""
    core, group = estimated.structure.core, estimated.structure.group
    rated = (core[:, None] >= 0) & (core[:, None] == core[None, :])
    return rated & (group[:, None] == group[None, :]) & (estimated.fitted is not None)
