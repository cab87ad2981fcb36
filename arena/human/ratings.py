"""Ratings as they are analysed: one answer of one rater about one document in one condition."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.human.certificate import Assignment
from arena.human.forms import NOT_APPLICABLE, Question, read_answer
from arena.human.plan import conditions_of
from arena.human.study import Document, Study
from runstore.problems import InputProblem
from runstore.publish import require_columns
from runstore.tables import Names, Schema, clean_name, read_table, strict_number, text_rows

HEADER = ("rater", "document", "condition", "question", "value", "seconds", "submitted_at")
ANSWERS = Schema(
    {
        "rater": ("평가자", "채점자"),
        "document": ("문서", "자료"),
        "item": ("항목",),
        "question": ("문항", "질문"),
        "value": ("값", "응답", "답", "점수"),
        "position": ("순서",),
        "condition": ("조건",),
        "seconds": ("초",),
        "submitted_at": ("제출 시각", "제출시간"),
    }
)


@dataclass(frozen=True, slots=True)
class Rating:
    """A line of ``ratings.csv``, with its group and stratum. ``seconds`` is active time on the whole item."""

    rater: str
    group: str
    document: str
    stratum: str
    condition: str
    question: str
    value: str
    seconds: float | None
    submitted_at: str


@dataclass(frozen=True, slots=True)
class Scored:
    """All answers about one item: what one rater said of one document in one condition."""

    rater: str
    group: str
    document: str
    stratum: str
    condition: str
    seconds: float | None
    answers: Mapping[str, str]

    def number(self, question: str) -> float | None:
        """The answer as a number; None where it is missing or does not apply."""
        value = self.answers.get(question, NOT_APPLICABLE)
        return None if value == NOT_APPLICABLE else float(value)

    def mean(self, questions: Sequence[str]) -> float | None:
        """Mean of the numbers among these answers; None where there is none."""
        numbers = [number for question in questions if (number := self.number(question)) is not None]
        return sum(numbers) / len(numbers) if numbers else None


def scored(ratings: Sequence[Rating]) -> list[Scored]:
    """Ratings gathered by item, in the order of their first answers."""
    by_unit: dict[tuple[str, str, str], tuple[Rating, dict[str, str]]] = {}
    for rating in ratings:
        key = (rating.rater, rating.document, rating.condition)
        by_unit.setdefault(key, (rating, {}))[1][rating.question] = rating.value
    return [
        Scored(first.rater, first.group, first.document, first.stratum, first.condition, first.seconds, answers)
        for first, answers in by_unit.values()
    ]


def read_ratings(
    path: Path, study: Study, documents: Mapping[str, Document], plan: Sequence[Assignment] = ()
) -> list[Rating]:
    """A table of ratings from anywhere, of any form that :func:`read_table` knows.

    A rater's group is that of the question's form. Raises InputProblem with the line: a blank rater, an unknown
    question, document or condition, an answer that the question does not have, a duration that is none, the same
    answer twice.
    """
    table = read_table(path, ANSWERS)
    require_columns(path, table.header, HEADER[:5])
    owners = {group.form: name for name, group in reversed(study.groups.items())}
    form_of = {q.id: name for name, form in reversed(study.forms.items()) for q in form.questions}
    groups = {row.rater: row.group for row in plan}
    strata = {row.document: row.stratum for row in plan} | {d.id: d.stratum for d in documents.values()}
    conditions = {name for group in study.groups.values() for name in conditions_of(study, group)}
    result: list[Rating] = []
    seen: dict[tuple[str, ...], int] = {}
    names = {column: Names(path) for column in ("rater", "document", "condition")}
    for line, row in text_rows(table):
        if not row["rater"].strip():
            raise InputProblem(path, "a name", found="a blank cell", line=line, field="rater")
        row |= {column: seen.take(row[column], line=line, column=column) for column, seen in names.items()}
        question = _question(path, line, row, study)
        value, complaint = read_answer(question, row["value"])
        if complaint:
            raise InputProblem(path, f"an answer to {question.id}", found=row["value"], line=line, field="value")
        if not value:
            continue
        if strata and row["document"] not in strata:
            raise InputProblem(path, "a document of the study", found=row["document"], line=line, field="document")
        if row["condition"] not in conditions:
            expected = f"one of {', '.join(filter(None, conditions))}"
            raise InputProblem(path, expected, found=row["condition"], line=line, field="condition")
        key = (row["rater"], row["document"], row["condition"], question.id)
        if key in seen:
            raise InputProblem(path, "each answer once", found=f"the same as line {seen[key]}", line=line)
        seen[key] = line
        group = (
            groups.get(row["rater"]) or _group_by_name(study, row["rater"]) or owners.get(form_of[question.id], "")
        )
        result.append(
            Rating(
                row["rater"],
                group,
                row["document"],
                strata.get(row["document"], "all"),
                row["condition"],
                question.id,
                value,
                read_seconds(path, line, row),
                row.get("submitted_at", ""),
            )
        )
    return result


def _group_by_name(study: Study, rater: str) -> str | None:
    """Raters that a plan named carry their group: groups with questions in common are told apart by it."""
    name = rater.rpartition("-")[0]
    return name if name in study.groups else None


def read_seconds(path: Path, line: int, row: Mapping[str, str]) -> float | None:
    """The cell ``seconds`` of a row, None where there is none. Raises InputProblem for what is no duration."""
    text = row.get("seconds", "").strip()
    if not text:
        return None
    seconds = strict_number(text)
    if seconds is None or not 0 <= seconds < math.inf:
        raise InputProblem(path, "seconds, 0 or more", found=text, line=line, field="seconds")
    return seconds


def _question(path: Path, line: int, row: Mapping[str, str], study: Study) -> Question:
    question = study.question(clean_name(row["question"]))
    if question is None:
        raise InputProblem(path, "a question of the study", found=row["question"], line=line, field="question")
    return question
