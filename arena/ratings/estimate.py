"""From counted battles to an estimate with its uncertainty, or to the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log

import numpy as np
from numpy.typing import NDArray

from arena.ratings.battles import LOSS, TIE, WIN, Battles
from arena.ratings.bootstrap import Draws
from arena.ratings.design import Design, cell_design
from arena.ratings.fitting import Fit, fit
from arena.ratings.graph import Structure, solvable, structure
from arena.ratings.models import model_of
from arena.ratings.settings import Settings
from arena.ratings.uncertainty import METHODS, Uncertainty

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SCALE = 400 / log(10)
MEAN = 1000.0
TIED = 1e-9
"""Log-odds up to which two estimates are the same one."""


@dataclass(frozen=True)
class Estimate:
    """The fit of the models that can be rated; ``members`` are their indices among the battles' names.

    ``fitted`` is None where nothing could be fitted, ``reason`` then says why. ``uncertainty`` is None where no
    intervals were asked for; ``position_reason`` says why a known order of showing could not be adjusted for.
    """

    structure: Structure
    members: Ints
    design: Design
    fitted: Fit | None
    uncertainty: Uncertainty | None = None
    reason: str | None = None
    position_reason: str | None = None

    @property
    def index(self) -> dict[int, int]:
        """The row of each rated model, by its number among the battles' names."""
        return {int(m): row for row, m in enumerate(self.members)}

    @property
    def covariance(self) -> Floats | None:
        return None if self.uncertainty is None else self.uncertainty.covariance

    @property
    def draws(self) -> Draws | None:
        return None if self.uncertainty is None else self.uncertainty.draws

    @property
    def clustered(self) -> bool:
        return self.uncertainty is not None and self.uncertainty.clustered


def estimate(battles: Battles, settings: Settings) -> Estimate:
    """Fit the battles and say how sure the fit is. Never raises for a degenerate table: the reason is in it."""
    model = model_of(settings.ties)
    shape = structure(battles.wins(), battles.ties())
    core = shape.core
    if settings.prior:
        met = np.zeros(len(core), bool)
        met[battles.i] = met[battles.j] = True
        core = np.where(met, 0, -1)
    position = settings.position == "adjust" and battles.shown_first_known
    position_reason = None
    if position and not _position_estimable(battles, core):
        position, position_reason = (
            False,
            "the order of showing is confounded with the results or decides them all",
        )
    design, members = cell_design(battles, core, position=position)
    unfitted = Estimate(shape, members, design, None, position_reason=position_reason)
    if not len(members):
        return replace(unfitted, reason="no set of models whose wins go round: no gap can be estimated")
    counts = design.counts(battles.weight)
    if not counts[:, TIE].any():
        model = model.without_ties
    decided = bool(counts[:, [WIN, LOSS]].any())
    if model.has_parameter and not (decided if settings.prior else _ties_estimable(design, counts)):
        reason = f"the {model.name} tie parameter has no finite estimate here; use ties as halves"
        return replace(unfitted, reason=reason)
    fitted = fit(design, counts, model=model, prior=settings.prior)
    method = METHODS.get(settings.intervals)
    told = None if method is None else method(fitted, design, battles, settings)
    return replace(unfitted, fitted=fitted, uncertainty=told)


def _position_estimable(battles: Battles, core: Ints) -> bool:
    """No shift of the models can imitate, or outrun, a shift by position (else its estimate is not finite)."""
    inside = (core[battles.i] >= 0) & (core[battles.i] == core[battles.j]) & (battles.weight > 0)
    i, j, outcome = battles.i[inside], battles.j[inside], battles.outcome[inside]
    first = battles.first[inside].astype(np.float64)
    if not first.any():
        return False
    up, down = outcome != LOSS, outcome != WIN
    over, under = np.concatenate([i[up], j[down]]), np.concatenate([j[up], i[down]])
    shown = np.concatenate([first[up], -first[down]])
    return not any(solvable(len(core), over, under, sign * shown) for sign in (1.0, -1.0))


def _ties_estimable(design: Design, counts: Floats) -> bool:
    won, tied, lost = counts[:, WIN] > 0, counts[:, TIE] > 0, counts[:, LOSS] > 0
    i, j = design.i, design.j
    over = np.concatenate([i[won], j[lost], i[tied], j[tied]])
    under = np.concatenate([j[won], i[lost], j[tied], i[tied]])
    bound = np.concatenate([np.ones(int(won.sum() + lost.sum())), -np.ones(2 * int(tied.sum()))])
    return not solvable(design.size, over, under, bound)
