"""How many answers a run's journal held when its files were made, so that one that was cut since is known.

What was cut at a line's end leaves a journal without a flaw: only the count tells it. The count is of keys, not
of lines or files: segments may be copied, renamed or joined. A journal that holds more is none of our business.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from frontdesk.runner import published
from frontdesk.runner.runfolder import RunFolder
from runstore.journal import Journal
from runstore.problems import Problem


@dataclass(frozen=True, slots=True)
class Short:
    """A segment that holds fewer answers than it did; ``found`` is None where there is no such file any more."""

    segment: str
    found: int | None
    expected: int

    @property
    def told(self) -> str:
        """What was found and what was expected."""
        found = "no file" if self.found is None else f"answers to {self.found} calls"
        return f"found {found}, expected answers to {self.expected} calls"


def hold(folder: Path, journal: Journal) -> None:
    """Note what the journal holds, once that is on the disk. Raises OSError."""
    journal.sync()
    published.hold(folder, published.Held(answers=len(journal), segments=journal.answers()))


def hold_at_last(folder: Path, journal: Journal) -> None:
    """The same as a command ends, whatever ended it: what cannot be written then is told by whoever found it."""
    if journal.error is None:
        with suppress(OSError):  # the note of the last stage stays, which is true too
            hold(folder, journal)


def missing(folder: Path, journal: Journal) -> int:
    """How many answers the journal has lost since a file of the run was published."""
    held = published.read(folder).journal
    return max(0, held.answers - len(journal)) if held is not None else 0


def short(folder: Path, journal: Journal) -> list[Short]:
    """The segments in which answers are missing; none where all are there, in whatever file."""
    held = published.read(folder).journal
    if held is None or held.answers <= len(journal):
        return []
    now = journal.answers()
    known = {name: now.get(name, 0 if (journal.folder / name).is_file() else None) for name in held.segments}
    rows = [Short(name, known[name], expected) for name, expected in held.segments.items()]
    rows = [row for row in rows if (row.found or 0) < row.expected]
    return rows or [Short("", len(journal), held.answers)]


def check(folder: RunFolder, journal: Journal) -> None:
    """Raises Problem where answers are gone that a run's files were made of: they would be paid for again.

    What ``calls --repair`` set aside, or noted as gone, it said would be asked again.
    """
    known = published.read(folder.path)
    is_accepted = known.journal.answers == 0 if known.journal else any(folder.journal.glob("*.damaged-*"))
    if not journal.states.total() and not is_accepted and (paid := _paid(folder, known)):
        raise Problem(
            f"{folder.path}: {', '.join(paid)} were made of calls, and journal/ holds none of them; put it back, "
            "or give another folder with --run (all would be asked and paid for again)"
        )
    if rows := short(folder.path, journal):
        lines = [f"{folder.journal / row.segment}: {row.told}" for row in rows]
        raise Problem(
            "\n".join(lines)
            + f"\n{missing(folder.path, journal)} answers are gone that files of this run were made "
            "of; put them back, or tutor-arena calls --repair RUN goes on without (what is gone is then asked and "
            "paid for again)"
        )


def _paid(folder: RunFolder, known: published.Folder) -> list[str]:
    """The files that were made of calls and hold something."""
    made = [name for name in ("dialogues.jsonl", "replies.jsonl", "judgments.jsonl") if name in known.files]
    made = [name for name in made if name != "replies.jsonl" or not folder.given("replies")]
    return [name for name in made if folder.file(name).is_file() and folder.file(name).stat().st_size]


def accept(folder: Path) -> int:
    """Note what the journal holds now, however little; how many answers it holds fewer than were noted."""
    held = published.read(folder).journal
    if held is None:
        return 0
    journal = Journal(folder / "journal", read_only=True)
    try:
        gone = missing(folder, journal)
        if gone:
            published.hold(folder, published.Held(answers=len(journal), segments=journal.answers()))
    finally:
        journal.close()
    return gone
