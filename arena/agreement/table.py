"""Long tables of ratings (item, rater, value) of anybody's making, read strictly.

A blank, ``NA``, ``N/A``, ``NaN`` or ``null`` value and an absent row are the same: missing, never a category.
Wide tables are not read: transposed by mistake they would give a figure that looks right.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from arena.agreement.alpha import Measurement
from arena.agreement.result import FloatArray, settle
from runstore.problems import InputProblem, Problem, in_file
from runstore.tables import Names, Schema, Table, read_table, shards_of, strict_number

Read = TypeVar("Read")
COLUMNS = ("item", "rater", "value")
RATINGS = Schema(
    {
        "item": ("항목", "문항", "대상"),
        "rater": ("평가자", "채점자"),
        "value": ("값", "점수", "평점", "score"),
    }
)
_MISSING = frozenset({"", "na", "n/a", "nan", "null"})
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_RANGE = re.compile(r"\s*(-?\d+)\s*\.\.\s*(-?\d+)\s*")
_LARGEST = 1e12
_LONG = "the long format: one row a rating, columns item, rater, value"


@dataclass(frozen=True, slots=True)
class Rating:
    """One row of a table. ``value`` None is missing; ``row`` is its line in the file, for messages."""

    item: str
    rater: str
    value: float | str | None
    row: int = 0
    columns: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Scale:
    """The declared categories in their order. Labels have the codes 0, 1, 2 ...; numbers are their own codes."""

    values: tuple[float, ...]
    labels: tuple[str, ...] | None = None

    def code(self, value: float | str) -> float | None:
        """The code of a value, or None if it is not on the scale."""
        if self.labels is not None:
            text = value if isinstance(value, str) else f"{value:g}"
            return float(self.labels.index(text)) if text in self.labels else None
        if isinstance(value, str):
            return None
        near = [v for v in self.values if math.isclose(v, value, rel_tol=1e-12, abs_tol=1e-12)]
        return near[0] if near else None

    def __str__(self) -> str:
        return ", ".join(self.labels or [f"{v:g}" for v in self.values])


@dataclass(frozen=True)
class Ratings:
    """Units x raters, NaN = missing, both in the order of their names.

    A unit is an item, or an item within a value of the column ``by`` (``groups`` holds that value; None where the
    cell was blank). ``labels`` are the texts of the codes 0, 1, 2 ... where values are not numbers.
    """

    source: str
    items: tuple[str, ...]
    groups: tuple[str | None, ...]
    raters: tuple[str, ...]
    matrix: FloatArray
    by: str | None = None
    scale: Scale | None = None
    labels: tuple[str, ...] | None = None
    rows: int = 0
    missing_rows: int = 0

    @property
    def numeric(self) -> bool:
        """Values are numbers, or labels in a declared order."""
        return self.labels is None or self.scale is not None


def parse_scale(text: str) -> Scale:
    """``1..5``, ``0,1,2`` or ``low,middle,high``. Raises Problem where that gives no scale of two or more."""
    bounds = _RANGE.fullmatch(text)
    if bounds:
        low, high = int(bounds[1]), int(bounds[2])
        if not low < high <= low + 1000:
            raise Problem(f"--scale {text}: the first number must be below the last, by 1000 at most")
        return Scale(tuple(float(v) for v in range(low, high + 1)))
    parts = [part.strip() for part in text.split(",")]
    if len(parts) < 2 or len(set(parts)) != len(parts) or "" in parts:
        raise Problem(f"--scale {text!r}: expected 1..5, or two or more different categories with commas between")
    if all(_NUMBER.fullmatch(part) for part in parts):
        values = sorted(float(part) for part in parts)
        if len(set(values)) != len(values):
            raise Problem(f"--scale {text!r}: a category stands twice")
        return Scale(tuple(values))
    return Scale(tuple(float(i) for i in range(len(parts))), tuple(parts))


def load(
    source: Path | str,
    *,
    scale: Scale | None = None,
    measurement: Measurement | None = None,
    by: str | None = None,
) -> Ratings:
    """A table of any form that :func:`read_table` knows, or many (:func:`runstore.tables.shards_of`), as one.

    Raises InputProblem naming file, row and field.
    """
    files = shards_of(source)
    names = {column: Names(files[0].path) for column in ("item", "rater")}
    listed = _Listed()
    for file in files:
        _add(listed, read_table(file, RATINGS), names, by)
    return _assembled(listed, str(source), scale, measurement, by)


@dataclass
class _Listed:
    """(rows,) of each field of the ratings; ``further`` are the names of all other columns.

    ``files`` are those that the rows came from, each with the number of its first row.
    """

    items: list[str] = field(default_factory=list[str])
    raters: list[str] = field(default_factory=list[str])
    values: list[float | str | None] = field(default_factory=list["float | str | None"])
    groups: list[str | None] = field(default_factory=list["str | None"])
    lines: list[int] = field(default_factory=list[int])
    further: set[str] = field(default_factory=set[str])
    files: list[tuple[int, Path]] = field(default_factory=list[tuple[int, Path]])

    def file_of(self, row: int) -> Path | None:
        """The file that a row came from, if from one."""
        return next((path for first, path in reversed(self.files) if first <= row), None)


def _add(listed: _Listed, table: Table, names: Mapping[str, Names], by: str | None) -> None:
    flat = table.source != "json"
    absent = [name for name in COLUMNS if name not in table.header]
    if flat and absent:
        raise InputProblem(table.path, _LONG, found=table.own_header, line=1)
    filled = _filled_rows(table) if flat else _whole_rows(table)
    lines = table.lines

    def column(name: str, read: Callable[[object, int], Read]) -> Iterable[Read]:
        """A column's cells as they read; there are few different ones, so each is read where it first stands."""
        known: dict[object, Read] = {}
        cells = table.column(name)
        keys = [cell if isinstance(cell, str) else (repr(cell),) for cell in map(cells.__getitem__, filled)]
        for at, key in zip(filled, keys, strict=True):
            if key not in known:
                known[key] = read(cells[at], lines[at])
        return map(known.__getitem__, keys)

    def named(name: str) -> Iterable[str]:
        return column(name, lambda cell, number: _name(cell, table.path, number, name, names[name]))

    listed.files.append((len(listed.items), table.path))
    listed.items.extend(named("item"))
    listed.raters.extend(named("rater"))
    listed.values.extend(column("value", lambda cell, number: _value(cell, table.path, number)))
    if by is not None:
        listed.groups.extend(column(by, lambda cell, _: None if cell is None else str(cell).strip() or None))
    listed.lines.extend(lines[at] for at in filled)
    if filled:
        listed.further.update(name for name in table.header if name not in COLUMNS)


