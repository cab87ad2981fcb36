"""Columns of names as small integers, by Arrow where the data or the library is there, else by a dictionary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from typing import Any, SupportsIndex, cast

import numpy as np
from numpy.typing import NDArray

from arena.ratings.texts import numbered
from runstore.problems import Problem

_COPIED = 1 << 30
"""Bytes up to which a column in pieces is copied into one."""
_LONG, _SAMPLE, _MANY = 100_000, 10_000, 1_000
"""Rows from which a column is looked at first, how many of them, and how many values there are many."""


@dataclass(frozen=True)
class Encoded:
    """``values[codes[row]]`` is the row's text; code -1 is a missing value. Every value occurs in some row.

    ``distinct`` says that no value is there twice; otherwise one may be.
    """

    codes: NDArray[np.integer[Any]]
    values: list[str]
    has_missing: bool = False
    distinct: bool = False

    def first_row(self, code: int) -> int:
        """The first row (from 0) that holds this code."""
        return int(np.argmax(self.codes == code))

    def blank_as_missing(self) -> Encoded:
        """The same column with empty texts taken for missing values."""
        if "" not in self.values:
            return self
        blank = self.values.index("")
        table = np.arange(len(self.values) + 1)
        table[blank:] -= 1
        table[[blank, -1]] = -1
        values = [value for value in self.values if value]
        return Encoded(table[self.codes], values, has_missing=True)


def arrow(part: str = "") -> Any:
    """pyarrow or a part of it (it has no types of its own). Raises ImportError where it is not installed."""
    return import_module(f"pyarrow{part and '.'}{part}")


def encode(column: object) -> Encoded:
    """A column of texts (or whole numbers, taken as texts). Raises Problem for anything else."""
    if isinstance(column, Encoded):
        return column
    if hasattr(column, "__arrow_c_stream__") or hasattr(column, "__arrow_c_array__"):
        return _from_arrow(column)
    if isinstance(column, np.ndarray) and len(cast("NDArray[Any]", column)) > 10_000:
        return _from_numpy(cast("NDArray[Any]", column))
    return _from_values(cast("Iterable[object]", column))


def encode_all(columns: Mapping[str, object]) -> dict[str, Encoded]:
    """Columns by name, long ones side by side: Arrow and numpy hold no lock while they look a column's rows up.

    Raises Problem as :func:`encode` does, for the first column that it is raised for.
    """
    if max((len(column) for column in columns.values() if isinstance(column, Sized)), default=0) < _LONG:
        return {name: encode(column) for name, column in columns.items()}
    with ThreadPoolExecutor(2) as side_by_side:  # the last first: clusters, of which there are most, take longest
        made = {name: side_by_side.submit(encode, column) for name, column in reversed([*columns.items()])}
        return {name: made[name].result() for name in columns}


def _from_numpy(column: NDArray[Any]) -> Encoded:
    try:
        array = arrow().array(column, from_pandas=True)
    except (ImportError, TypeError, ValueError, OverflowError):  # mixed types, half an emoji: one by one
        return _from_values(column.tolist())
    return _from_arrow(array)


def _from_values(column: Iterable[object]) -> Encoded:
    known: dict[str, int] = {}
    codes = np.array([-1 if value is None else known.setdefault(_text(value), len(known)) for value in column])
    codes = codes.astype(np.int64)
    return Encoded(codes, list(known), bool(np.any(codes < 0)))


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        raise Problem(f"a name must be text or a whole number, found {type(value).__name__}: {value!r:.80}")
    return str(value.__index__())


def _from_arrow(column: Any) -> Encoded:
    pa = arrow()
    array: Any = column if isinstance(column, (pa.Array, pa.ChunkedArray)) else _imported(pa, column)
    chunked: Any = array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
    kind = chunked.type.value_type if pa.types.is_dictionary(chunked.type) else chunked.type
    if not _is_text(pa, kind):
        if not pa.types.is_integer(kind):
            raise Problem(f"a column of names must be text or whole numbers, found {kind}")
        chunked = chunked.cast(pa.string())
    given = pa.types.is_dictionary(chunked.type)
    if not given:
        if (known := _from_long(pa, chunked)) is not None:
            return known
        if chunked.nbytes < _COPIED:  # one dictionary is made in half the time that many take to be made one
            chunked = pa.chunked_array([_whole(pa, chunked)])
        chunked = chunked.dictionary_encode()
    chunked = chunked.unify_dictionaries()
    if not chunked.num_chunks:
        return Encoded(np.empty(0, np.int64), [])
    values = cast("list[str]", chunked.chunk(0).dictionary.to_numpy(zero_copy_only=False).tolist())
    missing = chunked.null_count > 0
    parts = [_indices(pa, chunk.indices) for chunk in chunked.chunks]
    codes = parts[0] if len(parts) == 1 else np.concatenate(parts)
    return _used(codes, values, missing) if given else Encoded(codes, values, missing)


def _whole(pa: Any, chunked: Any) -> Any:
    whole = chunked.combine_chunks()
    return pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole


def _from_long(pa: Any, chunked: Any) -> Encoded | None:
    """A long column without missing values in less time than Arrow's own dictionary takes; None where it is none.

    What its first rows hold says whether values are few, which are then looked up and not collected, or many.
    """
    if len(chunked) < _LONG or chunked.null_count:
        return None
    seen = chunked[:_SAMPLE].unique()
    if len(seen) > _MANY:
        return _of_many(pa, _whole(pa, chunked)) if chunked.nbytes < _COPIED else None
    codes = arrow("compute").index_in(chunked, value_set=seen)
    return None if codes.null_count else Encoded(codes.to_numpy(), seen.to_pylist())


def _of_many(pa: Any, array: Any) -> Encoded | None:
    kind = {str(pa.string()): np.int32, str(pa.large_string()): np.int64}.get(str(array.type))
    if kind is None:
        return None
    _, places, data = array.buffers()
    end = np.frombuffer(places, kind)[array.offset : array.offset + len(array) + 1].astype(np.int64, copy=False)
    found = numbered(end[:-1], np.diff(end), np.frombuffer(b"" if data is None else data, np.uint8))
    if found is None:
        return None
    codes, first = found
    return Encoded(codes, array.take(pa.array(first)).to_numpy(zero_copy_only=False).tolist(), distinct=True)


def _imported(pa: Any, column: Any) -> Any:
    if hasattr(column, "__arrow_c_stream__"):
        return pa.chunked_array(column)
    return pa.array(column)


def _is_text(pa: Any, kind: Any) -> bool:
    checks = (pa.types.is_string, pa.types.is_large_string, pa.types.is_null, pa.types.is_string_view)
    return any(check(kind) for check in checks)


def _indices(pa: Any, indices: Any) -> NDArray[np.integer[Any]]:
    if indices.null_count:
        indices = indices.cast(pa.int32()).fill_null(-1)
    return indices.to_numpy(zero_copy_only=False)


def _used(codes: NDArray[np.integer[Any]], values: list[str], missing: bool) -> Encoded:
    """Drop dictionary entries that no row holds (a sliced or categorical column may carry some)."""
    present = np.bincount(codes[codes >= 0] if missing else codes, minlength=len(values)) > 0
    if present.all():
        return Encoded(codes, values, missing)
    table = np.full(len(values) + 1, -1, np.int64)
    table[:-1][present] = np.arange(int(present.sum()))
    return Encoded(table[codes], [value for value, used in zip(values, present, strict=True) if used], missing)
