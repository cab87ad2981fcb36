"""Long tables of ratings (item, rater, value) of anybody's making, read strictly.

A blank, ``NA``, ``N/A``, ``NaN`` or ``null`` value and an absent row are the same: missing, never a category.
Wide tables are not read: transposed by mistake they would give a figure that looks right.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from arena.agreement.alpha import Measurement
from arena.agreement.result import FloatArray, settle
from runstore.problems import InputProblem, Problem
from runstore.tables import Names, Schema, Table, read_table, shards_of, strict_number

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
    rows = (rating for file in files for rating in _ratings(read_table(file, RATINGS), names))
    return from_rows(rows, source=str(source), scale=scale, measurement=measurement, by=by)


def _ratings(table: Table, names: Mapping[str, Names]) -> Iterable[Rating]:
    flat = table.source != "json"
    absent = [name for name in COLUMNS if name not in table.header]
    if flat and absent:
        raise InputProblem(table.path, _LONG, found=", ".join(table.header), line=1)
    for number, row in table.rows:
        if flat and not _filled(row.get("item")) and not any(_filled(cell) for cell in row.values()):
            continue
        if "item" not in row or "rater" not in row:
            lacking = "rater" if "item" in row else "item"
            raise InputProblem(table.path, _LONG, found=", ".join(row), line=number, field=lacking)
        yield _rating(row, table.path, number, names)


def _filled(cell: object) -> bool:
    return cell is not None and bool(str(cell).strip())


def _rating(row: Mapping[str, object], path: Path, number: int, seen: Mapping[str, Names]) -> Rating:
    names: list[str] = []
    for column in ("item", "rater"):
        value = row[column]
        if not isinstance(value, (str, int)) or isinstance(value, bool) or not str(value).strip():
            raise InputProblem(path, "a name", found=value, line=number, field=column)
        names.append(seen[column].take(str(value), line=number, column=column))
    rest = {k: "" if v is None else str(v).strip() for k, v in row.items() if k not in COLUMNS}
    return Rating(names[0], names[1], _value(row.get("value"), path, number), number, rest)


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
    listed = list(rows)
    if not listed:
        raise InputProblem(source, "at least one rating", found="none")
    if by is not None and not any(by in row.columns for row in listed):
        known = sorted({name for row in listed for name in row.columns})
        raise InputProblem(source, f"a column {by!r}", found=", ".join(known) or "no further column")
    seen: dict[tuple[str, str | None, str], int] = {}
    for row in listed:
        key = (row.item, _group(row, by), row.rater)
        if key in seen:
            found = f"item {row.item}, rater {row.rater} in lines {seen[key]} and {row.row}"
            raise InputProblem(source, "each item and rater once", found=found, line=row.row)
        seen[key] = row.row
    coded, labels = _coded(listed, source, scale, measurement)
    units = sorted({(row.item, _group(row, by)) for row in listed}, key=lambda unit: (unit[0], unit[1] or ""))
    raters = sorted({row.rater for row in listed})
    at_unit = {unit: i for i, unit in enumerate(units)}
    at_rater = {rater: j for j, rater in enumerate(raters)}
    matrix = np.full((len(units), len(raters)), np.nan)
    for row, value in zip(listed, coded, strict=True):
        if value is not None:
            matrix[at_unit[row.item, _group(row, by)], at_rater[row.rater]] = value
    items, groups = tuple(item for item, _ in units), tuple(group for _, group in units)
    missing = sum(value is None for value in coded)
    return Ratings(source, items, groups, tuple(raters), settle(matrix), by, scale, labels, len(listed), missing)


def _group(row: Rating, by: str | None) -> str | None:
    return (row.columns.get(by) or None) if by is not None else None


def _coded(
    rows: list[Rating], source: str, scale: Scale | None, measurement: Measurement | None
) -> tuple[list[float | None], tuple[str, ...] | None]:
    """Numbers for the values, and the labels of these numbers where the values are texts."""
    if scale is not None:
        coded: list[float | None] = []
        for row in rows:
            code = None if row.value is None else scale.code(row.value)
            if code is None and row.value is not None:
                raise InputProblem(
                    source, f"one of {scale}, or NA", found=_shown(row.value), line=row.row, field="value"
                )
            coded.append(code)
        return coded, scale.labels
    texts = [row for row in rows if isinstance(row.value, str)]
    if not texts:
        return [row.value for row in rows if not isinstance(row.value, str)], None
    if measurement not in (None, "nominal") or (measurement is None and _some_number(rows)):
        expected = "a number, or NA for a missing rating (labels need --level nominal or --scale)"
        raise InputProblem(source, expected, found=texts[0].value, line=texts[0].row, field="value")
    shown = [
        None if row.value is None else row.value if isinstance(row.value, str) else f"{row.value:g}"
        for row in rows
    ]
    labels = tuple(sorted({text for text in shown if text is not None}))
    code = {label: float(i) for i, label in enumerate(labels)}
    return [None if text is None else code[text] for text in shown], labels


def _shown(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _some_number(rows: list[Rating]) -> bool:
    return any(isinstance(row.value, float) for row in rows)
