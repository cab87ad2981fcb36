"""The same ratings per level of a category, and pulled together so that small cells do not shout.

Each level has a table of its own. Beside it stands the empirical-Bayes estimate: the level's ratings are taken to
scatter around the pooled ones with a standard deviation tau, which is itself estimated from all levels by the
largest Laplace-approximated marginal likelihood (Efron & Morris 1975; Gelman et al. 2013, ch. 5 and 13). The
likelihood is divided by the dispersion that the sandwich shows, so that dependent battles do not count in full.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from arena.ratings.battles import Battles
from arena.ratings.design import Design, cell_design
from arena.ratings.estimate import MEAN, SCALE, Estimate, estimate
from arena.ratings.fitting import Fit, Pull, fit
from arena.ratings.leaderboard import build
from arena.ratings.linear import one_thread
from arena.ratings.result import CategoryTable, Leaderboard, LevelModel, LevelTable, RatedModel, Shrunken, number
from arena.ratings.settings import Settings
from runstore.problems import Problem

Floats = NDArray[np.float64]
_NARROWEST, _WIDEST = 0.005, 3.0


@dataclass(frozen=True)
class Level:
    """One level: its own leaderboard, and each model's shrunken rating with its interval (by name)."""

    name: str
    battles: int
    own: Leaderboard
    shrunken: dict[str, tuple[float, float, float]]


@dataclass(frozen=True)
class Breakdown:
    """All levels of one category; ``deviation`` is tau in rating points: how far they scatter around the whole."""

    category: str
    deviation: float | None
    dispersion: float | None
    levels: tuple[Level, ...]
    reason: str | None

    def table(self) -> CategoryTable:
        """The part of ``leaderboard.json`` under ``by``."""
        return CategoryTable(
            category=self.category,
            deviation=number(self.deviation),
            dispersion=number(self.dispersion),
            reason=self.reason,
            levels=tuple(
                LevelTable(
                    level=level.name,
                    battles=level.battles,
                    notes=level.own.notes,
                    models=tuple(_row(level, model) for model in level.own.models),
                )
                for level in self.levels
            ),
        )


def with_breakdowns(board: Leaderboard, battles: Battles, categories: Sequence[str]) -> Leaderboard:
    """The leaderboard with a part ``by``: one breakdown a category."""
    parts = tuple(breakdown(battles, category, board.settings).table() for category in categories)
    return board.model_copy(update={"by": parts}) if parts else board


def _row(level: Level, model: RatedModel) -> LevelModel:
    rating, lower, upper = level.shrunken.get(model.name, (None, None, None))
    return LevelModel(
        name=model.name,
        rank=model.rank,
        rating=model.rating,
        lower=model.lower,
        upper=model.upper,
        wins=model.wins,
        losses=model.losses,
        ties=model.ties,
        matches=model.matches,
        win_rate=model.win_rate,
        reason=model.reason,
        shrunken=Shrunken(rating=number(rating), lower=number(lower), upper=number(upper)),
    )


def breakdown(battles: Battles, category: str, settings: Settings) -> Breakdown:
    """Tables per level of a category. Raises Problem where the battles have no such category."""
    rows = battles.rows
    if rows is None or category not in rows.levels:
        known = ", ".join(rows.levels) if rows is not None and rows.levels else "none"
        raise Problem(f"--by: found {category!r}, expected one of: {known}")
    codes, names = rows.levels[category]
    order = sorted(range(len(names)), key=lambda code: _natural(names[code]))
    parts = [(names[code], battles.select(codes == code)) for code in order]
    # A level's own table must not fail because the anchor has no game there.
    own = replace(settings, anchor=None, intervals="none" if settings.intervals == "none" else "jackknife")
    pooled = estimate(battles, replace(own, intervals="sandwich"))
    boards = [build(part, own) for _, part in parts]
    if pooled.fitted is None or pooled.covariance is None:
        levels = [Level(name, part.total, board, {}) for (name, part), board in zip(parts, boards, strict=True)]
        return Breakdown(category, None, None, tuple(levels), pooled.reason)
    dispersion = _dispersion(pooled)
    cells = [_level_cells(part, pooled, pooled.fitted) for _, part in parts]
    tau, fits = shrink(cells, pooled.fitted, dispersion)
    levels = [
        Level(name, part.total, board, _ratings(battles, pooled, fitted, tau, settings.level))
        for (name, part), board, fitted in zip(parts, boards, fits, strict=True)
    ]
    return Breakdown(category, tau * SCALE, dispersion, tuple(levels), None)


