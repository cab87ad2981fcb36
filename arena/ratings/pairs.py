"""The pairs of a leaderboard: direct results, their test, and what the fit says of the gap."""

from __future__ import annotations

from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from arena.agreement.holm import holm
from arena.ratings.battles import Battles
from arena.ratings.bootstrap import quantiles
from arena.ratings.estimate import SCALE, Estimate, gap_deviation
from arena.ratings.result import Pair, count, number
from arena.ratings.winrates import PairTable

Floats = NDArray[np.float64]
_ALL_PAIRS_UP_TO = 60


class _Gap(TypedDict):
    gap: float | None
    gap_lower: float | None
    gap_upper: float | None
    better_a: float | None


def pairs_of(
    battles: Battles, found: Estimate, table: PairTable, order: list[int], level: float
) -> tuple[Pair, ...]:
    """Every pair in the order of the table; of many models only those that met."""
    games, rates = table.games(), table.rates()
    names = battles.names
    listed = [
        (a, b)
        for at, a in enumerate(order)
        for b in order[at + 1 :]
        if len(order) <= _ALL_PAIRS_UP_TO or games[a, b] or _pair_key(names[a], names[b]) in battles.invalid
    ]
    p_values = [number(float(table.p_values[a, b]), 12) for a, b in listed]
    gaps = _Gaps(found, level)
    return tuple(
        Pair(
            a=names[a],
            b=names[b],
            wins_a=count(table.wins[a, b]),
            wins_b=count(table.wins[b, a]),
            ties=count(table.ties[a, b]),
            invalid=battles.invalid.get(_pair_key(names[a], names[b]), 0),
            win_rate_a=number(float(rates[a, b])),
            p_value=p,
            p_holm=corrected,
            **gaps.between(a, b),
            reason=_pair_reason(games[a, b], p),
        )
        for (a, b), p, corrected in zip(listed, p_values, holm(p_values), strict=True)
    )


class _Gaps:
    """Gaps of one estimate, with their intervals at one level."""

    def __init__(self, found: Estimate, level: float) -> None:
        self.found, self.level, self.index, self.better = found, level, found.index, found.better()
        size = len(found.members)
        self.deviation = None if found.covariance is None else gap_deviation(found.covariance[:size, :size])

    def between(self, a: int, b: int) -> _Gap:
        """The gap a minus b in rating points; all None where nothing says how large it is."""
        nothing = _Gap(gap=None, gap_lower=None, gap_upper=None, better_a=None)
        at, to, fitted = self.index.get(a), self.index.get(b), self.found.fitted
        core, group = self.found.structure.core, self.found.structure.group
        if at is None or to is None or fitted is None or group[a] != group[b]:
            return nothing
        gap = float(fitted.theta[at] - fitted.theta[to])
        if core[a] < 0 or core[a] != core[b]:  # only a prior makes such a gap: it has no uncertainty of its own
            return {**nothing, "gap": number(SCALE * gap)}
        lower, upper = self._limits(at, to, gap)
        return _Gap(
            gap=number(SCALE * gap),
            gap_lower=number(SCALE * lower),
            gap_upper=number(SCALE * upper),
            better_a=None if self.better is None else number(float(self.better[at, to])),
        )

    def _limits(self, at: int, to: int, gap: float) -> tuple[float, float]:
        draws = self.found.draws
        if draws is not None:
            with np.errstate(invalid="ignore"):
                values = draws.values[:, [at]] - draws.values[:, [to]]
            lower, upper = quantiles(values, self.level)
            return float(lower[0]), float(upper[0])
        if self.deviation is None:
            return np.nan, np.nan
        half = self.found.quantile(self.level) * float(self.deviation[at, to])
        return gap - half, gap + half


def _pair_key(a: str, b: str) -> tuple[str, str]:
    return (a, b) if a <= b else (b, a)


def _pair_reason(games: float, p_value: float | None) -> str | None:
    if not games:
        return "no games"
    return "every game was a tie: nothing to test" if p_value is None else None