def _whole_rows(table: Table) -> Sequence[int]:
    for number, row in table.rows:
        lacking = next((name for name in ("item", "rater") if name not in row), None)
        if lacking:
            raise InputProblem(
                table.path,
                _LONG,
                found=", ".join(in_file(table.path, name) for name in row),
                line=number,
                field=lacking,
            )
    return range(len(table.rows))


def _filled_rows(table: Table) -> Sequence[int]:
    columns = [table.column(name) for name in table.header]
    items = enumerate(table.column("item"))
    return [at for at, item in items if _filled(item) or any(_filled(column[at]) for column in columns)]


def _filled(cell: object) -> bool:
    return cell is not None and bool(str(cell).strip())


def _name(cell: object, path: Path, number: int, column: str, seen: Names) -> str:
    if not isinstance(cell, (str, int)) or isinstance(cell, bool) or not str(cell).strip():
        raise InputProblem(path, "a name", found=cell, line=number, field=column)
    return seen.take(str(cell), line=number, column=column)


def _value(value: object, path: Path, number: int) -> float | str | None:
    if value is None:
        return None
    if isinstance(value, (bool, int, float)):
        return _ordinary(float(value), value, path, number)
    if not isinstance(value, str):
        raise InputProblem(path, "a number or a label", found=value, line=number, field="value")
    text = value.strip()
    if text.lower() in _MISSING:
        return None
    parsed = strict_number(text)
    return text if parsed is None else _ordinary(parsed, text, path, number)


def _ordinary(value: float, found: object, path: Path, number: int) -> float:
    """Ratings whose fourth powers overflow or vanish are typing errors; no figure could be made of them."""
    if value != 0 and not 1 / _LARGEST <= abs(value) <= _LARGEST:
        expected = f"a number of ordinary size (0, or {1 / _LARGEST:g} to {_LARGEST:g})"
        raise InputProblem(path, expected, found=found, line=number, field="value")
    return value


