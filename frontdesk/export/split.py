"""Train and test parts by whole dialogues, so that no part holds a piece of what the other holds."""

from __future__ import annotations

from collections.abc import Iterable

from runstore.ids import draw
from runstore.problems import Problem


def test_dialogues(dialogues: Iterable[str], share: float | None, seed: int) -> frozenset[str]:
    """The dialogues of the test part: those with the lowest draws, ``share`` of them, rounded.

    A draw belongs to the run's seed and the dialogue's id, so every export of a run has the same test part and the
    order of files changes nothing. With two dialogues or more neither part is empty. None: no test part.

    Raises Problem unless 0 < share < 1.
    """
    if share is None:
        return frozenset()
    if not 0 < share < 1:
        raise Problem(f"--split: found {share:g}, expected a share between 0 and 1")
    ordered = sorted(set(dialogues), key=lambda name: (draw(seed, "test part", name), name))
    size = min(max(round(share * len(ordered)), 1), len(ordered) - 1)
    return frozenset(ordered[: max(size, 0)])
