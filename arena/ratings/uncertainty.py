"""How sure an estimate is: the methods of intervals, by name, and the one quantile that all of them take.

A method is a function of a fit and the battles it came from. Gaps, places, the effect of position and covariates
read its result and nothing else, so a further method is one function and a line in ``METHODS``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from arena.ratings.battles import Battles
from arena.ratings.bootstrap import Draws, Refit, exact, one_step
from arena.ratings.design import Design
from arena.ratings.fitting import Fit
from arena.ratings.sandwich import Scores, sandwich, score_units
from arena.ratings.settings import Settings
from runstore.ids import draw_seed

Floats = NDArray[np.float64]
_EXACT_COST = 3e8
_FRAGILE = 20


@dataclass(frozen=True)
class Uncertainty:
    """``covariance`` (P, P) and ``draws`` (B, P), where there are any, of (theta, shared, tie).

    ``clusters`` is how many independent clusters it rests on; 0 where battles count as independent.
    """

    covariance: Floats
    clustered: bool
    clusters: int
    draws: Draws | None = None

    def half(self, level: float) -> Floats:
        """(P,) half the width of each parameter's interval by the covariance."""
        return quantile(level, self.clusters) * np.sqrt(np.maximum(np.diag(self.covariance), 0))


Method = Callable[[Fit, Design, Battles, Settings], Uncertainty]


def quantile(level: float, clusters: int = 0) -> float:
    """Two-sided quantile: of the normal distribution, or of Student's t with one degree less than clusters."""
    tail = (1 + level) / 2
    return float(stdtrit(clusters - 1, tail)) if clusters > 1 else float(ndtri(tail))


def by_sandwich(fitted: Fit, design: Design, battles: Battles, settings: Settings) -> Uncertainty:
    """The robust covariance, by cluster where the settings ask for it and the battles carry them."""
    return _covered(fitted, _units(fitted, design, battles, settings), battles, settings)


def by_bootstrap(fitted: Fit, design: Design, battles: Battles, settings: Settings) -> Uncertainty:
    """Resampled estimates beside the robust covariance; ``settings.refit`` says how each is made."""
    units = _units(fitted, design, battles, settings)
    covered = _covered(fitted, units, battles, settings)
    seed, clustered = draw_seed(settings.seed, "ratings", "bootstrap"), covered.clustered
    if _refit(settings, design, battles, clustered=clustered) == "exact":
        prior = settings.prior
        draws = exact(fitted, battles, design, settings.resamples, seed, clustered=clustered, prior=prior)
    else:
        draws = one_step(fitted, units, battles, settings.resamples, seed)
    return replace(covered, draws=draws)


METHODS: Mapping[str, Method] = {"bootstrap": by_bootstrap, "sandwich": by_sandwich}


def _is_clustered(battles: Battles, settings: Settings) -> bool:
    return settings.clustered and battles.rows is not None and battles.rows.cluster is not None


def _units(fitted: Fit, design: Design, battles: Battles, settings: Settings) -> Scores:
    return score_units(battles, design, fitted, clustered=_is_clustered(battles, settings))


def _covered(fitted: Fit, units: Scores, battles: Battles, settings: Settings) -> Uncertainty:
    rows, clustered = battles.rows, _is_clustered(battles, settings)
    clusters = len(np.unique(rows.cluster)) if clustered and rows is not None and rows.cluster is not None else 0
    return Uncertainty(sandwich(fitted, units), clustered, clusters)


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
