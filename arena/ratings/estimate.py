"""From counted battles to an estimate with its uncertainty, or to the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from arena.ratings.battles import LOSS, TIE, WIN, Battles
from arena.ratings.bootstrap import Draws
from arena.ratings.design import Design, cell_design
from arena.ratings.fitting import Fit, fit
from arena.ratings.graph import Structure, solvable, structure
from arena.ratings.models import model_of
from arena.ratings.settings import Settings
from arena.ratings.uncertainty import METHODS, Uncertainty, quantile

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SCALE = 400 / log(10)
MEAN = 1000.0


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

    def quantile(self, level: float) -> float:
        """The two-sided quantile that intervals of this level take."""
        return quantile(level, 0 if self.uncertainty is None else self.uncertainty.clusters)

    def better(self) -> Floats | None:
        """(R, R) how probable it is that the row's model is the stronger one; NaN where nothing says so."""
        if self.draws is not None:
            return _share_better(self.draws.values[:, : len(self.members)])
        if self.fitted is None or self.covariance is None:
            return None
        theta, size = self.fitted.theta, len(self.members)
        spread = gap_deviation(self.covariance[:size, :size])
        with np.errstate(divide="ignore", invalid="ignore"):
            chance = ndtr((theta[:, None] - theta[None, :]) / spread)
        chance[spread <= 0] = 0.5
        return np.where(self.design.core[:, None] == self.design.core[None, :], chance, np.nan)


def gap_deviation(covariance: Floats) -> Floats:
    """(R, R) standard deviations of all differences, from the full covariance."""
    variance = np.diag(covariance)
    return np.sqrt(np.maximum(variance[:, None] + variance[None, :] - 2 * covariance, 0.0))


def _share_better(draws: Floats) -> Floats:
    size = draws.shape[1]
    out = np.full((size, size), np.nan)
    for m in range(size):
        own = draws[:, m : m + 1]
        known = ~(np.isnan(own) | np.isnan(draws))
        known &= ~(np.isinf(own) & (own == draws))
        count = known.sum(0)
        score = ((own > draws) & known).sum(0) + ((own == draws) & known).sum(0) / 2
        out[m] = np.where(count > 0, score / np.maximum(count, 1), np.nan)
    return out


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
    found = Estimate(shape, members, design, None, position_reason=position_reason)
    if not len(members):
        return replace(found, reason="no set of models whose wins go round: no gap can be estimated")
    counts = design.counts(battles.weight)
    if not counts[:, TIE].any():
        model = model.without_ties
    if model.has_parameter and not settings.prior and not _ties_estimable(design, counts):
        reason = f"the {model.name} tie parameter has no finite estimate here; use ties as halves"
        return replace(found, reason=reason)
    fitted = fit(design, counts, model=model, prior=settings.prior)
    method = METHODS.get(settings.intervals)
    told = None if method is None else method(fitted, design, battles, settings)
    return replace(found, fitted=fitted, uncertainty=told)


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
