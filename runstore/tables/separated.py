"""Text with separators: CSV, TSV, semicolons. Strict, and in bounded memory."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from runstore.problems import InputProblem
from runstore.publish import unguard_cell
from runstore.tables.encodings import Encoding, detect_encoding, named, undecodable
from runstore.tables.headers import ANY, Schema, rename_columns

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab"}
_SAMPLE = 1 << 18
_NOTHING: list[str] = []


@dataclass(frozen=True)
class Separated:
    """A file whose encoding and separator are known; ``header`` as it stands, ``skip`` the lines before it."""

    path: Path
    encoding: Encoding
    delimiter: str
    skip: int
    header: tuple[str, ...]
    header_line: int

    def lines(self) -> Iterator[tuple[int, int, list[str]]]:
        """(row as a spreadsheet counts them, line on which it begins, cells) below the header; blank rows too.

        Raises InputProblem where a quote never closes or the text is not in its encoding.
        """
        with self.path.open(encoding=self.encoding.codec, newline="") as file:
            for _ in range(self.skip):
                file.readline()
            header_seen = False
            try:
                for row, (line, cells) in enumerate(_cells(self.path, file, self.delimiter, self.skip), 1):
                    if header_seen:
                        yield row + self.skip, line, cells
                    header_seen = header_seen or bool(cells)
            except UnicodeDecodeError as error:
                raise undecodable(self.path, self.encoding, error) from error

    def assumed(self) -> tuple[str, ...]:
        """What was found out and is anything but plain UTF-8 with commas."""
        plain = self.encoding.name.startswith("UTF-8")
        separated = DELIMITERS.get(self.delimiter, self.delimiter)
        return (*(() if plain else (self.encoding.name,)), *(() if self.delimiter == "," else (separated,)))


def open_separated(
    path: Path,
    known: Callable[[Sequence[str]], int],
    encoding: str | None = None,
    delimiter: str | None = None,
) -> Separated:
    """Find out what is not given: the encoding, and the separator under which most of the header is ``known``.

    Raises InputProblem for an empty file, Problem for an encoding that Python does not know.
    """
    code = named(encoding) if encoding else detect_encoding(path)
    csv.field_size_limit(1 << 30)
    try:
        with path.open(encoding=code.codec, newline="") as file:
            sample = file.read(_SAMPLE).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise undecodable(path, code, error) from error
    declared = sample.partition("\n")[0].strip().strip('"')
    skip = int(declared[:4].casefold() == "sep=" and len(declared) <= 5)
    if skip:
        # A line some spreadsheets write to tell themselves the separator.
        delimiter, sample = delimiter or declared[4:] or "\t", sample.partition("\n")[2]
    marks = (delimiter,) if delimiter else tuple(DELIMITERS)
    headers = {mark: _header(path, sample, mark, skip) for mark in marks}
    best = max(headers, key=lambda mark: (known(headers[mark][1]), len(headers[mark][1])))
    line, header = headers[best]
    if not header:
        raise InputProblem(path, "a header line", found="an empty file")
    return Separated(path, code, best, skip, tuple(unguard_cell(name) for name in header), line)


def _header(path: Path, sample: str, delimiter: str, skip: int) -> tuple[int, list[str]]:
    try:
        rows = _cells(path, io.StringIO(sample, newline=""), delimiter, skip)
        return next((row for row in rows if row[1]), (1, _NOTHING))
    except InputProblem:
        return 1, _NOTHING


def _cells(path: Path, lines: Iterator[str], delimiter: str, skip: int) -> Iterator[tuple[int, list[str]]]:
    """(line on which the row begins, cells). A quote that never closes is refused where it was opened."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    begins = skip + 1
    try:
        for cells in reader:
            yield begins, cells
            begins = reader.line_num + skip + 1
    except csv.Error as error:
        expected = "CSV with every quote closed (the row that begins on this line opens one)"
        raise InputProblem(path, expected, found=str(error), line=begins) from error


@dataclass(frozen=True)
class Csv:
    """A file whose columns were found; ``names`` are the columns under the schema's names."""

    file: Separated
    names: tuple[str, ...]
    told: tuple[str, ...]

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """(line on which a row begins, its cells); blank rows are passed over. Raises InputProblem."""
        width = len(self.names)
        for _, line, cells in self.file.lines():
            if any(cells):
                yield line, cells if len(cells) == width else fitted(self.file.path, line, cells, width)

    def assumed(self) -> tuple[str, ...]:
        """What was found out and not given."""
        return (*self.file.assumed(), *self.told)


def open_csv(path: Path, schema: Schema = ANY) -> Csv:
    """Find out encoding, separator and columns. Raises InputProblem."""
    file = open_separated(path, schema.known)
    names, told = rename_columns(path, file.header, schema, file.header_line)
    return Csv(file, tuple(names), tuple(told))


def fitted(path: Path, line: int, cells: list[str], width: int) -> list[str]:
    """A row as wide as its header; empty cells too many are a stray separator. Raises InputProblem."""
    if len(cells) < width or any(cells[width:]):
        raise InputProblem(path, f"{width} cells", found=f"{len(cells)} cells", line=line)
    return cells[:width]
