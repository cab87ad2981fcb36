"""Parquet files, with the optional pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from runstore.problems import InputProblem, Problem
from runstore.tables.shards import Shard

_BATCH = 10_000


def parquet_file(shard: Shard) -> Any:
    """The open file of pyarrow. Raises Problem without pyarrow, InputProblem for what is no Parquet file."""
    try:
        parquet: Any = import_module("pyarrow.parquet")
    except ImportError as error:
        raise Problem(f"{shard.path}: reading Parquet needs pyarrow (install tutor-arena[parquet])") from error
    try:
        return parquet.ParquetFile(shard.handle)
    except Exception as error:
        # Arrow has a dozen kinds of errors for a file that is none of its own.
        raise InputProblem(shard.path, "a Parquet file", found=str(error)) from error


def parquet_rows(shard: Shard) -> Iterator[tuple[int, dict[str, Any]]]:
    """(row from 1, field -> value), in bounded memory."""
    number = 0
    for batch in parquet_file(shard).iter_batches(batch_size=_BATCH):
        for row in batch.to_pylist():
            number += 1
            yield number, row
