"""One reader for CSV, TSV, semicolons, JSON lines, JSON arrays, Parquet and XLSX.

Encoding, separator and columns are found out from the file, and what was assumed is told; nothing is guessed at
where two readings are possible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from runstore.problems import InputProblem, in_file, note_columns
from runstore.publish import unguard_cell
from runstore.stored import WhenAsked
from runstore.tables.assumptions import assume
from runstore.tables.encodings import Encoding, detect_encoding
from runstore.tables.headers import ANY, Schema, rename_columns
from runstore.tables.objects import cell_of, read_objects
from runstore.tables.parquet import parquet_file, parquet_rows
from runstore.tables.separated import fitted, open_csv
from runstore.tables.shards import SUFFIXES, Shard
from runstore.tables.sheets import sheet_rows

FORMATS = "CSV, TSV, XLSX, JSON lines, a JSON array or Parquet"
Row = tuple[int, dict[str, Any]]
_AT_ONCE = 4096


@dataclass(frozen=True)
class Table:
    """``rows``: (line, field -> cell). ``assumed``: what was found out and not given, as sentences' parts."""

    path: Path
    header: tuple[str, ...]
    rows: Sequence[Row]
    assumed: tuple[str, ...] = ()
    source: str = field(default="csv")

    def column(self, name: str) -> Sequence[Any]:
        """(rows,) one field's cells, None where a row has none."""
        if isinstance(self.rows, _Columns) and name in self.rows.cells:
            return self.rows.cells[name]
        return [row.get(name) for _, row in self.rows]

    @property
    def own_header(self) -> str:
        """The columns as they stand in the file, in one line."""
        return ", ".join(in_file(self.path, name) for name in self.header)

    @property
    def lines(self) -> Sequence[int]:
        """(rows,) the line on which each begins."""
        return self.rows.lines if isinstance(self.rows, _Columns) else [line for line, _ in self.rows]


@dataclass(frozen=True)
class _Columns(WhenAsked[Row]):
    """Rows kept by columns: a dict of each of millions of rows would cost more than reading the file."""

    lines: list[int]
    cells: dict[str, list[str]]

    def __len__(self) -> int:
        return len(self.lines)

    def __iter__(self) -> Iterator[Row]:
        for line, cells in zip(self.lines, zip(*self.cells.values(), strict=True), strict=True):
            yield line, dict(zip(self.cells, cells, strict=True))

    def at(self, place: int) -> Row:
        return self.lines[place], {name: cells[place] for name, cells in self.cells.items()}


def read_table(source: Path | Shard, schema: Schema = ANY) -> Table:
    """Every row of a table, its columns under the schema's names. Raises InputProblem with file, line and column.

    A column or JSON key that is there twice, a row of another width, a quote that never closes and a formula that
    was never computed are refused; cells are texts, except in JSON and Parquet, where they keep their kinds.
    """
    shard = source if isinstance(source, Shard) else Shard(source)
    path = shard.path
    if shard.opened is None and not path.is_file():
        raise InputProblem(path, "a readable file", found="a folder" if path.is_dir() else "no such file")
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        return _parquet(shard, schema)
    readers: dict[str, Callable[[Path, Schema], Table]] = {
        ".xlsx": _workbook,
        ".xlsm": _workbook,
        ".jsonl": _json,
        ".ndjson": _json,
        ".json": _json,
    }
    fallback = _json if suffix not in SUFFIXES and _begins_as_json(path) else _csv
    table = readers.get(suffix, fallback)(path, schema)
    assume(path, table.assumed)
    return table


def require_rows(table: Table) -> None:
    """Raises InputProblem where nothing stands below the header."""
    if not len(table.rows):
        raise InputProblem(table.path, "at least one row below the header", found="none")


def text_rows(table: Table) -> list[tuple[int, dict[str, str]]]:
    """The rows with every cell as a text, a missing one as an empty text."""
    return [(line, {name: cell_of(row.get(name)) for name in table.header}) for line, row in table.rows]


def decoded(path: Path) -> tuple[str, Encoding]:
    """A file's text without a mark, and the encoding that was found."""
    encoding = detect_encoding(path)
    text = path.read_bytes().decode(encoding.codec)
    return text.removeprefix("\ufeff"), encoding


def _begins_as_json(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(1 << 12).removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"{", b"["))


def _csv(path: Path, schema: Schema) -> Table:
    head = open_csv(path, schema)
    rows, lines = head.rows(), list[int]()
    columns: list[list[str]] = [[] for _ in head.names]
    while some := list(islice(rows, _AT_ONCE)):
        lines.extend(line for line, _ in some)
        for column, cells in zip(columns, zip(*(cells for _, cells in some), strict=True), strict=True):
            column.extend([unguard_cell(cell) if cell[:1] == "'" else cell for cell in cells])
    kept = {name: column for name, column in zip(head.names, columns, strict=True) if name}
    return Table(path, tuple(kept), _Columns(lines, kept), head.assumed())


def _named(names: Sequence[str], cells: Sequence[str]) -> dict[str, Any]:
    return {name: unguard_cell(cell) for name, cell in zip(names, cells, strict=True) if name}


def _workbook(path: Path, schema: Schema) -> Table:
    rows = ((line, cells) for line, cells in enumerate(sheet_rows(path), 1) if any(cells))
    try:
        line, header = next(rows)
    except StopIteration:
        raise InputProblem(path, "a header row", found="an empty sheet") from None
    while header and not header[-1]:
        header.pop()
    names, told = rename_columns(path, header, schema, line)
    kept = [
        (line, _named(names, fitted(path, line, cells + [""] * (len(names) - len(cells)), len(names))))
        for line, cells in rows
    ]
    return Table(path, tuple(name for name in names if name), kept, ("XLSX, first sheet", *told), "xlsx")


def _json(path: Path, schema: Schema) -> Table:
    text, encoding = decoded(path)
    kept: list[Row] = []
    header: dict[str, None] = {}
    told: dict[str, None] = {}
    shapes: dict[tuple[str, ...], list[str]] = {}
    own: dict[str, str] = {}
    for line, row in read_objects(path, text):
        keys = tuple(row)
        if keys not in shapes:
            shapes[keys], renamed = rename_columns(path, keys, schema, line)
            told.update(dict.fromkeys(renamed))
            header.update(dict.fromkeys(shapes[keys]))
            for name, key in zip(shapes[keys], keys, strict=True):
                # Two names for one field in one file: neither stands for it everywhere.
                own[name] = key if own.get(name, key) == key else name
        kept.append((line, dict(zip(shapes[keys], row.values(), strict=True))))
    note_columns(path, own)
    plain = encoding.name.startswith("UTF-8")
    return Table(path, tuple(header), kept, (*([] if plain else [encoding.name]), *told), "json")


def _parquet(shard: Shard, schema: Schema) -> Table:
    header = parquet_file(shard).schema_arrow.names
    names, told = rename_columns(shard.path, header, schema, None)
    rows = [(number, dict(zip(names, row.values(), strict=True))) for number, row in parquet_rows(shard)]
    assume(shard.path, told)
    return Table(shard.path, tuple(names), rows, tuple(told), "parquet")
