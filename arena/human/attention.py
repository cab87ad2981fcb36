"""Signs that a rater did not look: the same point all the way down, and items done too fast.

Signs, not verdicts: they are shown to the organiser, and nobody's ratings are dropped because of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena.human.forms import NOT_APPLICABLE, Question

LEAST_LIKERT = 4


@dataclass(frozen=True, slots=True)
class Attention:
    """Counts over the finished items of one rater.

    ``judged`` items have enough Likert answers to be straight, ``timed`` ones a time to be fast in.
    """

    items: int
    judged: int
    straight: int
    timed: int
    fast: int

    @property
    def flags(self) -> tuple[str, ...]:
        """``straight-lining`` or ``too fast``: at least two items, and half of those that could, look like it."""
        straight = self.straight >= 2 and 2 * self.straight >= self.judged
        fast = self.fast >= 2 and 2 * self.fast >= self.timed
        return (*(("straight-lining",) if straight else ()), *(("too fast",) if fast else ()))


def attention(
    items: Sequence[tuple[float | None, Mapping[str, str]]], questions: Sequence[Question], too_fast_s: float
) -> Attention:
    """``items``: (active seconds or None, answers by question) of each finished item of one rater."""
    likert = [question.id for question in questions if question.kind == "likert"]
    judged = straight = 0
    for _, answers in items:
        given = [answers[name] for name in likert if answers.get(name, NOT_APPLICABLE) != NOT_APPLICABLE]
        if len(given) >= LEAST_LIKERT:
            judged += 1
            straight += len(set(given)) == 1
    times = [seconds for seconds, _ in items if seconds is not None]
    return Attention(len(items), judged, straight, len(times), sum(seconds < too_fast_s for seconds in times))
