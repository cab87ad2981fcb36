"""Anybody's battles from CSV, JSON lines or Parquet, read in chunks of bounded memory.

Columns ``model_a``, ``model_b``, ``winner``; optional ``first``, ``weight``, ``cluster``; any other column only
when it is asked for (categories, covariates). Conversations and whatever else the file holds are not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from arena.ratings.battles import Battles, Chunk, Collector
from arena.ratings.columns import Encoded, arrow, encode
from runstore.problems import InputProblem, Problem
from runstore.publish import unguard_cell

REQUIRED = ("model_a", "model_b", "winner")
OPTIONAL = ("first", "weight", "cluster")
_JSON_ROWS = 50_000
_PARQUET_ROWS = 1_000_000
_CSV_BYTES = 16_000_000


@dataclass(frozen=True)
class Columns:
    """Which columns to read beside the required ones. ``covariates`` are pairs ``<name>_a``, ``<name>_b``."""

    categories: Sequence[str] = ()
    covariates: Sequence[str] = ()
    cluster: str = "cluster"
    keep_rows: bool = False

    def wanted(self) -> list[str]:
        sides = [f"{name}_{side}" for name in self.covariates for side in "ab"]
        return list(dict.fromkeys((*REQUIRED, "first", "weight", self.cluster, *self.categories, *sides)))

    def needed(self) -> list[str]:
        own = [self.cluster] if self.cluster != "cluster" else []
        sides = [f"{name}_{side}" for name in self.covariates for side in "ab"]
        return [*REQUIRED, *own, *self.categories, *sides]


def read_battles(path: Path, columns: Columns | None = None) -> Battles:
    """Count a file's battles. Raises InputProblem naming file, row and field for what can't be understood."""
    columns = columns or Columns()
    kinds: dict[str, Callable[[Path, Columns], Iterator[dict[str, Any]]]] = {
        ".csv": _csv_chunks,
        ".jsonl": _json_chunks,
        ".ndjson": _json_chunks,
        ".json": _json_chunks,
        ".parquet": _parquet_chunks,
    }
    read = kinds.get(path.suffix.lower())
    if read is None:
        raise InputProblem(path, f"a file ending in {', '.join(kinds)}", found=path.suffix or path.name)
    if not path.is_file():
        raise InputProblem(path, "a readable file", found="no such file")
    collector = Collector(
        keep_rows=columns.keep_rows,
        cluster_name=columns.cluster,
        file=str(path),
        header_lines=1 if path.suffix.lower() == ".csv" else 0,
    )
    for raw in read(path, columns):
        collector.add(_chunk(path, raw, columns))
    return collector.battles()


def _chunk(path: Path, raw: dict[str, Any], columns: Columns) -> Chunk:
    try:
        texts = {
            name: encode(raw[name])
            for name in (*REQUIRED, "first", columns.cluster, *columns.categories)
            if name in raw
        }
    except Problem as problem:
        raise InputProblem(path, str(problem)) from problem
    guarded = path.suffix.lower() == ".csv"
    for name in ("model_a", "model_b"):
        column = texts[name]
        if guarded:
            texts[name] = Encoded(
                column.codes, [unguard_cell(value) for value in column.values], column.has_missing
            )
    return Chunk(
        texts["model_a"],
        texts["model_b"],
        texts["winner"],
        texts.get("first"),
        _numbers(path, raw, "weight") if "weight" in raw else None,
        texts.get(columns.cluster),
        {name: texts[name] for name in columns.categories},
        {name: _numbers(path, raw, f"{name}_a") - _numbers(path, raw, f"{name}_b") for name in columns.covariates},
    )


def _csv_texts(name: str, column: Encoded) -> Encoded:
    """Names as they were before a spreadsheet's guard; an empty cell of an optional column is a missing value."""
    if name in ("model_a", "model_b"):
        return Encoded(column.codes, [unguard_cell(value) for value in column.values], column.has_missing)
    return column if name == "winner" else column.blank_as_missing()


def _numbers(path: Path, raw: dict[str, Any], name: str) -> NDArray[np.float64]:
    column = raw[name]
    values: Any = column.to_pylist() if hasattr(column, "to_pylist") else column
    try:
        return np.array([np.nan if value in (None, "") else float(value) for value in values], np.float64)
    except (TypeError, ValueError) as error:
        raise InputProblem(path, "a number", found=str(error), field=name) from error


def _check_header(path: Path, header: Sequence[str], columns: Columns) -> list[str]:
    missing = [name for name in columns.needed() if name not in header]
    if missing:
        found = ", ".join(header[:20]) or "nothing"
        raise InputProblem(path, f"a column {missing[0]}", found=found, line=1, field="header")
    return [name for name in columns.wanted() if name in header]


