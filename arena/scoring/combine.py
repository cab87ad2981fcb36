"""One judge's repeats as one set of values: majority per element, median per scale. Order never matters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from arena.reading import NOT_APPLICABLE
from arena.rubrics.rubric import Item, Rubric
from arena.rubrics.score import Scores, score
from arena.scoring.sessions import Session
from runstore.records import Sheet

Value = int | float | str | None


@dataclass(frozen=True, slots=True)
class Combined:
    """A judge's values for a session out of ``readable`` of ``asked`` sheets, and their scores.

    ``person``: it was filled in by a person, who stands beside the judges and never enters a mean of theirs.
    """

    session: str
    judge: str
    asked: int
    readable: int
    values: dict[str, dict[str, float | None]]
    flags: dict[str, float | None]
    not_applicable: dict[str, tuple[str, ...]]
    scores: Scores
    columns: Mapping[str, str]
    person: bool = False

    @property
    def missing(self) -> list[tuple[str, str]]:
        """(item key, element key) without a value that should have one."""
        return [
            (item, slot)
            for item, slots in self.values.items()
            for slot, value in slots.items()
            if value is None and slot not in self.not_applicable.get(item, ())
        ]


def combine(rubric: Rubric, sheets: Sequence[Sheet], asked: int, columns: Mapping[str, str]) -> Combined:
    """The repeats of one judge for one session.

    An element or flag has the value that more than half of the ``asked`` sheets give. A scale has the median of
    its values where more than half of the ``asked`` sheets give one. Else it is missing.
    Raises ValueError where the sheets are none or belong to several sessions or judges.
    """
    owners = {(sheet.subject, sheet.judge) for sheet in sheets}
    if len(owners) != 1:
        raise ValueError(f"sheets of one session and one judge are needed, got {len(owners)}")
    session, judge = owners.pop()
    values: dict[str, dict[str, float | None]] = {}
    not_applicable: dict[str, tuple[str, ...]] = {}
    for item in rubric.items:
        given = {
            slot: _combined(item, [_value(sheet, item.key, slot) for sheet in sheets], asked)
            for slot in item.slots
        }
        values[item.key] = {slot: None if isinstance(value, str) else value for slot, value in given.items()}
        if aside := tuple(slot for slot, value in given.items() if value == NOT_APPLICABLE):
            not_applicable[item.key] = aside
    flags = {
        flag.key: _number(_majority([sheet.flags.get(flag.key) for sheet in sheets], asked))
        for flag in rubric.flags
    }
    return Combined(
        session=session,
        judge=judge,
        asked=asked,
        readable=sum(sheet.readable for sheet in sheets),
        values=values,
        flags=flags,
        not_applicable=not_applicable,
        scores=score(rubric, values, flags=flags, not_applicable=not_applicable),
        columns=columns,
    )


def combine_all(
    rubric: Rubric, sheets: Sequence[Sheet], sessions: Sequence[Session], judges: Collection[str], asked: int
) -> list[Combined]:
    """One row for every session and judge, those without any sheet included, in the order given."""
    by_owner: dict[tuple[str, str], list[Sheet]] = {}
    for sheet in sheets:
        by_owner.setdefault((sheet.subject, sheet.judge), []).append(sheet)
    return [
        combine(rubric, own, asked, session.columns)
        if (own := by_owner.get((session.id, judge)))
        else _unscored(rubric, session, judge, asked)
        for session in sessions
        for judge in judges
    ]


def people_rows(rubric: Rubric, sheets: Sequence[Sheet], sessions: Sequence[Session]) -> list[Combined]:
    """One row for every sheet that a person filled in, by person; nobody was asked to score everything."""
    columns = {session.id: session.columns for session in sessions}
    place = {session.id: number for number, session in enumerate(sessions)}
    people = {name: number for number, name in enumerate(dict.fromkeys(sheet.judge for sheet in sheets))}
    ordered = sorted(sheets, key=lambda sheet: (place[sheet.subject], people[sheet.judge]))
    return [replace(combine(rubric, [sheet], 1, columns[sheet.subject]), person=True) for sheet in ordered]


def _unscored(rubric: Rubric, session: Session, judge: str, asked: int) -> Combined:
    values: dict[str, dict[str, float | None]] = {item.key: dict.fromkeys(item.slots) for item in rubric.items}
    flags: dict[str, float | None] = dict.fromkeys(flag.key for flag in rubric.flags)
    return Combined(session.id, judge, asked, 0, values, flags, {}, score(rubric, values), session.columns)


def _value(sheet: Sheet, item: str, slot: str) -> Value:
    if slot in sheet.not_applicable.get(item, ()):
        return NOT_APPLICABLE
    return sheet.values.get(item, {}).get(slot)


def _combined(item: Item, values: Sequence[Value], asked: int) -> Value:
    if not item.scale:
        return _majority(values, asked)
    numbers = [value for value in values if isinstance(value, (int, float))]
    return median(numbers) if 2 * len(numbers) > asked else None


def _majority(values: Sequence[Value], asked: int) -> Value:
    counts = Counter(value for value in values if value is not None)
    return next((value for value, count in counts.items() if 2 * count > asked), None)


def _number(value: Value) -> float | None:
    return None if value is None or isinstance(value, str) else value
