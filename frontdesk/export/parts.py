"""Files written in pieces of so many records, so that an export that was killed goes on where it was.

A piece is a folder under ``.unfinished`` that is moved into place when all its files are whole, with its counts
beside them; at the end pieces are joined into the files of the data set. Other settings or source begin anew.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from frontdesk.export.rows import Row, Rows, Tally
from frontdesk.export.tables import ParquetPiece, joined_parquet
from runstore.publish import csv_rows, read_json, replacing, to_json, write_json

PIECE = 20_000
SHARD = 500_000
"""Rows from which a further file of JSON lines or Parquet is begun: one that everybody can load and hand on."""
FOLDER = ".unfinished"
Kind = Literal["jsonl", "index", "parquet", "csv"]
SHARDED: tuple[Kind, ...] = ("jsonl", "parquet")


def shard_name(name: str, number: int, of: int) -> str:
    """One of several files (from 0), named as data sets' hosts do it: ``train-00000-of-00003.parquet``."""
    stem, _, suffix = name.rpartition(".")
    return f"{stem}-{number:05}-of-{of:05}.{suffix}"


@dataclass(frozen=True)
class Target:
    """One file of a data set: its name in the folder, its part of the dialogues, and what kind of file it is."""

    name: str
    part: str
    kind: Kind
    table: str = ""


class Pieces:
    """The pieces of one data set in a folder."""

    def __init__(self, folder: Path, key: str, each: Rows, targets: Sequence[Target]) -> None:
        """``key`` names settings and source: pieces of another key are thrown away."""
        self.rows, self.targets = each, targets
        self.folder, self.out = folder / FOLDER / each.name, folder
        mark = self.folder / "key.json"
        if not mark.is_file() or read_json(mark) != key:
            shutil.rmtree(self.folder, ignore_errors=True)
            write_json(mark, key)

    def write(
        self, part_of: Callable[[str], str], flat: Callable[[Row], Iterable[Sequence[Any]]] | None
    ) -> dict[str, int]:
        """Write every piece that is not there yet, join them, and count. Returns rows by file.

        ``part_of`` a dialogue: its part; ``flat``: a row's lines of a CSV file.
        """
        done = self._done()
        total, counts = Tally(), Counter[str]()
        rows: list[dict[str, int]] = []
        for at in range(len(done)):
            kept = read_json(self.folder / f"{at:06}" / "tally.json")
            rows.append(kept.pop("files"))
            counts.update(rows[-1])
            total.add(Tally(kept["of"], kept["rows"], Counter(kept["left_out"]), Counter(kept["changed"])))
        at = len(done)
        is_last = bool(done) and (self.folder / "last.json").is_file()
        records = iter(()) if is_last else self.rows.records(total.of)
        while not is_last:
            tally, files = self._piece(at, islice(records, PIECE), part_of, flat, counts)
            total.add(tally)
            rows.append(files)
            counts.update(files)
            is_last = tally.of < PIECE
            at += 1
        write_json(self.folder / "last.json", at)
        self.rows.counted(total)
        files: dict[str, int] = {}
        for target in self.targets:
            files |= self._join(target, [piece[target.name] for piece in rows])
        shutil.rmtree(self.folder)
        return files

    def _done(self) -> list[Path]:
        pieces: list[Path] = []
        while (piece := self.folder / f"{len(pieces):06}").is_dir():
            pieces.append(piece)
        return pieces

    def _piece(
        self,
        at: int,
        records: Iterable[Any],
        part_of: Callable[[str], str],
        flat: Callable[[Row], Iterable[Sequence[Any]]] | None,
        before: Counter[str],
    ) -> tuple[Tally, dict[str, int]]:
        scratch = self.folder / f"{at:06}.tmp"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        tally = Tally()
        files = {target.name: _File(scratch / str(place), target, before[target.name], flat, first=at == 0)
                 for place, target in enumerate(self.targets)}  # fmt: skip
        by_part: dict[str, list[_File]] = {}
        for file in files.values():
            by_part.setdefault(file.target.part, []).append(file)
        for row in self.rows.make(records, tally):
            tally.rows += 1
            for file in by_part[part_of(row.dialogue)]:
                file.add(row)
        written = {name: file.close() for name, file in files.items()}
        counts = {"left_out": dict(tally.left_out), "changed": dict(tally.changed)}
        write_json(scratch / "tally.json", {"of": tally.of, "rows": tally.rows, **counts, "files": written})
        scratch.rename(self.folder / f"{at:06}")
        return tally, written

    def _join(self, target: Target, rows: Sequence[int]) -> dict[str, int]:
        """The pieces, of so many ``rows`` each, as one file or as many; rows by file."""
        place = str(self.targets.index(target))
        shards: list[list[int]] = [[]]
        for at in range(len(rows)):
            if target.kind in SHARDED and sum(rows[piece_name] for piece_name in shards[-1]) >= SHARD:
                shards.append([])
            shards[-1].append(at)
        files: dict[str, int] = {}
        for number, shard in enumerate(shards):
            name = target.name if len(shards) == 1 else shard_name(target.name, number, len(shards))
            self._whole(self.out / name, target, [self.folder / f"{at:06}" / place for at in shard])
            files[name] = sum(rows[at] for at in shard)
        return files

    def _whole(self, path: Path, target: Target, parts: Sequence[Path]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary:
            if target.kind == "parquet" and len(parts) > 1:
                joined_parquet(temporary, parts)
            else:
                with temporary.open("wb") as out:
                    for part in parts:
                        with part.open("rb") as piece:
                            shutil.copyfileobj(piece, out, 1 << 20)


class _File:
    """One file of one piece, open."""

    def __init__(
        self,
        path: Path,
        target: Target,
        before: int,
        flat: Callable[[Row], Iterable[Sequence[Any]]] | None,
        *,
        first: bool,
    ) -> None:
        self.target, self.before, self.flat, self.count = target, before, flat, 0
        self._parquet = ParquetPiece(path, target.table) if target.kind == "parquet" else None
        self._out = None if self._parquet else path.open("wb")
        if self._out and target.kind == "csv" and first:
            self._out.write(b"\xef\xbb\xbf" + csv_rows([CSV_HEADER]).encode())

    def add(self, row: Row) -> None:
        if self._parquet is not None:
            self._parquet.add(row)
            self.count += 1
        elif self._out is not None:
            for line in self._lines(row):
                self._out.write(line)
                self.count += 1

    def _lines(self, row: Row) -> Iterator[bytes]:
        if self.target.kind == "csv" and self.flat is not None:
            for cells in self.flat(row):
                yield csv_rows([cells]).encode()
        elif self.target.kind == "index":
            yield to_json({"row": self.before + self.count, "dialogue": row.dialogue}) + b"\n"
        else:
            yield to_json(row.value) + b"\n"

    def close(self) -> int:
        if self._parquet is not None:
            self._parquet.close()
        elif self._out is not None:
            self._out.close()
        return self.count


CSV_HEADER = (
    "dialogue", "place", "turn", "role", "text", "clean", "act", "realised", "persona", "levels", "question",
    "subject", "language", "end", "complete",
)  # fmt: skip
"""Columns of ``utterances.csv``: a row an utterance, what is known of its dialogue beside it."""
