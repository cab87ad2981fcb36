"""Tables of agent runs, row by row: how a file is read, and which of its columns is which field."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.agent_runs.columns import Columns, Mapping, locate, recognised
from runstore.tables import Shard, Stream, assume, open_stream

Row = tuple[int, Sequence[str] | None]

XLSX_CELL_LIMIT = 32_767


@dataclass(frozen=True)
class Table:
    """One input file and how it is read; ``rows()`` may be called any number of times."""

    stream: Stream
    columns: Columns

    @property
    def path(self) -> Path:
        return self.stream.path

    def rows(self) -> Iterator[Row]:
        """(row number, cells), as :meth:`runstore.tables.Stream.rows` gives them."""
        return self.stream.rows()

    def describe(self) -> dict[str, object]:
        index = self.columns.index
        return {
            "file": self.path.name,
            "format": self.stream.kind,
            "encoding": self.stream.encoding.name,
            "delimiter": self.stream.delimiter,
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


FIND_OUT = Layout()


def open_table(source: Path | Shard, layout: Layout = FIND_OUT) -> Table:
    """Look at a file of any form that :func:`runstore.tables.open_stream` knows.

    Raises InputProblem where it can't be read or lacks a required column.
    """
    mapping = layout.mapping
    stream = open_stream(source, lambda names: recognised(names, mapping), layout.encoding, layout.delimiter)
    if not (layout.encoding or layout.delimiter):
        assume(stream.path, stream.assumed())
    return Table(stream, locate(stream.header, stream.path, mapping, layout.optional))
