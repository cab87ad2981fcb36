"""Data frames as a file of the one reader of tables, so that both are read by the same rules."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol, cast

from runstore.problems import Problem
from runstore.publish import write_jsonl


class ArrowStream(Protocol):
    """What pandas, polars and pyarrow hand out: the Arrow PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


Frame = ArrowStream | Sequence[Mapping[str, object]]


def table_file(frame: Frame, folder: Path) -> Path:
    """The frame written into ``folder``: Parquet of an Arrow stream, JSON lines of rows.

    Raises Problem for anything else, and where pyarrow is needed and not installed.
    """
    if hasattr(frame, "__arrow_c_stream__"):
        try:
            import pyarrow
            from pyarrow import parquet
        except ImportError:
            raise Problem("a data frame needs pyarrow, which is not installed: pip install pyarrow") from None
        path = folder / "frame.parquet"
        parquet.write_table(pyarrow.table(frame), path)  # pyright: ignore
        return path
    rows: object = frame
    if isinstance(rows, list) and all(isinstance(row, dict) for row in cast("list[object]", rows)):
        path = folder / "rows.jsonl"
        write_jsonl(path, cast("list[dict[str, object]]", rows))
        return path
    raise Problem(f"table: found {type(frame).__name__}, expected a path, a data frame or a list of dicts")


@contextmanager
def as_file(source: Frame | Path | str) -> Generator[Path]:
    """The path itself, or the frame as a file for a while. Raises Problem."""
    if isinstance(source, Path | str):
        yield Path(source)
        return
    with TemporaryDirectory() as folder:
        yield table_file(source, Path(folder))
