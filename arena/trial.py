"""Judges on trial: a judge whose first replies cannot be read is not paid for the rest of them."""

from __future__ import annotations

from collections import Counter
from math import ceil

from gateway.errors import NotReadable
from runstore.problems import shown

ADVICE = "mend its prompt or answer format (check shows what comes), or set budget.trial_rounds = 0"

BATCH_SHARE = 10


def tried_ahead(rounds: int, items: int, each: int) -> int:
    """How many of a batch's items are asked at the full price first, as a batch cannot be stopped.

    So many that a judge is asked ``rounds`` times, ``each`` times an item; a tenth of them at most.
    """
    return min(ceil(rounds / max(1, each)), items // BATCH_SHARE)


class JudgeTrial:
    """Counts, by judge, the replies that came and those of them that could not be read.

    After the first ``rounds`` of a judge (0: never) with fewer than half readable, :meth:`saw` gives the reason to
    stop. ``unit``: what is counted, in plural.
    """

    def __init__(self, rounds: int, unit: str = "rounds") -> None:
        self.rounds, self._unit = rounds, unit
        self.judged: Counter[str] = Counter()
        self.unreadable: Counter[str] = Counter()
        self._last: dict[str, tuple[str, str | None]] = {}

    @property
    def note(self) -> str:
        """How many could not be read so far, for the line of progress; nothing while all could."""
        unreadable = self.unreadable.total()
        return f"{unreadable} of {self.judged.total()} {self._unit} unreadable" if unreadable else ""

    def saw(self, judge: str, raw: str, reason: str | None, *, is_readable: bool) -> NotReadable | None:
        """Take in what a judge gave. Why the judging had better stop, if it had."""
        self.judged[judge] += 1
        if is_readable:
            return None
        self.unreadable[judge] += 1
        self._last[judge] = raw, reason
        return self.verdict(judge, raw, reason)

    def so_far(self) -> NotReadable | None:
        """Why the judging had better stop by what was seen, however little: before what cannot be stopped."""
        ends = (self.verdict(judge, *last, least=1) for judge, last in self._last.items() if self.rounds)
        return next((end for end in ends if end is not None), None)

    def verdict(self, judge: str, raw: str, reason: str | None, *, least: int | None = None) -> NotReadable | None:
        """Why the judging had better stop by the counts; ``raw`` is the last reply that could not be read.

        ``least``: the fewest replies that decide, if not the rounds of the trial.
        """
        judged = self.judged[judge]
        readable = judged - self.unreadable[judge]
        if not 0 < (self.rounds if least is None else least) <= judged or 2 * readable >= judged:
            return None
        why = reason or "no decision"
        first = f"of {judge}'s first {judged} {self._unit} {readable} could be read ({why})"
        return NotReadable(f"{first}; it said: {shown(raw, 300)}; {ADVICE}")
