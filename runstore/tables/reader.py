"""One reader for CSV, TSV, semicolons, JSON lines, JSON arrays, Parquet and XLSX.

Encoding, separator and columns are found out from the file, and what was assumed is said; nothing is guessed at
where two readings are possible.
"""

from __future__ import annotations

import csv
import io
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

from runstore.problems import InputProblem, Problem
from runstore.publish import unguard_cell
from runstore.tables.encodings import Encoding, detect_encoding
from runstore.tables.objects import read_objects
from runstore.tables.sheets import sheet_rows

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab"}
SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet", ".xlsx", ".xlsm")
_NOTHING: list[str] = []
Row = tuple[int, dict[str, Any]]


@dataclass(frozen=True)
class Schema:
    """A kind of table: its fields, each with further names that a header may give it in any language."""

    names: Mapping[str, tuple[str, ...]]

    def field(self, header: str) -> str | None:
        """The field that a header's name stands for."""
        key = folded(header)
        for name, aliases in self.names.items():
            if key == folded(name) or key in map(folded, aliases):
                return name
        return None


ANY = Schema({})


@dataclass(frozen=True)
class Table:
    """``rows``: (line, field -> cell). ``assumed``: what was found out and not given, as sentences' parts."""

    path: Path
    header: tuple[str, ...]
    rows: Sequence[Row]
    assumed: tuple[str, ...] = ()
    source: str = field(default="csv")

    def tell(self) -> None:
        """Say on standard error what was assumed, where that is anything but plain UTF-8 with commas."""
        _tell(self.path, self.assumed)


def _tell(path: Path, assumed: Sequence[str]) -> None:
    if assumed:
        sys.stderr.write(f"{path}: read as {', '.join(assumed)}\n")


def folded(name: str) -> str:
    """A header as it is compared: no case, blanks, underscores, hyphens or invisible marks; letters narrowed."""
    return re.sub(r"[\s_\-\ufeff\u200b]", "", unicodedata.normalize("NFKC", name)).casefold()


def read_table(path: Path, schema: Schema = ANY) -> Table:
    """Every row of a table, its columns under the schema's names. Raises InputProblem with file, line and column.

    A column or JSON key that is there twice, a row of another width, a quote that never closes and a formula that
    was never computed are refused; cells are texts, except in JSON and Parquet, where they keep their kinds.
    """
    if not path.is_file():
        raise InputProblem(path, "a readable file", found="a folder" if path.is_dir() else "no such file")
    suffix = path.suffix.lower()
    readers: dict[str, Callable[[Path, Schema], Table]] = {
        ".parquet": _parquet,
        ".xlsx": _workbook,
        ".xlsm": _workbook,
        ".jsonl": _json,
        ".ndjson": _json,
        ".json": _json,
    }
    table = readers.get(suffix, _csv)(path, schema)
    table.tell()
    return table


def decoded(path: Path) -> tuple[str, Encoding]:
    """A file's text without a mark, and the encoding that was found."""
    encoding = detect_encoding(path)
    text = path.read_bytes().decode(encoding.codec)
    return text.removeprefix("\ufeff"), encoding


def rename_columns(
    path: Path, header: Sequence[str], schema: Schema, line: int | None = 1
) -> tuple[list[str], list[str]]:
    """The header under the schema's names, and the renamings to tell. Raises InputProblem for a column twice."""
    names = [unicodedata.normalize("NFC", name).strip().strip("\ufeff\u200b").strip() for name in header]
    places: dict[str, int] = {}
    for place, name in enumerate(names, 1):
        if name and places.setdefault(name, place) != place:
            found = f"{name!r} twice (columns {places[name]} and {place})"
            raise InputProblem(path, "each column once", found=found, line=line, field=name)
    told: list[str] = []
    owners: dict[str, int] = {}
    result = list(names)
    for at, name in enumerate(names):
        meant = None if name in schema.names or not name else schema.field(name)
        if meant is None or meant in places:
            continue
        if meant in owners:
            first = owners[meant]
            found = f"{names[first]!r} and {name!r} (columns {first + 1} and {at + 1})"
            raise InputProblem(path, f"one column for {meant}", found=found, line=line, field=meant)
        owners[meant], result[at] = at, meant
        told.append(f"{name} as {meant}")
    return result, told


@dataclass(frozen=True)
class Csv:
    """A CSV file whose header was read; ``names`` are the columns under the schema's names."""

    path: Path
    encoding: Encoding
    delimiter: str
    skip: int
    names: tuple[str, ...]
    told: tuple[str, ...]

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """(line on which a row begins, its cells); blank rows are passed over. Raises InputProblem."""
        width = len(self.names)
        with self.path.open(encoding=self.encoding.codec, newline="") as lines:
            cells_of = _cells(self.path, lines, self.delimiter, self.skip)
            header_seen = False
            for line, cells in cells_of:
                if not cells:
                    continue
                if not header_seen:
                    header_seen = True
                    continue
                if len(cells) != width and (len(cells) < width or any(cells[width:])):
                    raise InputProblem(self.path, f"{width} cells", found=f"{len(cells)} cells", line=line)
                yield line, cells[:width]

    def tell(self) -> None:
        _tell(self.path, self.assumed())

    def assumed(self) -> tuple[str, ...]:
        """What was found out and not given, as in :class:`Table`."""
        plain = self.encoding.name.startswith("UTF-8")
        separated = DELIMITERS.get(self.delimiter, self.delimiter)
        return (
            *(() if plain else (self.encoding.name,)),
            *(() if self.delimiter == "," else (separated,)),
            *self.told,
        )


