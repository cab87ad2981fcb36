"""A goal pursued by the judging stage: one batch after the other is judged until the goal is reached."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from arena.judge import Judged
from arena.sequential.field import Field, Meeting, field_of
from arena.sequential.goal import Goal
from arena.sequential.goals import account, next_matches, start
from arena.sequential.result import GoalAccount
from frontdesk.runner.judged import Item
from gateway.crowd import Gathered
from runstore.records import Subset, Verdict


@dataclass(frozen=True, slots=True)
class Table:
    """What a goal chooses from: the items that can be judged, and (subset id, pair) of those that lack a reply."""

    goal: Goal
    seed: int
    subsets: Sequence[Subset]
    pairs: Sequence[tuple[str, str]]
    items: Sequence[Item]
    missing: Sequence[tuple[str, tuple[str, str]]]

    def field(self) -> Field:
        names = sorted({name for pair in self.pairs for name in pair})
        return field_of(names, [(subset.id, subset.dialogue) for subset in self.subsets], self.seed, self.missing)

    def by_meeting(self, field: Field) -> dict[Meeting, list[Item]]:
        """The items of each match, one a criterion."""
        subset = {name: place for place, name in enumerate(field.subsets)}
        endpoint = {name: place for place, name in enumerate(field.names)}
        items_of: dict[Meeting, list[Item]] = {}
        for item in self.items:
            i, j = sorted(endpoint[name] for name in item[0].endpoints)
            items_of.setdefault(Meeting(subset[item[0].subset.id], i, j), []).append(item)
        return items_of


@dataclass(frozen=True, slots=True)
class Pursued:
    """What was judged on the way, and the account (None where it was stopped)."""

    gathered: Gathered[Item, Judged]
    account: GoalAccount | None


async def pursue(
    table: Table,
    before: Sequence[Judged],
    judge: Callable[[Sequence[Item]], Awaitable[Gathered[Item, Judged]]],
) -> Pursued:
    """Ask ``judge`` for the items of each batch of matches; what was judged ``before`` counts like what it gives.

    ``judge`` may leave out items that it has nothing to ask about. Raises Problem where the goal does not fit the
    endpoints.
    """
    field = table.field()
    items_of = table.by_meeting(field)
    verdicts = {(judged.match.id, judged.criterion): judged.verdict for judged in before}
    whole: Gathered[Item, Judged] = Gathered([], [], None)
    asked: list[Meeting] = []
    scores: list[float | None] = []
    state = start(table.goal, field)
    while batch := next_matches(state):
        part = await judge([item for meeting in batch for item in items_of[meeting]])
        whole = Gathered(whole.done + part.done, whole.failed + part.failed, part.stopped)
        if part.stopped is not None:
            break
        verdicts |= {(judged.match.id, judged.criterion): judged.verdict for judged in part.results()}
        new_scores = [
            score_of(
                field.names[meeting.i], [verdicts.get((m.id, criterion)) for m, criterion in items_of[meeting]]
            )
            for meeting in batch
        ]
        state = state.absorb(new_scores)
        asked += batch
        scores += new_scores
    told = None if whole.stopped is not None else account(table.goal, state, asked, scores)
    return Pursued(whole, told)


def score_of(endpoint: str, verdicts: Sequence[Verdict | None]) -> float | None:
    """The endpoint's mean score over the criteria of one match; None where none of them has a valid verdict."""
    values = [
        0.5 if verdict.outcome == "tie" else float(verdict.winner == endpoint)
        for verdict in verdicts
        if verdict is not None and verdict.outcome != "invalid"
    ]
    return sum(values) / len(values) if values else None
