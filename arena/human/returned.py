"""Forms that come back as tables: one answer a row, each (rater, item, question) counted once, in whichever file.

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
from runstore.tables import Names, clean_name, read_table, require_rows, text_rows, whole_number

RULE = "of two different answers the later one (submitted_at) stands; without times neither is taken"


SURVEY = "survey"
"""Where an item's position stands, for the answers to the closing survey."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer as it came back. ``at`` is UTC, ISO 8601, or None; ``line`` where it came first: ``line 7``."""

    value: str
    at: str | None
    seconds: float | None
    line: str


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
    files: Sequence[Path],
    plan: Sequence[Assignment],
    questions: Mapping[str, Mapping[str, Question]],
    survey: Mapping[str, Question] | None = None,
) -> Returned:
    """Read returned files, as if they were one, against the plan. ``questions``: group -> id -> question.
    ``survey``: those of the closing survey, whose rows have the position ``survey``.

    Columns ``rater``, ``document`` (or ``item``) or ``position``, ``question``, ``value``; optional ``condition``,
    ``seconds``, ``submitted_at``. Empty values are missing answers. Raises InputProblem with the row for an item
    that is not in the plan, another condition than planned, a question that is not in the form, a bad time; and
    for a file without a row.
    """
    reading = _Reading(plan, questions, survey or {})
    for path in files:
        reading.take_file(path, f"{path.name}, " if len(files) > 1 else "")
    return reading.settled()


@dataclass(frozen=True, slots=True)
class _Place:
    """A row: of which file, on which line, and how a sentence names it."""

    path: Path
    line: int
    said: str


class _Reading:
    """What was read so far, of all files."""

    def __init__(
        self,
        plan: Sequence[Assignment],
        questions: Mapping[str, Mapping[str, Question]],
        survey: Mapping[str, Question],
    ) -> None:
        self._questions, self._survey = questions, survey
        self._raters = {assignment.rater for assignment in plan}
        self._planned: dict[tuple[str, str], list[Assignment]] = {}
        for assignment in plan:
            self._planned.setdefault((assignment.rater, assignment.document), []).append(assignment)
        self.returned = Returned()
        self._conflicting: dict[tuple[tuple[str, int], str], set[str]] = {}
        self._surveys: dict[tuple[str, str], dict[str, None]] = {}

    def take_file(self, path: Path, named: str) -> None:
        """Every row of one file. ``named``: what stands before its lines in a sentence."""
        table = read_table(path, ANSWERS)
        document = "document" if "document" in table.header else "item"
        # Which document the item was, stays with the plan: the rater's own number of it is enough.
        item = document if {document, "position"} & {*table.header} == {document} else "position"
        require_columns(path, table.header, ("rater", item, "question", "value"))
        require_rows(table)
        raters = Names(path)
        for line, row in text_rows(table):
            if not row["value"].strip():
                continue
            row["rater"] = raters.take(row["rater"], line=line, column="rater")
            row["document"] = clean_name(row.get(document, ""))
            self.returned.rows += 1
            place = _Place(path, line, f"{named}line {line}")
            if _position(row).casefold() == SURVEY:
                self._take_survey(place, row)
            else:
                self._take_answer(place, row)

    def settled(self) -> Returned:
        """What was read, without the answers that contradict each other."""
        for (key, question), values in self._conflicting.items():
            self.returned.items[key].pop(question, None)
            self.returned.conflicts.append(
                f"{key[0]}, item {key[1]}, {question}: {' and '.join(sorted(values))}; none was taken"
            )
        for (rater, name), given in self._surveys.items():
            if len(given) == 1:
                self.returned.survey.setdefault(rater, {})[name] = next(iter(given))
            else:
                told = f"{rater}, survey, {name}: {' and '.join(sorted(given))}; none was taken"
                self.returned.conflicts.append(told)
        return self.returned

    def _take_answer(self, place: _Place, row: Mapping[str, str]) -> None:
        item = _planned(place, row, self._planned)
        question = self._questions[item.group].get(clean_name(row["question"]))
        if question is None:
            known = ", ".join(self._questions[item.group])
            raise _problem(place, f"one of {known}", row["question"], "question")
        value, complaint = read_answer(question, row["value"])
        where = f"{place.said}: {item.rater}, {item.document}, {question.id}"
        if complaint:
            self.returned.unreadable.append(_no_answer(where, row, question, complaint))
            return
        seconds = read_seconds(place.path, place.line, row)
        self._take(item, question.id, Answer(value, _time(place, row), seconds, place.said), where)

    def _take_survey(self, place: _Place, row: Mapping[str, str]) -> None:
        """An answer to the closing survey."""
        rater, name = row["rater"], clean_name(row["question"])
        if rater not in self._raters:
            raise _problem(place, "a rater of the plan", rater, "rater")
        if name not in self._survey:
            raise _problem(place, f"one of {', '.join(self._survey)}", row["question"], "question")
        value, complaint = read_answer(self._survey[name], row["value"])
        if complaint:
            where = f"{place.said}: {rater}, survey, {name}"
            self.returned.unreadable.append(_no_answer(where, row, self._survey[name], complaint))
            return
        self._surveys.setdefault((rater, name), {})[value] = None

    def _take(self, item: Assignment, question: str, new: Answer, where: str) -> None:
        key = (item.rater, item.position)
        answers = self.returned.items.setdefault(key, {})
        old = answers.get(question)
        if (key, question) in self._conflicting:
            self._conflicting[key, question].add(new.value)
        elif old is None:
            answers[question] = new
        elif old.value == new.value:
            self.returned.repeats += 1
        elif old.at and new.at and old.at != new.at:
            later, earlier = (new, old) if new.at > old.at else (old, new)
            answers[question] = later
            self.returned.by_time.append(
                f"{where}: {later.value} of {later.at} stands, {earlier.value} of {earlier.at} does not"
            )
        else:
            self._conflicting[key, question] = {old.value, new.value}


