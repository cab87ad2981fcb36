"""What is scored: a dialogue's messages or a question and its answer, out of anybody's JSON lines or CSV."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import Field

from arena.rubrics.rubric import Rubric
from runstore.problems import InputProblem
from runstore.publish import clean_unicode
from runstore.records import Record
from runstore.tables import Names, Schema, read_table

SpeakerRole = Literal["student", "teacher", "question", "answer"]

_ROLES: dict[str, SpeakerRole] = {
    "student": "student",
    "user": "student",
    "human": "student",
    "teacher": "teacher",
    "tutor": "teacher",
    "assistant": "teacher",
    "model": "teacher",
    "gpt": "teacher",
    "ai": "teacher",
}
Row = dict[str, Any]
"""An object as it stands in a file that people bring."""
_MESSAGES = ("utterances", "messages", "conversations", "history")
_IDS = ("id", "subject", "session_id", "session", "dialogue")
SESSIONS = Schema(
    {
        "id": ("번호", "아이디", "식별자"),
        "question": ("질문", "질의", "query"),
        "answer": ("응답", "답변", "답", "response"),
    }
)
_NESTED = ("levels", "metadata", "columns")
# Columns whose names the tables have for something else; a dialogue's "subject" is its topic.
_RENAMED = {"subject": "topic", "judge": "input_judge"}


class Message(Record):
    role: SpeakerRole
    text: str


class Session(Record):
    """One thing to score. ``columns``: everything else its row says, as texts, for breakdowns."""

    id: str
    messages: tuple[Message, ...]
    columns: dict[str, str] = Field(default_factory=dict[str, str])


def load_sessions(path: Path, rubric: Rubric) -> list[Session]:
    """The subjects of a table in any form that :func:`read_table` knows, in its order.

    A row is a dialogue (``utterances`` or ``messages`` with role and text or content) or has ``question`` and
    ``answer``. Its id is in ``id``, ``subject``, ``session_id``, ``session`` or ``dialogue``.
    Raises InputProblem with file, line and field; ids must be there and differ.
    """
    sessions: list[Session] = []
    lines: dict[str, int] = {}
    names = Names(path)
    for number, row in read_table(path, SESSIONS).rows:
        name = _id_column(path, number, row)
        session = Session(
            id=clean_unicode(names.take(str(row[name]), line=number, column=name)),
            messages=_messages(path, number, row),
            columns=_columns({key: value for key, value in row.items() if key != name}),
        )
        if session.id in lines:
            found = f"{session.id!r} again (first on line {lines[session.id]})"
            raise InputProblem(path, "each subject once", found=found, line=number)
        if rubric.subject == "answer" and {message.role for message in session.messages} != {"question", "answer"}:
            raise InputProblem(
                path, f"question and answer (rubric {rubric.name})", found="a dialogue", line=number
            )
        lines[session.id] = number
        sessions.append(session)
    if not sessions:
        raise InputProblem(path, "at least one subject", found="an empty file")
    return sessions


def _id_column(path: Path, number: int, row: Row) -> str:
    for name in _IDS:
        value = row.get(name)
        if isinstance(value, (str, int)) and not isinstance(value, bool) and str(value).strip():
            return name
    raise InputProblem(path, f"an id in one of {', '.join(_IDS)}", line=number, field="id")


def _messages(path: Path, number: int, row: Row) -> tuple[Message, ...]:
    for name in _MESSAGES:
        if isinstance(row.get(name), list):
            said = tuple(_dialogue(path, number, name, cast("list[Any]", row[name])))
            if not said:
                raise InputProblem(path, "at least one message", found="none", line=number, field=name)
            return said
    pair: list[Message] = []
    for role in ("question", "answer"):
        text = row.get(role)
        if not isinstance(text, str):
            expected = f"a text (or a dialogue in {' or '.join(_MESSAGES[:2])})"
            raise InputProblem(path, expected, found=text, line=number, field=role)
        pair.append(Message(role=role, text=clean_unicode(text)))
    return tuple(pair)


def _dialogue(path: Path, number: int, name: str, entries: list[Any]) -> Iterator[Message]:
    for place, entry in enumerate(entries):
        field = f"{name}.{place}"
        if not isinstance(entry, dict):
            raise InputProblem(path, "role and text", found=entry, line=number, field=field)
        message = cast("Row", entry)
        role, text = _first(message, "role", "from"), _first(message, "text", "content", "value")
        if role == "system":
            continue
        if not isinstance(role, str) or role.lower() not in _ROLES:
            raise InputProblem(path, f"one of {', '.join(_ROLES)}", found=role, line=number, field=f"{field}.role")
        if not isinstance(text, str):
            raise InputProblem(path, "a text", found=text, line=number, field=f"{field}.text")
        yield Message(role=_ROLES[role.lower()], text=clean_unicode(text))


def _first(entry: Row, *names: str) -> Any:
    return next((entry[name] for name in names if name in entry), None)


def _columns(row: Row) -> dict[str, str]:
    """Plain values of a row; those of ``levels``, ``metadata`` and ``columns`` stand beside the others."""
    is_dialogue = any(isinstance(row.get(name), list) for name in _MESSAGES)
    scored = () if is_dialogue else ("question", "answer")
    found: dict[str, str] = {}
    for name, value in row.items():
        if name in _NESTED and isinstance(value, dict):
            found |= _columns(cast("Row", value))
        elif name not in scored and isinstance(value, (str, int, float)):
            shown = str(value).lower() if isinstance(value, bool) else str(value)
            found[_RENAMED.get(name, name)] = clean_unicode(shown)
    return found
