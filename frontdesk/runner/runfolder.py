"""A run folder: its files, the configuration that made it, and the lock of whoever writes it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from frontdesk.runner import config_file as configuration
from frontdesk.runner import inputs, published
from frontdesk.runner.config import Config
from gateway.secrets import Redactor
from runstore.ids import digest
from runstore.problems import InputProblem, Problem
from runstore.publish import read_json, read_records, read_rows, safe_name, write_json, write_jsonl, write_text
from runstore.records import Dialogue, Failure, Judgment, Record, Reply, Subset, Verdict
from runstore.stored import Stored

Given = Literal["subsets", "replies"]
STAGES = ("simulate", "cut", "collect", "judge", "rate", "student", "report")


class RunFolder:
    """Paths and stage files of one run."""

    def __init__(self, path: Path, journal: Path | None = None, home: Path | None = None) -> None:
        """``home``: the folder with the inputs, where these files lie elsewhere."""
        self.path, self.home = path, home or path
        self.journal = journal or path / "journal"
        self.is_made_anew = False
        """Whether every stage is made again of another configuration: nothing of the old manifest stays."""

    def file(self, name: str) -> Path:
        return self.path / name

    def config(self) -> Config:
        """The configuration that made this run. Raises InputProblem where there is none."""
        if not self.file("run.toml").is_file():
            raise InputProblem(self.path, "a run folder (with run.toml)", found="none")
        return configuration.load(self.file("run.toml"), self.home, Path(), self.path)

    def claim(self, config: Config, redactor: Redactor, *, change: bool = False) -> None:
        """Write the resolved configuration, or check that the run was made with the same one.

        Raises Problem naming every key that differs: results of two configurations would be mixed.
        """
        if not change and (other := self.other_configuration(config, redactor)) is not None:
            raise Problem(other)
        text = redactor.text(configuration.to_toml(config))
        inputs.keep(config.model_dump(mode="json", exclude_none=True), self.path)
        published.found(self.path)  # first: a run without its record would have lost it
        write_text(self.file("run.toml"), text)

    def other_configuration(self, config: Config, redactor: Redactor) -> str | None:
        """In what the run was made otherwise, if there is a run here, and what helps. Raises InputProblem."""
        path = self.file("run.toml")
        if not path.is_file():
            return None
        text = redactor.text(configuration.to_toml(config))
        old = configuration.settled(self.config())
        new = configuration.settled(configuration.parse(tomllib.loads(text)))
        different = configuration.differences(old, new)
        if not different:
            return None
        listed = "\n  ".join(different)
        return (
            f"{self.path} was made with another configuration:\n  {listed}\n"
            "give another folder with --run, or --change to recompute this one "
            "(finished calls that still fit are kept)."
        )

    def write_manifest(
        self, config: Config, prompts: Mapping[str, str], made_of: Mapping[str, object], instead_of: str = "-"
    ) -> None:
        """What made this run, without times: the same run, the same manifest.

        An input of None is forgotten, and so are earlier prompts whose names begin with ``instead_of``.
        """
        path = self.file("manifest.json")
        old: dict[str, dict[str, object]] = read_json(path) if path.is_file() and not self.is_made_anew else {}
        self.is_made_anew = False
        kept = {name: at for name, at in old.get("prompts", {}).items() if not name.startswith(instead_of)}
        merged: dict[str, object] = {**kept, **prompts}
        known: dict[str, object] = {**old.get("inputs", {}), **made_of}
        write_json(
            path,
            {
                "program": "tutor-arena",
                "version": version("tutor-arena"),
                "formats": {"journal": 1, "records": 1},
                "seed": config.run.seed,
                "language": config.run.language,
                "prompts": dict(sorted(merged.items())),
                "inputs": {name: value for name, value in known.items() if value is not None},
                "settings": configuration.settled(
                    configuration.parse(tomllib.loads(configuration.to_toml(config)))
                ),
            },
        )

    def take(self, name: Given, records: Sequence[Record], config: Config, *, change: bool = False) -> None:
        """Records that were brought, not made by this run, as a stage file; the manifest says so.

        Raises Problem where the run has others of its own and ``change`` is not asked for.
        """
        path, rows = self.file(f"{name}.jsonl"), [record.model_dump(mode="json") for record in records]
        if path.is_file() and not change and [row for _, row in read_rows(path)] != rows:
            raise Problem(
                f"{path} holds other {name} than were given; "
                "Give another folder with --run, or --change to replace them."
            )
        write_jsonl(path, records)
        published.record(self.path, path.name)
        self.write_manifest(config, {}, {name: {"given": len(rows), "hash": digest(rows)}})

    def given(self, name: Given) -> bool:
        """Whether this stage's records were brought."""
        path = self.file("manifest.json")
        inputs: dict[str, object] = read_json(path).get("inputs", {}) if path.is_file() else {}
        return name in inputs

    def dialogues(self) -> Sequence[Dialogue]:
        return Stored(self.file("dialogues.jsonl"), Dialogue)

    def subsets(self) -> Sequence[Subset]:
        return Stored(self.file("subsets.jsonl"), Subset)

    def replies(self) -> Sequence[Reply]:
        return Stored(self.file("replies.jsonl"), Reply)

    def judgments(self) -> Sequence[Judgment]:
        return Stored(self.file("judgments.jsonl"), Judgment)

    def verdicts(self) -> Sequence[Verdict]:
        return Stored(self.file("verdicts.jsonl"), Verdict)

    def failures(self) -> list[Failure]:
        path = self.file("failures.jsonl")
        return read_records(path, Failure) if path.is_file() else []

    def replace_failures(self, stage: str, new: Iterable[Failure]) -> None:
        """The failures of one stage, those of the others kept; in the order of stages, then of items."""
        rows = [failure for failure in self.failures() if failure.stage != stage] + list(new)
        rows.sort(key=lambda row: (STAGES.index(row.stage) if row.stage in STAGES else 99, row.item, row.endpoint))
        write_jsonl(self.file("failures.jsonl"), rows)


def default_folder(config: Config, given: str | None) -> RunFolder:
    """The run folder: as given, or ``runs/<name>``."""
    return RunFolder(Path(given) if given else Path("runs") / safe_name(config.run.name))