def _problem(place: _Place, expected: str, found: str, field: str | None = None) -> InputProblem:
    return InputProblem(place.path, expected, found=found, line=place.line, field=field)


def _no_answer(where: str, row: Mapping[str, str], question: Question, complaint: str) -> str:
    what = f"{where}: {row['value'][:80]!r} is no answer to this question"
    return f"{what}; it takes {', '.join(question.answers())}" if complaint == "option" else what


def _planned(
    place: _Place, row: Mapping[str, str], planned: Mapping[tuple[str, str], Sequence[Assignment]]
) -> Assignment:
    rater, name, position = row["rater"], row["document"], _position(row)
    mine = [item for items in planned.values() for item in items if item.rater == rater] if not name else []
    items = [
        assignment
        for assignment in planned.get((rater, name), mine)
        if not position or str(assignment.position) == position
    ]
    if not name and not position:
        raise _problem(place, "a document, or the position of the item", "neither")
    condition = row.get("condition", "").strip()
    if len(items) > 1 and condition:
        items = [item for item in items if item.condition == condition]
    if len(items) != 1:
        expected = "an item of the plan" if not items else "a position (this rater sees the document twice)"
        raise _problem(place, expected, f"{rater}, {name} {position}".strip())
    if condition and condition != items[0].condition:
        raise _problem(place, f"{items[0].condition} (as planned)", condition, "condition")
    return items[0]


def _position(row: Mapping[str, str]) -> str:
    text = row.get("position", "").strip()
    return whole_number(text) or text


def _time(place: _Place, row: Mapping[str, str]) -> str | None:
    text = row.get("submitted_at", "").strip()
    if not text:
        return None
    try:
        time = datetime.fromisoformat(text)
        time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise _problem(place, "a time (ISO 8601)", text, "submitted_at") from error
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
