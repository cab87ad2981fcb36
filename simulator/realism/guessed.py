"""How well guesses hit: mean recall of levels, its interval over dialogues, and the same of levels dealt out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from runstore.ids import Identity, draw_seed

RESAMPLES, PERMUTATIONS = 500, 199


@dataclass(frozen=True, slots=True)
class Hits:
    """``p`` = (1 + deals that hit as often) / (1 + deals); limits are percentiles over dialogues drawn again."""

    levels: int
    dialogues: int
    recall: float | None
    lower: float | None
    upper: float | None
    chance: float | None
    chance_upper: float | None
    p: float | None
    reason: str | None


def hits(truth: Sequence[str], guesses: Sequence[str | None], seed: int, *identity: Identity) -> Hits:
    """Guesses (None: none could be read, which is a miss) against the truth, one of each a dialogue."""
    names = sorted(set(truth))
    if len(names) < 2 or len(truth) < 20:
        reason = "one level only" if len(names) < 2 else f"{len(truth)} dialogues, 20 needed"
        return Hits(len(names), len(truth), None, None, None, None, None, None, reason)
    place = {name: at for at, name in enumerate(names)}
    true = np.asarray([place[name] for name in truth])
    guessed = np.asarray([-1 if name is None else place.get(name, -1) for name in guesses])
    generator = np.random.default_rng(draw_seed(seed, "hits", *identity))
    own = recalls(true[None], guessed[None], len(names))[0]
    dealt = generator.permuted(np.tile(true, (PERMUTATIONS, 1)), axis=1)
    chance = recalls(dealt, np.broadcast_to(guessed, dealt.shape), len(names))
    lower, upper = interval(true, guessed == true, len(names), generator)
    beaten = (chance >= own - 1e-12).sum()
    return Hits(
        len(names), len(truth), float(own), lower, upper, float(chance.mean()), float(np.quantile(chance, 0.95)),
        float((1 + beaten) / (1 + PERMUTATIONS)), None,
    )  # fmt: skip


def recalls(true: NDArray[np.int64], guessed: NDArray[np.int64], levels: int) -> NDArray[np.float64]:
    """Mean recall of each row (P x D) of levels against guesses."""
    right = guessed == true
    each = [
        (right & (true == level)).sum(axis=1) / np.maximum(1, (true == level).sum(axis=1))
        for level in range(levels)
    ]
    return np.mean(each, axis=0)


def interval(
    true: NDArray[np.int64], right: NDArray[np.bool_], levels: int, generator: np.random.Generator
) -> tuple[float, float]:
    """95 % percentile interval of mean recall, dialogues drawn again within their levels."""
    drawn = np.zeros(RESAMPLES)
    for level in range(levels):
        own = right[true == level]
        drawn += own[generator.integers(len(own), size=(RESAMPLES, len(own)))].mean(axis=1)
    lower, upper = np.quantile(drawn / levels, [0.025, 0.975])
    return float(lower), float(upper)


def fewest(truth: Sequence[str]) -> int:
    """Dialogues of the level with the fewest."""
    return min(Counter(truth).values(), default=0)
