"""How sure an estimate is: the methods of intervals, by name, and the one quantile that all of them take.

A method is a function of a fit and the battles it came from. Gaps, places, the effect of position and covariates
read its result and nothing else, so a further method is one function and a line in ``METHODS``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from arena.ratings.battles import Battles
from arena.ratings.bootstrap import Draws, Refit, exact, one_step
from arena.ratings.design import Design
from arena.ratings.fitting import Fit
from arena.ratings.jackknife import cells_of, jackknife, support_of
from arena.ratings.sandwich import Scores, sandwich, score_units
from arena.ratings.settings import Settings
from arena.ratings.support import Support, too_few
from runstore.ids import draw_seed

Floats = NDArray[np.float64]
_EXACT_COST = 3e8
_FRAGILE = 20
_NOWHERE = 1e-6


@dataclass(frozen=True)
class Uncertainty:
    """``covariance`` (P, P) and ``draws`` (B, P), where there are any, of (theta, shared, tie).

    ``support`` says how many independent units it rests on. Where they are too few, nothing has an interval.
    ``unsupported`` (k, P) are directions along which the variance can't be estimated.
    """

    covariance: Floats
    clustered: bool
    support: Support
    unsupported: Floats
    draws: Draws | None = None

    def quantile(self, level: float) -> float:
        """The two-sided quantile that intervals of this level take."""
        return quantile(level, self.support.degrees)

    def deviation(self) -> Floats:
        """(P,) standard deviation of each parameter; NaN where nothing says how large it is."""
        deviation = np.sqrt(np.maximum(np.diag(self.covariance), 0))
        return self._known(deviation, np.abs(self.unsupported).max(0, initial=0.0) > _NOWHERE)

    def gap_deviation(self, size: int) -> Floats:
        """(R, R) standard deviations of the differences of the first ``size`` parameters; NaN where unknown."""
        sides = self.unsupported[:, :size]
        apart = np.zeros((size, size), bool)
        for side in sides:
            apart |= np.abs(side[:, None] - side[None, :]) > _NOWHERE
        return self._known(gap_deviation(self.covariance[:size, :size]), apart)

    def half(self, level: float) -> Floats:
        """(P,) half the width of each parameter's interval by the covariance; NaN where it has none."""
        return self.quantile(level) * self.deviation()

    def too_few(self, cluster_name: str | None) -> str:
        """Why nothing has an interval, where the support is not enough."""
        return too_few(
            self.support.units, self.support.informative, (cluster_name or "cluster") if self.clustered else None
        )

    def why_none(self, at: int, cluster_name: str | None) -> str | None:
        """Why the parameter ``at`` has no interval; None where it has one."""
        return self.no_interval(cluster_name) if np.isnan(self.deviation()[at]) else None

    def no_interval(self, cluster_name: str | None) -> str:
        """Why what is estimated has none."""
        if not self.support.enough:
            return f"no interval: {self.too_few(cluster_name)}"
        unit = (cluster_name or "cluster") if self.clustered else "battle"
        return f"no interval: without one {unit} it has no estimate"

    def _known(self, deviation: Floats, unknown: NDArray[np.bool_]) -> Floats:
        return np.where(unknown | (not self.support.enough), np.nan, deviation)


Method = Callable[[Fit, Design, Battles, Settings], Uncertainty]


def quantile(level: float, degrees: float) -> float:
    """Two-sided quantile of Student's t; NaN without a degree of freedom."""
    return float(stdtrit(degrees, (1 + level) / 2)) if degrees > 0 else float("nan")


def gap_deviation(covariance: Floats) -> Floats:
    """(R, R) standard deviations of all differences, from the full covariance."""
    variance = np.diag(covariance)
    return np.sqrt(np.maximum(variance[:, None] + variance[None, :] - 2 * covariance, 0.0))


def by_jackknife(fitted: Fit, design: Design, battles: Battles, settings: Settings) -> Uncertainty:
    """Every cluster (or battle) left out in turn: the covariance that holds at few and unequal clusters."""
    clustered = _is_clustered(battles, settings)
    told = jackknife(fitted, cells_of(fitted, design), battles, clustered=clustered)
    covariance = told.support.few * told.covariance
    return Uncertainty(covariance, clustered, told.support, _directions(told.unsupported))


def by_sandwich(fitted: Fit, design: Design, battles: Battles, settings: Settings) -> Uncertainty:
    """The robust covariance, by cluster where the settings ask for it and the battles carry them."""
    return _robust(fitted, design, battles, settings)[0]


def by_bootstrap(fitted: Fit, design: Design, battles: Battles, settings: Settings) -> Uncertainty:
    """Resampled estimates beside the robust covariance; ``settings.refit`` says how each is made."""
    covered, units = _robust(fitted, design, battles, settings)
    seed, clustered = draw_seed(settings.seed, "ratings", "bootstrap"), covered.clustered
    if not covered.support.enough:
        return covered
    if _refit(settings, design, battles, clustered=clustered) == "exact":
        prior = settings.prior
        draws = exact(fitted, battles, design, settings.resamples, seed, clustered=clustered, prior=prior)
    else:
        draws = one_step(fitted, units, battles, settings.resamples, seed)
    return replace(covered, draws=draws)


METHODS: Mapping[str, Method] = {"jackknife": by_jackknife, "bootstrap": by_bootstrap, "sandwich": by_sandwich}


def _directions(unsupported: Floats) -> Floats:
    """Directions of length 1 (their largest entry)."""
    largest = np.abs(unsupported).max(1, keepdims=True) if len(unsupported) else np.ones((0, 1))
    return unsupported / np.where(largest > 0, largest, 1.0)


def _is_clustered(battles: Battles, settings: Settings) -> bool:
    return settings.clustered and battles.rows is not None and battles.rows.cluster is not None


def _robust(fitted: Fit, design: Design, battles: Battles, settings: Settings) -> tuple[Uncertainty, Scores]:
    clustered, cells = _is_clustered(battles, settings), cells_of(fitted, design)
    units, support = (
        score_units(battles, design, fitted, clustered=clustered),
        support_of(cells, battles, clustered=clustered),
    )
    return Uncertainty(sandwich(fitted, units), clustered, support, np.empty((0, cells.width))), units


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
