"""Workers that do not see the run folder: what they need is sent, what they write is fetched in blocks."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import orjson

from frontdesk.runner.cluster.shares import Share, number_of
from runstore.journal import new_segment
from runstore.segments import lines_in, segments

BLOCK = 8 << 20


class Parts:
    """Where the lines of each share are in some files: found in one pass for all, read when a share is sent."""

    def __init__(self, of: int) -> None:
        self._of = of
        self._paths: list[Path] = []
        self._places = [array("q") for _ in range(of)]  # a file, and where in it a line begins and ends

    def add(self, path: Path, begin: int, end: int, item: str) -> None:
        """A line about the item; about none it is everybody's."""
        if not self._paths or self._paths[-1] != path:
            self._paths.append(path)
        numbers = [number_of(item, self._of)] if item else range(self._of)
        for number in numbers:
            self._places[number].extend((len(self._paths) - 1, begin, end))

    def of(self, share: Share) -> bytes:
        """The share's lines, as they stand in the files."""
        places, lines = self._places[share.index], list[bytes]()
        for number, ats in groupby(range(0, len(places), 3), places.__getitem__):
            with self._paths[number].open("rb") as file:
                for at in ats:
                    file.seek(places[at + 1])
                    lines.append(file.read(places[at + 2] - places[at + 1]))
        return b"".join(lines)


def calls_by_share(folder: Path, stage: str, of: int) -> Parts:
    """The calls of a stage that a journal holds."""
    parts, named = Parts(of), b'"where":[' + orjson.dumps(stage)
    for path in segments(folder):
        for offset, line in lines_in(path, []):
            if named in line:
                parts.add(path, offset, offset + len(line), orjson.loads(line)["where"][1])
    return parts


def rows_by_share(path: Path, of: int, field: str) -> Parts:
    """The rows of a JSON-lines file, whose is said by a field."""
    parts, begin = Parts(of), 0
    with path.open("rb") as file:
        for line in file:
            if line.strip():
                parts.add(path, begin, begin + len(line), orjson.loads(line)[field])
            begin += len(line)
    return parts


def read_block(path: str, offset: int, size: int = BLOCK) -> bytes:
    """A part of a file, on the worker that has it; nothing where it is not there."""
    try:
        with Path(path).open("rb") as file:
            file.seek(offset)
            return file.read(size)
    except FileNotFoundError:
        return b""


class Copies:
    """The driver's copies of workers' segments, each a prefix of its original in whole lines.

    ``fetched``: how many bytes of each there are.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.fetched: dict[str, int] = {}
        self._rest: dict[str, bytes] = {}
        self._paths: dict[str, Path] = {}
        self._unsynced: set[Path] = set()
        self._earlier: dict[bytes, Path] | None = None

    def add(self, name: str, block: bytes) -> None:
        """Append a block; half a line waits for its other half. Raises OSError.

        A copy that an earlier command began is gone on with: then this first block was only to know it by.
        """
        if not self.fetched.get(name) and (begun := self._begun_earlier(block)) is not None:
            self._paths[name] = begun
            self.fetched[name] = begun.stat().st_size
            return
        whole, _, rest = (self._rest.get(name, b"") + block).rpartition(b"\n")
        if whole:
            self._write(name, whole + b"\n")
        self._rest[name] = rest
        self.fetched[name] = self.fetched.get(name, 0) + len(block)

    def _begun_earlier(self, block: bytes) -> Path | None:
        """The segment with the same header, which says who wrote it and when."""
        if self._earlier is None:  # once: a thousand workers begin a segment each a stage
            self._earlier = dict(_headers(self._folder))
        return self._earlier.get(block[: block.find(b"\n") + 1])

    def _write(self, name: str, lines: bytes) -> None:
        path = self._paths.get(name)
        if path is not None:
            with path.open("ab") as file:
                file.write(lines)
        else:
            path, begun, out = new_segment(self._folder)
            with os.fdopen(out, "ab") as file:
                file.write(lines)  # with the header before them
            begun.rename(path)
            self._paths[name] = path
        self._unsynced.add(path)

    def sync(self) -> None:
        """On the disk, all of them."""
        for path in self._unsynced:
            handle = os.open(path, os.O_RDONLY)
            try:
                os.fdatasync(handle)
            finally:
                os.close(handle)
        self._unsynced.clear()


def _headers(folder: Path) -> Iterator[tuple[bytes, Path]]:
    """The first line of each segment; of several copies of one, the fullest comes last."""
    for path in sorted(folder.glob("*.jsonl"), key=lambda path: path.stat().st_size):
        with path.open("rb") as file:
            if (first := file.readline(1 << 16)).endswith(b"\n"):
                yield first, path
