"""Runs of the same subsets under several simulators or judges, held against each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena.learning.sensitivity import Sensitivity, scored_of, sensitivity
from frontdesk.runner.runfolder import RunFolder
from knowledge import load_outcomes
from runstore.problems import InputProblem, Problem
from runstore.publish import read_records
from runstore.records import Verdict
from runstore.student_records import StudentVerdict

Deltas = Mapping[tuple[str, str, str], float]


def compared_runs(folders: Sequence[RunFolder], *, judges: bool = False) -> Sensitivity:
    """The students' side of each run is one simulator; with ``judges`` each run's judges are another.

    Raises Problem, InputProblem where a run has neither, or they have no subsets in common.
    """
    deltas: dict[str, Deltas] = {}
    subsets: dict[str, tuple[str, str, str]] = {}
    for folder in folders:
        name = folder.path.name if folder.path.name not in deltas else str(folder.path)
        simulators = _of_students(folder)
        if not simulators and not judges:
            raise InputProblem(folder.path, "a run with a student's side (tutor-arena student)", found="none")
        if simulators:
            deltas[name] = simulators
        if judges:
            deltas |= _of_judges(folder, name)
        subsets |= {subset.id: (subset.dialogue, subset.question, subset.persona) for subset in folder.subsets()}
    if len(deltas) < 2:
        if judges:
            raise Problem("two simulators at least: give another run")
        raise Problem("two simulators at least: give another run, or --judges")
    outcomes = load_outcomes()
    try:
        scored = scored_of(deltas, subsets)
    except ValueError as error:
        raise Problem(f"{', '.join(deltas)}: {error}") from error
    return sensitivity(scored, level=outcomes.level, halves_agree=outcomes.halves_agree)


def _of_students(folder: RunFolder) -> dict[tuple[str, str, str], float]:
    path = folder.file("student_verdicts.jsonl")
    rows = read_records(path, StudentVerdict) if path.is_file() else []
    return {(row.subset, *row.endpoints): row.delta for row in rows if row.delta is not None}


def _of_judges(folder: RunFolder, name: str) -> dict[str, Deltas]:
    """Each criterion: half a point for a win, nothing for a tie."""
    path = folder.file("verdicts.jsonl")
    by_judges: dict[str, dict[tuple[str, str, str], float]] = {}
    for row in read_records(path, Verdict) if path.is_file() else []:
        if row.outcome != "invalid":
            a, b = sorted(row.endpoints)
            value = 0.0 if row.winner is None else 0.5 if row.winner == a else -0.5
            by_judges.setdefault(f"{name} judges ({row.criterion})", {})[row.subset, a, b] = value
    return {simulator: dict(values) for simulator, values in by_judges.items()}
