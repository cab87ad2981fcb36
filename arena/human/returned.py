"""Forms that come back as CSV: one answer a row, each (rater, item, question) counted once.

The rules, which the import report names: an exact repeat is ignored and counted. Two different answers to one
question are settled by their times, the later one standing; without times neither is taken, and both are listed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from arena.human.certificate import Assignment
from arena.human.forms import Question, read_answer
from arena.human.ratings import ANSWERS, read_seconds
from runstore.problems import InputProblem
from runstore.publish import require_columns
from runstore.tables import Names, clean_name, read_table, text_rows, whole_number

RULE = "of two different answers the later one (submitted_at) stands; without times neither is taken"


SURVEY = "survey"
"""Where an item's position stands, for the answers to the closing survey."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer as it came back. ``at`` is UTC, ISO 8601, or None; ``line`` its first line in the file."""

    value: str
    at: str | None
    seconds: float | None
    line: int


@dataclass(slots=True)
class Returned:
    """``items``: (rater, position) -> question -> answer. The lists hold sentences for the organiser."""

    items: dict[tuple[str, int], dict[str, Answer]] = field(
        default_factory=dict[tuple[str, int], dict[str, Answer]]
    )
    survey: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    rows: int = 0
    repeats: int = 0
    by_time: list[str] = field(default_factory=list[str])
    conflicts: list[str] = field(default_factory=list[str])
    unreadable: list[str] = field(default_factory=list[str])

    def report(self) -> dict[str, object]:
        """The reading part of the import report."""
        return {
            "rule": RULE,
            "rows": self.rows,
            "exact_repeats_ignored": self.repeats,
            "settled_by_time": self.by_time,
            "conflicts": self.conflicts,
            "unreadable": self.unreadable,
        }


def read_returned(
    path: Path,
    plan: Sequence[Assignment],
    questions: Mapping[str, Mapping[str, Question]],
    survey: Mapping[str, Question] | None = None,
) -> Returned:
    """Read a returned file against the plan. ``questions``: group -> id -> question.
    ``survey``: those of the closing survey, whose rows have the position ``survey``.

    Columns ``rater``, ``document`` (or ``item``) or ``position``, ``question``, ``value``; optional ``condition``,
    ``seconds``, ``submitted_at``. Empty values are missing answers. Raises InputProblem with the row for an item
    that is not in the plan, another condition than planned, a question that is not in the form, a bad time.
    """
    table = read_table(path, ANSWERS)
    document = "document" if "document" in table.header else "item"
    # Which document the item was, stays with the plan: the rater's own number of it is enough.
    item = document if {document, "position"} & {*table.header} == {document} else "position"
    require_columns(path, table.header, ("rater", item, "question", "value"))
    items: dict[tuple[str, str], list[Assignment]] = {}
    for assignment in plan:
        items.setdefault((assignment.rater, assignment.document), []).append(assignment)
    returned = Returned()
    conflicting: dict[tuple[tuple[str, int], str], set[str]] = {}
    surveys: dict[tuple[str, str], dict[str, None]] = {}
    raters = Names(path)
    for line, row in text_rows(table):
        if not row["value"].strip():
            continue
        row["rater"] = raters.take(row["rater"], line=line, column="rater")
        row[document] = clean_name(row.get(document, ""))
        returned.rows += 1
        if _position(row).casefold() == SURVEY:
            _take_survey(returned, surveys, path, line, row, plan, survey or {})
            continue
        item = _planned(path, line, row, document, items)
        question = questions[item.group].get(clean_name(row["question"]))
        if question is None:
            known = ", ".join(questions[item.group])
            raise InputProblem(path, f"one of {known}", found=row["question"], line=line, field="question")
        value, complaint = read_answer(question, row["value"])
        where = f"line {line}: {item.rater}, {item.document}, {question.id}"
        if complaint:
            returned.unreadable.append(_no_answer(where, row, question, complaint))
            continue
        new = Answer(value, _time(path, line, row), read_seconds(path, line, row), line)
        _take(returned, conflicting, item, question.id, new, where)
    for (key, question), values in conflicting.items():
        returned.items[key].pop(question, None)
        returned.conflicts.append(
            f"{key[0]}, item {key[1]}, {question}: {' and '.join(sorted(values))}; none was taken"
        )
    for (rater, name), given in surveys.items():
        if len(given) == 1:
            returned.survey.setdefault(rater, {})[name] = next(iter(given))
        else:
            returned.conflicts.append(f"{rater}, survey, {name}: {' and '.join(sorted(given))}; none was taken")
    return returned


