"""What aggregation keeps of each item: 47 bytes of numbers. Texts go to a spool on disk, never into memory.

Rows arrive in order; their numbers are gathered in blocks of a NumPy record array, and names that repeat
(rounds, categories, paths, reasons) as small codes. Query IDs are kept as 64-bit hashes: among a million
different ones, two collide with a probability of about 3 in 10^8.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from arena.agent_runs.intent import ORIGINS
from arena.agent_runs.items import Item
from arena.agent_runs.links import BASES
from runstore.problems import Problem
from runstore.publish import to_json

Records = NDArray[np.void]

DTYPE = np.dtype(
    [
        ("file", "u2"),
        ("row", "u4"),
        ("key", "u8"),
        ("round", "u2"),
        ("category", "u2"),
        ("track", "u2"),
        ("path", "u2"),
        ("cause", "u2"),
        ("intent", "f8"),
        ("seconds", "f8"),
        ("origin", "u1"),
        ("accuracy", "i1"),
        ("basis", "u1"),
        ("speed", "i1"),
        ("stability", "i1"),
        ("flags", "u1"),
    ]
)
ABSENT = -1
LLM_MISSING, RAW_BROKEN, RAW_LAYERED, NO_RESPONSE, RAW_AT_LIMIT, NO_KEY = 1, 2, 4, 8, 16, 32
MAX_ROUNDS = 1_000
MAX_NAMES = 4_000
OTHERS = "(others)"
# Names are kept whole in the per-item table; for counting, so much of them tells them apart.
_NAME_SHOWN = 200

_ORIGIN = {name: code for code, name in enumerate(ORIGINS)}
_BASIS = {name: code for code, name in enumerate(BASES)}


class Names:
    """Names that repeat, as codes. Beyond ``limit`` different ones, new names share the code of OTHERS."""

    def __init__(self, limit: int = MAX_NAMES) -> None:
        self._codes: dict[str, int] = {}
        self._limit = limit
        self.listed: list[str] = []

    def code(self, name: str) -> int:
        known = self._codes.get(name)
        if known is not None:
            return known
        if len(self.listed) >= self._limit:
            name = OTHERS
            if name in self._codes:
                return self._codes[name]
        self._codes[name] = len(self.listed)
        self.listed.append(name)
        return self._codes[name]


def query_key(query_id: str) -> int:
    """64 bits that stand for a Query ID."""
    return int.from_bytes(blake2b(query_id.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


class State:
    """The numbers of all items so far. ``records()`` joins them when reading is done."""

    def __init__(self) -> None:
        self.rounds, self.categories, self.tracks = Names(MAX_ROUNDS), Names(), Names()
        self.paths, self.causes = Names(), Names()
        self._blocks: list[Records] = []

    def add(self, file: int, items: list[Item]) -> None:
        """Take a block of scored items of one file."""
        self._blocks.append(np.array([self._record(file, item) for item in items], dtype=DTYPE))
        if len(self.rounds.listed) >= MAX_ROUNDS:
            raise Problem(
                f"more than {MAX_ROUNDS:,} different rounds: is the repeat column mapped right (see --columns)?"
            )

    def _record(self, file: int, item: Item) -> tuple[float, ...]:
        return (
            file,
            item.row,
            query_key(item.identity),
            self.rounds.code(item.round),
            self.categories.code(item.category[:_NAME_SHOWN]),
            self.tracks.code(item.track[:_NAME_SHOWN]),
            self.paths.code(item.path[:_NAME_SHOWN]),
            self.causes.code(cause(item)),
            np.nan if item.intent is None else item.intent,
            np.nan if item.seconds is None else item.seconds,
            _ORIGIN[item.origin],
            ABSENT if item.accuracy is None else item.accuracy,
            _BASIS[item.basis],
            ABSENT if item.speed is None else item.speed,
            ABSENT if item.stability is None else item.stability,
            _flags(item),
        )

    def records(self) -> Records:
        """All items in the order read; each block is given up once copied, so that memory holds them once."""
        joined = np.empty(sum(len(block) for block in self._blocks), dtype=DTYPE)
        end = len(joined)
        while self._blocks:
            block = self._blocks.pop()
            joined[end - len(block) : end] = block
            end -= len(block)
        self._blocks = [joined]
        return joined


def cause(item: Item) -> str:
    """Why an item is unstable, as one short line that groups alike ones ("" where it is stable)."""
    if item.stability != 0:
        return ""
    if item.error:
        line = " ".join(item.error.split())
        return "".join("#" if character.isdigit() else character for character in line)[:120]
    return item.stability_reason


def _flags(item: Item) -> int:
    return (
        (LLM_MISSING if item.llm_missing else 0)
        | (RAW_BROKEN if item.raw_state != "ok" else 0)
        | (RAW_LAYERED if item.layers > 1 else 0)
        | (NO_RESPONSE if not item.judged.strip() else 0)
        | (RAW_AT_LIMIT if item.raw_at_limit else 0)
        | (NO_KEY if not item.identity else 0)
    )


class Spool:
    """The texts of items, waiting on disk (an unnamed file) until consistency and duplicates are known."""

    def __init__(self, folder: Path | None = None) -> None:
        with suppress(OSError):
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
        self._file: Any = TemporaryFile(dir=folder)  # noqa: SIM115  # closed by ``close``

    def add(self, rows: list[list[Any]]) -> None:
        self._file.write(to_json(rows))
        self._file.write(b"\n")

    def rows(self) -> Iterator[list[Any]]:
        self._file.seek(0)
        for line in self._file:
            yield from orjson.loads(line)

    def close(self) -> None:
        self._file.close()
