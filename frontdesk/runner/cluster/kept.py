"""Segments on the disks of workers that do not see the run folder: where they are, which are left, let go."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from runstore.publish import write_text
from runstore.runlock import is_held

ID_FILE = ".kept-elsewhere-as"
_DRAWN = re.compile("[0-9a-f]{32}")
GIVEN = "000000-0.jsonl"
"""The driver's own calls, sent to a worker."""


class Kept(NamedTuple):
    """A segment on a worker's disk. ``is_written``: by a process that is alive."""

    path: str
    size: int
    is_written: bool


def id_of(journal: Path) -> str:
    """By what name machines keep calls for this run, whichever command they were made for.

    Drawn once; a copy of the run folder has another, so that neither lets go of what is kept for the other.
    """
    file = journal / ID_FILE
    try:
        drawn = file.read_text(encoding="ascii").strip()
    except (FileNotFoundError, UnicodeDecodeError):
        drawn = ""
    if _DRAWN.fullmatch(drawn) is None:  # it becomes a part of paths on workers
        drawn = uuid.uuid4().hex
        write_text(file, drawn + "\n")
    return f"{drawn}-{file.stat().st_ino:x}"


def folder_of(name: str) -> Path:
    """On a worker: where segments for the run of that name are."""
    return Path(tempfile.gettempdir()) / f"tutor-arena-{name}"


def made(name: str, share: str) -> Path:
    """On a worker: a folder for the calls of one attempt at a share, closed to the machine's other users.

    Raises OSError, also where somebody else has made a folder of that name.
    """
    folder = folder_of(name)
    folder.mkdir(mode=0o700, exist_ok=True)
    if not _is_own(folder):
        raise PermissionError(f"{folder} is somebody else's")
    (folder / share).mkdir(exist_ok=True)
    return folder / share


def kept(name: str) -> list[Kept]:
    """On a worker: what its machine keeps for the run, of this command and earlier ones."""
    looked = [(path, is_held(path), _size(path)) for path in _segments(name) if path.name != GIVEN]
    return [Kept(str(path), size, is_written) for path, is_written, size in looked if size is not None]


def let_go(name: str, fetched: Mapping[str, int]) -> None:
    """On a worker: remove the segments that were fetched to their ends; others stay for the next command."""
    for path in reversed(_segments(name)):  # what was given comes last
        is_whole = str(path) in fetched and not is_held(path) and _size(path) == fetched[str(path)]
        if is_whole or (path.name == GIVEN and len(list(path.parent.glob("*.jsonl"))) == 1):
            path.unlink(missing_ok=True)
    folder = folder_of(name)
    for place in (*folder.glob("*"), folder):
        with contextlib.suppress(OSError):  # what is left is in it
            place.rmdir()


def _segments(name: str) -> list[Path]:
    folder = folder_of(name)
    return sorted(folder.glob("*/*.jsonl")) if folder.is_dir() and _is_own(folder) else []


def _is_own(folder: Path) -> bool:
    return not folder.is_symlink() and folder.stat().st_uid == os.getuid()


def _size(path: Path) -> int | None:
    """As it is once nobody writes it, where that was looked at before. None where another worker of the machine
    has removed it meanwhile."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return None
