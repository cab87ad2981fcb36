"""Anybody's battles from CSV, JSON lines or Parquet, read in chunks of bounded memory.

Columns ``model_a``, ``model_b``, ``winner``; optional ``first``, ``weight``, ``cluster``; any other column only
when it is asked for (categories, style). Conversations and whatever else the file holds are not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import orjson
from numpy.typing import NDArray

from arena.ratings.battles import Battles, Chunk, Collector
from arena.ratings.columns import Encoded, arrow, encode
from arena.ratings.style import FEATURES, features, relative
from runstore.problems import InputProblem, Problem
from runstore.publish import unguard_cell

REQUIRED = ("model_a", "model_b", "winner")
OPTIONAL = ("first", "weight", "cluster")
_JSON_ROWS = 50_000
_PARQUET_ROWS = 1_000_000
_CSV_BYTES = 16_000_000
_NOTHING: list[str] = []


@dataclass(frozen=True)
class Columns:
    """Which columns to read beside the required ones.

    ``style`` reads the pairs ``length_a``, ``length_b`` and so on (:data:`arena.ratings.style.FEATURES`), or takes
    them from the texts ``reply_a``, ``reply_b``. ``keep_rows`` keeps the order of play; ``cluster`` None reads no
    clusters.
    """

    categories: Sequence[str] = ()
    cluster: str | None = "cluster"
    style: bool = False
    keep_rows: bool = False

    def wanted(self) -> list[str]:
        sides = [f"{name}_{side}" for name in (*FEATURES, "reply") for side in "ab"] if self.style else []
        own = [] if self.cluster is None else [self.cluster]
        return list(dict.fromkeys((*REQUIRED, "first", "weight", *own, *self.categories, *sides)))

    def texts(self) -> list[str]:
        """The columns that hold names or words."""
        own = [] if self.cluster is None else [self.cluster]
        return list(dict.fromkeys((*REQUIRED, "first", *own, *self.categories)))

    def needed(self) -> list[str]:
        own = [] if self.cluster in (None, "cluster") else [self.cluster]
        return [*REQUIRED, *own, *self.categories]


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
        texts = {name: encode(raw[name]) for name in columns.texts() if name in raw}
    except Problem as problem:
        raise InputProblem(path, str(problem)) from problem
    if path.suffix.lower() == ".csv":
        texts = {name: _csv_texts(name, column) for name, column in texts.items()}
    return Chunk(
        texts["model_a"],
        texts["model_b"],
        texts["winner"],
        texts.get("first"),
        _numbers(path, raw, "weight") if "weight" in raw else None,
        None if columns.cluster is None else texts.get(columns.cluster),
        {name: texts[name] for name in columns.categories},
        _style(path, raw) if columns.style else {},
    )


def _style(path: Path, raw: dict[str, Any]) -> dict[str, NDArray[np.float64]]:
    """Relative differences of the features of style, from their columns or from the replies' texts."""
    given = [name for name in FEATURES if f"{name}_a" in raw and f"{name}_b" in raw]
    if given:
        return {
            name: relative(_numbers(path, raw, f"{name}_a"), _numbers(path, raw, f"{name}_b")) for name in given
        }
    if "reply_a" not in raw or "reply_b" not in raw:
        return {}
    sides: list[NDArray[np.float64]] = []
    for side in "ab":
        rows = [features(str(text or "")) for text in _values(raw[f"reply_{side}"])]
        sides.append(np.array([[row[name] for name in FEATURES] for row in rows]))
    return {name: relative(sides[0][:, k], sides[1][:, k]) for k, name in enumerate(FEATURES)}


def _values(column: Any) -> Any:
    return column.to_pylist() if hasattr(column, "to_pylist") else column


def _csv_texts(name: str, column: Encoded) -> Encoded:
    """Names as they were before a spreadsheet's guard; an empty cell of an optional column is a missing value."""
    if name in ("model_a", "model_b"):
        return Encoded(column.codes, [unguard_cell(value) for value in column.values], column.has_missing)
    return column if name == "winner" else column.blank_as_missing()


def _numbers(path: Path, raw: dict[str, Any], name: str) -> NDArray[np.float64]:
    values = _values(raw[name])
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
            return [name.strip() for name in next(csv.reader(lines), _NOTHING)]
        except UnicodeDecodeError as error:
            raise InputProblem(path, "UTF-8 text", found=str(error)) from error


def _plain_csv_chunks(path: Path, columns: Columns) -> Iterator[dict[str, Any]]:
    """Without Arrow: the standard library's reader, some ten times slower."""
    import csv
    from itertools import islice

    with path.open(encoding="utf-8-sig", newline="") as lines:
        reader = csv.reader(lines)
        header = [name.strip() for name in next(reader, _NOTHING)]
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
            raise InputProblem(path, "a list of objects", found=str(table))
        for number, row in enumerate(cast("list[object]", table), 1):
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
    return cast("dict[str, Any]", row)


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
        texts = [name for name in columns.texts() if name in wanted]
        strings = [name for name in texts if pa.types.is_string(file.schema_arrow.field(name).type)]
        file = parquet.ParquetFile(path, read_dictionary=strings)
        for batch in file.iter_batches(batch_size=_PARQUET_ROWS, columns=wanted):
            yield {name: batch.column(name) for name in wanted}
    except pa.ArrowInvalid as error:
        raise InputProblem(path, "a Parquet file", found=str(error)) from error
