"""A journal's segments: which files they are, which of their lines are good, and what to do about damage.

A segment begins with a header line that says the journal's format, whatever its name is; a second copy of one is
read once. Whatever else lies in the folder is somebody's file and is left alone, but for what bears a segment's
name and is none any more (packed, a link to nowhere): calls that were paid for lie in it. A line is good if its
own checksum says so (a copy may have changed or lost its end). One thing is passed over, a torn tail: a last
fragment without an end, as a killed process leaves it. Everything else that cannot be read stops with file and
line, and :func:`repair` sets it aside. Nothing is ever deleted.
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
_OWN_NAME = re.compile(r"\.?\d{6}-\d+\.(?:jsonl.*|gz|zip|xz|zst|bz2|7z)", re.IGNORECASE)
_SET_ASIDE = re.compile(r".*\.damaged-\d+|\..*\.tmp")
_PACKED = (b"\x1f\x8b", b"PK\x03\x04", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ", b"BZh")
_BOM = b"\xef\xbb\xbf"
_START = b'{"key":"'
_NEWER = (
    "go on with the version that wrote it (pip install --upgrade tutor-arena), or move the file out of journal/ "
    "(then tutor-arena calls --repair RUN: what it holds is asked and paid for again)"
)
_WAY_ON = "tutor-arena calls --repair RUN sets what is damaged aside"


def segments(folder: Path) -> list[Path]:
    """A journal's segments in order of time: files with a header, or with a name that only the program gives.

    Of several copies of one segment the fullest stands for all. Raises InputProblem for a file with a segment's
    name that is no segment any more, and for copies of which each has what the others lack.
    """
    copies: dict[bytes, list[Path]] = {}
    for path in _all_segments(folder):
        if (first := _first_line(path)) is None:
            continue
        copies.setdefault(first.rstrip() if _is_header(first) else path.name.encode(), []).append(path)
    return sorted(paths[0] if len(paths) == 1 else _fullest(paths) for paths in copies.values())


def _all_segments(folder: Path) -> list[Path]:
    paths: list[Path] = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        is_ours = _OWN_NAME.fullmatch(path.name) is not None
        if _SET_ASIDE.fullmatch(path.name) or (path.name.startswith(".") and not is_ours):
            continue
        if not path.is_file():
            if is_ours and (path.is_dir() or path.is_symlink()):
                raise InputProblem(path, "a segment of the journal", found="no file")
            continue
        if (first := _first_line(path)) is None:
            continue
        is_text = path.suffix == ".jsonl" and not first.startswith(_PACKED)
        if _is_header(first) or (is_ours and is_text):
            paths.append(path)
        elif is_ours:
            raise InputProblem(
                path, "a segment of the journal (unpack it, or move it out)", found="something else"
            )
    return paths


def _first_line(path: Path) -> bytes | None:
    """None where a process that made no call has taken its own segment away again since it was listed."""
    try:
        with path.open("rb") as file:
            return file.readline(1 << 16)
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not path.is_symlink():
            return None
        raise InputProblem(path, "a readable file", found=error.strerror or str(error)) from error


def _is_header(line: bytes) -> bool:
    return b'"journal":' in line and is_good(line.removeprefix(_BOM))


def _fullest(copies: list[Path]) -> Path:
    lines = {path: {line.rstrip() for line in path.read_bytes().split(b"\n") if is_good(line)} for path in copies}
    fullest = max(copies, key=lambda path: len(lines[path]))
    for path, held in lines.items():
        if not held <= lines[fullest]:
            raise InputProblem(path, f"no other lines than its copy {fullest.name} (move one of them out)")
    return fullest


def is_good(line: bytes) -> bool:
    """Whether the line is whole: what its checksum covers is what was written."""
    if not line.endswith(b'"}\n'):
        line = line.rstrip() + b"\n"
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
    begin, number = offset, 0
    for number, line in enumerate(file, 1):
        said = line.removeprefix(_BOM) if number == 1 and not begin else line
        if is_good(said):
            if number == 1 and not begin:
                _check_version(path, said)
            yield offset, said
        elif _is_torn(line):
            fragment = line[:60].decode("utf-8", "replace")
            notes.append(f"{path.name}:{number}: passed over an unfinished line: {fragment}")
        elif line.strip():
            shown = line[:80].decode("utf-8", "replace")
            raise InputProblem(path, f"an undamaged journal line ({_WAY_ON})", found=shown, line=number)
        offset += len(line)
    if number == 0 and not begin:
        raise InputProblem(path, f"the header of a segment ({_WAY_ON})", found="an empty file", line=1)


def lines_in(path: Path, notes: list[str], offset: int = 0) -> Iterator[tuple[int, bytes]]:
    """:func:`checked_lines` of a segment that was listed; none where it has been taken away since."""
    try:
        file = path.open("rb", buffering=1 << 20)
    except FileNotFoundError:
        if path.is_symlink():
            raise
        return
    with file:
        file.seek(offset)
        yield from checked_lines(path, file, notes, offset)


def _is_torn(line: bytes) -> bool:
    """The beginning of a line that a killed process left; it has no end, so nothing stands behind it."""
    is_whole = line.endswith(b"\n") or b"\0" in line or b"\r" in line.rstrip(b"\r")
    return not is_whole and line[: len(_START)] == _START[: len(line)]


def _check_version(path: Path, line: bytes) -> None:
    said = orjson.loads(line)
    version = said.get("journal")
    if version is None:
        raise InputProblem(path, f"the header of a segment ({_WAY_ON})", found="a call", line=1)
    if version != VERSION:
        by = said.get("program") or "a program that does not say its version"
        where = f" on {said['host']}" if said.get("host") else ""
        raise InputProblem(path, f"format {VERSION}: {_NEWER}", found=f"format {version} of {by}{where}", line=1)


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
    needs them; all others stay answered, also where all lines end in a carriage return. The caller holds the run's
    lock. Raises InputProblem for a segment of another format: that is not damage.
    """
    return [done for path in _all_segments(folder) if (done := _repair(path)) is not None]


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Lines that end with a line feed, a carriage return, or both; a mark of UTF-8 before the first one goes."""
    for number, line in enumerate(file):
        parts = re.findall(rb"[^\r]*\r(?!\r*\n)|[^\r]+\r*\n?|\r*\n", line)
        yield from [parts[0].removeprefix(_BOM), *parts[1:]] if number == 0 and parts else parts


def _repair(path: Path) -> Repair | None:
    good: list[bytes] = []
    damaged: list[int] = []
    has_other_ends = ends_otherwise = False
    number = 0
    with path.open("rb") as file:
        for number, line in enumerate(_lines(file), 1):
            has_other_ends |= ends_otherwise
            ends_otherwise = line.endswith(b"\r")
            if is_good(line):
                if number == 1 and b'"journal":' in line:
                    _check_version(path, line)
                elif number == 1:
                    damaged.append(0)
                good.append(line.rstrip() + b"\n")
            elif line.strip() and not _is_torn(line):
                damaged.append(number)
    damaged = damaged if number else [0]
    if not damaged and not has_other_ends:
        return None
    aside = next(
        candidate
        for number in range(1, 1_000_000)
        if not (candidate := path.with_name(f"{path.name}.damaged-{number}")).exists()
    )
    if damaged and damaged[0] <= 1:
        good.insert(0, header(repaired=aside.name))
    path.rename(aside)
    with replacing(path) as temporary:
        temporary.write_bytes(b"".join(good))
    return Repair(path.name, aside.name, len(good), tuple(damaged))
