"""How sure a plan is to tell two endpoints apart, by the rule that will decide (:mod:`arena.ratings.decision`).

A plan is so many dialogues, subsets of each, and rounds of each match. Its power is the share of simulated tables
on which the better one is named: the jackknife interval of the gap leaves out 0 and the exact sign-flip test by
dialogue agrees. Dialogues of a plan are alike, so a table is how many dialogues ended with which net, drawn from
the exact distribution of one: any number of dialogues costs the same. Draws are by identity, the same for all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit, ndtr, ndtri

from arena.ratings.estimate import SCALE
from arena.ratings.support import FLOOR, degrees
from arena.ratings.uncertainty import quantile
from arena.ratings.votes import NODES, WEIGHTS, Rule, Votes, chances, match_scores, moments
from runstore.ids import draw_seed
from runstore.problems import Problem

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

DRAWS = 6000
MOST_DIALOGUES = 200_000
_EXACT_NETS = 200
_MOST_GAP = 8.0


@dataclass(frozen=True, slots=True)
class Plan:
    """``dialogues``, ``subsets`` of each, ``rounds`` of each match, and how a match is scored from its rounds."""

    dialogues: int
    subsets: int = 1
    rounds: int = 1
    rule: Rule = "majority"

    def __post_init__(self) -> None:
        for name in ("dialogues", "subsets", "rounds"):
            value: int = getattr(self, name)
            if value < (0 if name == "dialogues" else 1):
                raise Problem(f"{name}: found {value}, expected {0 if name == 'dialogues' else 1} or more")

    @property
    def matches(self) -> int:
        return self.dialogues * self.subsets

    @property
    def calls(self) -> int:
        """Of one judge, for one pair."""
        return self.matches * self.rounds


def power_of(votes: Votes, plan: Plan, level: float = 0.95, pairs: int = 1, draws: int = DRAWS) -> float:
    """Chance that a table of this plan names the better one, where ``pairs`` are tested together.

    The first of several pairs must pass at the error divided by their number (Holm 1979). Raises Problem for a
    level that is none.
    """
    if not 0 < level < 1:
        raise Problem(f"level: found {level:g}, expected a share between 0 and 1")
    if plan.dialogues < FLOOR:
        return 0.0
    values, chance = _nets(votes, plan.subsets, plan.rounds, plan.rule)
    generator = np.random.default_rng(draw_seed(0, "power"))
    counts = generator.multinomial(plan.dialogues, chance / chance.sum(), draws)
    sign = 1.0 if votes.gap >= 0 else -1.0
    return float(named(sign * values, counts, plan.subsets, 1 - (1 - level) / pairs).mean())


@lru_cache(maxsize=64)
def _nets(votes: Votes, subsets: int, rounds: int, rule: Rule) -> tuple[Floats, Floats]:
    """What one dialogue's matches can add up to (v,), and how probable that is (v,)."""
    values, table = match_scores(votes, rounds, rule)
    step = 1.0 if rule == "majority" else 1 / rounds
    grid = np.zeros((len(NODES), 2 * round(1 / step) + 1))
    grid[:, np.round((values + 1) / step).astype(int)] = table
    size = (grid.shape[1] - 1) * subsets + 1
    spectrum = np.fft.rfft(grid, size, axis=1) ** subsets
    chance: Floats = WEIGHTS @ np.maximum(np.fft.irfft(spectrum, size, axis=1), 0.0)
    nets: Floats = step * np.arange(size, dtype=np.float64) - subsets
    return nets, chance


