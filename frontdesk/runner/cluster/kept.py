"""Segments on the disks of workers that do not see the run folder: where they are, which are left, let go."""

from __future__ import annotations

import contextlib
import tempfile
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from runstore.runlock import is_held

ID_FILE = ".kept-elsewhere-as"
GIVEN = "000000-0.jsonl"
"""The driver's own calls, sent to a worker."""


class Kept(NamedTuple):
    """A segment on a worker's disk. ``is_written``: by a process that is alive."""

    path: str
    size: int
    is_written: bool


def id_of(journal: Path) -> str:
    """By what name machines keep calls for this run, whichever command they were made for: drawn once."""
    file = journal / ID_FILE
    with contextlib.suppress(FileNotFoundError):
        if name := file.read_text(encoding="ascii").strip():
            return name
    name = uuid.uuid4().hex
    file.write_text(name + "\n", encoding="ascii")
    return name


def folder_of(name: str) -> Path:
    """On a worker: where segments for the run of that name are."""
    return Path(tempfile.gettempdir()) / f"tutor-arena-{name}"


def kept(name: str) -> list[Kept]:
    """On a worker: what its machine keeps for the run, of this command and earlier ones."""
    found = sorted(path for path in folder_of(name).glob("*/*.jsonl") if path.name != GIVEN)
    return [Kept(str(path), path.stat().st_size, is_held(path)) for path in found]


def let_go(name: str, fetched: Mapping[str, int]) -> None:
    """On a worker: remove the segments that were fetched to their ends; others stay for the next command."""
    folder = folder_of(name)
    for path in sorted(folder.glob("*/*.jsonl"), reverse=True):  # what was given comes last
        is_whole = path.stat().st_size == fetched.get(str(path)) and not is_held(path)
        if is_whole or (path.name == GIVEN and len(list(path.parent.glob("*.jsonl"))) == 1):
            path.unlink(missing_ok=True)
    for place in (*folder.glob("*"), folder):
        with contextlib.suppress(OSError):  # what is left is in it
            place.rmdir()
