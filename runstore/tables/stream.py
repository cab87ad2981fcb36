"""A table read row by row in bounded memory, any number of times: for files of millions of rows.

A cell is the text that stands in the file: ``007``, ``1e5``, ``NA`` and ``null`` are never turned into anything.
Row numbers are those a spreadsheet shows: the header is row 1, and a cell with line breaks is still one row.
JSON lines are numbered by line, the rows of an array by the line on which they begin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from runstore.problems import InputProblem
from runstore.tables.encodings import Encoding, detect_encoding, named
from runstore.tables.objects import cell_of, stream_objects
from runstore.tables.parquet import parquet_file, parquet_rows
from runstore.tables.separated import DELIMITERS, Separated, open_separated
from runstore.tables.shards import Shard
from runstore.tables.sheets import sheet_rows

Kind = Literal["csv", "xlsx", "jsonl", "json", "parquet"]
Row = tuple[int, Sequence[str] | None]
JSON_LINES = (".jsonl", ".ndjson")
WORKBOOKS = (".xlsx", ".xlsm")


@dataclass(frozen=True)
class Stream:
    """One file and how it is read; ``header`` as it stands in the file."""

    path: Path
    kind: Kind
    encoding: Encoding
    header: tuple[str, ...]
    separated: Separated | None = None
    shard: Shard | None = None

    @property
    def delimiter(self) -> str | None:
        """The separator's name, None where the kind of file has none."""
        return DELIMITERS.get(self.separated.delimiter, self.separated.delimiter) if self.separated else None

    def assumed(self) -> tuple[str, ...]:
        """What was found out and is anything but plain UTF-8 with commas."""
        if self.separated:
            return self.separated.assumed()
        if self.kind == "xlsx":
            return ("XLSX, first sheet",)
        plain = self.kind == "parquet" or self.encoding.name.startswith("UTF-8")
        return () if plain else (self.encoding.name,)

    def rows(self) -> Iterator[Row]:
        """(row number, cells), the cells as many as the header has; None for a row of another width.

        Blank rows are passed over. Raises InputProblem where the file can't be read on.
        """
        width = len(self.header)
        if self.separated:
            for number, _, cells in self.separated.lines():
                if any(cells):
                    # Nothing but empty cells too many is a stray separator at the line's end.
                    yield number, None if len(cells) < width or any(cells[width:]) else cells[:width]
        elif self.kind == "xlsx":
            yield from _below_header(self.path, width)
        else:
            objects = parquet_rows(self.shard) if self.shard else stream_objects(self.path, self.encoding)
            for number, row in objects:
                yield number, [cell_of(row.get(name)) for name in self.header]


def open_stream(
    source: Path | Shard,
    known: Callable[[Sequence[str]], int],
    encoding: str | None = None,
    delimiter: str | None = None,
) -> Stream:
    """Look at a file: its kind by its suffix, CSV where that says nothing; encoding and separator if not given.

    ``known``: how many names of a header line are known. Raises InputProblem where it can't be read.
    """
    shard = source if isinstance(source, Shard) else Shard(source)
    path = shard.path
    if shard.opened is None and not path.is_file():
        raise InputProblem(path, "a file", found="a folder" if path.is_dir() else "nothing there")
    suffix = path.suffix.casefold()
    if suffix in WORKBOOKS:
        return Stream(path, "xlsx", Encoding("utf-8", "XLSX"), _workbook_header(path))
    if suffix == ".parquet":
        names = tuple(parquet_file(shard).schema_arrow.names)
        return Stream(path, "parquet", Encoding("utf-8", "Parquet"), names, shard=shard)
    if suffix in (*JSON_LINES, ".json"):
        code = named(encoding) if encoding else detect_encoding(path)
        header = next((tuple(row) for _, row in stream_objects(path, code)), ())
        if not header:
            raise InputProblem(path, "one JSON object a line", found="an empty file")
        return Stream(path, "json" if suffix == ".json" else "jsonl", code, header)
    separated = open_separated(path, known, encoding, delimiter)
    return Stream(path, "csv", separated.encoding, separated.header, separated)


def _workbook_header(path: Path) -> tuple[str, ...]:
    names = list(next((row for row in sheet_rows(path) if any(row)), ()))
    while names and not names[-1]:
        names.pop()
    if not names:
        raise InputProblem(path, "a header row", found="an empty sheet")
    return tuple(names)


def _below_header(path: Path, width: int) -> Iterator[Row]:
    header_seen = False
    for number, cells in enumerate(sheet_rows(path), 1):
        if not any(cells):
            continue
        if header_seen:
            yield number, None if any(cells[width:]) else (cells + [""] * (width - len(cells)))[:width]
        header_seen = True