def named(nets: Floats, counts: NDArray[np.int64], subsets: int, level: float) -> Bools:
    """(n,) whether the first is named on each of n tables of two endpoints.

    ``counts`` (n, v) say how many dialogues of so many ``subsets`` ended with which of the ``nets`` (v,). The same
    as the whole of a leaderboard's decision, for dialogues of one size and ties as halves.
    """
    dialogues = int(counts[0].sum())
    total = counts @ nets
    mean = 0.5 + total / (2 * dialogues * subsets)
    one_way = (mean <= 0) | (mean >= 1)
    inside = np.where(one_way, 0.5, mean)
    score = (nets[None, :] + subsets) / 2 - subsets * inside[:, None]
    squares = (counts * score**2).sum(1) * dialogues / (dialogues - 1)
    informative = (counts * (np.abs(score) > 1e-9)).sum(1)
    deviation = np.sqrt(squares) / (dialogues * subsets * inside * (1 - inside))
    times = quantile(level, degrees(np.full(dialogues, 1 / dialogues)))
    apart = (logit(inside) > times * deviation) & (informative >= FLOOR)
    return (apart | (one_way & (mean >= 1))) & (total > 0) & _flipped(nets, counts, total, 1 - level)


def _flipped(nets: Floats, counts: NDArray[np.int64], total: Floats, error: float) -> Bools:
    """(n,) whether the two-sided sign-flip test by dialogue is at or below the error.

    Exact from the characteristic function, a product of cosines; by the normal where nets add up to very much
    (sums lie two steps apart: flipping a sign moves them by twice a net).
    """
    step = float(np.abs(np.diff(nets)).min())
    sizes = np.round(np.abs(nets) / step).astype(int)
    alike = np.zeros((len(counts), int(sizes.max()) + 1), np.int64)
    np.add.at(alike.T, sizes, counts.T)
    values = np.arange(alike.shape[1])
    largest = int((alike @ values).max())
    reached = np.round(total / step)
    if largest > _EXACT_NETS:
        return 2 * ndtr(-(reached - 1) / np.sqrt(np.maximum(alike @ values**2, 1))) <= error + 1e-12
    rows, where = np.unique(np.column_stack([alike[:, 1:], reached]).astype(np.int64), axis=0, return_inverse=True)
    size = 2 * largest + 2
    cosines = np.cos(2 * np.pi * np.outer(values[1:], np.arange(size // 2 + 1)) / size)
    negative, logarithms = (cosines < 0).astype(np.int64), np.log(np.maximum(np.abs(cosines), 1e-300))
    passed = np.empty(len(rows), bool)
    for start in range(0, len(rows), 500):
        part = rows[start : start + 500]
        flips = 1 - 2 * (part[:, :-1] @ negative % 2)
        spectrum = np.exp(part[:, :-1] @ logarithms) * flips
        mass = np.fft.irfft(spectrum, size, axis=1)
        below = np.cumsum(mass[:, : largest + 1][:, ::-1], axis=1)[:, ::-1]
        least = np.clip(part[:, -1], 0, largest)
        tail = 2 * below[np.arange(len(part)), least]
        passed[start : start + 500] = (part[:, -1] > 0) & (tail <= error + 1e-9)
    return passed[where.reshape(-1)]


def dialogues_needed(
    votes: Votes,
    plan: Plan,
    power: float = 0.8,
    level: float = 0.95,
    pairs: int = 1,
    draws: int = 1000,
) -> int | None:
    """The dialogues from which on a plan like this one has the power; None beyond 200,000, or with no gap.

    Raises Problem for a power or level that is none.
    """
    if not 0 < power < 1:
        raise Problem(f"power: found {power:g}, expected a share between 0 and 1")

    def reaches(dialogues: int) -> bool:
        return power_of(votes, replace(plan, dialogues=dialogues), level, pairs, draws) >= power

    if votes.gap == 0:
        return None
    guess = _roughly_needed(votes, plan, power, 1 - (1 - level) / pairs)
    if guess > 2 * MOST_DIALOGUES:
        return None
    low = high = max(FLOOR, round(guess))
    while reaches(low) and low > FLOOR:
        low, high = max(FLOOR, int(low / 1.2)), low
    while not reaches(high):
        low, high = high, ceil(high * 1.2)
        if high > MOST_DIALOGUES:
            return None
    while high - low > max(1, low // 100):
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high


def _roughly_needed(votes: Votes, plan: Plan, power: float, level: float) -> float:
    """By the normal approximation, where to begin to look."""
    expected = moments(votes, plan.rounds, plan.rule)
    spread = expected.variance * expected.design_effect(plan.subsets) / plan.subsets
    times = float(ndtri((1 + level) / 2) + ndtri(power))
    return spread * max(times, 0.0) ** 2 / max(expected.mean**2, 1e-300)


def detectable(
    votes: Votes, plan: Plan, power: float = 0.8, level: float = 0.95, pairs: int = 1, draws: int = 1000
) -> float | None:
    """The smallest win rate above one half (of decided matches) that a plan finds with this power, or None."""

    def short(gap: float) -> float:
        return power_of(replace(votes, gap=gap), plan, level, pairs, draws) - power

    if short(_MOST_GAP) < 0:
        return None
    gap = float(brentq(short, 1e-6, _MOST_GAP, xtol=1e-3))
    return moments(replace(votes, gap=gap), plan.rounds, plan.rule).win_rate


@dataclass(frozen=True, slots=True)
class Spent:
    """A way to spend calls, and its power."""

    plan: Plan
    power: float


def spendings(
    calls: int,
    votes: Votes,
    subsets: int = 1,
    *,
    rounds: Sequence[int] = (1, 2, 3, 5),
    dialogues: int | None = None,
    level: float = 0.95,
    pairs: int = 1,
    draws: int = DRAWS,
) -> tuple[Spent, ...]:
    """Ways to spend a pair's number of calls, best first: few or many rounds, by majority or by their mean.

    Dialogues have so many ``subsets`` each; or, with a number of ``dialogues`` that cannot grow, as many as the
    calls allow.
    """
    spent_ways: list[Spent] = []
    for number in rounds:
        matches = calls // number
        each = subsets if dialogues is None else max(1, matches // dialogues)
        for rule in ("majority",) if number == 1 else ("majority", "mean"):
            plan = Plan(matches // each if dialogues is None else min(dialogues, matches), each, number, rule)
            spent_ways.append(Spent(plan, power_of(votes, plan, level, pairs, draws)))
    return tuple(sorted(spent_ways, key=lambda spent: (-spent.power, spent.plan.calls)))


def gap_of_win_rate(rate: float, subset_sd: float = 0.0, dialogue_sd: float = 0.0, ties: float = 0.0) -> Votes:
    """Votes of which the first wins this share of decided ones and ``ties`` (a share of all) are tied.

    Raises Problem for shares that are none.
    """
    if not 0 < rate < 1:
        raise Problem(f"win rate: found {rate:g}, expected a share between 0 and 1")
    if not 0 <= ties < 1:
        raise Problem(f"ties: found {ties:g}, expected a share of at least 0 and below 1")
    spread = float(np.hypot(subset_sd, dialogue_sd))

    def decided(gap: float, weight: float) -> tuple[float, float]:
        lost, tied, won = (WEIGHTS @ chances(gap + spread * NODES, weight)).tolist()
        return won / (won + lost), tied

    weight, gap = 0.0, 0.0
    for _ in range(60 if ties else 1):
        now = weight
        gap = _solved(lambda gap, now=now: decided(gap, now)[0] - rate)
        if not ties:
            break
        weight = float(np.exp(_solved(lambda log, gap=gap: decided(gap, float(np.exp(log)))[1] - ties)))
        if abs(weight - now) < 1e-9:
            break
    return Votes(gap, subset_sd, dialogue_sd, weight)


def _solved(of: Callable[[float], float]) -> float:
    return float(brentq(of, -40.0, 40.0, xtol=1e-10))


def win_rate_of_gap(points: float) -> float:
    """The win rate that a rating gap in points stands for (ties left out)."""
    return float(expit(points / SCALE))
