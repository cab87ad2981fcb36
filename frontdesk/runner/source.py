"""What a run holds, read when asked for, with the texts that made it."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from frontdesk.runner import prepare
from frontdesk.runner.config import Config
from frontdesk.runner.runfolder import RunFolder
from runstore.ids import digest, draw
from runstore.journal import read_rows as journal_rows
from runstore.lookup import Lookup
from runstore.problems import InputProblem, Problem
from runstore.publish import read_json, read_records, read_rows, stream_records
from runstore.records import Dialogue, Failure, Judgment, Persona, Record, Reply, Subset, Verdict
from simulator.roles import Roles

R = TypeVar("R", bound=Record)
MADE_BY = {
    "dialogues.jsonl": "simulate",
    "subsets.jsonl": "cut",
    "replies.jsonl": "collect",
    "judgments.jsonl": "judge",
    "verdicts.jsonl": "judge",
}


@dataclass
class Overview:
    """Counts of ``spoken`` records, one a student's conversation; ``draws``: of each dialogue's place in a split.

    Eight bytes a dialogue is all that is kept of it.
    """

    spoken: int = 0
    dialogues: int = 0
    levels: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    subjects: Counter[str] = field(default_factory=Counter[str])
    personas: set[str] = field(default_factory=set[str])
    questions: set[str] = field(default_factory=set[str])
    ends: Counter[str] = field(default_factory=Counter[str])
    draws: array[float] = field(default_factory=lambda: array("d"))
    seed: int = 0

    def add(self, row: Mapping[str, Any], dialogue: str | None) -> None:
        self.spoken += 1
        self.levels.update(row.get("levels", {}).items())
        self.subjects[str(row.get("subject"))] += 1
        self.personas.add(str(row.get("persona")))
        self.questions.add(str(row.get("question")))
        if dialogue is not None:
            self.draws.append(part_draw(self.seed, dialogue))


def part_draw(seed: int, dialogue: str) -> float:
    """Where a dialogue stands when a run is split into parts."""
    return draw(seed, "test part", dialogue)


class Source:
    """A run folder, read when asked for. A stage that has not been run is an InputProblem that names it."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self.config: Config = folder.config()
        manifest = folder.file("manifest.json")
        self.manifest: dict[str, Any] = read_json(manifest) if manifest.is_file() else {}

    def has(self, name: str) -> bool:
        return self.folder.file(name).is_file()

    def _records(self, name: str, kind: type[R]) -> list[R]:
        return read_records(self.file(name), kind)

    def file(self, name: str) -> Path:
        """A stage file that is there. Raises InputProblem naming the command that makes it."""
        if not self.has(name):
            raise InputProblem(
                self.folder.path, f"{name} (tutor-arena {MADE_BY[name]} --run makes it)", found="none"
            )
        return self.folder.file(name)

    def each(self, name: str, kind: type[R], skip: int = 0) -> Iterator[R]:
        """The records of a stage file, but the first ``skip``, one at a time. Raises InputProblem at once."""
        return stream_records(self.file(name), kind, skip)

    def find(self, name: str, kind: type[R], key: Callable[[dict[str, Any]], str]) -> Lookup[R]:
        """The records of a stage file by a key of theirs. Raises InputProblem."""
        return Lookup(self.file(name), kind, key)

    @cached_property
    def dialogues(self) -> list[Dialogue]:
        return self._records("dialogues.jsonl", Dialogue)

    @cached_property
    def subsets(self) -> list[Subset]:
        return self._records("subsets.jsonl", Subset)

    @cached_property
    def replies(self) -> list[Reply]:
        return self._records("replies.jsonl", Reply)

    @cached_property
    def judgments(self) -> list[Judgment]:
        return self._records("judgments.jsonl", Judgment)

    @cached_property
    def verdicts(self) -> list[Verdict]:
        return self._records("verdicts.jsonl", Verdict)

    @cached_property
    def failures(self) -> list[Failure]:
        return self.folder.failures()

    @cached_property
    def began(self) -> datetime:
        """When the run's first call was made, to the second; 1970 where the folder has no journal."""
        journal = self.folder.journal
        times = (row["at"] for row in journal_rows(journal) if "at" in row) if journal.is_dir() else ()
        return datetime.fromtimestamp(int(min(times, default=0)), UTC)

    @property
    def domain(self) -> str | None:
        """What is taught, where that is said. Raises Problem, InputProblem where the questions are gone."""
        return prepare.domain_of(self.config)

    @cached_property
    def overview(self) -> Overview:
        """Who the students are, counted over dialogues, or else subsets. Raises InputProblem."""
        overview = Overview(seed=self.config.run.seed)
        if self.has("dialogues.jsonl"):
            for _, row in read_rows(self.folder.file("dialogues.jsonl")):
                overview.add(row, str(row.get("id")))
                overview.ends[str(row.get("end"))] += 1
            overview.dialogues = overview.spoken
            return overview
        names: set[str] = set()
        for subset in self.each("subsets.jsonl", Subset):
            overview.add(subset.model_dump(), None if subset.dialogue in names else subset.dialogue)
            names.add(subset.dialogue)
        overview.dialogues = len(names)
        return overview

    @cached_property
    def personas(self) -> dict[str, Persona]:
        """The students' texts by id, made again. Raises Problem where the factor file is no longer the same."""
        people, _ = prepare.students(self.config)
        recorded = self.manifest.get("inputs", {}).get("personas", {}).get("hash")
        if recorded is not None and recorded != digest([person.model_dump() for person in people]):
            raise Problem(
                f"{self.folder.path}: the personas are not those that made this run "
                f"(expected hash {recorded}): the factor file has changed since"
            )
        return {person.id: person for person in people}

    def roles(self) -> Roles:
        """The prompts of student and teacher. Raises Problem where a file is no longer the one that was used."""
        run = self.config.run
        how = self.config.simulate
        roles = Roles.load(
            run.language,
            Path(run.prompts) if run.prompts else None,
            domain=self.domain,
            stays=how is not None and how.ends == "fixed",
            rephrases=how is not None and how.rephrase_openings,
        )
        recorded = self.manifest.get("prompts", {})
        for name, hashed in roles.hashes.items():
            if name.startswith("student") and recorded.get(name, hashed) != hashed:
                raise Problem(
                    f"{self.folder.path}: the prompt {name} is not the one that made this run "
                    f"(found hash {hashed}, expected {recorded[name]})"
                )
        return roles