def _no_answer(where: str, row: Mapping[str, str], question: Question, complaint: str) -> str:
    what = f"{where}: {row['value'][:80]!r} is no answer to this question"
    return f"{what}; it takes {', '.join(question.answers())}" if complaint == "option" else what


def _take_survey(
    returned: Returned,
    surveys: dict[tuple[str, str], dict[str, None]],
    path: Path,
    line: int,
    row: Mapping[str, str],
    plan: Sequence[Assignment],
    survey: Mapping[str, Question],
) -> None:
    """An answer to the closing survey."""
    rater, name = row["rater"], clean_name(row["question"])
    if all(assignment.rater != rater for assignment in plan):
        raise InputProblem(path, "a rater of the plan", found=rater, line=line, field="rater")
    if name not in survey:
        raise InputProblem(path, f"one of {', '.join(survey)}", found=row["question"], line=line, field="question")
    value, complaint = read_answer(survey[name], row["value"])
    if complaint:
        returned.unreadable.append(
            _no_answer(f"line {line}: {rater}, survey, {name}", row, survey[name], complaint)
        )
        return
    surveys.setdefault((rater, name), {})[value] = None


def _take(
    returned: Returned,
    conflicting: dict[tuple[tuple[str, int], str], set[str]],
    item: Assignment,
    question: str,
    new: Answer,
    where: str,
) -> None:
    key = (item.rater, item.position)
    answers = returned.items.setdefault(key, {})
    old = answers.get(question)
    if (key, question) in conflicting:
        conflicting[key, question].add(new.value)
    elif old is None:
        answers[question] = new
    elif old.value == new.value:
        returned.repeats += 1
    elif old.at and new.at and old.at != new.at:
        later, earlier = (new, old) if new.at > old.at else (old, new)
        answers[question] = later
        returned.by_time.append(
            f"{where}: {later.value} of {later.at} stands, {earlier.value} of {earlier.at} does not"
        )
    else:
        conflicting[key, question] = {old.value, new.value}


def _planned(
    path: Path,
    line: int,
    row: Mapping[str, str],
    document: str,
    planned: Mapping[tuple[str, str], Sequence[Assignment]],
) -> Assignment:
    rater, name, position = row["rater"], row.get(document, ""), _position(row)
    mine = [item for items in planned.values() for item in items if item.rater == rater] if not name else []
    items = [
        assignment
        for assignment in planned.get((rater, name), mine)
        if not position or str(assignment.position) == position
    ]
    if not name and not position:
        raise InputProblem(path, "a document, or the position of the item", found="neither", line=line)
    condition = row.get("condition", "").strip()
    if len(items) > 1 and condition:
        items = [item for item in items if item.condition == condition]
    if len(items) != 1:
        expected = "an item of the plan" if not items else "a position (this rater sees the document twice)"
        raise InputProblem(path, expected, found=f"{rater}, {name} {position}".strip(), line=line)
    if condition and condition != items[0].condition:
        raise InputProblem(
            path, f"{items[0].condition} (as planned)", found=condition, line=line, field="condition"
        )
    return items[0]


def _position(row: Mapping[str, str]) -> str:
    text = row.get("position", "").strip()
    return whole_number(text) or text


def _time(path: Path, line: int, row: Mapping[str, str]) -> str | None:
    text = row.get("submitted_at", "").strip()
    if not text:
        return None
    try:
        time = datetime.fromisoformat(text)
        time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InputProblem(path, "a time (ISO 8601)", found=text, line=line, field="submitted_at") from error
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
