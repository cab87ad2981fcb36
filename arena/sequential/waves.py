"""Dialogues as waves: all that is asked on a dialogue is settled before it, so each is one fair bet.

The pairs that meet on a dialogue depend on earlier batches alone, and a dialogue is visited once. Given all
earlier dialogues, the mean score on this one of the side that is bet on is at most 1/2 under the null hypothesis,
whatever its subsets and pairs have in common. That keeps the wealth of :mod:`arena.sequential.evidence` fair with
dependent subsets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from arena.ratings.design import Design
from arena.ratings.fitting import fit
from arena.sequential.field import Field, Meeting, every_pair

Floats = NDArray[np.float64]
Wave = tuple[int, list[Meeting]]
PRIOR = 1.0


def next_waves(field: Field, at: int, batch: int, pairs: Callable[[str], Sequence[tuple[int, int]]]) -> list[Wave]:
    """The next dialogues (number, meetings) from ``at`` on: one at least, or what fits into ``batch`` matches."""
    waves: list[Wave] = []
    asked = 0
    for number in range(at, len(field.dialogues)):
        name, subsets = field.dialogues[number]
        meetings = field.playable(
            Meeting(subset, min(pair), max(pair)) for subset in subsets for pair in pairs(name)
        )
        if waves and asked + len(meetings) > batch:
            break
        if meetings:
            waves.append((number, meetings))
            asked += len(meetings)
    return waves


def tallied(scores: Floats, waves: Sequence[Wave], outcomes: Sequence[float | None]) -> Floats:
    """(M, M) scores of each endpoint against each other, with those of the waves added."""
    total = scores.copy()
    meetings = [meeting for _, wave in waves for meeting in wave]
    for meeting, score in zip(meetings, outcomes, strict=True):
        if score is not None:
            total[meeting.i, meeting.j] += score
            total[meeting.j, meeting.i] += 1 - score
    return total


def strengths(scores: Floats) -> Floats:
    """(M,) Bradley-Terry log-odds from (M, M) scores, drawn to 0 by one even game each (they only steer)."""
    size = len(scores)
    i, j = (np.array(side, np.int64) for side in zip(*every_pair(size), strict=True))
    design = Design(i, j, np.empty((len(i), 0)), (), np.zeros(size, np.int64), i[:0], i[:0])
    counts = np.stack([scores[j, i], np.zeros(len(i)), scores[i, j]], axis=1)
    return fit(design, counts, prior=PRIOR, covariance=False, tolerance=1e-4).theta
