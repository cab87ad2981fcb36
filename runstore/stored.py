"""Records that stay on the disk: a sequence over a JSON-lines file that holds eight bytes a record."""

from __future__ import annotations

from abc import abstractmethod
from array import array
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Generic, TypeVar, cast, overload
from weakref import finalize

import orjson
from pydantic import BaseModel

from runstore.problems import InputProblem
from runstore.publish import BOM, parse_record, replacing, stream_records, to_json

T = TypeVar("T")
R = TypeVar("R", bound=BaseModel)


class WhenAsked(Sequence[T]):
    """Items that are made each time they are asked for: ``at`` makes the one at a place from 0."""

    @abstractmethod
    def at(self, place: int) -> T: ...

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        places = range(len(self))[index]
        return self.at(places) if isinstance(places, int) else [self.at(place) for place in places]


class Stored(WhenAsked[R]):
    """The records of a file, each read when it is asked for. The file must not change meanwhile.

    Raises InputProblem naming file, line and field, when a record is read.
    """

    def __init__(self, path: Path, kind: type[R]) -> None:
        self._path, self._kind = path, kind
        self._starts: array[int] | None = None
        self._file: BinaryIO | None = None

    def __iter__(self) -> Iterator[R]:
        return stream_records(self._path, self._kind)

    def __len__(self) -> int:
        return len(self._places())

    def at(self, place: int) -> R:
        start = self._places()[place]
        if self._file is None:  # stays open, so that neighbours are read at once
            self._file = self._opened()
            finalize(self, self._file.close)
        self._file.seek(start)
        try:
            row = orjson.loads(self._file.readline().removeprefix(BOM))
            return parse_record(self._kind, row, self._path)
        except (orjson.JSONDecodeError, InputProblem):
            return next(islice(self, place, None))  # says on which line

    def _places(self) -> array[int]:
        if self._starts is None:
            self._starts, offset = array("Q"), 0
            with self._opened() as file:
                for line in file:
                    if line.strip(b" \t\r\n" + BOM):
                        self._starts.append(offset)
                    offset += len(line)
        return self._starts

    def _opened(self) -> BinaryIO:
        try:
            return self._path.open("rb", buffering=1 << 16)
        except OSError as error:
            raise InputProblem(self._path, "a readable file", found=error.strerror or str(error)) from error


class Lines(Generic[R]):
    """Rows being written, one JSON object a line."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self.count = 0

    def add(self, row: R) -> None:
        self._out.write(to_json(row))
        self._out.write(b"\n")
        self.count += 1

    def extend(self, rows: Iterable[R]) -> None:
        for row in rows:
            self.add(row)


@contextmanager
def writing(path: Path, kind: type[R]) -> Generator[Lines[R]]:
    """A JSON-lines file that is moved into place when all its rows are there; dropped if they never are.

    One process at a time writes to it: what an earlier one left when it was killed is taken away.
    """
    del kind
    for left in path.parent.glob(f".{path.name}.*.tmp"):
        left.unlink(missing_ok=True)
    with replacing(path) as temporary, temporary.open("wb", buffering=1 << 16) as out:
        yield cast("Lines[R]", Lines(out))