def _csv_chunks(path: Path, columns: Columns) -> Iterator[dict[str, Any]]:
    try:
        pa, csv = arrow(), arrow("csv")
    except ImportError:
        yield from _plain_csv_chunks(path, columns)
        return
    wanted = _check_header(path, _csv_header(path), columns)
    convert = csv.ConvertOptions(
        include_columns=wanted,
        column_types=dict.fromkeys(wanted, pa.string()),
        strings_can_be_null=False,
    )
    read = csv.ReadOptions(block_size=_CSV_BYTES)
    parse = csv.ParseOptions(newlines_in_values=True)
    try:
        with csv.open_csv(path, read_options=read, parse_options=parse, convert_options=convert) as stream:
            for batch in stream:
                yield {name: batch.column(name) for name in wanted}
    except pa.ArrowInvalid as error:
        raise InputProblem(path, "a CSV table in UTF-8", found=str(error)) from error


def _csv_header(path: Path) -> list[str]:
    import csv

    with path.open(encoding="utf-8-sig", newline="") as lines:
        try:
            return [name.strip() for name in next(csv.reader(lines), [])]
        except UnicodeDecodeError as error:
            raise InputProblem(path, "UTF-8 text", found=str(error)) from error


def _plain_csv_chunks(path: Path, columns: Columns) -> Iterator[dict[str, Any]]:
    """Without Arrow: the standard library's reader, some ten times slower."""
    import csv
    from itertools import islice

    with path.open(encoding="utf-8-sig", newline="") as lines:
        reader = csv.reader(lines)
        header = [name.strip() for name in next(reader, [])]
        wanted = _check_header(path, header, columns)
        places = {name: header.index(name) for name in wanted}
        while rows := [row for row in islice(reader, _JSON_ROWS) if row]:
            short = next((n for n, row in enumerate(rows) if len(row) != len(header)), None)
            if short is not None:
                line = reader.line_num - len(rows) + short + 1
                raise InputProblem(path, f"{len(header)} cells", found=f"{len(rows[short])} cells", line=line)
            yield {name: [row[at] for row in rows] for name, at in places.items()}


def _json_chunks(path: Path, columns: Columns) -> Iterator[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    present: set[str] = set()
    for row in _json_rows(path):
        rows.append(row)
        if len(rows) == _JSON_ROWS:
            yield _columns_of(path, rows, columns, present)
            rows = []
    if rows:
        yield _columns_of(path, rows, columns, present)


def _json_rows(path: Path) -> Iterator[dict[str, Any]]:
    if path.suffix.lower() == ".json":
        try:
            table: Any = orjson.loads(path.read_bytes())
        except orjson.JSONDecodeError as error:
            raise InputProblem(path, "JSON: a list of objects", found=str(error), line=error.lineno) from error
        if not isinstance(table, list):
            raise InputProblem(path, "a list of objects", found=type(table).__name__)
        for number, row in enumerate(table, 1):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
            yield _object(path, row, number)
        return
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            if not text.strip():
                continue
            try:
                row = orjson.loads(text)
            except orjson.JSONDecodeError as error:
                raise InputProblem(path, "one JSON object a line", found=str(error), line=number) from error
            yield _object(path, row, number)


def _object(path: Path, row: object, number: int) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise InputProblem(path, "a JSON object", found=type(row).__name__, line=number)
    return row  # pyright: ignore[reportUnknownVariableType]


def _columns_of(path: Path, rows: list[dict[str, Any]], columns: Columns, present: set[str]) -> dict[str, Any]:
    found = {name for row in rows for name in row}
    if not present:
        present |= set(_check_header(path, sorted(found), columns))
    late = [name for name in columns.wanted() if name in found and name not in present]
    if late:
        raise InputProblem(path, f"the column {late[0]} in the first {_JSON_ROWS} rows, as it occurs later")
    return {name: [row.get(name) for row in rows] for name in columns.wanted() if name in present}


def _parquet_chunks(path: Path, columns: Columns) -> Iterator[dict[str, Any]]:
    try:
        pa, parquet = arrow(), arrow("parquet")
    except ImportError as error:
        raise Problem(f"{path}: reading Parquet needs pyarrow (install tutor-arena[parquet])") from error
    try:
        file = parquet.ParquetFile(path)
        wanted = _check_header(path, list(file.schema_arrow.names), columns)
        texts = [name for name in (*REQUIRED, "first", columns.cluster, *columns.categories) if name in wanted]
        strings = [name for name in texts if pa.types.is_string(file.schema_arrow.field(name).type)]
        file = parquet.ParquetFile(path, read_dictionary=strings)
        for batch in file.iter_batches(batch_size=_PARQUET_ROWS, columns=wanted):
            yield {name: batch.column(name) for name in wanted}
    except pa.ArrowInvalid as error:
        raise InputProblem(path, "a Parquet file", found=str(error)) from error
