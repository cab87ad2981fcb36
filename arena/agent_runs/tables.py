"""Reading tables row by row, whatever a spreadsheet wrote: encoding and delimiter are found out and reported.

A cell is the text that stands in the file: ``007``, ``1e5``, ``NA`` and ``null`` are never turned into anything.
Row numbers are those a spreadsheet shows: the header is row 1, and a cell with line breaks is still one row.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from arena.agent_runs.columns import Columns, Mapping, locate, recognised
from runstore.problems import InputProblem
from runstore.tables.encodings import Encoding, detect_encoding, named, undecodable
from runstore.tables.sheets import sheet_rows

Kind = Literal["csv", "xlsx", "jsonl"]
Row = tuple[int, Sequence[str] | None]

DELIMITERS = (",", ";", "\t")
XLSX_CELL_LIMIT = 32_767
_CELL_LIMIT = 1 << 30
_SAMPLE = 1 << 18


@dataclass(frozen=True)
class Table:
    """One input file and how it is read; ``rows()`` may be called any number of times."""

    path: Path
    kind: Kind
    encoding: Encoding
    delimiter: str | None
    skip: int
    columns: Columns

    def rows(self) -> Iterator[Row]:
        """(row number, cells), the cells as many as the header has; None for a row of another width.

        Blank rows are passed over. Raises InputProblem where the file can't be read on.
        """
        read = {"csv": _csv_rows, "xlsx": _xlsx_rows, "jsonl": _jsonl_rows}[self.kind]
        return read(self)

    def describe(self) -> dict[str, object]:
        shown = {",": "comma", ";": "semicolon", "\t": "tab", None: None}
        index = self.columns.index
        return {
            "file": self.path.name,
            "format": self.kind,
            "encoding": self.encoding.name,
            "delimiter": shown.get(self.delimiter, self.delimiter),
            "form": self.columns.form,
            "columns": {field: self.columns.header[place] for field, place in index.items()},
            "unused_columns": self.columns.unused,
        }


@dataclass(frozen=True)
class Layout:
    """How a user says a file is to be read; None and empty mean: find out."""

    mapping: Mapping | None = None
    encoding: str | None = None
    delimiter: str | None = None
    optional: frozenset[str] = frozenset()

    def columns(self, header: Sequence[str], path: Path) -> Columns:
        return locate(header, path, self.mapping, self.optional)


FIND_OUT = Layout()


def open_table(path: Path, layout: Layout = FIND_OUT) -> Table:
    """Look at a file: its kind by its suffix (.xlsx, .jsonl/.ndjson, else CSV), encoding, delimiter, columns.

    Raises InputProblem where it can't be read or lacks a required column.
    """
    suffix = path.suffix.casefold()
    if not path.is_file():
        raise InputProblem(path, "a file", found="a folder" if path.is_dir() else "nothing there")
    if suffix in {".xlsx", ".xlsm"}:
        return _open_xlsx(path, layout)
    found = named(layout.encoding) if layout.encoding else detect_encoding(path)
    if suffix in {".jsonl", ".ndjson"}:
        return _open_jsonl(path, found, layout)
    return _open_csv(path, found, layout)


# ---- CSV


def _open_csv(path: Path, encoding: Encoding, layout: Layout) -> Table:
    csv.field_size_limit(_CELL_LIMIT)
    try:
        with path.open(encoding=encoding.codec, newline="") as file:
            sample = file.read(_SAMPLE)
    except UnicodeDecodeError as error:
        raise undecodable(path, encoding, error) from error
    skip, delimiter = 0, layout.delimiter
    first = sample.split("\n", 1)[0].strip().strip('"')
    if first[:4].casefold() == "sep=" and len(first) <= 5:
        # A line some spreadsheets write to tell themselves the delimiter.
        skip, delimiter = 1, delimiter or first[4:] or "\t"
        sample = sample.split("\n", 1)[1] if "\n" in sample else ""
    headers = {mark: _header(sample, mark) for mark in ((delimiter,) if delimiter else DELIMITERS)}
    best = max(headers, key=lambda mark: (recognised(headers[mark], layout.mapping), len(headers[mark])))
    if not headers[best]:
        raise InputProblem(path, "a header line", found="an empty file")
    return Table(path, "csv", encoding, best, skip, layout.columns(headers[best], path))


def _header(sample: str, delimiter: str) -> list[str]:
    rows = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)
    try:
        for row in rows:
            if row:
                return row
    except csv.Error:
        pass
    return []


def _csv_rows(table: Table) -> Iterator[Row]:
    csv.field_size_limit(_CELL_LIMIT)
    width = len(table.columns.header)
    with table.path.open(encoding=table.encoding.codec, newline="") as file:
        for _ in range(table.skip):
            file.readline()
        reader = csv.reader(file, delimiter=table.delimiter or ",", strict=True)
        number, header_seen = table.skip, False
        try:
            for cells in reader:
                number += 1
                if not header_seen:
                    header_seen = bool(cells)
                elif len(cells) == width:
                    yield number, cells
                elif any(cells):
                    # Nothing but empty cells too many is a stray delimiter at the line's end.
                    yield number, cells[:width] if len(cells) > width and not any(cells[width:]) else None
        except csv.Error as error:
            at = reader.line_num + table.skip
            raise InputProblem(
                table.path, f"well-formed CSV after row {number}", found=str(error), line=at
            ) from error
        except UnicodeDecodeError as error:
            raise undecodable(table.path, table.encoding, error) from error


# ---- JSON lines


def _open_jsonl(path: Path, encoding: Encoding, layout: Layout) -> Table:
    fields: dict[str, None] = {}
    for _, row in _objects(path, encoding):
        fields.update(dict.fromkeys(row))
        break
    if not fields:
        raise InputProblem(path, "one JSON object a line", found="an empty file")
    return Table(path, "jsonl", encoding, None, 0, layout.columns(list(fields), path))


def _objects(path: Path, encoding: Encoding) -> Iterator[tuple[int, dict[str, Any]]]:
    with path.open(encoding=encoding.codec, newline="\n") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                # Numbers stay as written: an id 1e5 is not 100000.0.
                row: object = json.loads(line, parse_float=_Number, parse_int=_Number)
            except (ValueError, RecursionError) as error:
                raise InputProblem(path, "one JSON object a line", found=str(error), line=number) from error
            if not isinstance(row, dict):
                raise InputProblem(path, "a JSON object", found=type(row).__name__, line=number)
            yield number, cast("dict[str, Any]", row)


class _Number(str):
    """A JSON number in the digits it was written with."""

    __slots__ = ()


def _jsonl_rows(table: Table) -> Iterator[Row]:
    header = table.columns.header
    for number, row in _objects(table.path, table.encoding):
        yield number, [_json_cell(row.get(name)) for name in header]


def _json_cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(_numbers(value), ensure_ascii=False)


def _numbers(value: Any) -> Any:
    if isinstance(value, _Number):
        return json.loads(value)
    if isinstance(value, dict):
        return {key: _numbers(item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_numbers(item) for item in cast("list[Any]", value)]
    return value


# ---- XLSX


def _open_xlsx(path: Path, layout: Layout) -> Table:
    header = next((row for row in sheet_rows(path) if any(row)), None)
    if header is None:
        raise InputProblem(path, "a header row", found="an empty sheet")
    names = list(header)
    while names and not names[-1]:
        names.pop()
    return Table(path, "xlsx", Encoding("utf-8", "XLSX"), None, 0, layout.columns(names, path))


def _xlsx_rows(table: Table) -> Iterator[Row]:
    width, header_seen = len(table.columns.header), False
    for number, cells in enumerate(sheet_rows(table.path), 1):
        if not any(cells):
            continue
        if not header_seen:
            header_seen = True
            continue
        if any(cells[width:]):
            yield number, None
        else:
            yield number, (cells + [""] * (width - len(cells)))[:width]
