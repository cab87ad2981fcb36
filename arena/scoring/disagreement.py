"""Where judges are furthest apart: sessions by the range of their totals, and the values that differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arena.rubrics.rubric import Rubric
from arena.scoring.combine import Combined


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One session: each judge's total, and the values on which judges with a value differ, by (item, element)."""

    session: str
    totals: dict[str, float | None]
    apart: float
    values: dict[tuple[str, str], dict[str, float | None]]


def disagreements(rubric: Rubric, rows: Sequence[Combined], limit: int = 20) -> list[Disagreement]:
    """The ``limit`` sessions whose totals (after floors) lie furthest apart, then those with most values apart."""
    by_session: dict[str, list[Combined]] = {}
    for row in rows:
        by_session.setdefault(row.session, []).append(row)
    apart = [_one(rubric, session, judged) for session, judged in by_session.items() if len(judged) > 1]
    apart = [each for each in apart if each.apart > 0 or each.values]
    return sorted(apart, key=lambda each: (-each.apart, -len(each.values), each.session))[:limit]


def _one(rubric: Rubric, session: str, rows: Sequence[Combined]) -> Disagreement:
    totals = {row.judge: row.scores.total for row in rows}
    known = [total for total in totals.values() if total is not None]
    values: dict[tuple[str, str], dict[str, float | None]] = {}
    for item in rubric.items:
        for slot in item.slots:
            given = {row.judge: row.values[item.key][slot] for row in rows}
            if len({value for value in given.values() if value is not None}) > 1:
                values[item.name, slot] = given
    return Disagreement(session, totals, max(known) - min(known) if len(known) > 1 else 0.0, values)
