"""A journal's segments: which files they are, which of their lines are good, and what to do about damage.

A segment begins with a header line that says the journal's format; whatever else lies in the folder is somebody's
file and is left alone. A line is good if its own checksum says so (a copy may have changed or lost its end). One
thing is passed over, a torn tail: a last fragment without an end, as a killed process leaves it. Everything
else that cannot be read stops with file and line, and :func:`repair` sets it aside. Nothing is ever deleted.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import orjson

from runstore.problems import InputProblem
from runstore.publish import replacing

VERSION = 1
NO_KEY = "0" * 32
_TAIL = len(b',"crc":"00000000"}\n')
_OWN_NAME = re.compile(r"\d{6}-\d+\.jsonl")
_START = b'{"key":"'
_WAY_ON = "tutor-arena calls --repair RUN sets what is damaged aside"


def segments(folder: Path) -> list[Path]:
    """A journal's segments in order of time: files with a header, or with a name that only the program gives."""
    return sorted(path for path in folder.glob("*.jsonl") if _OWN_NAME.fullmatch(path.name) or _has_header(path))


def _has_header(path: Path) -> bool:
    with path.open("rb") as file:
        line = file.readline(1 << 16)
    return is_good(line) and b'"journal":' in line


def is_good(line: bytes) -> bool:
    """Whether the line is whole: what its checksum covers is what was written."""
    if not line.endswith(b'"}\n'):
        line = line.rstrip(b"\r\n") + b"\n"
    return line.endswith(b'"}\n') and line[-_TAIL:-3] == b',"crc":"%08x' % zlib.crc32(line[:-_TAIL])


def sealed(head: bytes) -> bytes:
    """The line whose JSON object begins with ``head``: checksum and end added."""
    return b'%b,"crc":"%08x"}\n' % (head, zlib.crc32(head))


def header(**fields: object) -> bytes:
    """The first line of a segment."""
    body = orjson.dumps({"journal": VERSION, "hash": "blake2b-128", **fields})[1:-1]
    return sealed(b'{"key":"%b","state":"note",%b' % (NO_KEY.encode(), body))


def checked_lines(path: Path, file: BinaryIO, notes: list[str], offset: int = 0) -> Iterator[tuple[int, bytes]]:
    """(offset, line) of each line. Raises InputProblem at the first damaged one: file, line, way on.

    ``offset``: where the file is read from, if not from its beginning.
    """
    begin = offset
    for number, line in enumerate(file, 1):
        if is_good(line):
            if number == 1 and not begin:
                _check_version(path, line)
            yield offset, line
        elif _is_torn(line):
            fragment = line[:60].decode("utf-8", "replace")
            notes.append(f"{path.name}:{number}: passed over an unfinished line: {fragment}")
        elif line.strip():
            found = line[:80].decode("utf-8", "replace")
            raise InputProblem(path, f"an undamaged journal line ({_WAY_ON})", found=found, line=number)
        offset += len(line)


def _is_torn(line: bytes) -> bool:
    """The beginning of a line that a killed process left; it has no end, so nothing stands behind it."""
    return not line.endswith(b"\n") and b"\0" not in line and line[: len(_START)] == _START[: len(line)]


def _check_version(path: Path, line: bytes) -> None:
    version = orjson.loads(line).get("journal")
    if version is None:
        raise InputProblem(path, f"the header of a segment ({_WAY_ON})", found="a call", line=1)
    if version != VERSION:
        raise InputProblem(
            path, f"journal format {VERSION} (made by this or an older program)", found=version, line=1
        )


@dataclass(frozen=True, slots=True)
class Repair:
    """What became of one damaged segment: the untouched file under its new name, and the lines kept and not.

    Line 0 stands for a header that is not there.
    """

    segment: str
    set_aside: str
    kept: int
    damaged: tuple[int, ...]


def repair(folder: Path) -> list[Repair]:
    """Set damaged segments aside under a new name and leave their good lines in their place.

    The damaged file is kept as it is (``NAME.damaged-N``). The calls in damaged lines are asked again when a run
    needs them; all others stay answered. The caller holds the run's lock. Raises InputProblem for a segment of
    another format: that is not damage.
    """
    return [done for path in segments(folder) if (done := _repair(path)) is not None]


def _repair(path: Path) -> Repair | None:
    good: list[bytes] = []
    damaged: list[int] = []
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if is_good(line):
                if number == 1 and b'"journal":' in line:
                    _check_version(path, line)
                elif number == 1:
                    damaged.append(0)
                good.append(line.rstrip(b"\r\n") + b"\n")
            elif line.strip() and not _is_torn(line):
                damaged.append(number)
    if not damaged:
        return None
    aside = next(
        candidate
        for number in range(1, 1_000_000)
        if not (candidate := path.with_name(f"{path.name}.damaged-{number}")).exists()
    )
    if damaged[0] <= 1:
        good.insert(0, header(repaired=aside.name))
    path.rename(aside)
    with replacing(path) as temporary:
        temporary.write_bytes(b"".join(good))
    return Repair(path.name, aside.name, len(good), tuple(damaged))
