"""The leaderboard: a pure function from battles and settings to a frozen result that explains itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from arena.ratings.battles import Battles
from arena.ratings.bootstrap import anchored, quantiles
from arena.ratings.decision import Decisions, decide
from arena.ratings.estimate import MEAN, SCALE, Estimate, estimate
from arena.ratings.fitting import Fit
from arena.ratings.gaps import gaps_of
from arena.ratings.graph import reason as reason_of
from arena.ratings.models import model_of
from arena.ratings.pairs import pairs_of
from arena.ratings.places import rank_ranges, ranks
from arena.ratings.position import position_report
from arena.ratings.result import (
    SOLVER,
    Against,
    Counts,
    FitReport,
    Intervals,
    Leaderboard,
    RatedModel,
    Scale,
    count,
    number,
)
from arena.ratings.settings import Settings
from arena.ratings.support import DOMINANT, FLOOR
from arena.ratings.winrates import PairTable, Versus, against, pair_table
from runstore.problems import Problem

Floats = NDArray[np.float64]


class _SupportRow(TypedDict):
    informative: int | None
    needed: int | None
    dominant: str | None
    dominant_share: float | None
    reason: str | None


def build(battles: Battles, settings: Settings | None = None) -> Leaderboard:
    """Ratings, intervals, ranks, pairs and position effect of the battles.

    Raises Problem for an anchor or reference that is not among the models, or that can't be rated.
    """
    settings = settings or Settings()
    for role, name in (("anchor", settings.anchor and settings.anchor[0]), ("reference", settings.reference)):
        if name is not None and name not in battles.names:
            raise Problem(f"{role}: found {name!r}, expected one of {', '.join(map(repr, battles.names))}")
    estimated = estimate(battles, settings)
    board = _Board(battles, settings, estimated)
    table = pair_table(battles, clustered=settings.clustered)
    gaps = gaps_of(estimated, settings.level)
    decided = decide(estimated, gaps, table, settings.level)
    models = board.models(table, decided)
    order = [battles.names.index(model.name) for model in models]
    return Leaderboard(
        method=board.method(),
        ties=settings.ties,
        scale=board.scale(),
        intervals=board.intervals(),
        converged=estimated.fitted is not None and estimated.fitted.converged,
        fit=board.fit_report(),
        groups=board.groups(models),
        models=models,
        pairs=pairs_of(battles, estimated, gaps, table, decided if settings.intervals != "none" else None, order),
        position=position_report(battles, settings, estimated),
        agreement=battles.agreement,
        counts=board.counts(table),
        notes=board.notes(),
        settings=settings,
    )


def tie_parameter(fitted: Fit) -> dict[str, float | None] | None:
    """The tie parameter under the names it has in the literature; None for a model without one."""
    return (
        None
        if fitted.tie is None
        else {key: number(value) for key, value in fitted.model.told(fitted.tie).items()}
    )


class _Board:
    """One leaderboard in the making."""

    def __init__(self, battles: Battles, settings: Settings, estimated: Estimate) -> None:
        self.battles, self.settings, self.estimated = battles, settings, estimated
        self.index = estimated.index
        self.fitted = estimated.fitted
        self.anchor = self._anchor()
        size = len(estimated.members)
        self.theta_draws: Floats | None = None
        if estimated.draws is not None:
            self.theta_draws = anchored(estimated.draws.values[:, :size], estimated.design.core, self.anchor)
        self.rounds = self._rounds()

    def _anchor(self) -> int | None:
        if self.settings.anchor is None:
            return None
        name = self.settings.anchor[0]
        at = self.index.get(self.battles.names.index(name))
        if at is None or self.fitted is None:
            why = (
                reason_of(self.estimated.structure.flags[self.battles.names.index(name)]) or self.estimated.reason
            )
            raise Problem(f"anchor: {name!r} has no rating of its own ({why})")
        return at

    def _rounds(self) -> dict[str, float]:
        rounds = self.battles.rounds
        if rounds is None:
            return {}
        settings = replace(self.settings, intervals="none", anchor=None, reference=None)
        estimated = estimate(rounds, settings)
        if estimated.fitted is None:
            return {}
        values = MEAN + SCALE * estimated.fitted.theta
        return {rounds.names[int(m)]: float(value) for m, value in zip(estimated.members, values, strict=True)}

    def method(self) -> str:
        text = model_of(self.settings.ties).method
        if self.settings.prior:
            text += f", with a prior of {self.settings.prior:g} even games against an average opponent"
        if self.fitted is not None and "position" in self.estimated.design.shared:
            text += ", adjusted for the order of showing"
        return text

    def scale(self) -> Scale:
        anchor = self.settings.anchor
        mean = "mean of each group's rated models" if anchor is None else "anchor (other groups: their mean)"
        return Scale(name="400/ln 10", factor=float(SCALE), mean=MEAN, centre=mean, anchor=anchor)

    def intervals(self) -> Intervals:
        settings, draws = self.settings, self.estimated.draws
        bootstrap = settings.intervals == "bootstrap"
        return Intervals(
            method=settings.intervals,
            level=settings.level if settings.intervals != "none" else None,
            resamples=settings.resamples if bootstrap else None,
            cluster=self.battles.cluster_name if self.estimated.clustered else None,
            seed=settings.seed if bootstrap else None,
            refit=None if draws is None else draws.refit,
            usable=None if draws is None else int(np.isfinite(draws.values).all(1).sum()),
            note=None if draws is None else draws.note,
            **self._support(),
        )

    def _support(self) -> _SupportRow:
        told = self.estimated.uncertainty
        if told is None:
            return {"informative": None, "needed": None, "dominant": None, "dominant_share": None, "reason": None}
        support, rows = told.support, self.battles.rows
        names = rows.cluster_names if rows is not None else ()
        named = support.heaviest is not None and support.units > 2 and support.largest >= DOMINANT
        return {
            "informative": support.informative,
            "needed": None if support.enough else FLOOR - support.informative,
            "dominant": names[support.heaviest] if named and support.heaviest is not None else None,
            "dominant_share": number(support.largest) if named else None,
            "reason": None if support.enough else told.too_few(self.battles.cluster_name),
        }

    def fit_report(self) -> FitReport:
        fitted = self.fitted
        if fitted is None:
            return FitReport(solver=SOLVER, reason=self.estimated.reason)
        return FitReport(
            solver=SOLVER,
            iterations=fitted.iterations,
            largest_gradient=number(fitted.largest_gradient, 9),
            tie_parameter=tie_parameter(fitted),
            reason=None if fitted.converged else "the largest step did not fall below 1e-9",
        )

    def rating(self, m: int) -> float | None:
        at = self.index.get(m)
        if at is None or self.fitted is None:
            return None
        return self._origin(at) + SCALE * float(self.fitted.theta[at] - self._anchor_theta(at))

    def _shares_anchor(self, at: int) -> bool:
        core = self.estimated.design.core
        return self.anchor is not None and bool(core[at] == core[self.anchor])

    def _origin(self, at: int) -> float:
        return self.settings.anchor[1] if self.settings.anchor and self._shares_anchor(at) else MEAN

    def _anchor_theta(self, at: int) -> float:
        if self.fitted is None or self.anchor is None or not self._shares_anchor(at):
            return 0.0
        return float(self.fitted.theta[self.anchor])

    def limits(self) -> tuple[Floats, Floats] | None:
        """Lower and upper limits of theta (from the anchor, where there is one)."""
        if self.theta_draws is not None:
            return quantiles(self.theta_draws, self.settings.level)
        told = self.estimated.uncertainty
        if self.fitted is None or told is None:
            return None
        size = len(self.estimated.members)
        theta = self.fitted.theta - np.array([self._anchor_theta(at) for at in range(size)])
        deviation = told.deviation()[:size]
        if self.anchor is not None:
            shared = np.array([self._shares_anchor(at) for at in range(size)])
            deviation = np.where(shared, told.gap_deviation(size)[self.anchor], deviation)
        half = told.quantile(self.settings.level) * deviation
        return theta - half, theta + half

    def models(self, table: PairTable, decided: Decisions) -> tuple[RatedModel, ...]:
        limits = self.limits()
        standing = ranks(self.battles, self.estimated, self.settings)
        ranges = rank_ranges(self.estimated, decided, self.settings)
        versus = self._against()
        wins, losses, ties = table.wins.sum(1), table.wins.sum(0), table.ties.sum(1)
        structure = self.estimated.structure
        models: list[RatedModel] = []
        for m, name in enumerate(self.battles.names):
            games = float(wins[m] + losses[m] + ties[m])
            lower, upper, note = self._limits_of(m, limits)
            why = [reason_of(structure.flags[m]), note]
            if self.rating(m) is None and not structure.flags[m]:
                why.append(self.estimated.reason)
            models.append(
                RatedModel(
                    name=name,
                    rank=standing[m],
                    rank_range=ranges[m],
                    rating=number(self.rating(m)),
                    lower=lower,
                    upper=upper,
                    wins=count(wins[m]),
                    losses=count(losses[m]),
                    ties=count(ties[m]),
                    matches=count(games),
                    win_rate=number((wins[m] + ties[m] / 2) / games) if games else None,
                    group=int(structure.group[m]),
                    flags=structure.flags[m],
                    reason="; ".join(part for part in why if part) or None,
                    usable_resamples=self._usable(m),
                    rating_rounds=number(self.rounds.get(name)),
                    reference=versus[m],
                )
            )
        return tuple(sorted(models, key=_display_order))

    def _usable(self, m: int) -> int | None:
        if self.settings.intervals != "bootstrap":
            return None
        at = self.index.get(m)
        draws = self.theta_draws
        return 0 if at is None or draws is None else int(np.isfinite(draws[:, at]).sum())

    def _limits_of(
        self, m: int, limits: tuple[Floats, Floats] | None
    ) -> tuple[float | None, float | None, str | None]:
        at = self.index.get(m)
        if at is None or limits is None or self.fitted is None:
            return None, None, None
        if self.estimated.structure.core[m] < 0:
            return None, None, "its rating comes from the prior, so it has no interval"
        lower = number(self._origin(at) + SCALE * float(limits[0][at]))
        upper = number(self._origin(at) + SCALE * float(limits[1][at]))
        return lower, upper, self._resample_note(at, lower, upper) or self._no_interval(lower, upper)

    def _no_interval(self, lower: float | None, upper: float | None) -> str | None:
        told = self.estimated.uncertainty
        if told is None or told.draws is not None or lower is not None or upper is not None:
            return None
        if not told.support.enough:
            return f"no interval: {told.too_few(self.battles.cluster_name)}"
        unit = self.battles.cluster_name if told.clustered else "battle"
        return f"no interval: without one {unit} nothing would tie its rating to the others"

    def _resample_note(self, at: int, lower: float | None, upper: float | None) -> str | None:
        if self.theta_draws is None:
            return None
        own = self.theta_draws[:, at]
        total, usable = len(own), int(np.isfinite(own).sum())
        if usable == total:
            return None
        parts = [f"fitted in {usable} of {total} resamples"]
        for value, what, limit, side in (
            (np.inf, "above every other", upper, "upper"),
            (-np.inf, "below every other", lower, "lower"),
        ):
            times = int((own == value).sum())
            if times:
                parts.append(f"{what} in {times}" + ("" if limit is not None else f", so no {side} limit"))
        return ", ".join(parts)

    def groups(self, models: tuple[RatedModel, ...]) -> tuple[tuple[str, ...], ...]:
        numbers = sorted({model.group for model in models})
        return tuple(tuple(model.name for model in models if model.group == number) for number in numbers)

    def _against(self) -> list[Against | None]:
        names, reference = self.battles.names, self.settings.reference
        if reference is None:
            return [None] * len(names)
        rows = against(
            self.battles, names.index(reference), self.settings.level, clustered=self.settings.clustered
        )
        return [None if row is None else _against_row(reference, row) for row in rows]

    def counts(self, table: PairTable) -> Counts:
        return Counts(
            battles=self.battles.total,
            models=len(self.battles.names),
            self_play=self.battles.self_play,
            invalid=sum(self.battles.invalid.values()),
            clusters=self.battles.rows.clusters if self.battles.rows is not None else None,
            pair_test=table.test,
        )

    def notes(self) -> tuple[str, ...]:
        notes: list[str] = []
        groups = len(set(self.estimated.structure.group.tolist()))
        if not self.battles.total:
            notes.append("no battles: nothing can be rated")
        elif groups > 1:
            notes.append(f"{groups} groups without a way to compare them: ranks and gaps hold inside a group only")
        if self.estimated.reason and self.battles.total:
            notes.append(self.estimated.reason)
        if self.settings.prior:
            notes.append(
                f"a prior of {self.settings.prior:g} games pulls every rating to the middle, as asked for"
            )
        if self.battles.self_play:
            notes.append(f"{self.battles.self_play} battles of a model against itself were left out")
        if self.estimated.position_reason:
            notes.append(f"not adjusted for the order of showing: {self.estimated.position_reason}")
        if self.fitted is not None and not self.fitted.converged:
            notes.append("the fit did not converge: ratings are not final")
        return tuple(notes)


def _against_row(name: str, versus: Versus) -> Against:
    return Against(
        name=name,
        win_rate=number(versus.rate),
        lower=number(versus.lower),
        upper=number(versus.upper),
        matches=count(versus.games),
        reason=versus.reason,
    )


def _display_order(model: RatedModel) -> tuple[int, float, float, str]:
    return (model.group, np.inf if model.rank is None else model.rank, -(model.rating or 0.0), model.name)
