"""Ids of single games, seen once each: a file joined to itself would count every battle twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

Ids = Iterable[object]


class GameIds:
    """The ids of a file, 8 bytes each."""

    def __init__(self) -> None:
        self._hashes: list[NDArray[np.int64]] = []

    def add(self, ids: Ids) -> None:
        """One chunk's ids; blank ones tell nothing."""
        self._hashes.append(np.array([hash(str(name)) for name in ids if name not in (None, "")], np.int64))

    def twice(self, again: Callable[[], Iterable[Ids]]) -> str | None:
        """The first id that is there twice. ``again`` reads the chunks once more, where one may be."""
        if not self._hashes:
            return None
        hashes, counts = np.unique(np.concatenate(self._hashes), return_counts=True)
        suspects = set(hashes[counts > 1].tolist())
        seen: set[str] = set()
        for ids in again() if suspects else ():
            for name in map(str, filter(None, ids)):
                if hash(name) in suspects:
                    if name in seen:
                        return name
                    seen.add(name)
        return None
