"""Lines of a large JSON-lines file found by a key, with 20 bytes of memory a line."""

from __future__ import annotations

import hashlib
import os
import weakref
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import orjson

from runstore.publish import parse_record
from runstore.records import Record

R = TypeVar("R", bound=Record)


class Lookup(Generic[R]):
    """The records of a file by a key of theirs; of two with one key the last counts."""

    def __init__(self, path: Path, kind: type[R], key: Callable[[dict[str, Any]], str]) -> None:
        self._path, self._kind, self._key = path, kind, key
        hashes, places, lengths, offset = array("Q"), array("q"), array("i"), 0
        with path.open("rb") as file:
            for line in file:
                if line.strip():
                    hashes.append(_hash(key(_row(line))))
                    places.append(offset)
                    lengths.append(len(line))
                offset += len(line)
        joined = np.asarray(hashes)
        order = np.argsort(joined, kind="stable")
        self._hashes = joined[order]
        self._places, self._lengths = np.asarray(places)[order], np.asarray(lengths)[order]
        self._file = os.open(path, os.O_RDONLY)
        weakref.finalize(self, os.close, self._file)

    def get(self, key: str) -> R | None:
        """The record with this key, or None."""
        wanted = np.uint64(_hash(key))
        first = int(np.searchsorted(self._hashes, wanted, "left"))
        last = int(np.searchsorted(self._hashes, wanted, "right"))
        for at in range(last - 1, first - 1, -1):
            row = _row(os.pread(self._file, int(self._lengths[at]), int(self._places[at])))
            if self._key(row) == key:
                return parse_record(self._kind, row, self._path)
        return None


def _row(line: bytes) -> dict[str, Any]:
    return orjson.loads(line.removeprefix(b"\xef\xbb\xbf"))


def _hash(key: str) -> int:
    return int.from_bytes(hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
