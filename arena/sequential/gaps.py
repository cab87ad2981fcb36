"""Gaps at the stop: limits that hold however often was looked, from the bets that made the decision.

Two endpoints' gap is the log-odds of the mean score between them (what a rating gap is, ties as halves), in
rating points. A mean is inside the limits as long as no bet against it reached what certifies, so a gap leaves out
0 exactly where the pair is certain by its own matches. The unit is the dialogue, as in the bets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from arena.ratings.estimate import SCALE
from arena.ratings.result import number
from arena.sequential.best import Best
from arena.sequential.evidence import mean_limits
from arena.sequential.field import Field, Meeting, Policy
from arena.sequential.ranking import Ranking
from arena.sequential.result import Behind, Gap, WinRate

Floats = NDArray[np.float64]
Pair = tuple[int, int]
NOTHING = "no match has a verdict"


@dataclass(frozen=True)
class Direct:
    """A pair's own matches, a row a dialogue as they were visited.

    (n,) the first one's mean score of what was asked, and the share of it that has a verdict.
    """

    gained: Floats
    held: Floats

    @property
    def dialogues(self) -> int:
        return int((self.held > 0).sum())

    @property
    def mean(self) -> float:
        return float(self.gained.sum() / self.held.sum())


def direct(field: Field, asked: Sequence[Meeting], scores: Sequence[float | None]) -> dict[Pair, Direct]:
    """The matches of every pair that met, by the pair."""
    score_of = dict(zip(asked, scores, strict=True))
    met = sorted({(meeting.i, meeting.j) for meeting in asked})
    units: dict[Pair, list[tuple[float, float]]] = {pair: [] for pair in met}
    for _, subsets in field.dialogues:
        for pair in met:
            mine = [score_of[meeting] for s in subsets if (meeting := Meeting(s, *pair)) in score_of]
            if mine:
                known = [score for score in mine if score is not None]
                units[pair].append((sum(known) / len(mine), len(known) / len(mine)))
    return {pair: Direct(*np.array(points).T) for pair, points in units.items()}


def gaps(state: Policy, pairs: Mapping[Pair, Direct], error: float) -> tuple[Gap, ...]:
    """The gap of every pair that met: in a ranking all together, as its decisions do, else each for itself.

    The winner's lead over another is also bounded by all that was bet against that one's being the best.
    """
    each = error / len(state.all_pairs) if isinstance(state, Ranking) else error
    names = state.field.names
    led = {other: state.behind(other) for other in range(len(names))} if isinstance(state, Best) else {}
    winner = state.candidates[0] if isinstance(state, Best) and len(state.candidates) == 1 else None
    estimated: list[Gap] = []
    for (i, j), own in pairs.items():
        if not own.dialogues:
            estimated.append(_gap(names[i], names[j], None, (None, None), 0))
            continue
        lower, upper = _points(mean_limits(own.gained, each, own.held))
        if winner == i:
            lower = max(lower, SCALE * led[j])
        if winner == j:
            upper = min(upper, -SCALE * led[i])
        estimated.append(_gap(names[i], names[j], _points((own.mean,))[0], (lower, upper), own.dialogues))
    return tuple(estimated)


def _gap(a: str, b: str, gap: float | None, limits: tuple[float | None, float | None], dialogues: int) -> Gap:
    lower, upper = map(number, limits)
    reason = None if dialogues else NOTHING
    return Gap(a=a, b=b, gap=number(gap), lower=lower, upper=upper, dialogues=dialogues, reason=reason)


def behind(state: Best, gaps_known: Sequence[Gap]) -> dict[str, Behind]:
    """How far each endpoint is behind the best, whichever of the candidates that is, in points.

    At least what the bets against its being the best have refused; at most what a candidate may lead it by.
    """
    names, still = state.field.names, {state.field.names[candidate] for candidate in state.candidates}
    leads: dict[tuple[str, str], float | None] = {(gap.a, gap.b): gap.upper for gap in gaps_known if gap.dialogues}
    leads |= {(gap.b, gap.a): None if gap.lower is None else -gap.lower for gap in gaps_known if gap.dialogues}
    told: dict[str, Behind] = {}
    for at, name in enumerate(names):
        if still == {name}:
            told[name] = Behind(lower=0, upper=0)
            continue
        most = [leads.get((gap, name)) for gap in sorted(still - {name})]
        known = [value for value in most if value is not None]
        upper = max(0.0, *known) if known and len(known) == len(most) else None
        told[name] = Behind(lower=number(max(0.0, SCALE * state.behind(at))), upper=upper)
    return told


def win_rate(field: Field, pairs: Mapping[Pair, Direct], error: float) -> WinRate:
    """The first endpoint's mean score of the two, by dialogue, ties as halves."""
    own = pairs.get((0, 1))
    if own is None or not own.dialogues:
        return WinRate(of=field.names[0], reason=NOTHING)
    lower, upper = mean_limits(own.gained, error, own.held)
    return WinRate(of=field.names[0], value=own.mean, lower=lower, upper=upper, dialogues=own.dialogues)


def _points(means: Sequence[float]) -> list[float]:
    with np.errstate(divide="ignore"):
        return (SCALE * logit(np.asarray(means, float))).tolist()
