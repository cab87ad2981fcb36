"""From counted battles to an estimate with its uncertainty, or to the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtrit

from arena.ratings.battles import LOSS, TIE, WIN, Battles
from arena.ratings.design import Design, cell_design
from arena.ratings.fitting import Fit, fit
from arena.ratings.graph import Structure, solvable, structure
from arena.ratings.intervals import Draws, Refit, exact, one_step, sandwich, score_units
from arena.ratings.models import model_of
from arena.ratings.settings import Settings
from runstore.ids import draw_seed

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SCALE = 400 / log(10)
MEAN = 1000.0
_EXACT_COST = 3e8
_FRAGILE = 20


@dataclass(frozen=True)
class Estimate:
    """The fit of the models that can be rated; ``members`` are their indices among the battles' names.

    ``fitted`` is None where nothing could be fitted, ``reason`` then says why. ``covariance`` and ``draws`` are of
    (theta, shared, tie); ``position_reason`` says why a known order of showing could not be adjusted for.
    """

    structure: Structure
    members: Ints
    design: Design
    fitted: Fit | None
    covariance: Floats | None = None
    draws: Draws | None = None
    clustered: bool = False
    clusters: int = 0
    reason: str | None = None
    position_reason: str | None = None

    def quantile(self, level: float) -> float:
        """Of the normal distribution, or of Student's t with one degree less than there are clusters."""
        tail = (1 + level) / 2
        return float(stdtrit(self.clusters - 1, tail)) if self.clusters > 1 else float(ndtri(tail))

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
    return _with_uncertainty(replace(found, fitted=fitted), battles, settings)


def _with_uncertainty(found: Estimate, battles: Battles, settings: Settings) -> Estimate:
    fitted = found.fitted
    if fitted is None or settings.intervals == "none":
        return found
    rows = battles.rows
    clustered = settings.clustered and rows is not None and rows.cluster is not None
    units = score_units(battles, found.design, fitted, clustered=clustered)
    clusters = len(np.unique(rows.cluster)) if clustered and rows is not None and rows.cluster is not None else 0
    found = replace(found, covariance=sandwich(fitted, units), clustered=clustered, clusters=clusters)
    if settings.intervals == "sandwich":
        return found
    seed = draw_seed(settings.seed, "ratings", "bootstrap")
    if _refit(settings, found.design, battles, clustered=clustered) == "exact":
        design, prior = found.design, settings.prior
        draws = exact(fitted, battles, design, settings.resamples, seed, clustered=clustered, prior=prior)
    else:
        draws = one_step(fitted, units, battles, settings.resamples, seed)
    return replace(found, draws=draws)


def _refit(settings: Settings, design: Design, battles: Battles, *, clustered: bool) -> Refit:
    if settings.refit != "auto":
        return settings.refit
    size = design.size + design.shared_columns.shape[1] + 1
    resummed = len(battles.rows.cell) if clustered and battles.rows is not None else 0
    cost = settings.resamples * (size**3 / 3 + 40 * len(design.i) + len(battles.i) + resummed + 20_000.0)
    if cost < _EXACT_COST:
        return "exact"
    score = design.counts(battles.weight) @ np.array([[0, 1], [0.5, 0.5], [1, 0]])
    gained = np.bincount(design.i, score[:, 0], design.size) + np.bincount(design.j, score[:, 1], design.size)
    lost = np.bincount(design.i, score[:, 1], design.size) + np.bincount(design.j, score[:, 0], design.size)
    fragile = min(gained.min(), lost.min()) < _FRAGILE
    return "exact" if fragile and cost < 20 * _EXACT_COST else "one-step"


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
