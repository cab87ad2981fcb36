"""Dialogues, subsets and replies that users bring: a stage's needs must be there, the rest has plain defaults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from runstore.ids import content_id
from runstore.problems import InputProblem
from runstore.publish import parse_record
from runstore.records import Dialogue, Reply, Subset
from runstore.tables import read_table

_UNKNOWN = {"persona": "unknown", "question": "unknown", "subject": "unknown"}


def read_dialogues(path: Path) -> list[Dialogue]:
    """Dialogues of anybody's: an id that is missing is derived from the content.

    Of dialogues that are alike word for word the second gets another id than the first, and so on.
    """
    dialogues: list[Dialogue] = []
    alike: Counter[str] = Counter()
    for line, row in read_table(path).rows:
        utterances = _utterances(row.get("utterances") or row.get("turns"), path, line, "utterances")
        filled: dict[str, Any] = {
            **_UNKNOWN,
            "end": "turns reached",
            "complete": True,
            "turns": sum(_role(utterance) == "teacher" for utterance in utterances),
            **{key: value for key, value in row.items() if key != "turns" or isinstance(value, int)},
            "utterances": utterances,
        }
        if filled.get("id") in (None, ""):
            first = content_id("d", utterances)
            filled["id"] = content_id("d", utterances, alike[first]) if alike[first] else first
            alike[first] += 1
        dialogues.append(parse_record(Dialogue, filled, path, line))
    return dialogues


def read_subsets(path: Path) -> list[Subset]:
    """Subsets of anybody's: a history that ends with the student; one without a dialogue is a dialogue of its own.

    Raises InputProblem for a history that ends otherwise, and for two subsets of one id.
    """
    subsets: dict[str, Subset] = {}
    for line, row in read_table(path).rows:
        history = _utterances(row.get("history"), path, line, "history")
        if _role(history[-1]) != "student":
            raise InputProblem(path, "a last utterance of the student's", line=line, field="history")
        own = content_id("s", history)
        filled: dict[str, Any] = {
            **_UNKNOWN,
            "id": own,
            "dialogue": row.get("id", own),
            "cut": len(history),
            "depth": sum(_role(utterance) == "student" for utterance in history),
            **row,
        }
        subset = parse_record(Subset, filled, path, line)
        if subset.id in subsets:
            raise InputProblem(path, "an id of its own", found=subset.id, line=line, field="id")
        subsets[subset.id] = subset
    return list(subsets.values())


def read_replies(path: Path, subsets: Sequence[Subset]) -> list[Reply]:
    """Replies of anybody's to these subsets; usage, latency and cost may be missing, and are then unknown.

    Raises InputProblem for a reply to no subset there is, and for a second one of an endpoint to the same.
    """
    dialogue_of = {subset.id: subset.dialogue for subset in subsets}
    replies: dict[tuple[str, str], Reply] = {}
    for line, row in read_table(path).rows:
        dialogue = dialogue_of.get(str(row.get("subset")))
        if dialogue is None:
            found = row.get("subset", "none")
            raise InputProblem(path, "the id of a subset", found=found, line=line, field="subset")
        blanks: Mapping[str, Any] = {"finish": "stop", "usage": {}, "latency_s": None, "cost_usd": None}
        reply = parse_record(Reply, {**blanks, "dialogue": dialogue, **row}, path, line)
        if (reply.subset, reply.endpoint) in replies:
            raise InputProblem(path, "one reply an endpoint to a subset", found=reply.endpoint, line=line)
        replies[reply.subset, reply.endpoint] = reply
    return list(replies.values())


def _utterances(given: object, path: Path, line: int, field: str) -> list[object]:
    if not isinstance(given, list) or not given:
        raise InputProblem(
            path,
            "a list of utterances",
            found="none" if given is None else cast("object", given),
            line=line,
            field=field,
        )
    return cast("list[object]", given)


def _role(utterance: object) -> object:
    return cast("dict[str, object]", utterance).get("role") if isinstance(utterance, dict) else None