def _natural(text: str) -> tuple[int, float, str]:
    try:
        return 0, float(text), text
    except ValueError:
        return 1, 0.0, text


def _dispersion(pooled: Estimate) -> float:
    """How much wider the sandwich is than the inverse information, over the rated models."""
    size = len(pooled.members)
    if pooled.fitted is None or pooled.covariance is None:
        return 1.0
    naive = float(np.trace(pooled.fitted.curvature[:size, :size]))
    return max(float(np.trace(pooled.covariance[:size, :size])) / naive, 1e-3) if naive > 0 else 1.0


def _level_cells(part: Battles, pooled: Estimate, whole: Fit) -> tuple[Design, Floats]:
    """A level's counts, with the pooled effect of position as known: a level alone could not carry it."""
    core = np.full(len(part.names), -1)
    core[pooled.members] = pooled.design.core
    design, _ = cell_design(part, core, position="position" in pooled.design.shared)
    counts = design.counts(part.weight)
    none = np.empty((len(design.i), 0))
    return replace(design, shared_columns=none, shared=(), offset=design.shared_columns @ whole.shared), counts


@one_thread
def shrink(cells: Sequence[tuple[Design, Floats]], pooled: Fit, dispersion: float) -> tuple[float, list[Fit]]:
    """tau of largest marginal likelihood, and each level's estimate pulled towards the pooled one with it."""

    def fits(tau: float) -> list[Fit]:
        pull = Pull(pooled.theta, np.full(len(pooled.theta), 1 / tau**2))
        return [
            fit(design, counts / dispersion, model=pooled.model, tie=pooled.tie, pull=pull)
            for design, counts in cells
        ]

    def cost(log_tau: float) -> float:
        tau = float(np.exp(log_tau))
        # log tau: the boundary-avoiding prior of Chung et al. 2013, as the likelihood alone may well say tau = 0.
        return -log_tau - sum(
            _evidence(design, counts / dispersion, fitted, pooled, tau)
            for (design, counts), fitted in zip(cells, fits(tau), strict=True)
        )

    bounds = (float(np.log(_NARROWEST)), float(np.log(_WIDEST)))
    from scipy.optimize import minimize_scalar  # a third of a second to load, for categories only

    best = minimize_scalar(cost, bounds=bounds, method="bounded", options={"xatol": 0.02})
    tau = float(np.exp(best.x))
    return tau, fits(tau)


def _evidence(design: Design, counts: Floats, fitted: Fit, pooled: Fit, tau: float) -> float:
    """Laplace approximation of the log marginal likelihood of one level (constants in tau left out)."""
    value = pooled.model.loglik(design.eta(fitted.theta, fitted.shared), pooled.tie or 0.0, counts)
    value -= float(((fitted.theta - pooled.theta) ** 2).sum()) / (2 * tau**2) + len(fitted.theta) * np.log(tau)
    return value + float(np.linalg.slogdet(fitted.curvature)[1]) / 2


def _ratings(
    battles: Battles, pooled: Estimate, fitted: Fit, tau: float, level: float
) -> dict[str, tuple[float, float, float]]:
    """Rating and interval per name: the posterior's variance, and the pooled centre's as far as it is leant on."""
    lean = fitted.curvature / tau**2
    size = len(pooled.members)
    centre = np.zeros((size, size)) if pooled.covariance is None else pooled.covariance[:size, :size]
    variance = np.diag(fitted.curvature) + np.diag(lean @ centre @ lean.T)
    half = _quantile(pooled, level) * np.sqrt(np.maximum(variance, 0))
    values = MEAN + SCALE * np.stack([fitted.theta, fitted.theta - half, fitted.theta + half], axis=1)
    rows = values.tolist()
    return {battles.names[int(m)]: (row[0], row[1], row[2]) for m, row in zip(pooled.members, rows, strict=True)}


def _quantile(pooled: Estimate, level: float) -> float:
    told = pooled.uncertainty
    return float("nan") if told is None or not told.support.enough else told.quantile(level)
