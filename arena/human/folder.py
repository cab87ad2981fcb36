"""The organiser's folder of a study: the frozen study and material, the plan, and where collected data lie.

``study.json`` and ``documents.jsonl`` are copies made when the study was planned, so that later changes of the
originals cannot change what raters see. Both stay with the organiser: they hold the key.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from arena.human.certificate import Assignment
from arena.human.material import Material, gather, with_run_paths
from arena.human.plan import Plan, make_plan, read_plan, write_plan, write_rows
from arena.human.study import Document, Study, load_study, parse_document, parse_study
from runstore.problems import InputProblem, Problem
from runstore.publish import read_json, read_rows, write_json, write_jsonl


@dataclass(frozen=True, slots=True)
class Planned:
    study: Study
    material: Material
    plan: Plan


class StudyFolder:
    """Paths and frozen content of a planned study."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.plan_csv = path / "plan.csv"
        self.ratings_db = path / "ratings.sqlite"
        self.persons_db = path / "persons.sqlite"
        self.purged_json = path / "purged.json"
        self.ratings_csv = path / "ratings.csv"

    def plan(self, study_file: Path, seed: int | None) -> Planned:
        """Plan the study and freeze it here. Raises Problem where data have been collected already."""
        if self.ratings_db.exists():
            raise Problem(f"{self.path}: collecting has begun; plan into another folder")
        study = with_run_paths(load_study(study_file), study_file.parent)
        used = study.seed if seed is None else seed
        material = gather(study, study_file.parent, used)
        plan = make_plan(study, material.documents, used)
        self.path.mkdir(parents=True, exist_ok=True)
        write_json(self.path / "study.json", study)
        write_jsonl(self.path / "documents.jsonl", material.documents)
        write_plan(plan, self.path)
        return Planned(study, material, plan)

    def study(self) -> Study:
        """Raises InputProblem where this is no planned study."""
        path = self.path / "study.json"
        if not path.exists():
            raise InputProblem(path, "a planned study (make one with human plan STUDY --out FOLDER)")
        return parse_study(read_json(path), path)

    def documents(self) -> dict[str, Document]:
        path = self.path / "documents.jsonl"
        return {row["id"]: parse_document(row, path, line) for line, row in read_rows(path)}

    def rows(self) -> tuple[Assignment, ...]:
        return read_plan(self.plan_csv)

    def set_rows(self, rows: tuple[Assignment, ...]) -> None:
        write_rows(rows, self.path)
