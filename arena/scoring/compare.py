"""Two groups of sessions compared on every measure: the scores of two tutor modes, or of two levels."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from arena.agreement.paired import wilcoxon
from arena.agreement.result import SignificanceTest, TestRow
from arena.agreement.two_groups import Comparison, ComparisonRow, compare, compare_many
from arena.rubrics.rubric import Rubric
from arena.scoring.combine import Combined
from arena.scoring.tables import by_session, judges_of, measures
from runstore.problems import Problem
from runstore.results import Result


class CommonRow(Result):
    """The paired test of one measure on sessions that share a value."""

    label: str
    pairs: int
    test: TestRow


class GroupComparisonRow(Result):
    """A :class:`GroupComparison` as it stands in files."""

    column: str
    first: str
    second: str
    judge: str
    scored_first: str
    scored_second: str
    measures: tuple[ComparisonRow, ...]
    matched_by: str | None
    common_rows: tuple[CommonRow, ...]


@dataclass(frozen=True, slots=True)
class GroupComparison:
    """All measures of one judge in two groups of a column.

    p values of items are adjusted together (Holm); areas and the total are sums of them and stay as they are.
    ``common``: the paired test on sessions that share a value of the column ``matched`` and are both scored.
    """

    column: str
    first: str
    second: str
    judge: str
    comparisons: tuple[Comparison, ...]
    scored: tuple[tuple[int, int], tuple[int, int]]
    matched: str | None = None
    common: tuple[tuple[str, SignificanceTest, int], ...] = ()

    def row(self) -> GroupComparisonRow:
        """The comparison as it stands in ``comparison.json``."""
        (n_first, of_first), (n_second, of_second) = self.scored
        return GroupComparisonRow(
            column=self.column,
            first=self.first,
            second=self.second,
            judge=self.judge,
            scored_first=f"{n_first} of {of_first}",
            scored_second=f"{n_second} of {of_second}",
            measures=tuple(comparison.row() for comparison in self.comparisons),
            matched_by=self.matched,
            common_rows=tuple(
                CommonRow(label=name, pairs=pairs, test=test.row()) for name, test, pairs in self.common
            ),
        )


def compare_groups(
    rubric: Rubric,
    rows: Sequence[Combined],
    column: str,
    values: tuple[str, str] | None = None,
    *,
    matched: str | None = None,
    level: float = 0.95,
) -> list[GroupComparison]:
    """Every judge's (and all judges') scores of the sessions with two values of a column, first - second.

    Raises Problem where the column does not have (exactly, or among others) the two values, or two sessions of a
    group share a value of ``matched``.
    """
    groups = {row.session: row.columns.get(column) for row in rows}
    first, second = two_groups(column, groups.values(), values)
    keys = {row.session: row.columns.get(matched) for row in rows} if matched else {}
    return [
        _compared(rubric, rows, judge, (column, first, second), groups, matched, keys, level)
        for judge in judges_of(rows)
    ]


def two_groups(column: str, given: Iterable[str | None], values: tuple[str, str] | None = None) -> tuple[str, str]:
    """The two values to compare: those given, or the only two there are. Raises Problem."""
    known = sorted({value for value in given if value is not None})
    if values is None and len(known) != 2:
        raise Problem(f"column {column!r}: found {len(known)} values, expected two (or COLUMN=FIRST,SECOND)")
    for value in values or ():
        if value not in known:
            raise Problem(
                f"column {column!r}: found {', '.join(known) or 'no values'}, expected {value!r} among them"
            )
    return values or (known[0], known[1])


def _compared(
    rubric: Rubric,
    rows: Sequence[Combined],
    judge: str,
    place: tuple[str, str, str],
    groups: dict[str, str | None],
    matched: str | None,
    keys: dict[str, str | None],
    level: float,
) -> GroupComparison:
    sides: dict[str, tuple[dict[str, float], dict[str, float]]] = {}
    kinds = measures(rubric)
    for measure in kinds:
        scores = by_session(rows, measure, judge)
        sides[measure.name] = (_side(scores, groups, place[1]), _side(scores, groups, place[2]))
    triples = {name: (name, list(one.values()), list(two.values())) for name, (one, two) in sides.items()}
    items = compare_many([triples[measure.name] for measure in kinds if measure.kind == "item"], level=level)
    sums = [
        compare(triples[m.name][1], triples[m.name][2], label=m.name, level=level)
        for m in kinds
        if m.kind != "item"
    ]
    first, second = sides["total"]
    return GroupComparison(
        *place,
        judge,
        (*items, *(replace(one, adjusted_p=None) for one in sums)),
        (_counts(first), _counts(second)),
        matched,
        tuple(_common(name, one, two, keys) for name, (one, two) in sides.items()) if matched else (),
    )


def _side(scores: dict[str, float | None], groups: dict[str, str | None], value: str) -> dict[str, float]:
    return {
        session: math.nan if score is None else score
        for session, score in scores.items()
        if groups[session] == value
    }


def _counts(side: dict[str, float]) -> tuple[int, int]:
    return sum(not math.isnan(score) for score in side.values()), len(side)


def _common(
    name: str, one: dict[str, float], two: dict[str, float], keys: dict[str, str | None]
) -> tuple[str, SignificanceTest, int]:
    first, second = _by_key(one, keys), _by_key(two, keys)
    shared = [key for key in first if key in second and not math.isnan(first[key]) and not math.isnan(second[key])]
    return name, wilcoxon([first[key] for key in shared], [second[key] for key in shared]), len(shared)


def _by_key(side: dict[str, float], keys: dict[str, str | None]) -> dict[str, float]:
    check_pairs(keys[session] for session in side)
    return {key: score for session, score in side.items() if (key := keys[session]) is not None}


def check_pairs(keys: Iterable[str | None]) -> None:
    """Raises Problem where two sessions of one group could be the partner of the same one."""
    counts = Counter(key for key in keys if key is not None)
    if twice := [key for key, count in counts.items() if count > 1]:
        raise Problem(f"{counts[twice[0]]} sessions of one group share {twice[0]!r}: they cannot be paired by it")
