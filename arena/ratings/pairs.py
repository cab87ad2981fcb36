"""The pairs of a leaderboard: direct results, their test, and what the fit says of the gap."""

from __future__ import annotations

import numpy as np

from arena.ratings.battles import Battles
from arena.ratings.decision import Decisions
from arena.ratings.estimate import SCALE, Estimate
from arena.ratings.gaps import Gaps
from arena.ratings.result import Pair, count, number
from arena.ratings.winrates import PairTable

_ALL_PAIRS_UP_TO = 60


def pairs_of(
    battles: Battles,
    estimated: Estimate,
    gaps: Gaps,
    table: PairTable,
    decided: Decisions | None,
    order: list[int],
) -> tuple[Pair, ...]:
    """Every pair in the order of the table; of many models only those that met. Nothing is decided for None."""
    games, rates, names = table.games(), table.rates(), battles.names
    p_holm = table.p_values if decided is None else decided.p_holm
    listed = [
        (a, b)
        for at, a in enumerate(order)
        for b in order[at + 1 :]
        if len(order) <= _ALL_PAIRS_UP_TO or games[a, b] or _pair_key(names[a], names[b]) in battles.invalid
    ]
    return tuple(
        Pair(
            a=names[a],
            b=names[b],
            wins_a=count(table.wins[a, b]),
            wins_b=count(table.wins[b, a]),
            ties=count(table.ties[a, b]),
            invalid=battles.invalid.get(_pair_key(names[a], names[b]), 0),
            win_rate_a=number(float(rates[a, b])),
            p_value=(p := number(float(table.p_values[a, b]), 12)),
            p_holm=number(float(p_holm[a, b]), 12),
            smallest_p=number(float(table.smallest[a, b]), 12),
            clusters=int(table.leaning[a, b]) if table.clustered else None,
            gap=number(SCALE * float(gaps.gap[a, b])),
            gap_lower=number(SCALE * float(gaps.lower[a, b])),
            gap_upper=number(SCALE * float(gaps.upper[a, b])),
            decision=None if decided is None else decided.of(a, b),
            reason=_pair_reason(games[a, b], p) or _no_interval(battles, estimated, gaps, a, b),
        )
        for a, b in listed
    )


def _pair_key(a: str, b: str) -> tuple[str, str]:
    return (a, b) if a <= b else (b, a)


def _pair_reason(games: float, p_value: float | None) -> str | None:
    if not games:
        return "no games"
    return "every game was a tie: nothing to test" if p_value is None else None


def _no_interval(battles: Battles, estimated: Estimate, gaps: Gaps, a: int, b: int) -> str | None:
    """Why the gap of two that met has no limits; None where it has some, or there is no gap."""
    told = estimated.uncertainty
    if told is None or np.isnan(gaps.gap[a, b]) or not np.isnan(gaps.lower[a, b]):
        return None
    core = estimated.structure.core
    if core[a] < 0 or core[a] != core[b]:
        return "the gap comes from the prior, so it has no interval"
    return told.no_interval(battles.cluster_name)
