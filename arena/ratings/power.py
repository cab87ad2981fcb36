"""How many matches tell two endpoints apart, and how to spend a number of calls best.

A match is decided by its rounds: each round's vote leans to the first endpoint with log-odds ``gap + u``, where u
is what this subset makes of the two (normal, standard deviation ``subset_effect``): a second round of the same
match sees the same u, a further subset a fresh one. That is why more subsets beat more rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import binom, norm

from arena.ratings.battles import Battles
from arena.ratings.estimate import SCALE
from runstore.problems import Problem
from runstore.records import Verdict

Floats = NDArray[np.float64]
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(64)
_MOST = 10_000_000


@dataclass(frozen=True)
class Contrast:
    """What is known, or assumed, of two endpoints. ``win_rate`` is of decided matches; ``ties`` a share of all.

    ``design_effect`` is how many dependent matches count as one independent match (1 where none depend).
    """

    win_rate: float
    ties: float = 0.0
    design_effect: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.win_rate < 1:
            raise Problem(f"win rate: found {self.win_rate}, expected a share between 0 and 1")
        if not 0 <= self.ties < 1:
            raise Problem(f"ties: found {self.ties}, expected a share of at least 0 and below 1")
        if not self.design_effect > 0:
            raise Problem(f"design effect: found {self.design_effect}, expected more than 0")


def power_of(contrast: Contrast, matches: int, level: float = 0.95) -> float:
    """Chance that an exact sign test of so many matches finds the difference (either way is asked, one counted).

    The decided matches are taken at their expected number, deflated by the design effect.
    """
    decided = int(matches * (1 - contrast.ties) / contrast.design_effect)
    rate = max(contrast.win_rate, 1 - contrast.win_rate)
    critical = _critical(decided, level)
    return 0.0 if critical > decided else float(binom.sf(critical - 1, decided, rate))


def _critical(decided: int, level: float) -> int:
    """The fewest wins that a two-sided exact sign test calls a difference."""
    return int(binom.isf((1 - level) / 2, decided, 0.5)) + 1 if decided else 1


def matches_needed(contrast: Contrast, power: float = 0.8, level: float = 0.95) -> int | None:
    """The fewest matches from which on the power stays at ``power``; None beyond ten million (or with no gap)."""
    if not 0 < power < 1:
        raise Problem(f"power: found {power}, expected a share between 0 and 1")
    if not 0 < level < 1:
        raise Problem(f"level: found {level}, expected a share between 0 and 1")
    lead = abs(contrast.win_rate - 0.5)
    if lead == 0:
        return None
    z = float(norm.ppf((1 + level) / 2)) * 0.5 + float(norm.ppf(power)) * sqrt(0.25 - lead**2)
    per_match = (1 - contrast.ties) / contrast.design_effect
    guess = (z / lead) ** 2 / per_match
    if not guess < _MOST:
        return None
    # The exact power saws; walk down from well above to the last place where it is too low.
    high = ceil(guess * 1.3 + 40 / per_match)
    decided = np.arange(1, int(high * per_match) + 1)
    rate = max(contrast.win_rate, 1 - contrast.win_rate)
    critical = binom.isf((1 - level) / 2, decided, 0.5) + 1
    chance: Floats = np.asarray(binom.sf(critical - 1, decided, rate), np.float64)
    short = np.flatnonzero(chance < power)
    needed = int(decided[short[-1]]) + 1 if len(short) else 1
    return ceil(needed / per_match - 1e-9)


def detectable(matches: int, ties: float = 0.0, design_effect: float = 1.0, power: float = 0.8) -> float | None:
    """The smallest win rate above one half that so many matches find at 95 % with this power, or None."""
    if power_of(Contrast(1 - 1e-9, ties, design_effect), matches) < power:
        return None
    return float(
        brentq(lambda rate: power_of(Contrast(rate, ties, design_effect), matches) - power, 0.5 + 1e-9, 1 - 1e-9)
    )


def observed(battles: Battles, a: str, b: str) -> tuple[Contrast, int]:
    """The contrast that the battles show between two models, and how many matches they had.

    A model that won all decided matches is taken half a match short of it. The design effect compares the variance
    of the clusters' net wins with that of independent matches. Raises Problem where the two never met decided.
    """
    for name in (a, b):
        if name not in battles.names:
            raise Problem(f"power: found no model {name!r}, expected one of {', '.join(map(repr, battles.names))}")
    low, high = sorted((battles.names.index(a), battles.names.index(b)))
    inside = (battles.i == low) & (battles.j == high)
    won, tied, lost = (float(battles.weight[inside & (battles.outcome == kind)].sum()) for kind in (2, 1, 0))
    decided, total = won + lost, won + tied + lost
    if not decided:
        raise Problem(f"power: {a!r} and {b!r} have no decided match, so there is no gap to plan for")
    rate = min(max(won / decided, 0.5 / decided), 1 - 0.5 / decided)
    mine = rate if battles.names[low] == a else 1 - rate
    return Contrast(mine, tied / total, _design_effect(battles, inside)), round(total)


def _design_effect(battles: Battles, inside: NDArray[np.bool_]) -> float:
    rows = battles.rows
    if rows is None or rows.cluster is None:
        return 1.0
    mine = inside[rows.cell]
    lead = (battles.outcome[rows.cell[mine]] - 1).astype(np.float64)
    cluster = rows.cluster[mine]
    _, cluster = np.unique(cluster, return_inverse=True)
    if not len(lead) or cluster.max() < 1:
        return 1.0
    centred = lead - lead.mean()
    alone = float((centred**2).sum())
    together = float((np.bincount(cluster, centred) ** 2).sum())
    return max(1.0, together / alone) if alone > 0 else 1.0


@dataclass(frozen=True)
class Plan:
    """So many subsets with so many rounds each, and the mean z of the test that they buy."""

    subsets: int
    rounds: int
    rule: str
    z: float
    power: float


def plans(
    calls: int, gap: float, subset_effect: float, rounds: Sequence[int] = (1, 2, 3, 5), level: float = 0.95
) -> tuple[Plan, ...]:
    """Ways to spend a number of calls, best first: majorities of the rounds, and the mean of their votes."""
    found: list[Plan] = []
    for number in rounds:
        for rule in ("majority",) if number == 1 else ("majority", "mean"):
            subsets = calls // number
            z = _z_per_match(gap, subset_effect, number, rule) * sqrt(subsets)
            power = float(norm.sf(norm.ppf((1 + level) / 2) - z))
            found.append(Plan(subsets, number, rule, z, power))
    return tuple(sorted(found, key=lambda plan: -plan.z))


def _z_per_match(gap: float, subset_effect: float, rounds: int, rule: str) -> float:
    """Mean over standard deviation of one match's score in -1..1, over the subsets' effects (Gauss-Hermite)."""
    weights = _WEIGHTS / _WEIGHTS.sum()
    chance = expit(gap + subset_effect * _NODES)
    if rule == "mean":
        mean = 2 * chance - 1
        square = mean**2 + 4 * chance * (1 - chance) / rounds
    else:
        up = binom.sf(rounds // 2, rounds, chance)
        down = binom.cdf((rounds - 1) // 2, rounds, chance)
        mean, square = up - down, up + down
    first, second = float(weights @ mean), float(weights @ square)
    variance = second - first**2
    return inf if variance <= 0 else first / sqrt(variance)


def subset_effect(verdicts: Sequence[Verdict]) -> float | None:
    """How differently subsets treat the two endpoints, on the log-odds scale, from rounds that repeat a match.

    Two decided rounds of one match agree more often than two rounds of different matches would; the excess is the
    variance between matches (one-way components), carried to log-odds by its slope. None without repeated rounds.
    """
    pairs = both = 0.0
    firsts = total = 0.0
    for verdict in verdicts:
        votes = [vote.winner == verdict.endpoints[0] for vote in verdict.votes if vote.outcome == "win"]
        up, n = sum(votes), len(votes)
        firsts, total = firsts + up, total + n
        pairs += n * (n - 1)
        both += up * (up - 1)
    if pairs < 1 or not 0 < firsts < total:
        return None
    share = firsts / total
    return _deviation(share, max(both / pairs - share**2, 0.0))


def _deviation(share: float, between: float) -> float:
    """The standard deviation on log-odds whose mean chance is ``share`` and whose variance is ``between``."""
    weights = _WEIGHTS / _WEIGHTS.sum()

    def excess(sigma: float) -> float:
        centre = float(logit(share))
        mean = 0.0
        chance: Floats = expit(centre + sigma * _NODES)
        for _ in range(30):  # move the centre until the mean chance is the share that was seen
            chance = expit(centre + sigma * _NODES)
            mean = float(weights @ chance)
            centre += (share - mean) / float(weights @ (chance * (1 - chance)))
        return float(weights @ (chance - mean) ** 2) - between

    highest = 6.0
    if between <= 0:
        return 0.0
    return highest if excess(highest) <= 0 else brentq(excess, 0.0, highest)


def win_rate_of_gap(points: float) -> float:
    """The win rate that a rating gap in points stands for (ties left out)."""
    return float(expit(points / SCALE))
