"""A run that exists: its records as typed tables, read from its files when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar, overload

from arena.learning.result import StudentSide, read_student
from arena.ratings.result import read_leaderboard
from frontdesk.report import blocks
from frontdesk.report.sections.ratings.document import document
from frontdesk.report.sections.run.data import load
from frontdesk.report.writers.html import fragment
from frontdesk.runner.runfolder import RunFolder
from runstore import records
from runstore.problems import InputProblem
from runstore.publish import read_records, to_json
from runstore.records import Failure, Judgment, Record, Reply, Subset, Verdict
from runstore.student_records import MoveLabel, Node, StudentVerdict
from tutor_arena.frames import Rows
from tutor_arena.measuring import Ranking
from tutor_arena.shown import Dialogue, Match, Sheet

R = TypeVar("R", bound=Record)
SHOWN = 10  # records that a notebook shows
LONGEST = 200  # characters of a cell there


class Table(Rows, Sequence[R], Generic[R]):
    """The records of one file, in its order."""

    def __init__(self, name: str, records: Sequence[R]) -> None:
        self.name, self._records = name, tuple(records)

    @overload
    def __getitem__(self, index: int) -> R: ...
    @overload
    def __getitem__(self, index: slice) -> Table[R]: ...
    def __getitem__(self, index: int | slice) -> R | Table[R]:
        if isinstance(index, slice):
            return Table(self.name, self._records[index])
        return self._records[index]

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[R]:
        return iter(self._records)

    def __repr__(self) -> str:
        return f"<{self.name}: {len(self)} records>"

    def _repr_html_(self) -> str:
        names = list(type(self[0]).model_fields) if self else []
        shown = [record.model_dump(mode="json") for record in self._records[:SHOWN]]
        rows = [blocks.cells(*(_told(row.get(name)) for name in names)) for row in shown]
        heads = tuple(blocks.Column(name, number=False) for name in names)
        table = [blocks.Table(heads, rows, row_heads=False)] if self else []
        title = f"{self.name}: {len(shown)} / {len(self)}"
        return fragment(blocks.Document(title, "en", None, [], [blocks.Section("records", "", [*table])]))

    def to_dicts(self) -> list[dict[str, Any]]:
        """One plain row a record, as in the file."""
        return [record.model_dump(mode="json") for record in self._records]


class Run(Rows):
    """A run folder. Each table raises InputProblem where its file is missing or not what it should be.

    As rows, for frames, it is its leaderboard.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._folder = RunFolder(path)

    def __repr__(self) -> str:
        return f"<run {self.path}>"

    def _repr_html_(self) -> str | None:
        return fragment(document(self.leaderboard)) if (self.path / "leaderboard.json").is_file() else None

    @property
    def leaderboard(self) -> Ranking:
        if not self._folder.file("leaderboard.json").is_file():
            raise InputProblem(
                self.path, "a finished run (with leaderboard.json): tutor-arena run makes it", found="none"
            )
        return Ranking.of(read_leaderboard(self._folder.file("leaderboard.json")))

    def to_dicts(self) -> list[dict[str, Any]]:
        """One plain row an endpoint, as in ``leaderboard``."""
        return self.leaderboard.to_dicts()

    @property
    def dialogues(self) -> Table[Dialogue]:
        return Table("dialogues", [Dialogue.of(record) for record in self._folder.dialogues()])

    @property
    def subsets(self) -> Table[Subset]:
        return Table("subsets", list(self._folder.subsets()))

    @property
    def replies(self) -> Table[Reply]:
        return Table("replies", list(self._folder.replies()))

    @property
    def judgments(self) -> Table[Judgment]:
        return Table("judgments", list(self._folder.judgments()))

    @property
    def verdicts(self) -> Table[Verdict]:
        return Table("verdicts", list(self._folder.verdicts()))

    @property
    def matches(self) -> Sequence[Match]:
        """Every match with its texts and rounds, in the order of ``verdicts``."""
        data = load(self._folder, journal=False)
        return [Match.of(data, verdict) for verdict in data.verdicts]

    @property
    def student(self) -> StudentSide:
        """What each tutor's branches left in simulated students (``student.json``)."""
        return read_student(self._folder.file("student.json"))

    @property
    def student_verdicts(self) -> Table[StudentVerdict]:
        rows = read_records(self._folder.file("student_verdicts.jsonl"), StudentVerdict)
        return Table("student verdicts", rows)

    @property
    def rollouts(self) -> Table[Node]:
        """Every utterance of every branch."""
        return Table("rollouts", read_records(self._folder.file("rollouts.jsonl"), Node))

    @property
    def labels(self) -> Table[MoveLabel]:
        """What was read in the tutors' utterances."""
        return Table("labels", read_records(self._folder.file("labels.jsonl"), MoveLabel))

    @property
    def sheets(self) -> Table[Sheet]:
        read = read_records(self._folder.file("sheets.jsonl"), records.Sheet)
        return Table("sheets", [Sheet.of(record) for record in read])

    @property
    def failures(self) -> Table[Failure]:
        """What failed; empty where nothing did."""
        return Table("failures", self._folder.failures())


def open_run(path: Path | str) -> Run:
    """A run that exists. Raises InputProblem where the folder is not one."""
    folder = Path(path)
    if not (folder / "run.toml").is_file():
        raise InputProblem(folder, "a run folder, which holds run.toml")
    return Run(folder)


def _told(value: object) -> str:
    text = value if isinstance(value, str) else "" if value is None else to_json(value).decode()
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"
