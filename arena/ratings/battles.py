"""Battles as counts: who met whom, how it ended, who was shown first.

A battle is one comparison of two models. Ratings need only how often each (pair, outcome, shown-first) cell
occurred, so battles are counted as they are read, chunk by chunk, and single rows are kept (8 to 16 bytes each)
only where something needs them: clusters, categories, covariates, or the order of play.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.ratings.cells import UNKNOWN_FIRST, CellCounts, Cells, coded, keys, sums
from arena.ratings.columns import Encoded, encode_all
from runstore.problems import InputProblem

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

LOSS, TIE, WIN = 0, 1, 2
OUTCOMES: Mapping[str, int] = {"model_a": WIN, "model_b": LOSS, "tie": TIE, "tie (bothbad)": TIE, "both_bad": TIE}
FIRST: Mapping[str, int] = {"model_a": 2, "model_b": 0}
BLOCK = 2_000_000
"""Rows that are worked on at once."""
MISSING_LEVEL = "(missing)"


@dataclass(frozen=True)
class Rows:
    """Single battles: ``cell`` indexes the cells; the rest is aligned with it, where it is known."""

    cell: NDArray[np.int32]
    cluster: NDArray[np.int32] | None = None
    clusters: int = 0
    weight: Floats | None = None
    levels: Mapping[str, tuple[NDArray[np.int32], tuple[str, ...]]] = field(default_factory=dict[str, Any])
    covariates: Mapping[str, Floats] = field(default_factory=dict[str, Floats])
    cluster_names: tuple[str, ...] = ()

    def blocks(self) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int32], Floats]]:
        """(cell, cluster, weight) of some millions of rows at a time: what is summed over rows is summed so,
        so that a hundred million of them take no more than they are kept in."""
        if self.cluster is None:
            raise ValueError("the battles carry no clusters")
        for low in range(0, len(self.cell), BLOCK):
            part = slice(low, low + BLOCK)
            cell = self.cell[part]
            weight = np.ones(len(cell)) if self.weight is None else self.weight[part]
            yield cell, self.cluster[part], weight


@dataclass(frozen=True)
class Battles:
    """Counted battles. Cell k: ``names[i[k]]`` against ``names[j[k]]``, i < j, names sorted.

    ``outcome`` is 2 where i won, 1 for a tie, 0 where j won; ``first`` is +1 where i was shown first, -1 where
    j was, 0 where nobody said. ``weight`` sums the battles' weights, ``square`` their squares, ``number`` counts
    the battles. ``covariates`` of the rows are differences, model_a minus model_b turned to i minus j.
    ``invalid`` counts the matches of a pair (names in sorted order) that had no usable outcome;
    ``rounds`` holds the single rounds where battles are the majorities of several.
    """

    names: tuple[str, ...]
    i: Ints
    j: Ints
    outcome: Ints
    first: Ints
    weight: Floats
    square: Floats
    number: Ints
    weighted: bool = False
    rows: Rows | None = None
    cluster_name: str | None = None
    self_play: int = 0
    invalid: Mapping[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    agreement: Mapping[str, int] | None = None
    rounds: Battles | None = None

    @property
    def total(self) -> int:
        """Battles counted (games of a model against itself are not)."""
        return int(self.number.sum())

    @property
    def shown_first_known(self) -> bool:
        return bool(np.any(self.first != 0))

    def wins(self) -> Floats:
        """(M, M) weighted wins of the row's model over the column's."""
        return self._matrix(LOSS, WIN)

    def ties(self) -> Floats:
        """(M, M) weighted ties, symmetric."""
        return self._matrix(TIE, TIE)

    def _matrix(self, lost: int, won: int) -> Floats:
        size = len(self.names)
        up, down = self.outcome == won, self.outcome == lost
        key = np.concatenate([self.i[up] * size + self.j[up], self.j[down] * size + self.i[down]])
        return sums(key, np.concatenate([self.weight[up], self.weight[down]]), size * size).reshape(size, size)

    def select(self, keep: NDArray[np.bool_]) -> Battles:
        """The same models with only some of the rows. Needs rows; what was invalid or self-play is left out."""
        if self.rows is None:
            raise ValueError("rows were not kept")
        rows = self.rows
        cell = rows.cell[keep]
        weight = None if rows.weight is None else rows.weight[keep]
        kept = Rows(
            cell,
            None if rows.cluster is None else rows.cluster[keep],
            rows.clusters,
            weight,
            {name: (codes[keep], levels) for name, (codes, levels) in rows.levels.items()},
            {name: values[keep] for name, values in rows.covariates.items()},
            rows.cluster_names,
        )
        size = len(self.i)
        number = np.bincount(cell, minlength=size)
        ones = np.ones(len(cell)) if weight is None else weight
        return replace(
            self,
            weight=sums(cell, ones, size),
            square=sums(cell, ones**2, size),
            number=number,
            rows=kept,
            self_play=0,
            invalid={},
            agreement=None,
            rounds=None,
        )


def from_columns(
    model_a: object,
    model_b: object,
    winner: object,
    *,
    first: object = None,
    weight: object = None,
    cluster: object = None,
    cluster_name: str | None = None,
    categories: Mapping[str, object] | None = None,
    covariates: Mapping[str, Floats] | None = None,
    keep_rows: bool = False,
    names: Sequence[str] = (),
) -> Battles:
    """Battles from columns in memory: lists, numpy arrays of str or object, Arrow arrays, pandas or polars series.

    ``names`` adds models that may have no battle. ``covariates`` are differences model_a minus model_b.
    Raises InputProblem naming the row (from 1) for an unknown outcome, a missing name, a weight below zero.
    """
    collector = Collector(keep_rows=keep_rows, names=names, cluster_name=cluster_name)
    given = {"model_a": model_a, "model_b": model_b, "winner": winner, "first": first, "cluster": cluster}
    texts = encode_all({name: column for name, column in given.items() if column is not None})
    levels = encode_all(categories or {})
    kept = None if weight is None else np.asarray(weight, np.float64)
    sides = texts["model_a"], texts["model_b"], texts["winner"]
    collector.add(Chunk(*sides, texts.get("first"), kept, texts.get("cluster"), levels, dict(covariates or {})))
    return collector.battles()


@dataclass(frozen=True)
class Chunk:
    """Some rows of a battles table, columns encoded."""

    model_a: Encoded
    model_b: Encoded
    winner: Encoded
    first: Encoded | None = None
    weight: Floats | None = None
    cluster: Encoded | None = None
    categories: Mapping[str, Encoded] = field(default_factory=dict[str, Encoded])
    covariates: Mapping[str, Floats] = field(default_factory=dict[str, Floats])


class Vocabulary:
    """Values in order of appearance, across chunks."""

    def __init__(self, values: Sequence[str] = ()) -> None:
        self.values: list[str] = list(values)
        self._codes: dict[str, int] | None = None

    def recode(self, column: Encoded, missing: str | None = None) -> NDArray[np.int64]:
        """A table from the chunk's codes to ours; its last entry stands for a missing value."""
        named = missing is not None and column.has_missing
        distinct = column.distinct or len(set(column.values)) == len(column.values)
        if not self.values and not named and distinct:
            self.values = list(column.values)  # the first chunk's keep their codes, and need no dictionary yet
            return np.append(np.arange(len(self.values)), -1)
        table = [self._code(value) for value in column.values]
        table.append(self._code(missing) if named and missing is not None else -1)
        return np.array(table, np.int64)

    def _code(self, value: str) -> int:
        if self._codes is None:
            self._codes = {known: code for code, known in enumerate(self.values)}
        code = self._codes.setdefault(value, len(self.values))
        if code == len(self.values):
            self.values.append(value)
        return code

    def recoded(self, column: Encoded, missing: str | None = None) -> NDArray[np.int32]:
        """Our codes of the rows."""
        table = self.recode(column, missing)
        if not column.has_missing and np.array_equal(table[:-1], np.arange(len(table) - 1)):
            return column.codes.astype(np.int32, copy=False)
        return table.astype(np.int32)[column.codes]


