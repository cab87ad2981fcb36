"""Do 95 % intervals hold the truth 95 times in 100? Simulated tournaments with dependent subsets and three votes.

    python bench/coverage.py [--draws 2000] [--exact]

Each draw is a tournament of four endpoints: dialogues with effects of their own (sd .5 an endpoint, shared by
their subsets), subsets with effects of their own (sd .5), every pair judged three times a subset with Davidson's
ties, the majority taken. The truth is the rating that the same design gives without sampling error. Beside the
product's ways stand the wrong ones that people use: votes as battles, battles as independent, the inverse Hessian.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from arena.ratings.battles import Battles, from_columns
from arena.ratings.bootstrap import quantiles
from arena.ratings.design import cell_design
from arena.ratings.estimate import estimate, gap_deviation
from arena.ratings.fitting import fit
from arena.ratings.settings import Settings

THETA = np.array([0.6, 0.2, -0.2, -0.6])
DIALOGUES, SUBSETS, VOTES = 60, 3, 3
OF_DIALOGUE = OF_SUBSET = 0.5
NU = 0.6
NAMES = np.array(["m0", "m1", "m2", "m3"])
WORDS = np.array(["model_b", "tie", "model_a"])
PAIRS = np.array(list(combinations(range(4), 2)))
Floats = NDArray[np.float64]


def chances(eta: Floats) -> Floats:
    """(..., 3) chances of loss, tie, win of one vote."""
    weight = np.stack([np.exp(-eta / 2), np.full_like(eta, NU), np.exp(eta / 2)], axis=-1)
    return weight / weight.sum(-1, keepdims=True)


def majority(lost: Any, won: Any) -> Any:
    """Outcome 0, 1, 2 of three votes: two of a kind, or a tie where all three differ."""
    return np.where(won >= 2, 2, np.where(lost >= 2, 0, 1))


def tournament(generator: np.random.Generator) -> tuple[Battles, Battles]:
    """One draw: the battles of the majorities, and every vote as a battle of its own; both know their dialogue."""
    endpoints = generator.normal(0, OF_DIALOGUE, (DIALOGUES, 1, 4)) + generator.normal(
        0, OF_SUBSET, (DIALOGUES, SUBSETS, 4)
    )
    strength = THETA + endpoints
    eta = strength[..., PAIRS[:, 0]] - strength[..., PAIRS[:, 1]]
    votes = generator.multinomial(VOTES, chances(eta))
    outcome = majority(votes[..., 0], votes[..., 2])
    where = np.broadcast_to(np.arange(DIALOGUES)[:, None, None], outcome.shape)
    pair = np.broadcast_to(np.arange(len(PAIRS)), outcome.shape)
    return _battles(pair, where, outcome), _battles(
        *(np.repeat(values.reshape(-1), VOTES) for values in (pair, where)),
        np.repeat(np.tile([0, 1, 2], outcome.size), votes.reshape(-1)),
    )


def _battles(pair: Any, dialogue: Any, outcome: Any) -> Battles:
    a, b = PAIRS[pair.reshape(-1)].T
    return from_columns(
        NAMES[a].tolist(),
        NAMES[b].tolist(),
        WORDS[outcome.reshape(-1)].tolist(),
        cluster=dialogue.reshape(-1).astype(str).tolist(),
    )


def truth() -> tuple[Floats, Floats]:
    """Ratings of the design without sampling error: by majorities, and by single votes."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    deviation = np.sqrt(2 * (OF_DIALOGUE**2 + OF_SUBSET**2))
    eta = (THETA[PAIRS[:, 0]] - THETA[PAIRS[:, 1]])[:, None] + deviation * nodes
    single = chances(eta)
    lost, tied, won = (single[..., k] for k in range(3))

    def twice(p: Floats) -> Floats:
        return 3 * p**2 * (1 - p) + p**3

    ways = np.stack([twice(lost), 1 - twice(lost) - twice(won), twice(won)], axis=-1)
    battles = _battles(np.repeat(np.arange(6), 3), np.zeros(18, int), np.tile([0, 1, 2], 6))
    design, _ = cell_design(battles, np.zeros(4, np.int64), position=False)
    fits = [fit(design, np.einsum("pkn,k->pn", values, weights) * 1000) for values in (ways, single)]
    del tied
    return fits[0].theta, fits[1].theta


def limits(battles: Battles, settings: Settings, *, naive: bool = False) -> tuple[Floats, Floats, Floats, Floats]:
    """Lower and upper limits of the four ratings, and of the six gaps."""
    found = estimate(battles, settings)
    assert found.fitted is not None and found.covariance is not None
    theta = found.fitted.theta
    gap = theta[PAIRS[:, 0]] - theta[PAIRS[:, 1]]
    if found.draws is not None:
        draws = found.draws.values[:, :4]
        return *quantiles(draws, 0.95), *quantiles(draws[:, PAIRS[:, 0]] - draws[:, PAIRS[:, 1]], 0.95)
    covariance = (found.fitted.curvature if naive else found.covariance)[:4, :4]
    times = 1.959964 if naive else found.quantile(0.95)
    half = times * np.sqrt(np.diag(covariance))
    half_gap = times * gap_deviation(covariance)[PAIRS[:, 0], PAIRS[:, 1]]
    return theta - half, theta + half, gap - half_gap, gap + half_gap


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--exact", action="store_true", help="also the bootstrap that refits (slow)")
    args = parser.parse_args()
    by_majority, by_vote = truth()
    sandwich = Settings(intervals="sandwich")
    ways: dict[str, tuple[bool, Settings, bool]] = {
        "sandwich by dialogue": (False, sandwich, False),
        "bootstrap by dialogue, one step": (False, Settings(refit="one-step"), False),
        "wrong: every match independent": (False, replace(sandwich, clustered=False), False),
        "wrong: inverse Hessian": (False, sandwich, True),
        "wrong: votes as battles": (True, replace(sandwich, clustered=False), False),
        "wrong: votes, inverse Hessian": (True, sandwich, True),
    }
    if args.exact:
        ways["bootstrap by dialogue, exact"] = (False, Settings(refit="exact"), False)
    hits = {name: np.zeros(2) for name in ways}
    widths = dict.fromkeys(ways, 0.0)
    start = time.monotonic()
    for number in range(args.draws):
        battles = tournament(np.random.default_rng([7, number]))
        for name, (votes, settings, naive) in ways.items():
            true = by_vote if votes else by_majority
            gaps = true[PAIRS[:, 0]] - true[PAIRS[:, 1]]
            chosen = replace(settings, seed=number)
            lower, upper, gap_lower, gap_upper = limits(battles[votes], chosen, naive=naive)
            hits[name] += [
                ((lower <= true) & (true <= upper)).mean(),
                ((gap_lower <= gaps) & (gaps <= gap_upper)).mean(),
            ]
            widths[name] += float((upper - lower).mean())
    print(f"{args.draws} draws, {DIALOGUES} dialogues x {SUBSETS} subsets x 6 pairs x {VOTES} votes; 95 % wanted")
    print(f"  {'':<34}{'ratings':>9}{'gaps':>9}{'width':>9}")
    for name, (rating, gap) in hits.items():
        width = widths[name] / args.draws * 400 / np.log(10)
        print(f"  {name:<34}{rating / args.draws:>9.1%}{gap / args.draws:>9.1%}{width:>9.0f}")
    print(f"  ({time.monotonic() - start:.0f} s)")


if __name__ == "__main__":
    main()
