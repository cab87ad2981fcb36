"""Train and test parts by whole dialogues, so that no part holds a piece of what the other holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from frontdesk.runner.source import Overview, part_draw
from runstore.problems import Problem


@dataclass(frozen=True, slots=True)
class Split:
    """The test part: dialogues whose draw is at most ``last``; ``test`` of them (None: there is no test part)."""

    seed: int
    last: float = -1.0
    test: int | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        return ("train",) if self.test is None else ("train", "test")

    @property
    def part_of(self) -> Callable[[str], str]:
        """A dialogue's part."""
        if self.test is None:
            return lambda _: "train"
        return lambda dialogue: "test" if part_draw(self.seed, dialogue) <= self.last else "train"


def split_of(overview: Overview, share: float | None) -> Split:
    """The test part takes the dialogues with the lowest draws, ``share`` of them, rounded.

    A draw belongs to the run's seed and the dialogue's id, so every export of a run has the same test part and the
    order of files changes nothing. With two dialogues or more neither part is empty. None: no test part.

    Raises Problem unless 0 < share < 1.
    """
    if share is None:
        return Split(overview.seed)
    if not 0 < share < 1:
        raise Problem(f"--split: found {share:g}, expected a share between 0 and 1")
    draws = np.frombuffer(overview.draws, dtype=np.float64) if overview.draws else np.empty(0)
    size = max(min(max(round(share * len(draws)), 1), len(draws) - 1), 0)
    last = float(np.partition(draws, size - 1)[size - 1]) if size else -1.0
    return Split(overview.seed, last, size)
