"""Data frames as a file of the one reader of tables, so that both are read by the same rules."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Protocol, cast

from runstore.problems import InputProblem, Problem
from runstore.publish import write_jsonl

if TYPE_CHECKING:
    import pandas
    import polars


class ArrowStream(Protocol):
    """What pandas, polars and pyarrow hand out: the Arrow PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


Row = dict[str, Any]
"""A row of anybody's table."""
Frame = ArrowStream | Sequence[Mapping[str, object]]


def table_file(frame: Frame, folder: Path) -> Path:
    """The frame written into ``folder``: Parquet of an Arrow stream, JSON lines of rows.

    Without pyarrow a frame of pandas or polars is written row by row. Raises Problem for anything else.
    """
    if hasattr(frame, "__arrow_c_stream__"):
        try:
            import pyarrow
            from pyarrow import parquet
        except ImportError:
            return _rows_file(_rows_of(frame), folder)
        path = folder / "frame.parquet"
        parquet.write_table(pyarrow.table(frame), path)  # pyright: ignore - untyped
        return path
    rows: object = frame
    if isinstance(rows, list) and all(isinstance(row, dict) for row in cast("list[object]", rows)):
        return _rows_file(cast("list[Row]", rows), folder)
    raise Problem(f"table: found {type(frame).__name__}, expected a path, a data frame or a list of dicts")


def _rows_file(rows: Sequence[Row], folder: Path) -> Path:
    path = folder / "rows.jsonl"
    write_jsonl(path, rows)
    return path


def _rows_of(frame: Any) -> list[Row]:
    """The rows that pandas and polars hand out by themselves. Raises Problem for any other frame."""
    if hasattr(frame, "to_dicts"):
        return frame.to_dicts()
    if hasattr(frame, "notna"):
        return frame.astype(object).where(frame.notna(), None).to_dict("records")
    raise Problem("this data frame needs pyarrow, which is not installed: pip install pyarrow")


class Rows:
    """Typed rows that other libraries' frames take."""

    def to_dicts(self) -> list[Row]:
        """One plain row a record, as in the file."""
        raise NotImplementedError

    def to_pandas(self) -> pandas.DataFrame:
        """One row a record. Raises Problem where pandas is not installed."""
        try:
            import pandas
        except ImportError:
            raise Problem("to_pandas needs pandas, which is not installed: pip install pandas") from None
        return pandas.DataFrame(self.to_dicts())

    def to_polars(self) -> polars.DataFrame:
        """One row a record. Raises Problem where polars is not installed."""
        try:
            import polars
        except ImportError:
            raise Problem("to_polars needs polars, which is not installed: pip install polars") from None
        return polars.DataFrame(self.to_dicts(), infer_schema_length=None)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The Arrow stream that data frames, DuckDB and pyarrow take. Raises Problem without pyarrow."""
        try:
            import pyarrow
        except ImportError:
            raise Problem("an Arrow stream needs pyarrow, which is not installed: pip install pyarrow") from None
        made: object = pyarrow.Table.from_pylist(self.to_dicts())  # pyright: ignore - untyped
        return cast("ArrowStream", made).__arrow_c_stream__(requested_schema)


@contextmanager
def as_file(source: Frame | Path | str) -> Generator[Path]:
    """The path itself, or the frame as a file for a while, which problems do not name. Raises Problem."""
    if isinstance(source, Path | str):
        yield Path(source)
        return
    with TemporaryDirectory() as folder:
        path = table_file(source, Path(folder))
        try:
            yield path
        except InputProblem as problem:
            problem.file = type(source).__name__
            problem.args = (str(problem).replace(str(path), problem.file),)
            raise
