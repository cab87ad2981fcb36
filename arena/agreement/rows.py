"""What ``agreement.json`` says, typed: these models write the file and read it again."""

from __future__ import annotations

from arena.agreement.result import StatisticRow
from runstore.results import Number, Result


class Cells(Result):
    """Units times raters: how many hold a rating."""

    rated: int
    missing: int
    of: int


class RaterPair(Result):
    """Two raters; differences are first - second."""

    first: str
    second: str
    statistics: tuple[StatisticRow, ...]


class GroupRow(Result):
    """Agreement within one set of units."""

    label: str
    units: int
    raters: tuple[str, ...]
    cells: Cells
    statistics: tuple[StatisticRow, ...]
    pairs: tuple[RaterPair, ...]
    notes: tuple[str, ...]


class _Level(Result):
    column: str | None
    value: str


class LevelRow(GroupRow, _Level):
    """Agreement within the units that have one ``value`` of a ``column``."""


class _Declared(Result):
    source: str
    measurement: str
    scale: str | None
    level: Number
    resamples: int
    seed: int
    by: str | None
    reference: str | None
    rows: int
    rows_with_missing_value: int


class AgreementRow(GroupRow, _Declared):
    """A table's agreement with what was declared of it: over all units, then in ``groups``."""

    groups: tuple[LevelRow, ...]


class _Measured(Result):
    measure: str
    kind: str


class MeasureRow(AgreementRow, _Measured):
    """The same of one measure of a rubric: the total, an area, an item or an element."""
