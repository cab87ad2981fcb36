"""Where each of many keys is, in sixteen bytes a key: what a journal of millions of calls is found by."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
_RECENT = 1 << 14
"""Entries of the dictionary, which takes ten times their bytes."""


class KeyIndex:
    """A map from 64-bit numbers to 64-bit numbers, the last value of each; nothing is ever taken out.

    New entries are in a dictionary; a full one becomes a sorted run, and runs of like size are merged (a log-
    structured merge tree in memory): 16 bytes an entry instead of some 170, and a look-up in each of few runs.
    """

    def __init__(self) -> None:
        self._recent: dict[int, int] = {}
        self._runs: list[tuple[Words, Words]] = []

    def __setitem__(self, key: int, value: int) -> None:
        self._recent[key] = value
        if len(self._recent) >= _RECENT:
            self._settle()

    def get(self, key: int) -> int | None:
        """The last value of the key, or None."""
        value = self._recent.get(key)
        if value is not None or not self._runs:
            return value
        wanted = np.uint64(key)
        for keys, values in reversed(self._runs):
            at = int(keys.searchsorted(wanted))
            if at < len(keys) and keys[at] == wanted:
                return int(values[at])
        return None

    def __contains__(self, key: int) -> bool:
        return self.get(key) is not None

    def __len__(self) -> int:
        """How many keys there are; merges the runs to know it."""
        if self._runs:
            self._settle(whole=True)
            return len(self._runs[0][0])
        return len(self._recent)

    def _settle(self, *, whole: bool = False) -> None:
        if self._recent:
            keys = np.fromiter(self._recent.keys(), np.uint64, len(self._recent))
            values = np.fromiter(self._recent.values(), np.uint64, len(self._recent))
            order = np.argsort(keys)
            self._runs.append((keys[order], values[order]))
            self._recent = {}
        while len(self._runs) > 1 and (whole or len(self._runs[-2][0]) < 2 * len(self._runs[-1][0])):
            newer, older = self._runs.pop(), self._runs.pop()
            self._runs.append(_merged(older, newer))


def _merged(older: tuple[Words, Words], newer: tuple[Words, Words]) -> tuple[Words, Words]:
    """One run of both; of a key in both, the newer value. Little is held beside the two and what comes of them."""
    size = len(older[0]) + len(newer[0])
    places = older[0].searchsorted(newer[0], side="right")
    places += np.arange(len(newer[0]))
    is_older = np.ones(size, dtype=bool)
    is_older[places] = False
    keys, values = np.empty(size, np.uint64), np.empty(size, np.uint64)
    for merged, old, new in ((keys, older[0], newer[0]), (values, older[1], newer[1])):
        merged[places] = new
        merged[is_older] = old
    last = np.append(keys[1:] != keys[:-1], True)
    return (keys, values) if last.all() else (keys[last], values[last])
