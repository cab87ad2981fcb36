"""Tournaments of known strengths, played through the product's own policies: what the sequential benches share.

Strengths are in log-odds; ties by Davidson's model, nu .6. In dependent tournaments each endpoint has good and bad
dialogues: the outcomes share a normal effect of endpoint and dialogue that carries the share ``shared`` of the
variance; the probabilities of single outcomes stay what they were. Deterministic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import ndtr

from arena.sequential.field import Field, Meeting, field_of
from runstore.ids import draw_seed

SEED, ERROR, NU = 11, 0.05, 0.6


@dataclass
class Truth:
    """Plays meetings: (M,) strengths, tie weight, subsets a dialogue, and the share of the variance they share."""

    strengths: np.ndarray
    rng: np.random.Generator
    ties: float = NU
    per_dialogue: int = 1
    shared: float = 0.0

    def __post_init__(self) -> None:
        self.effects: dict[int, np.ndarray] = {}

    def ask(self, meetings: Sequence[Meeting]) -> list[float]:
        return [self.score(*meeting) for meeting in meetings]

    def score(self, subset: int, i: int, j: int) -> float:
        own = self.rng.standard_normal()
        if self.shared:
            dialogue = subset // self.per_dialogue
            if dialogue not in self.effects:
                self.effects[dialogue] = self.rng.standard_normal(len(self.strengths))
            effect = self.effects[dialogue]
            own = (self.shared / 2) ** 0.5 * (effect[i] - effect[j]) + (1 - self.shared) ** 0.5 * own
        half = np.exp((self.strengths[i] - self.strengths[j]) / 2)
        total = half + 1 / half + self.ties
        u = ndtr(-own)
        return 1.0 if u < half / total else 0.5 if u < (half + self.ties) / total else 0.0


def generator(*identity: str | int | float) -> np.random.Generator:
    return np.random.default_rng(draw_seed(SEED, *identity))


@cache
def field(size: int, dialogues: int, per_dialogue: int = 1) -> Field:
    subsets = [(f"s{d * per_dialogue + k:06}", f"d{d}") for d in range(dialogues) for k in range(per_dialogue)]
    return field_of([f"m{place:02d}" for place in range(size)], subsets, SEED)
