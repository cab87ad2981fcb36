"""Which models, and which covariates, meet in which rows of a fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arena.ratings.battles import Battles

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Design:
    """Which parameters meet in which rows. G rows: i, j, columns of shared covariates (G, k), core of each model.

    ``row`` and ``outcome`` say where each of the K cells is counted; cells outside of any core have row -1.
    ``shared`` names the k covariates; ``offset`` (G,) is a part of the log-odds that is taken as known;
    ``core`` is 0..C-1 for each of the M models that are rated.
    """

    i: Ints
    j: Ints
    shared_columns: Floats
    shared: tuple[str, ...]
    core: Ints
    row: Ints
    outcome: Ints
    offset: Floats | None = None

    @property
    def size(self) -> int:
        return len(self.core)

    def eta(self, theta: Floats, shared: Floats) -> Floats:
        """(G,) log-odds of i over j."""
        eta = theta[self.i] - theta[self.j]
        if len(shared):
            eta = eta + self.shared_columns @ shared
        return eta if self.offset is None else eta + self.offset

    def counts(self, weight: Floats) -> Floats:
        """(G, 3) losses, ties and wins of i from weights of the K cells."""
        inside = self.row >= 0
        key = self.row[inside] * 3 + self.outcome[inside]
        return np.bincount(key, weight[inside], len(self.i) * 3).astype(np.float64).reshape(-1, 3)


def cell_design(battles: Battles, core: Ints, *, position: bool) -> tuple[Design, Ints]:
    """Rows by pair (and by who was shown first), for the models with a core; returns the design and their indices.

    A game between two cores, or with a model outside of any, is no evidence about gaps and gets no row.
    """
    members = np.flatnonzero(core >= 0)
    index = np.full(len(core), -1)
    index[members] = np.arange(len(members))
    i, j = battles.i, battles.j
    inside = (core[i] >= 0) & (core[i] == core[j])
    first = battles.first if position else np.zeros_like(battles.first)
    key = np.where(inside, (index[i] * len(members) + index[j]) * 3 + first + 1, -1)
    unique, row = np.unique(key, return_inverse=True)
    if len(unique) and unique[0] < 0:
        unique, row = unique[1:], row - 1
    pair, shown = np.divmod(unique, 3)
    columns = (shown - 1.0)[:, None] if position else np.empty((len(unique), 0))
    design_i, design_j = np.divmod(pair, max(len(members), 1))
    design = Design(
        design_i, design_j, columns, ("position",) if position else (), core[members], row, battles.outcome
    )
    return design, members