def from_rows(
    rows: Iterable[Rating],
    *,
    source: str = "ratings",
    scale: Scale | None = None,
    measurement: Measurement | None = None,
    by: str | None = None,
) -> Ratings:
    """A table of ratings. Raises InputProblem for a repeated (item, rater), a value off the scale, mixed kinds."""
    listed = _Listed()
    for row in rows:
        listed.items.append(row.item)
        listed.raters.append(row.rater)
        listed.values.append(row.value)
        listed.groups.append(row.columns.get(by or "") or None)
        listed.lines.append(row.row)
        listed.further.update(row.columns)
    return _assembled(listed, source, scale, measurement, by)


def _assembled(
    listed: _Listed, source: str, scale: Scale | None, measurement: Measurement | None, by: str | None
) -> Ratings:
    if not listed.items:
        raise InputProblem(source, "at least one rating", found="none")
    if by is not None and by not in listed.further:
        raise InputProblem(
            source, f"a column {by!r}", found=", ".join(sorted(listed.further)) or "no further column"
        )
    pairs = list(zip(listed.items, listed.groups or [None] * len(listed.items), strict=True))
    units = sorted(set(pairs), key=lambda unit: (unit[0], unit[1] or ""))
    raters = sorted(set(listed.raters))
    at_unit, at_rater = ({name: at for at, name in enumerate(names)} for names in (units, raters))
    cells = np.array([at_unit[pair] for pair in pairs]) * len(raters)
    cells += np.array([at_rater[rater] for rater in listed.raters])
    _refuse_repeated(listed, cells, source)
    codes, labels = _codes(listed, source, scale, measurement)
    matrix = np.full(len(units) * len(raters), np.nan)
    matrix[cells] = [codes[value] for value in listed.values]
    matrix = settle(matrix.reshape(len(units), len(raters)))
    items, groups = tuple(item for item, _ in units), tuple(group for _, group in units)
    missing = listed.values.count(None)
    return Ratings(source, items, groups, tuple(raters), matrix, by, scale, labels, len(pairs), missing)


def _refuse_repeated(listed: _Listed, cells: NDArray[np.int64], source: str) -> None:
    order = np.argsort(cells, kind="stable")
    again = order[1:][np.diff(cells[order]) == 0]
    if len(again):
        second = int(again.min())
        first = int(np.argmax(cells == cells[second]))
        line, file, other = listed.lines[second], listed.file_of(second), listed.file_of(first)
        where = f"in lines {listed.lines[first]} and {line}"
        if other != file:
            where = f"in line {line} and in {other}, line {listed.lines[first]}"
        found = f"item {listed.items[second]}, rater {listed.raters[second]} {where}"
        raise InputProblem(file or source, "each item and rater once", found=found, line=line)


def _codes(
    listed: _Listed, source: str, scale: Scale | None, measurement: Measurement | None
) -> tuple[dict[float | str | None, float], tuple[str, ...] | None]:
    """The number of each different value, NaN of a missing one; the labels of these numbers if they are texts."""
    codes: dict[float | str | None, float] = {None: np.nan}
    different = [value for value in dict.fromkeys(listed.values) if value is not None]
    texts = [value for value in different if isinstance(value, str)]

    def problem(value: float | str, expected: str) -> InputProblem:
        row = listed.values.index(value)
        file = listed.file_of(row) or source
        return InputProblem(file, expected, found=_shown(value), line=listed.lines[row], field="value")

    if scale is not None:
        for value in different:
            code = scale.code(value)
            if code is None:
                raise problem(value, f"one of {scale}, or NA")
            codes[value] = code
        return codes, scale.labels
    if not texts:
        return codes | {value: float(value) for value in different}, None
    if measurement not in (None, "nominal") or (measurement is None and len(texts) < len(different)):
        raise problem(texts[0], "a number, or NA for a missing rating (labels need --level nominal or --scale)")
    labels = tuple(sorted(set(map(_shown, different))))
    at = {label: float(i) for i, label in enumerate(labels)}
    return codes | {value: at[_shown(value)] for value in different}, labels


def _shown(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"
