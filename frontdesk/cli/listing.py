"""Records as a table for people, as JSON lines for programs, or as a file for either."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from frontdesk.runner.told import head, tell, told
from runstore.problems import Problem

if TYPE_CHECKING:
    from pydantic import BaseModel

    from runstore.publish import Cell
    from runstore.results import Result


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def print_object(result: Result) -> None:
    """A result as one JSON object on stdout."""
    from runstore import publish

    print(publish.to_json(result.to_json(), indent=True).decode())


def print_json_lines(records: Sequence[BaseModel]) -> None:
    """One JSON object a line on stdout, UTF-8 whatever the terminal's encoding."""
    from runstore import publish

    sys.stdout.flush()
    sys.stdout.buffer.write(b"".join(publish.to_json(record) + b"\n" for record in records))
    sys.stdout.buffer.flush()


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table on stdout, its heads in the console's language; cells are shown as they are, never as markup."""
    from frontdesk.report.writers import terminal

    terminal.print_grid(terminal.console(), told(title), [terminal.Head(head(name)) for name in header], rows)


def write_file(
    path: Path, records: Sequence[BaseModel], header: Sequence[str], rows: Sequence[Sequence[Cell]]
) -> None:
    """Records as JSON lines or rows as CSV, by the file's ending; says so on stderr."""
    from runstore import publish

    if path.suffix == ".jsonl":
        publish.write_jsonl(path, records)
    elif path.suffix == ".csv":
        publish.write_csv(path, header, rows)
    else:
        raise Problem(
            f"--output {path}: expected a name that ends in .jsonl or .csv, found {path.suffix or 'neither'!r}"
        )
    tell(f"{len(records)} written to {path}", file=sys.stderr)


def padded(text: str, width: int, *, right: bool = False) -> str:
    """``text`` in so many cells of the terminal: a Korean letter takes two."""
    from rich.cells import cell_len

    gap = " " * (width - cell_len(text))
    return gap + text if right else text + gap
