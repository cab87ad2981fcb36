"""How many matches each goal takes, beside uniform pairing; and the calls that decisive rounds save."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from arena.judge import is_decided
from arena.ratings.design import Design
from arena.ratings.fitting import fit
from arena.reading import LetterReading
from arena.sequential.best import Best
from arena.sequential.evidence import BETS, log_threshold, log_wealth, stakes
from arena.sequential.field import every_pair
from arena.sequential.goals import play
from arena.sequential.place import Place
from arena.sequential.waves import strengths as rated
from arena.votes import judgment_from, verdict
from bench.tournaments import ERROR, NU, Truth, field, generator
from runstore.ids import pick

CAP = 40_000

# -- the best of ten ---------------------------------------------------------------------------------------------


def uniform_bets(strengths: np.ndarray, rng: np.random.Generator) -> tuple[int, int | None]:
    """Any pair is as likely to meet as any other; the same bets against "it is the best", 400 battles a batch."""
    size, batch = len(strengths), 400
    pairs, scores = np.array(every_pair(size)), np.zeros((size, size))
    wealth, out = np.zeros((size, len(BETS))), np.zeros(size, bool)
    for battles in range(0, CAP, batch):
        i, j = pairs[rng.integers(0, len(pairs), batch)].T
        half = np.exp((strengths[i] - strengths[j]) / 2)
        u = rng.random(batch) * (half + 1 / half + NU)
        score = np.where(u < half, 1.0, np.where(u < half + NU, 0.5, 0.0))
        steer = rated(scores)
        gains, row = np.zeros((batch, size)), np.arange(batch)
        gains[row, i] = np.where(steer[i] <= steer[j], 0.5 - score, 0.0)
        gains[row, j] = np.where(steer[j] <= steer[i], score - 0.5, 0.0)
        path = wealth + np.cumsum(stakes(gains), axis=0)
        gone = out | np.maximum.accumulate(log_wealth(path) >= log_threshold(ERROR), axis=0)
        if (done := gone.sum(axis=1) >= size - 1).any():
            at = int(done.argmax())
            return battles + at + 1, int((~gone[at]).argmax())
        wealth, out = path[-1], gone[-1]
        np.add.at(scores, (i, j), score)
        np.add.at(scores, (j, i), 1 - score)
    return CAP, None


def best_of_ten(spread: float, number: int) -> tuple[list[float], list[bool]]:
    """Matches used (leader, uniform with the same bets, with ratings, and naive), and which were wrong."""
    strengths = generator("best", spread, number).normal(0, spread, 10)
    whole = replace(field(10, CAP), seed=number)
    used: list[float] = []
    wrong: list[bool] = []
    state = play(Best.start(whole, ERROR), Truth(strengths, generator("best", spread, number, "leader")).ask, CAP)
    decision = state.decide()
    used.append(state.used if decision else CAP)
    wrong.append(decision is not None and decision.result.winner != f"m{strengths.argmax():02d}")
    ways: list[Callable] = [uniform_bets]
    ways += [partial(by_ratings, rule=rule) for rule in (mixture_boundary, naive_boundary)]
    for way in ways:
        battles, leader = way(strengths, generator("best", spread, number, "uniform"))
        used.append(battles)
        wrong.append(leader is not None and leader != strengths.argmax())
    return used, wrong


def mixture_boundary(information: np.ndarray) -> np.ndarray:
    """The z that may be looked at all the time (normal mixture, Robbins 1970), one-sided, for 9 challengers."""
    prior = 30.0
    total = information + prior
    return np.sqrt(total * np.log(total / prior / (2 * ERROR / 9) ** 2) / information)


def naive_boundary(information: np.ndarray) -> np.ndarray:
    """Three standard errors, looked at all the time as if once."""
    return np.full(len(information), 3.0)


def by_ratings(strengths: np.ndarray, rng: np.random.Generator, rule: Callable) -> tuple[int, int | None]:
    """Uniform pairs, Bradley-Terry refitted; stops when the leader's z against each other passes the rule."""
    size = len(strengths)
    i, j = np.array(every_pair(size)).T
    design = Design(i, j, np.empty((len(i), 0)), (), np.zeros(size, np.int64), i[:0], i[:0])
    half = np.exp((strengths[i] - strengths[j]) / 2)
    chances = np.stack([1 / half, np.full(len(i), NU), half]) / (half + 1 / half + NU)
    counts, battles = np.zeros((len(i), 3)), 0
    while battles < CAP:
        more = rng.multinomial(max(20, battles // 50), np.full(len(i), 1 / len(i)))
        counts += rng.multinomial(more, chances.T)
        battles += int(more.sum())
        fitted = fit(design, counts, prior=0.1, tolerance=1e-5)
        leader = int(fitted.theta.argmax())
        others = np.delete(np.arange(size), leader)
        table = fitted.curvature
        variance = table[leader, leader] + table[others, others] - 2 * table[leader, others]
        z = (fitted.theta[leader] - fitted.theta[others]) / np.sqrt(variance)
        if bool((z > rule(1 / variance)).all()):
            return battles, leader
    return CAP, None


# -- a newcomer --------------------------------------------------------------------------------------------------


class UniformPlace(Place):
    """Any member of the board is as likely to be met as any other."""

    def _opponent(self, subset: int, visit: int, met: set[int]) -> int | None:
        left = [other for other in self.members if other not in met]
        return pick(left, self.field.seed, "uniform", subset, visit) if left else None


def place_on_twenty(
    spread: float, per_dialogue: int, shared: float, number: int, ways: int = 2
) -> tuple[list[float], list[bool]]:
    """Matches used (nearest, uniform) and whether the interval held the truth."""
    strengths = generator("place", spread, number).normal(0, spread, 21)
    strengths -= strengths[:20].mean()
    whole = replace(field(21, 3000 // per_dialogue, per_dialogue), seed=number)
    used: list[float] = []
    held: list[bool] = []
    for kind in (Place, UniformPlace)[:ways]:
        truth = Truth(strengths, generator("place", spread, number, kind.__name__), 0.0, per_dialogue, shared)
        board = np.append(strengths[:20], 0.0)
        state = play(kind.start(whole, "m20", board=board, error=ERROR), truth.ask)
        used.append(state.used)
        held.append(abs(state.estimate.theta - strengths[20]) <= (state.half_width or 0.0))
    return used, held


# -- decisive rounds ---------------------------------------------------------------------------------------------


def decisive(effect: float, gap: float, unreadable: float, matches: int) -> tuple[float, int]:
    """Share of calls saved over three rounds, and how many verdicts differ."""
    rng = generator("decisive", effect, gap)
    lean = np.exp((gap + rng.normal(0, effect, matches)) / 2)
    total = lean + 1 / lean + NU
    u = rng.random((3, matches))
    letters = np.where(u < lean / total, "a", np.where(u < (lean + NU) / total, "c", "b"))
    letters = np.where(rng.random((3, matches)) < unreadable, "", letters)
    asked = changed = 0
    for votes in letters.T:
        rounds = [
            judgment_from(
                LetterReading(letter or None, "none"),  # type: ignore[arg-type]
                subset="s", dialogue="d", judge="j", criterion="c", round=number,
                slot_a="x", slot_b="y", raw="",
            )
            for number, letter in enumerate(votes.tolist(), 1)
        ]  # fmt: skip
        stop = next((k for k in (2, 3) if is_decided(rounds[:k], 3)), 3)
        asked += stop
        early, full = verdict(rounds[:stop], ("x", "y"), 3), verdict(rounds, ("x", "y"), 3)
        changed += (early.outcome, early.winner) != (full.outcome, full.winner)
    return 1 - asked / (3 * matches), changed
