"""The rows that an export is made of, made as they are asked for: no data set is ever held whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Row:
    """One row of an export and the dialogue it comes from: rows of one dialogue never part."""

    dialogue: str
    value: dict[str, Any]


@dataclass
class Tally:
    """What was counted while rows were made: ``of`` records came, ``rows`` of them are in."""

    of: int = 0
    rows: int = 0
    left_out: Counter[str] = field(default_factory=Counter[str])
    changed: Counter[str] = field(default_factory=Counter[str])

    def add(self, other: Tally) -> None:
        self.of += other.of
        self.rows += other.rows
        self.left_out.update(other.left_out)
        self.changed.update(other.changed)


Make = Callable[[Iterable[Any], Tally], Iterator[Row]]
"""Rows out of records, in order, counting what is left out or changed."""


class Rows:
    """One data set: the records of a stage ``file``, and what each becomes.

    ``of`` counts what there was, in ``unit``: rows and things left out add up to it. The counts are of the pass
    that wrote the set, or of one made when first asked for.
    """

    def __init__(
        self,
        name: str,
        unit: str,
        records: Callable[[int], Iterator[Any]],
        make: Make,
        *,
        file: str,
        settle: Callable[[Tally], None] | None = None,
    ) -> None:
        """``records(skip)``: all but the first ``skip``; ``settle`` adds to the counts of a whole pass."""
        self.name, self.unit, self.file = name, unit, file
        self.records, self.make, self._settle = records, make, settle
        self._tally: Tally | None = None

    def counted(self, tally: Tally) -> None:
        """Take over the counts of a whole pass."""
        if self._settle is not None:
            self._settle(tally)
        self._tally = tally

    @property
    def tally(self) -> Tally:
        if self._tally is None:
            tally = Tally()
            for _ in self.make(self.records(0), tally):
                tally.rows += 1
            self.counted(tally)
        assert self._tally is not None  # noqa: S101 (set just above)
        return self._tally

    @property
    def rows(self) -> AllRows:
        return AllRows(self)

    @property
    def of(self) -> int:
        return self.tally.of

    @property
    def left_out(self) -> Counter[str]:
        return self.tally.left_out

    @property
    def changed(self) -> Counter[str]:
        return self.tally.changed


class AllRows:
    """The rows of a set, made anew each time they are gone through."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return self._rows.tally.rows

    def __iter__(self) -> Iterator[Row]:
        return self._rows.make(self._rows.records(0), Tally())
