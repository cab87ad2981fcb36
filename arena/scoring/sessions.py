"""What is scored: a dialogue's messages or a question and its answer, out of anybody's JSON lines or CSV."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from pydantic import Field

from arena.rubrics.rubric import Rubric
from runstore.problems import InputProblem
from runstore.publish import clean_unicode
from runstore.records import Record
from runstore.tables import Names, Schema, Skipped, read_table
from runstore.tables.talks import MESSAGES, Message, Row, messages_of

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


class Session(Record):
    """One thing to score. ``columns``: everything else its row says, as texts, for breakdowns."""

    id: str
    messages: tuple[Message, ...]
    columns: dict[str, str] = Field(default_factory=dict[str, str])


def load_sessions(path: Path, rubric: Rubric) -> list[Session]:
    """The sessions of a table in any form that :func:`read_table` knows, in its order.

    A row is a dialogue (``utterances`` or ``messages`` with role and text or content) or has ``question`` and
    ``answer``. Its id is in ``id``, ``subject``, ``session_id``, ``session`` or ``dialogue``.
    A dialogue without a message is skipped by line. Raises InputProblem with file, line and field; ids must be
    there and differ.
    """
    sessions: list[Session] = []
    lines: dict[str, int] = {}
    names, skipped = Names(path), Skipped(path)
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
        if not skipped.row(number, None if session.messages else "no messages"):
            sessions.append(session)
    skipped.tell()
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
    for name in MESSAGES:
        if isinstance(row.get(name), list):
            return tuple(messages_of(path, number, name, cast("list[Any]", row[name])))
    pair: list[Message] = []
    for role in ("question", "answer"):
        text = row.get(role)
        if not isinstance(text, str):
            expected = f"a text (or a dialogue in {' or '.join(MESSAGES[:2])})"
            raise InputProblem(path, expected, found=text, line=number, field=role)
        pair.append(Message(role=role, text=clean_unicode(text)))
    return tuple(pair)


def _columns(row: Row) -> dict[str, str]:
    """Plain values of a row; those of ``levels``, ``metadata`` and ``columns`` stand beside the others."""
    is_dialogue = any(isinstance(row.get(name), list) for name in MESSAGES)
    scored = () if is_dialogue else ("question", "answer")
    columns: dict[str, str] = {}
    for name, value in row.items():
        if name in _NESTED and isinstance(value, dict):
            columns |= _columns(cast("Row", value))
        elif name not in scored and isinstance(value, (str, int, float)):
            shown = str(value).lower() if isinstance(value, bool) else str(value)
            columns[_RENAMED.get(name, name)] = clean_unicode(shown)
    return columns
