"""Texts that are nearly the same among millions: MinHash signatures (Broder 1997) compared by bands.

Each text's word pairs are hashed; the least of each of 126 permutations is its signature, 21 bands of 6. Who
shares a band is a candidate, and candidates are compared exactly. A pair with a similarity of 0.8 is missed with a
probability of 0.002. Everything but a byte a text and one band's hashes (8 bytes a text) stands in files.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
import zlib
from array import array
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

BANDS, ROWS = 21, 6
COMPARED = 8
"""Earlier texts of a band's bucket that each text is compared with: who is like many is like one of the first."""
_DRAWS = np.random.default_rng(20260101).integers(1, 1 << 63, size=(2, BANDS * ROWS), dtype=np.uint64)
_MULTIPLIERS, _ADDENDS = _DRAWS[0] | np.uint64(1), _DRAWS[1]

Hashes = NDArray[np.uint32]


def hashed(pairs: Collection[Sequence[str]]) -> Hashes:
    """A text's word pairs as sorted 32-bit numbers, each once."""
    hashes = {zlib.crc32(" ".join(pair).encode("utf-8", "surrogatepass")) for pair in pairs}
    return np.asarray(sorted(hashes), dtype=np.uint32)


def bands_of(hashes: Hashes) -> NDArray[np.uint64]:
    """One number for each band of a signature (21); ``hashes`` is not empty."""
    mixed = (hashes.astype(np.uint64)[:, None] * _MULTIPLIERS + _ADDENDS) >> np.uint64(20)
    rows = mixed.min(axis=0).reshape(BANDS, ROWS)
    bands = np.zeros(BANDS, dtype=np.uint64)
    for row in range(ROWS):
        bands = (bands ^ rows[:, row]) * np.uint64(0x9E3779B97F4A7C15)
    return bands


class NearSpool:
    """Names and texts of any number, and which of them are nearly the same as another."""

    def __init__(self, threshold: float, fewest: int) -> None:
        """Texts with fewer than ``fewest`` word pairs are like nothing."""
        self.threshold, self.fewest = threshold, fewest
        self._folder = Path(tempfile.mkdtemp(prefix="tutor-arena-near-"))
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._sizes = array("i")
        self._flags = bytearray()
        self._files: dict[str, BinaryIO] = {}

    def _file(self, name: str) -> BinaryIO:
        if name not in self._files:
            self._files[name] = (self._folder / name).open("wb", buffering=1 << 16)
        return self._files[name]

    def add(self, name: str, pairs: Collection[Sequence[str]], *, known: bool) -> None:
        """One more text. ``known``: it is no news that this one nearly repeats something."""
        hashes = hashed(pairs) if len(pairs) >= self.fewest else np.empty(0, np.uint32)
        self._file("names").write(name.replace("\n", " ").encode("utf-8", "surrogatepass") + b"\n")
        self._file("hashes").write(hashes.tobytes())
        self._sizes.append(len(hashes))
        self._flags.append(2 if known else 0)
        bands = bands_of(hashes).tobytes() if len(hashes) else bytes(8 * BANDS)
        for band in range(BANDS):
            self._file(f"band{band}").write(bands[8 * band : 8 * band + 8])

    def twins(self) -> Iterator[str]:
        """The names of the texts that are nearly the same as another and were not known to repeat something."""
        for file in self._files.values():
            file.close()
        if not self._sizes:
            return
        sizes = np.asarray(self._sizes, dtype=np.int64)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        reader = os.open(self._folder / "hashes", os.O_RDONLY)
        try:
            for band in range(BANDS):
                self._compare(self._folder / f"band{band}", sizes, starts, reader)
        finally:
            os.close(reader)
        with (self._folder / "names").open("rb") as names:
            for flag, name in zip(self._flags, names, strict=True):
                if flag == 1:
                    yield name.rstrip(b"\n").decode("utf-8", "surrogatepass")

    def _compare(self, path: Path, sizes: NDArray[np.int64], starts: NDArray[np.int64], reader: int) -> None:
        values = np.fromfile(path, dtype=np.uint64)
        order = np.argsort(values, kind="stable")
        ordered = values[order]
        edges = np.flatnonzero(np.diff(ordered)) + 1
        begins = np.concatenate([[0], edges])
        ends = np.concatenate([edges, [len(ordered)]])
        for begin, end in zip(begins[ends - begins > 1], ends[ends - begins > 1], strict=True):
            if ordered[begin] != 0:
                self._bucket([int(at) for at in order[begin:end] if sizes[at]], starts, reader)

    def _bucket(self, members: Sequence[int], starts: NDArray[np.int64], reader: int) -> None:
        first: list[tuple[int, frozenset[int]]] = []
        for at in members:
            if self._flags[at] and len(first) >= COMPARED:
                continue
            stored = os.pread(reader, int(starts[at + 1] - starts[at]) * 4, int(starts[at]) * 4)
            own = frozenset(memoryview(stored).cast("I"))
            for other, hashes in first:
                if self._flags[at] and self._flags[other]:
                    continue
                common = len(own & hashes)
                if common / (len(own) + len(hashes) - common) >= self.threshold:
                    self._flags[at] |= 1 if not self._flags[at] else 0
                    self._flags[other] |= 1 if not self._flags[other] else 0
            if len(first) < COMPARED:
                first.append((at, own))
