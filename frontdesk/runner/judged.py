"""What a run judges, match after match on each criterion, and what came of it on its way into files."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from arena.judge import Judged, Judging, judged_before
from arena.kept import KeptRounds
from arena.matches import Match
from frontdesk.runner.runfolder import RunFolder
from frontdesk.runner.stagework import InPlace
from gateway.errors import as_failed
from runstore.records import Failure, Judgment, Verdict
from runstore.stored import Lines, WhenAsked, writing

Item = tuple[Match, str]
"""A match and the criterion it is judged by."""
Records = tuple[Sequence[Judgment], Sequence[Verdict]]
"""All judgments and verdicts of a run."""


class Items(WhenAsked[Item]):
    """Every match on every criterion, each made when it is asked for; ``earlier``: what is known of them."""

    def __init__(self, played: Sequence[Match], how: Judging, earlier: KeptRounds) -> None:
        self._played, self._how, self._earlier = played, how, earlier
        self._criteria = how.criterion_ids
        self.is_new = not earlier.judgments and not earlier.failures

    def __len__(self) -> int:
        return len(self._played) * len(self._criteria)

    def at(self, place: int) -> Item:
        match, criterion = divmod(place, len(self._criteria))
        return self._played[match], self._criteria[criterion]

    def before(self, index: int) -> Judged:
        """An item as far as it is known from before."""
        return judged_before(self._how, *self[index], self._earlier)[0]

    def open(self) -> Sequence[int]:
        """The places of those that there is something to ask about."""
        if self.is_new:
            return range(len(self))
        return [
            at
            for at, (match, criterion) in enumerate(self)
            if match.id not in self._earlier.failures
            and not judged_before(self._how, match, criterion, self._earlier)[1]
        ]


class Rounds:
    """Judgments and verdicts as they are written, in the order of the items; ``unreadable`` ones are counted.

    ``failures`` are of rounds and matches that got no reply.
    """

    def __init__(self, items: Items, judgments: Lines[Judgment], verdicts: Lines[Verdict]) -> None:
        self._items, self.judgments, self.verdicts = items, judgments, verdicts
        self.in_place = InPlace(self.add, keeps=not items.is_new)
        self.unreadable = 0
        self.failures: list[Failure] = []

    def add(self, place: int, outcome: Judged | Exception | None = None) -> None:
        """The outcome of an item, or what was known of it where there is none."""
        if isinstance(outcome, Exception):
            self.failures.append(as_failed("", outcome).record("judge", self._items[place][0].id))
        judged = outcome if isinstance(outcome, Judged) else self._items.before(place)
        self.judgments.extend(judged.judgments)
        self.unreadable += sum(judgment.outcome == "unreadable" for judgment in judged.judgments)
        if judged.verdict is not None:
            self.verdicts.add(judged.verdict)
        self.failures += [failed.record("judge", item) for item, failed in judged.failures]


@contextmanager
def published(folder: RunFolder, items: Items) -> Generator[Rounds]:
    """The stage's files, moved into place when all of them is there."""
    with (
        writing(folder.file("judgments.jsonl"), Judgment) as judgments,
        writing(folder.file("verdicts.jsonl"), Verdict) as verdicts,
    ):
        yield Rounds(items, judgments, verdicts)