def open_csv(path: Path, schema: Schema = ANY) -> Csv:
    """Find out encoding, separator and columns. Raises InputProblem."""
    encoding = detect_encoding(path)
    with path.open(encoding=encoding.codec, newline="") as file:
        sample = file.read(1 << 18).removeprefix("\ufeff")
    delimiter, skip = separator(sample, schema)
    lines = io.StringIO(sample, newline="")
    line, header = next((row for row in _cells(path, lines, delimiter, skip) if row[1]), (1, _NOTHING))
    if not header:
        raise InputProblem(path, "a header line", found="an empty file")
    names, told = rename_columns(path, [unguard_cell(name) for name in header], schema, line)
    return Csv(path, encoding, delimiter, skip, tuple(names), tuple(told))


def _csv(path: Path, schema: Schema) -> Table:
    head = open_csv(path, schema)
    kept = [(line, _named(path, line, head.names, cells)) for line, cells in head.rows()]
    return Table(path, tuple(name for name in head.names if name), kept, head.assumed())


def separator(text: str, schema: Schema) -> tuple[str, int]:
    """The separator under which the header line has most of the schema's columns, and the lines before it."""
    csv.field_size_limit(1 << 30)
    first, _, rest = text.partition("\n")
    declared = first.strip().strip('"')
    skip = int(declared[:4].casefold() == "sep=" and declared[4:] in DELIMITERS)
    if skip:
        return declared[4:], skip
    sample = text[: 1 << 18].lstrip("\r\n") if not first.strip() else first + "\n" + rest[: 1 << 18]

    def rank(mark: str) -> tuple[int, int]:
        try:
            rows = csv.reader(io.StringIO(sample, newline=""), delimiter=mark)
            header = next(rows, _NOTHING)
        except csv.Error:
            return 0, 0
        return sum(schema.field(name) is not None for name in header), len(header)

    return max(DELIMITERS, key=rank), 0


def _cells(path: Path, lines: TextIO, delimiter: str, skip: int) -> Iterator[tuple[int, list[str]]]:
    """(line on which the row begins, cells). A quote that never closes is refused where it was opened."""
    for _ in range(skip):
        lines.readline()
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    begins = skip + 1
    try:
        for cells in reader:
            yield begins, cells
            begins = reader.line_num + skip + 1
    except csv.Error as error:
        expected = "CSV with every quote closed (the row that begins on this line opens one)"
        raise InputProblem(path, expected, found=str(error), line=begins) from error


def _named(path: Path, line: int, names: Sequence[str], cells: Sequence[str]) -> dict[str, Any]:
    width = len(names)
    if len(cells) != width and (len(cells) < width or any(cells[width:])):
        raise InputProblem(path, f"{width} cells", found=f"{len(cells)} cells", line=line)
    return {name: unguard_cell(cell) for name, cell in zip(names, cells, strict=False) if name}


def _workbook(path: Path, schema: Schema) -> Table:
    rows = ((line, cells) for line, cells in enumerate(sheet_rows(path), 1) if any(cells))
    try:
        line, header = next(rows)
    except StopIteration:
        raise InputProblem(path, "a header row", found="an empty sheet") from None
    while header and not header[-1]:
        header.pop()
    names, told = rename_columns(path, header, schema, line)
    kept = [(line, _named(path, line, names, cells + [""] * (len(names) - len(cells)))) for line, cells in rows]
    return Table(path, tuple(name for name in names if name), kept, ("XLSX, first sheet", *told), "xlsx")


def _json(path: Path, schema: Schema) -> Table:
    text, encoding = decoded(path)
    kept: list[Row] = []
    header: dict[str, None] = {}
    told: dict[str, None] = {}
    shapes: dict[tuple[str, ...], list[str]] = {}
    for line, row in read_objects(path, text):
        keys = tuple(row)
        if keys not in shapes:
            shapes[keys], renamed = rename_columns(path, keys, schema, line)
            told.update(dict.fromkeys(renamed))
            header.update(dict.fromkeys(shapes[keys]))
        kept.append((line, dict(zip(shapes[keys], row.values(), strict=True))))
    plain = encoding.name.startswith("UTF-8")
    return Table(path, tuple(header), kept, (*([] if plain else [encoding.name]), *told), "json")


def _parquet(path: Path, schema: Schema) -> Table:
    try:
        parquet: Any = import_module("pyarrow.parquet")
    except ImportError as error:
        raise Problem(f"{path}: reading Parquet needs pyarrow (install tutor-arena[parquet])") from error
    try:
        content: Any = parquet.read_table(path)
    except Exception as error:
        # Arrow has a dozen kinds of errors for a file that is none of its own.
        raise InputProblem(path, "a Parquet file", found=str(error)) from error
    names, told = rename_columns(path, content.column_names, schema, None)
    rows = [(n, row) for n, row in enumerate(content.rename_columns(names).to_pylist(), 1)]
    return Table(path, tuple(names), rows, tuple(told), "parquet")
