"""How votes come about, for planning: votes within matches within dialogues.

A vote on a match leans to the first of two by ``gap + d + s`` log-odds, where d is what this dialogue makes of the
two (all its matches share it) and s what this subset does (all rounds of a match share it); both are normal. A tie
has Davidson's weight. A verdict is the majority of a match's rounds, so a further round sees the same subset
again, a further subset the same dialogue again, and only a further dialogue is new evidence in full.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from runstore.problems import Problem

Floats = NDArray[np.float64]
Rule = Literal["majority", "mean"]

_HERMITE, _RAW = np.polynomial.hermite_e.hermegauss(40)
NODES: Floats = np.asarray(_HERMITE, np.float64)
WEIGHTS: Floats = np.asarray(_RAW / _RAW.sum(), np.float64)
"""Points and weights by which a standard normal effect is averaged over (Gauss-Hermite)."""


@dataclass(frozen=True, slots=True)
class Votes:
    """``gap``, ``subset_sd`` and ``dialogue_sd`` in log-odds; ``ties`` is Davidson's weight of a tie."""

    gap: float
    subset_sd: float = 0.0
    dialogue_sd: float = 0.0
    ties: float = 0.0

    def __post_init__(self) -> None:
        for name in ("subset_sd", "dialogue_sd", "ties"):
            value: float = getattr(self, name)
            if not 0 <= value < float("inf"):
                raise Problem(f"{name.replace('_', ' ')}: found {value:g}, expected a number of at least 0")


def chances(lead: Floats, ties: float | Floats) -> Floats:
    """(..., 3) chances of loss, tie and win of one vote at a lead in log-odds."""
    half = np.exp(np.clip(lead, -60, 60) / 2)
    weight = np.stack(np.broadcast_arrays(1 / half, ties, half), axis=-1).astype(np.float64)
    return weight / weight.sum(-1, keepdims=True)


def match_scores(votes: Votes, rounds: int, rule: Rule = "majority") -> tuple[Floats, Floats]:
    """What a match can score (v,), -1..1 from low to high, and its chances at each dialogue effect (40, v)."""
    lead = votes.gap + votes.dialogue_sd * NODES[:, None] + votes.subset_sd * NODES[None, :]
    single = chances(lead, votes.ties)
    values, at = np.unique(_of_counts(rounds, rule), return_inverse=True)
    counts = _counts(rounds)
    log = gammaln(rounds + 1) - gammaln(counts + 1).sum(1) + xlogy(counts, single[..., None, :]).sum(-1)
    table = np.einsum("dsc,s->dc", np.exp(log), WEIGHTS)
    by_node = np.zeros((len(NODES), len(values)))
    np.add.at(by_node.T, at, table.T)
    return values, by_node


def _counts(rounds: int) -> NDArray[np.int64]:
    """(c, 3) every division of the rounds into losses, ties and wins."""
    return np.array([(a, rounds - a - b, b) for a in range(rounds + 1) for b in range(rounds + 1 - a)], np.int64)


def _of_counts(rounds: int, rule: Rule) -> Floats:
    """(c,) the score of each division: its mean, or who has more than half of the rounds."""
    lost, won = _counts(rounds)[:, 0], _counts(rounds)[:, 2]
    if rule == "mean":
        mean: Floats = np.round((won - lost) / rounds, 9)
        return mean
    scores: Floats = (2 * won > rounds).astype(np.float64) - (2 * lost > rounds).astype(np.float64)
    return scores


@dataclass(frozen=True, slots=True)
class Moments:
    """Of a match's score in -1..1: mean, variance, covariance with another match of the dialogue, and ties."""

    mean: float
    variance: float
    shared: float
    tied: float

    @property
    def win_rate(self) -> float:
        """Of decided matches."""
        decided = 1 - self.tied
        return 0.5 if decided <= 0 else 0.5 + self.mean / decided / 2

    def design_effect(self, subsets: int) -> float:
        """How many matches of dialogues with so many subsets count as one independent match."""
        return 1.0 if self.variance <= 0 else 1 + (subsets - 1) * self.shared / self.variance


def moments(votes: Votes, rounds: int, rule: Rule = "majority") -> Moments:
    """Moments of one match's score."""
    values, table = match_scores(votes, rounds, rule)
    chance = WEIGHTS @ table
    mean, square = float(chance @ values), float(chance @ values**2)
    within = table @ values
    return Moments(
        mean, square - mean**2, float(WEIGHTS @ within**2) - mean**2, float(chance[np.abs(values) < 1e-9].sum())
    )
