"""Dialogues, subsets and replies that users bring: a stage's needs must be there, the rest has plain defaults.

A row that nobody can be asked about is skipped, named with its line, and counted: a dialogue without utterances
or without a student's, one with a blank utterance, a blank reply. What is no dialogue at all (another kind of
value, a role there is not) is refused. Utterances of one speaker that follow each other stay apart in the record.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby, takewhile
from pathlib import Path
from typing import cast

from runstore.ids import content_id
from runstore.problems import InputProblem
from runstore.publish import has_visible, parse_record
from runstore.records import Dialogue, Reply, Subset, Utterance
from runstore.tables import Names, Skipped, assume, read_table

_UNKNOWN = {"persona": "unknown", "question": "unknown", "subject": "unknown"}


def read_dialogues(path: Path) -> list[Dialogue]:
    """Dialogues of anybody's: an id that is missing is derived from the content.

    Of dialogues that are alike word for word the second gets another id than the first, and so on. Raises
    InputProblem for what is no dialogue, and where no row is left.
    """
    dialogues: list[Dialogue] = []
    alike: Counter[str] = Counter()
    taken: dict[str, int] = {}
    names, skipped = _Names(path, "id"), Skipped(path)
    for line, row in read_table(path).rows:
        names.clean(row, line)
        utterances = _utterances(row.get("utterances", row.get("turns")), path, line, "utterances")
        filled: dict[str, object] = {
            **_UNKNOWN,
            "end": "turns reached",
            "complete": True,
            "turns": _turns(utterances, "teacher"),
            **{key: value for key, value in row.items() if key != "turns" or isinstance(value, int)},
            "utterances": utterances,
        }
        if filled.get("id") in (None, ""):
            first = content_id("d", utterances)
            filled["id"] = content_id("d", utterances, alike[first]) if alike[first] else first
            alike[first] += 1
        dialogue = parse_record(Dialogue, filled, path, line)
        if dialogue.id in taken:
            found = f"{dialogue.id} again (first on line {taken[dialogue.id]})"
            raise InputProblem(path, "an id of its own", found=found, line=line, field="id")
        taken[dialogue.id] = line
        if not skipped.row(line, _unusable(dialogue.utterances)):
            dialogues.append(dialogue)
    skipped.tell()
    return dialogues


def read_subsets(path: Path) -> list[Subset]:
    """Subsets of anybody's: a history that ends with the student; one without a dialogue is a dialogue of its own.

    What the teacher says before the student's first utterance is left out, as a cut does it, and said. Raises
    InputProblem for a history that ends otherwise, and for two subsets of one id.
    """
    subsets: dict[str, Subset] = {}
    greeted = 0
    names, skipped = _Names(path, "id", "dialogue"), Skipped(path)
    for line, row in read_table(path).rows:
        names.clean(row, line)
        history = _utterances(row.get("history"), path, line, "history")
        if any(_role(utterance) == "student" for utterance in history) and _role(history[-1]) != "student":
            raise InputProblem(path, "a last utterance of the student's", line=line, field="history")
        own = content_id("s", history)
        filled: dict[str, object] = {
            **_UNKNOWN,
            "id": own,
            "dialogue": row.get("id", own),
            "cut": len(history),
            "depth": _turns(history, "student"),
            **row,
        }
        subset = parse_record(Subset, filled, path, line)
        if skipped.row(line, _unusable(subset.history)):
            continue
        if subset.id in subsets:
            raise InputProblem(path, "an id of its own", found=subset.id, line=line, field="id")
        subsets[subset.id] = _from_the_student_on(subset)
        greeted += subsets[subset.id] is not subset
    skipped.tell()
    if greeted:
        assume(path, [f"histories from the student's first utterance on ({greeted} began with the teacher)"])
    return list(subsets.values())


def read_replies(path: Path, subsets: Sequence[Subset]) -> list[Reply]:
    """Replies of anybody's to these subsets; usage, latency and cost may be missing, and are then unknown.

    Raises InputProblem for a reply to no subset there is, and for a second one of an endpoint to the same.
    """
    dialogue_of = {subset.id: subset.dialogue for subset in subsets}
    replies: dict[tuple[str, str], Reply] = {}
    names, skipped = _Names(path, "subset", "endpoint"), Skipped(path)
    for line, row in read_table(path).rows:
        names.clean(row, line)
        dialogue = dialogue_of.get(str(row.get("subset")))
        if dialogue is None:
            found = row.get("subset", "none")
            raise InputProblem(path, "the id of a subset", found=found, line=line, field="subset")
        blanks: Mapping[str, object] = {"finish": "stop", "usage": {}, "latency_s": None, "cost_usd": None}
        reply = parse_record(Reply, {**blanks, "dialogue": dialogue, **row}, path, line)
        if skipped.row(line, None if has_visible(reply.text) else "a blank reply"):
            continue
        if (reply.subset, reply.endpoint) in replies:
            raise InputProblem(path, "one reply an endpoint to a subset", found=reply.endpoint, line=line)
        replies[reply.subset, reply.endpoint] = reply
    skipped.tell()
    return list(replies.values())


class _Names:
    """The names in some of a file's columns, in composed form; see :class:`runstore.tables.Names`."""

    def __init__(self, path: Path, *columns: str) -> None:
        self._columns = {column: Names(path) for column in columns}

    def clean(self, row: dict[str, object], line: int) -> None:
        for column, names in self._columns.items():
            if isinstance(name := row.get(column), str):
                row[column] = names.take(name, line=line, column=column)


def _unusable(utterances: Sequence[Utterance]) -> str | None:
    """Why nobody can be asked what comes next here, or None."""
    if not utterances:
        return "no utterances"
    for place, utterance in enumerate(utterances, 1):
        if not has_visible(utterance.text):
            return f"a blank utterance (the {utterance.role}'s, number {place})"
    if all(utterance.role != "student" for utterance in utterances):
        return "no utterance of the student's"
    return None


def _from_the_student_on(subset: Subset) -> Subset:
    greeting = len(list(takewhile(lambda utterance: utterance.role == "teacher", subset.history)))
    if not greeting:
        return subset
    return subset.model_copy(update={"first": subset.first + greeting, "history": subset.history[greeting:]})


def _utterances(given: object, path: Path, line: int, field: str) -> list[object]:
    if not isinstance(given, list):
        found = "none" if given is None else given
        raise InputProblem(path, "a list of utterances", found=found, line=line, field=field)
    return cast("list[object]", given)


def _turns(utterances: Sequence[object], role: str) -> int:
    """How often a speaker has a turn, of one utterance or several."""
    return sum(speaker == role for speaker, _ in groupby(utterances, key=_role))


def _role(utterance: object) -> object:
    return cast("dict[str, object]", utterance).get("role") if isinstance(utterance, dict) else None
