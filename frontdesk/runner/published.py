"""``published.json``: every file a run folder has published, with its hash and the hashes of its inputs.

So that two things can be told apart that look alike: a file that is wrong, and one that is older than its inputs.
It names what is under way too, until it has ended: whoever finds half of a stage finds it named here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import Field

from runstore.publish import parse_record, read_json, write_json
from runstore.records import Record

FILE = "published.json"
CHANGE = "change of configuration"
"""Under way from before another configuration is written until whatever was asked for with it has ended."""
MADE_AGAIN = "made again"
_MATCHES = ("subsets.jsonl", "replies.jsonl")
_VERDICTS = ("subsets.jsonl", "judgments.jsonl", "verdicts.jsonl")
_SCORED = ("score_plan.json", "rubric.json", "subjects.jsonl", "people.jsonl")
_REPORTED = (
    "dialogues.jsonl",
    *_MATCHES,
    "judgments.jsonl",
    "verdicts.jsonl",
    "leaderboard.json",
    "judges.json",
    "quality.json",
    "goal.json",
    "student.json",
    "human.json",
    "history.jsonl",
)
_MADE_OF: Mapping[str, tuple[str, ...]] = {
    "subsets.jsonl": ("dialogues.jsonl",),
    "replies.jsonl": ("subsets.jsonl",),
    "judgments.jsonl": _MATCHES,
    "verdicts.jsonl": _MATCHES,
    "goal.json": _MATCHES,
    **dict.fromkeys(
        ("rollouts.jsonl", "labels.jsonl", "states.jsonl", "quiz.jsonl", "student_verdicts.jsonl"), _MATCHES
    ),
    "student.json": (*_MATCHES, "verdicts.jsonl"),
    "leaderboard": _VERDICTS,
    "judges.json": ("replies.jsonl", "judgments.jsonl", "verdicts.jsonl"),
    "guesses.jsonl": ("dialogues.jsonl",),
    "quality": ("dialogues.jsonl", "guesses.jsonl"),
    "report": _REPORTED,
    "sheets.jsonl": _SCORED,
    "scores.csv": _SCORED,
    "scores_wide.csv": _SCORED,
    "summary.csv": _SCORED,
    "agreement.json": _SCORED,
    "comparison.json": _SCORED,
    "score": _SCORED,
    "human.json": ("verdicts.jsonl",),
}
"""By file, or by the name before its first dot."""


class Published(Record):
    """One file as it was published. ``made_of``: SHA-256 of each input, by file."""

    sha256: str
    made_of: dict[str, str] = Field(default_factory=dict[str, str])


class Held(Record):
    """What the journal held when it was last looked at: different answers in all, and lines of them by segment."""

    answers: int
    segments: dict[str, int]


class Folder(Record):
    """All of ``published.json``. ``under_way``: what began and has not ended, by stage, with how far it came.

    ``journal`` is None in a folder of a version that did not note it.
    """

    files: dict[str, Published] = Field(default_factory=dict[str, Published])
    under_way: dict[str, str] = Field(default_factory=dict[str, str])
    journal: Held | None = None


def read(folder: Path) -> Folder:
    """What the folder has published; nothing where it does not say. Raises InputProblem."""
    path = folder / FILE
    return parse_record(Folder, read_json(path), path) if path.is_file() else Folder()


def record(folder: Path, *names: str) -> None:
    """Note these files as published now, of the inputs there are now; a file that is not there is forgotten."""
    known = read(folder)
    files = {name: row for name, row in known.files.items() if name not in names}
    for name in names:
        if (hashed := hash_of(folder / name)) is not None:
            files[name] = Published(sha256=hashed, made_of=_hashes(folder, _inputs(name)))
    _write(folder, known.model_copy(update={"files": dict(sorted(files.items()))}))


def found(folder: Path) -> None:
    """Begin the record of a folder that has none: from now on, none is a loss."""
    if not (folder / FILE).is_file():
        _write(folder, Folder())


def hold(folder: Path, held: Held) -> None:
    """Note what the journal holds."""
    known = read(folder)
    if known.journal != held:
        _write(folder, known.model_copy(update={"journal": held}))


def begin(folder: Path, stage: str, state: str = "begun") -> None:
    """Note that a stage is under way, and how far it came where it was stopped."""
    known = read(folder)
    _write(folder, known.model_copy(update={"under_way": {**known.under_way, stage: state}}))


def end(folder: Path, stage: str) -> None:
    """Note that a stage has ended, and what was waiting for it with it."""
    known = read(folder)
    left = {
        name: MADE_AGAIN if state == until(stage) else state
        for name, state in known.under_way.items()
        if name != stage
    }
    _write(folder, known.model_copy(update={"under_way": left}))


def until(stage: str) -> str:
    """The state of what is under way until a stage has ended."""
    return f"until {stage} has ended"


def newer_inputs(folder: Path, name: str, known: Folder | None = None) -> list[str]:
    """The inputs of a published file that are not those it was made from; none where nobody noted them."""
    row = (known or read(folder)).files.get(name)
    if row is None:
        return []
    now = _hashes(folder, _inputs(name))
    return [file for file in _inputs(name) if now.get(file) != row.made_of.get(file)]


def hash_of(path: Path) -> str | None:
    """SHA-256 of a file; None where there is none."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None


def _inputs(name: str) -> tuple[str, ...]:
    return _MADE_OF.get(name) or _MADE_OF.get(name.partition(".")[0], ())


def _hashes(folder: Path, names: Iterable[str]) -> dict[str, str]:
    hashes = {name: hash_of(folder / name) for name in names}
    return {name: hashed for name, hashed in hashes.items() if hashed is not None}


def _write(folder: Path, known: Folder) -> None:
    write_json(folder / FILE, known)
