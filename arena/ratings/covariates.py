"""Bradley-Terry with covariates of single battles: what each is worth, with the models' strengths held fixed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack

from arena.ratings.battles import Battles, Rows
from arena.ratings.design import Design, cell_design
from arena.ratings.estimate import Estimate, estimate
from arena.ratings.fitting import Fit, fit
from arena.ratings.settings import Settings
from arena.ratings.uncertainty import Uncertainty, by_jackknife

Floats = NDArray[np.float64]

CONFOUNDED = "the covariates repeat each other or who the models are"
SEPARATED = "the covariates decide too many of these battles: no finite estimate"


@dataclass(frozen=True)
class Effect:
    """Log-odds a unit of a covariate is worth, with its interval; the reason why it, or that, is not known."""

    name: str
    value: float | None
    lower: float | None = None
    upper: float | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Adjusted:
    """A fit with covariates beside the ``plain`` one. ``fitted`` is None where there is none, for ``reason``.

    ``names`` are the shared parameters in order; ``told`` says how sure they are, ``cluster`` what
    the battles are clustered by.
    """

    plain: Estimate
    names: tuple[str, ...]
    fitted: Fit | None = None
    told: Uncertainty | None = None
    level: float = 0.95
    cluster: str | None = None
    reason: str | None = None

    @property
    def half(self) -> Floats | None:
        """(P,) half the width of each parameter's interval, NaN where it has none."""
        return None if self.told is None else self.told.half(self.level)

    def effect(self, name: str) -> Effect:
        """One covariate's effect (``position``: of being shown first, where that is known and can be told)."""
        if name not in self.names:
            return Effect(name, None, reason=self.plain.position_reason or self.reason or "it was not asked for")
        if self.fitted is None or self.told is None:
            return Effect(name, None, reason=self.reason)
        at = self.names.index(name)
        value, place = float(self.fitted.shared[at]), len(self.fitted.theta) + at
        if (why := self.told.why_none(place, self.cluster)) is not None:
            return Effect(name, value, reason=why)
        half = float(self.told.half(self.level)[place])
        return Effect(name, value, value - half, value + half)


def adjusted(battles: Battles, settings: Settings, columns: Mapping[str, Floats]) -> Adjusted:
    """Fit the battles with these covariates (one value a row, turned as the battles' own: i minus j).

    Jackknife intervals by cluster where the battles carry them.
    Raises ValueError where the battles kept no rows.
    """
    rows = battles.rows
    if rows is None:
        raise ValueError("rows were not kept")
    plain = estimate(battles, replace(settings, intervals="none", anchor=None))
    names = (*plain.design.shared, *columns)
    if plain.fitted is None:
        return Adjusted(plain, names, reason=plain.reason)
    if not names:
        return Adjusted(plain, names, reason="there is no covariate")
    single = _singly(battles, rows)
    core = np.full(len(battles.names), -1)
    core[plain.members] = plain.design.core
    design = _with_covariates(single, core, columns, position="position" in plain.design.shared)
    if _is_confounded(design):
        return Adjusted(plain, names, reason=CONFOUNDED)
    counts, model = design.counts(single.weight), plain.fitted.model
    free = fit(design, counts, model=model, covariance=False)
    if not free.converged:  # so far out that the likelihood is flat and has no curvature to turn round
        return Adjusted(plain, names, reason=SEPARATED)
    fitted = fit(design, counts, model=model, start=free)
    told = by_jackknife(fitted, design, single, settings)
    return Adjusted(plain, names, fitted, told, settings.level, battles.cluster_name)


def _singly(battles: Battles, rows: Rows) -> Battles:
    """Every battle a cell of its own: covariates differ from battle to battle."""
    cell, total = rows.cell, len(rows.cell)
    weight = np.ones(total) if rows.weight is None else rows.weight
    return replace(
        battles,
        i=battles.i[cell],
        j=battles.j[cell],
        outcome=battles.outcome[cell],
        first=battles.first[cell],
        weight=weight,
        square=weight**2,
        number=np.ones(total, np.int64),
        rows=replace(rows, cell=np.arange(total, dtype=np.int32)),
    )


def _with_covariates(
    single: Battles, core: NDArray[np.int64], columns: Mapping[str, Floats], *, position: bool
) -> Design:
    """One row a battle, with its covariates (and who was shown first) as shared columns."""
    inside = np.flatnonzero((core[single.i] >= 0) & (core[single.i] == core[single.j]))
    base, members = cell_design(single, core, position=position)
    index = np.full(len(core), -1)
    index[members] = np.arange(len(members))
    row = np.full(len(single.i), -1)
    row[inside] = np.arange(len(inside))
    shown = [single.first[inside].astype(np.float64)] if position else []
    stacked = np.stack([*shown, *(values[inside] for values in columns.values())], axis=1)
    return Design(
        index[single.i[inside]],
        index[single.j[inside]],
        stacked,
        (*base.shared, *columns),
        base.core,
        row,
        single.outcome,
    )


def _is_confounded(design: Design) -> bool:
    """Whether some covariate is a sum of others and of constants of the models."""
    total, size = len(design.i), design.size
    at = np.arange(total)
    ones = np.ones(total)
    incidence = csr_matrix(
        (np.concatenate([ones, -ones]), (np.tile(at, 2), np.concatenate([design.i, design.j]))), (total, size)
    )
    scale = np.sqrt((design.shared_columns**2).sum(0))
    if (scale == 0).any():
        return True
    every = hstack([incidence / np.sqrt(max(total, 1)), csr_matrix(design.shared_columns / scale)])
    values = np.linalg.eigvalsh((every.T @ every).toarray())
    rank = int((values > 1e-9 * max(float(values.max()), 1e-300)).sum())
    cores = len(np.unique(design.core))
    return rank < size - cores + len(scale)
