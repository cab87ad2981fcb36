"""Judges on trial: a judge whose first rounds cannot be read is not paid for the rest of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from runstore.problems import shown
from runstore.records import Judgment


class JudgeTrial:
    """Counts, by judge, the rounds that came and those of them that could not be read.

    After the first ``rounds`` of a judge (0: never) with fewer than half readable, :meth:`saw` says so.
    """

    def __init__(self, rounds: int) -> None:
        self._rounds = rounds
        self.judged: Counter[str] = Counter()
        self.unreadable: Counter[str] = Counter()

    @property
    def note(self) -> str:
        """How many rounds could not be read so far, for the line of progress; nothing while all could."""
        unreadable = self.unreadable.total()
        return f"{unreadable} of {self.judged.total()} rounds unreadable" if unreadable else ""

    def saw(self, judgments: Iterable[Judgment]) -> str | None:
        """Take in rounds that were judged. Why the judging had better stop, if it had."""
        verdict = None
        for judgment in judgments:
            judge = judgment.judge
            self.judged[judge] += 1
            if judgment.outcome != "unreadable":
                continue
            self.unreadable[judge] += 1
            readable = self.judged[judge] - self.unreadable[judge]
            if 0 < self._rounds <= self.judged[judge] and 2 * readable < self.judged[judge]:
                verdict = (
                    f"of judge {judge}'s first {self.judged[judge]} rounds {readable} could be read "
                    f"({judgment.reason or 'no decision'}); it said: {shown(judgment.raw, 300)}"
                )
        return verdict