def _ordinal(row: int) -> int:
    return row


class Collector:
    """Counts battles chunk by chunk; memory is bounded unless rows have to be kept."""

    def __init__(
        self,
        *,
        keep_rows: bool = False,
        names: Sequence[str] = (),
        cluster_name: str | None = None,
        file: str = "battles",
    ) -> None:
        self._keep_rows, self._cluster_name = keep_rows, cluster_name
        self._file, self._line_of = file, _ordinal
        self._names, self._clusters = Vocabulary(list(dict.fromkeys(names))), Vocabulary()
        self._levels: dict[str, Vocabulary] = {}
        self._counts = CellCounts()
        self._kept: list[_KeptRows] = []
        self._rows_seen = 0
        self._weighted = False

    def begin(self, file: str, line_of: Callable[[int], int] = _ordinal) -> None:
        """The next chunks are of this file, whose data row (from 1) stands on the line that ``line_of`` finds."""
        self._file, self._line_of, self._rows_seen = file, line_of, 0

    def add(self, chunk: Chunk) -> None:
        """Count one chunk. Raises InputProblem for the first row that can't be understood."""
        outcome = self._table(chunk.winner, "winner", OUTCOMES)[:-1]
        a, b = (self._model_codes(column, field)[:-1] for column, field in _sides(chunk))
        first, shown = np.full(1, UNKNOWN_FIRST), None
        if chunk.first is not None:  # a missing value has code -1, and its place in the table is the last
            first = np.roll(self._table(chunk.first, "first", FIRST, missing=UNKNOWN_FIRST), 1)
            shown = chunk.first.codes + 1
        adds = keys(a, b, outcome, first)
        columns = [chunk.model_a.codes, chunk.model_b.codes, chunk.winner.codes, shown]
        code, key = coded([(codes, add) for codes, add in zip(columns, adds, strict=True) if codes is not None])
        key = key if shown is not None else key + UNKNOWN_FIRST
        if chunk.weight is not None:
            self._check_weights(chunk.weight)
            self._weighted = True
        self._counts.add(code, key, chunk.weight)
        if self._keep_rows or chunk.cluster is not None or chunk.categories or chunk.covariates:
            self._kept.append(self._row_codes(chunk, code, key))
        self._rows_seen += len(code)

    def battles(self) -> Battles:
        """Everything added so far, models in sorted order."""
        given = self._names.values
        numbered = sorted(range(len(given)), key=given.__getitem__)
        order = np.empty(len(given), np.int64)
        order[numbered] = np.arange(len(given))
        cells = self._counts.folded(order)
        rows = self._rows(cells, order) if self._kept else None
        return Battles(
            tuple(given[code] for code in numbered),
            *cells.arrays(),
            weighted=self._weighted,
            rows=rows,
            cluster_name=(self._cluster_name or "cluster") if self._clusters.values else None,
            self_play=cells.self_play,
        )

    def _model_codes(self, column: Encoded, field: str) -> NDArray[np.int64]:
        for code, value in enumerate(column.values):
            if not value.strip():
                raise self._refused(column, code, field, "a model's name")
        if column.has_missing:
            raise self._refused(column, -1, field, "a model's name")
        return self._names.recode(column)

    def _table(
        self, column: Encoded, field: str, known: Mapping[str, int], missing: int | None = None
    ) -> NDArray[np.int64]:
        table = [known.get(value, missing if not value and missing is not None else -1) for value in column.values]
        refused = [code for code, value in enumerate(table) if value < 0]
        if column.has_missing and missing is None:
            refused.append(-1)
        if refused:
            raise self._refused(column, min(refused, key=column.first_row), field, ", ".join(known))
        return np.array([*table, -1 if missing is None else missing], np.int64)

    def _refused(self, column: Encoded, code: int, field: str, expected: str) -> InputProblem:
        found = "nothing" if code < 0 else column.values[code]
        return self.refused(column.first_row(code), field, expected, found)

    def refused(self, place: int, field: str, expected: str, found: str) -> InputProblem:
        """What is wrong with row ``place`` (from 0) of the next chunk."""
        row = self._rows_seen + place + 1
        wanted = f"{expected} (in data row {row})"
        return InputProblem(self._file, wanted, found=found, line=self._line_of(row), field=field)

    def _check_weights(self, weight: Floats) -> None:
        bad = ~(np.isfinite(weight) & (weight >= 0))
        if bad.any():
            row = int(np.argmax(bad))
            found = "nothing" if np.isnan(weight[row]) else str(weight[row])
            raise self.refused(row, "weight", "a finite number of at least 0", found)

    def _row_codes(self, chunk: Chunk, code: NDArray[np.integer[Any]], key: Ints) -> _KeptRows:
        cluster = None
        if chunk.cluster is not None:
            if chunk.cluster.has_missing:
                raise self._refused(chunk.cluster, -1, self._cluster_name or "cluster", "a cluster's name")
            cluster = self._clusters.recoded(chunk.cluster)
        levels: dict[str, NDArray[np.int32]] = {}
        for name, column in chunk.categories.items():
            vocabulary = self._levels.setdefault(name, Vocabulary())
            levels[name] = vocabulary.recoded(column, MISSING_LEVEL)
        small = code.astype(np.uint16) if len(key) <= 1 << 16 else code
        return _KeptRows(small, key, cluster, chunk.weight, levels, chunk.covariates)

    def _rows(self, cells: Cells, order: Ints) -> Rows:
        total = sum(len(part.code) for part in self._kept)
        turned = bool(self._kept[0].covariates)
        cell, swapped = np.empty(total, np.int32), np.zeros(total if turned else 0, np.bool_)
        at = 0
        for number, part in enumerate(self._kept):
            here = slice(at, at := at + len(part.code))
            of_code, is_swapped = cells.locate(part.key, order)
            np.take(of_code, part.code, out=cell[here], mode="clip")
            if turned:
                swapped[here] = is_swapped[part.code]
            self._kept[number] = replace(part, code=part.code[:0])  # a hundred million of them are not kept twice
        keep = None if not cells.self_play else cell >= 0
        joined = {
            name: (_joined([part.levels[name] for part in self._kept], keep), tuple(vocabulary.values))
            for name, vocabulary in self._levels.items()
        }
        covariates = {
            name: _kept(np.where(swapped, -1.0, 1.0), keep)
            * _joined([part.covariates[name] for part in self._kept], keep)
            for name in self._kept[0].covariates
        }
        return Rows(
            _kept(cell, keep),
            _joined_known([part.cluster for part in self._kept], keep),
            len(self._clusters.values),
            _joined_known([part.weight for part in self._kept], keep),
            joined,
            covariates,
            tuple(self._clusters.values),
        )


@dataclass(frozen=True)
class _KeptRows:
    code: NDArray[np.integer[Any]]
    key: Ints
    cluster: NDArray[np.int32] | None
    weight: Floats | None
    levels: Mapping[str, NDArray[np.int32]]
    covariates: Mapping[str, Floats]


def _kept(values: NDArray[Any], keep: NDArray[np.bool_] | None) -> NDArray[Any]:
    return values if keep is None else values[keep]


def _joined(parts: Sequence[NDArray[Any]], keep: NDArray[np.bool_] | None) -> NDArray[Any]:
    return _kept(parts[0] if len(parts) == 1 else np.concatenate(parts), keep)


def _joined_known(parts: Sequence[NDArray[Any] | None], keep: NDArray[np.bool_] | None) -> NDArray[Any] | None:
    known = [part for part in parts if part is not None]
    return _joined(known, keep) if known else None


def _sides(chunk: Chunk) -> tuple[tuple[Encoded, str], tuple[Encoded, str]]:
    return (chunk.model_a, "model_a"), (chunk.model_b, "model_b")
