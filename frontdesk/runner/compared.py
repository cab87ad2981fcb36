"""A run folder beside the same run made again: what each of its files is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from frontdesk.runner import published
from frontdesk.runner.before import FOLDER as KEPT
from frontdesk.runner.leaderboard_history import HISTORY, PENDING
from runstore.results import Result

State = Literal["same", "different", "missing", "stale", "unfinished", "not made here"]

TOLD = ("human.json", "history.jsonl")
"""What people said and what refreshes did is no call, but the report shows it."""
SKIPPED = frozenset({"run.lock", "log.jsonl", "run.toml"})


@dataclass(frozen=True, slots=True)
class Compared:
    """One file of the folder, or one that it lacks; ``why`` says what differs, is newer, or is not known.

    ``same`` is made again byte for byte; ``stale`` was made of inputs that are others now; ``unfinished`` belongs
    to a stage that has not ended, and holds nothing that the journal does not; ``not made here`` cannot be made
    from the journal, and has not changed since it was published, if it was.
    """

    file: str
    state: State
    why: str = ""

    @property
    def is_right(self) -> bool:
        """Nothing about the file contradicts the journal."""
        return self.state in ("same", "unfinished", "not made here")

    def row(self) -> VerifiedFile:
        """The row of ``verify --json``."""
        return VerifiedFile(file=self.file, same=self.is_right, state=self.state, why=self.why)


class VerifiedFile(Result):
    """One file; ``same`` holds unless something is wrong."""

    file: str
    same: bool
    state: State
    why: str


class Verified(Result):
    """What ``verify --json`` prints: every file that the folder holds, published, or ought to hold."""

    files: tuple[VerifiedFile, ...]


def compare(folder: Path, again: Path) -> list[Compared]:
    """Every file that the folder holds, says that it published, or ought to hold, in order of names."""
    known = known_of(folder)
    remade = {path.name for path in again.iterdir() if path.is_file()} - set(TOLD)
    names = {path.name for path in folder.iterdir() if path.is_file()} | set(known.files) | remade
    names = {name for name in names if name not in (*SKIPPED, PENDING) and not name.startswith(".")}
    rows = [_Comparison(folder, again, known, name in remade).of(name) for name in names - {published.FILE}]
    rows.append(_record(folder, again, known, rows))
    return sorted(rows, key=lambda row: row.file)


def known_of(folder: Path) -> published.Folder:
    """What the folder says it published; a refresh that has not ended is under way too."""
    known = published.read(folder)
    if not (folder / PENDING).is_file():
        return known
    return known.model_copy(update={"under_way": {**known.under_way, "refresh": "pending"}})


@dataclass(frozen=True, slots=True)
class _Comparison:
    folder: Path
    again: Path
    known: published.Folder
    is_remade: bool

    def of(self, name: str) -> Compared:
        path, made = self.folder / name, self.again / name
        noted = self.known.files.get(name)
        if not path.is_file():
            if noted is None and self.known.under_way:
                return Compared(name, "unfinished", "not written yet")
            return Compared(name, "missing")
        if not self.is_remade:
            return self._told(name, noted)
        before, after = path.read_bytes(), made.read_bytes()
        if before == after:
            return Compared(name, "same")
        untouched = noted is not None and noted.sha256 == published.hash_of(path)
        newer = published.newer_inputs(self.folder, name, self.known) if untouched else []
        if newer:
            return Compared(name, "stale", f"{', '.join(newer)} changed since: tutor-arena report makes it again")
        if self.known.under_way and _is_part(name, before, after, self._earlier(name)):
            return Compared(name, "unfinished", ", ".join(self.known.under_way))
        return Compared(name, "different", difference(name, before, after))

    def _earlier(self, name: str) -> bytes:
        """The file as it was before a refresh that is under way: what it keeps is taken from there."""
        path = self.folder / KEPT / name
        return path.read_bytes() if path.is_file() else b""

    def _told(self, name: str, noted: published.Published | None) -> Compared:
        if noted is None:
            is_begun = name == HISTORY and (self.folder / PENDING).is_file()
            if name in TOLD and not is_begun and (self.folder / published.FILE).is_file():
                return Compared(name, "different", f"{published.FILE} does not name it: it was not written here")
            return Compared(name, "not made here")
        if noted.sha256 == published.hash_of(self.folder / name):
            newer = ", ".join(published.newer_inputs(self.folder, name, self.known))
            if newer and name not in TOLD:
                return Compared(name, "stale", f"{newer} changed since")
            since = f", before {newer} changed" if newer else ""
            return Compared(name, "not made here", f"as it was published{since}")
        is_refreshed = name == HISTORY and (self.folder / PENDING).is_file()
        if is_refreshed and noted.sha256 == _without_last_line(self.folder / name):
            return Compared(name, "unfinished", "with a line more than was published")
        return Compared(name, "different", "changed since it was published")


def _record(folder: Path, again: Path, known: published.Folder, rows: list[Compared]) -> Compared:
    """``published.json`` itself: its hashes are those of the files that are right."""
    if not (folder / published.FILE).is_file():
        return Compared(published.FILE, "missing", "made by an earlier version? tutor-arena run writes it")
    remade = published.read(again).files
    wrong = [
        row.file
        for row in rows
        if row.state == "same"
        and row.file in remade
        and known.files.get(row.file, _NONE).sha256 != remade[row.file].sha256
    ]
    if not wrong:
        said = ", ".join(f"{stage} {state}" for stage, state in known.under_way.items())
        return Compared(published.FILE, "unfinished", said) if said else Compared(published.FILE, "same")
    if known.under_way:
        return Compared(published.FILE, "unfinished", f"has not got {', '.join(sorted(wrong))} yet")
    return Compared(published.FILE, "different", f"does not fit {', '.join(sorted(wrong))}")


_NONE = published.Published(sha256="")


def _is_part(name: str, before: bytes, after: bytes, earlier: bytes = b"") -> bool:
    """Whether a file holds nothing that the whole one and ``earlier`` do not: what a stage that was killed may
    leave, or a refresh that was stopped among the lines that it keeps.

    Lines may be missing; none is repeated or stands before one that it follows.
    """
    if name.endswith(".jsonl"):
        made = set(after.split(b"\n"))
        lines = before.split(b"\n")
        whole, kept = iter(after.split(b"\n")), iter(earlier.split(b"\n"))
        return all(line in (whole if line in made else kept) for line in lines)
    if name != "manifest.json":
        return False
    with suppress(ValueError):
        return _is_less(json.loads(before), json.loads(after))
    return False


def _is_less(part: Any, whole: Any) -> bool:
    if not isinstance(part, dict) or not isinstance(whole, dict):
        return part == whole
    known = cast("Mapping[str, object]", whole)
    return all(
        key in known and _is_less(value, known[key]) for key, value in cast("Mapping[str, object]", part).items()
    )


def _without_last_line(path: Path) -> str:
    """SHA-256 of a file of lines without its last one."""
    lines = path.read_bytes().splitlines(keepends=True)
    return hashlib.sha256(b"".join(lines[:-1])).hexdigest()


def difference(name: str, before: bytes, after: bytes) -> str:
    """What is first different: the key of a JSON object, or the line, with both values cut short."""
    if before.replace(b"\r\n", b"\n") == after.replace(b"\r\n", b"\n"):
        return "in nothing but line ends, as a checkout or a copy may change them"
    if name.endswith(".json"):
        try:
            return _first_key(json.loads(before), json.loads(after))
        except ValueError:
            pass  # no JSON: compared by lines
    old, new = before.split(b"\n"), after.split(b"\n")
    for number, (left, right) in enumerate(zip(old, new, strict=False), 1):
        if left != right:
            return f"first in line {number}: {_around(left, right)}"
    return f"{len(old) - 1} lines, expected {len(new) - 1}"


def _around(left: bytes, right: bytes) -> str:
    at = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    start = max(0, at - 20)
    found, expected = (text[start : at + 30].decode("utf-8", "replace") for text in (left, right))
    return f"found {found!r}, expected {expected!r}"


def _first_key(before: Any, after: Any, at: str = "") -> str:
    if isinstance(before, dict) and isinstance(after, dict):
        old, new = cast("Mapping[str, object]", before), cast("Mapping[str, object]", after)
        for key in {**new, **old}:
            if key not in old or key not in new or old[key] != new[key]:
                return _first_key(old.get(key, "nothing"), new.get(key, "nothing"), f"{at}.{key}" if at else key)
    if isinstance(before, list) and isinstance(after, list):
        left, right = cast("list[Any]", before), cast("list[Any]", after)
        for number, (a, b) in enumerate(zip(left, right, strict=False)):
            if a != b:
                return _first_key(a, b, f"{at}[{number}]")
        if len(left) != len(right):
            return f"{at}: {len(left)} entries, expected {len(right)}"
    if before == after:
        return "written otherwise"
    found, expected = (str(value)[:60] for value in cast("tuple[object, object]", (before, after)))
    return f"{at}: found {found!r}, expected {expected!r}"
