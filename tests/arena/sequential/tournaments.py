"""Tournaments of known strengths, asked by match: a score depends on the match alone, not on when it is asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from arena.sequential.field import Field, Meeting, field_of
from runstore.ids import draw


def a_field(size: int, dialogues: int, per_dialogue: int = 1, seed: int = 0, missing=()) -> Field:
    subsets = [(f"s{d}-{k}", f"d{d}") for d in range(dialogues) for k in range(per_dialogue)]
    return field_of([f"m{place}" for place in range(size)], subsets, seed, missing)


def scored(field: Field, strengths: Sequence[float], luck: int = 0, ties: float = 0.2) -> Callable:
    """One match's score for its first endpoint, drawn by the match."""

    def score(meeting: Meeting) -> float:
        subset, i, j = meeting
        u = draw(luck, field.subsets[subset], field.names[i], field.names[j])
        if u < ties:
            return 0.5
        return float((u - ties) / (1 - ties) < 1 / (1 + math.exp(strengths[j] - strengths[i])))

    return lambda meetings: [score(meeting) for meeting in meetings]
