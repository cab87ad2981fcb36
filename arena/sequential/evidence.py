"""Tests and intervals that stay valid however often they are looked at.

A bettor starts with a wealth of 1 and stakes on one side before each unit is seen. Where the null hypothesis
holds the game is at best fair, so the wealth ever reaches ``1 / error`` with probability ``error`` at most (Ville
1939). Stakes are a fixed share ``bet`` of what may be lost, mixed over a grid of shares, so no tuning looks ahead
(Shafer 2021; Waudby-Smith & Ramdas 2024, section 4; Ramdas, Gruenwald, Vovk & Shafer 2023).

The unit is whatever is independent of what came before: a whole dialogue, where several subsets were cut from one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

BETS: Floats = np.geomspace(0.05, 0.95, 9)
"""Shares of what can be lost in one unit: (B,). The smallest suits win rates near .51, the largest near 1."""
_HALVINGS = 40


def stakes(gains: Floats) -> Floats:
    """(..., B) log factors by which each bet's wealth grows.

    ``gains`` lie in [-1/2, 1/2]: how far a unit's mean score is above 1/2, for the side that is bet on.
    """
    return np.log1p(2 * BETS * gains[..., None])


def log_wealth(by_bet: Floats) -> Floats:
    """(...) log wealth of the mixture, from the (..., B) summed log factors of each bet."""
    most = by_bet.max(axis=-1, keepdims=True)
    return most[..., 0] + np.log(np.exp(by_bet - most).mean(axis=-1))


def log_threshold(error: float, directions: int = 2) -> float:
    """The log wealth that certifies, where ``directions`` hypotheses share the error."""
    if not 0 < error < 1:
        raise ValueError(f"error: found {error}, expected a probability between 0 and 1")
    return float(np.log(directions / error))


def log_wealth_path(units: ArrayLike) -> Floats:
    """(..., n) log wealth after each unit of a bet that the mean score is above 1/2. Units lie in [0, 1]."""
    scores = _checked(units)
    return log_wealth(np.cumsum(stakes(scores - 0.5), axis=-2))


@dataclass(frozen=True)
class PairTest:
    """``winner`` is 1 (the first), -1 (the second) or None; ``after`` units it was certain.

    ``log_wealth`` is the largest reached for (first, second) within the ``units`` seen.
    """

    winner: int | None
    after: int | None
    units: int
    log_wealth: tuple[float, float]
    error: float


def pair_test(units: ArrayLike, error: float) -> PairTest:
    """Which of two is better, from the first's mean scores (n,) unit by unit, looked at after every one.

    A wrong winner, or any where both are equal, has probability ``error`` at most.
    """
    scores = _checked(units)
    paths = np.stack([log_wealth_path(scores), log_wealth_path(1 - scores)])
    best = paths.max(axis=1, initial=0.0)
    reached = paths >= log_threshold(error)
    decided = None, None
    if reached.any():
        after = int(reached.any(axis=0).argmax())
        decided = (1 if reached[0, after] else -1), after + 1
    return PairTest(decided[0], decided[1], len(scores), (float(best[0]), float(best[1])), error)


def lower_limit(gained: ArrayLike, error: float, held: ArrayLike = 1.0) -> float:
    """The largest mean that the bets "it is more" have refused by now; 0 where they refused none.

    ``gained`` (n,) are mean scores of what was asked unit by unit, ``held`` (n,) the shares of it that have a
    score: what has none moves nothing, whatever the mean is. Wealth falls as the mean rises, so what any look
    refused is everything up to one number; with probability 1 - ``error`` / 2 the mean is above it at every look.
    """
    scores = _checked(gained)
    shares = np.broadcast_to(np.asarray(held, float), scores.shape)[:, None]
    bar = log_threshold(error)
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        mean = (low + high) / 2
        path = log_wealth(np.cumsum(np.log1p(BETS * (scores[:, None] / mean - shares)), axis=0))
        low, high = (mean, high) if path.max(initial=0.0) >= bar else (low, mean)
    return low


def mean_limits(gained: ArrayLike, error: float, held: ArrayLike = 1.0) -> tuple[float, float]:
    """Limits of the mean score, a confidence sequence: with probability 1 - ``error`` they hold it at every look.

    They are the means that the two bets of :func:`pair_test` have not refused, so one half is outside exactly
    where a winner is certain. ``gained`` and ``held`` as in :func:`lower_limit`.
    """
    scores = _checked(gained)
    shares = np.broadcast_to(np.asarray(held, float), scores.shape)
    return lower_limit(scores, error, shares), 1 - lower_limit(np.maximum(shares - scores, 0.0), error, shares)


def _checked(units: ArrayLike) -> Floats:
    scores = np.asarray(units, float)
    if scores.size and not bool(((scores >= 0) & (scores <= 1)).all()):
        raise ValueError("scores: expected numbers between 0 and 1")
    return scores
