"""Conversations that people bring: a row with all its messages, or a row a message."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import Field

from runstore.problems import InputProblem
from runstore.publish import clean_unicode
from runstore.records import Record
from runstore.tables.assumptions import Skipped
from runstore.tables.headers import Schema
from runstore.tables.objects import cell_of
from runstore.tables.reader import read_table

SpeakerRole = Literal["student", "teacher", "question", "answer"]
Row = dict[str, Any]
"""An object as it stands in a file that people bring."""
MESSAGES = ("utterances", "messages", "conversations", "history")
ROLES: dict[str, SpeakerRole] = {
    **dict.fromkeys(
        ("student", "user", "human", "learner", "pupil", "child", "학생", "학습자", "사용자"), "student"
    ),
    **dict.fromkeys(("teacher", "tutor", "assistant", "model", "gpt", "ai", "선생님", "교사", "튜터"), "teacher"),
}
_TALKS = Schema(
    {
        "id": (
            "dialogue",
            "dialogue_id",
            "conversation_id",
            "conversation",
            "session",
            "session_id",
            "대화",
            "번호",
        ),
        "role": ("speaker", "from", "author", "화자", "역할"),
        "text": ("content", "value", "message", "utterance", "발화", "내용", "말"),
    }
)


class Message(Record):
    role: SpeakerRole
    text: str


class Talked(Record):
    """One conversation; ``extra``: the further plain columns of its row, as texts."""

    id: str
    messages: tuple[Message, ...]
    extra: dict[str, str] = Field(default_factory=dict[str, str])


def messages_of(path: Path, number: int, name: str, entries: list[Any]) -> Iterator[Message]:
    """The messages in one cell; system messages are passed over. Raises InputProblem with line and field."""
    for place, entry in enumerate(entries):
        field = f"{name}.{place}"
        if not isinstance(entry, dict):
            raise InputProblem(path, "role and text", found=entry, line=number, field=field)
        message = cast("Row", entry)
        role, text = _first(message, "role", "from"), _first(message, "text", "content", "value")
        if role == "system":
            continue
        if not isinstance(role, str) or role.lower() not in ROLES:
            raise InputProblem(path, f"one of {', '.join(ROLES)}", found=role, line=number, field=f"{field}.role")
        if not isinstance(text, str):
            raise InputProblem(path, "a text", found=text, line=number, field=f"{field}.text")
        yield Message(role=ROLES[role.lower()], text=clean_unicode(text))


def _first(entry: Row, *names: str) -> Any:
    return next((entry[name] for name in names if name in entry), None)


def read_talks(path: Path) -> list[Talked]:
    """Conversations in any form of table: one a row (``utterances`` or ``messages``), or one message a row.

    In the second form rows of one id belong together, in the file's order. Raises InputProblem naming file, line
    and column; conversations without a message are skipped and named.
    """
    table = read_table(path, _TALKS)
    inner = next((name for name in MESSAGES if name in table.header), None)
    skipped = Skipped(path)
    talks: list[Talked] = []
    if inner is None:
        talks = _by_message(path, table.rows)
    else:
        for number, row in table.rows:
            entries = row.get(inner)
            if not isinstance(entries, list):
                raise InputProblem(path, "a list of messages", found=entries, line=number, field=inner)
            messages = tuple(messages_of(path, number, inner, cast("list[Any]", entries)))
            extra = {key: cell_of(value) for key, value in row.items() if isinstance(value, (str, int, float))}
            if not skipped.row(number, None if messages else "no messages"):
                name = str(row.get("id") or f"row {number}")
                talks.append(Talked(id=name, messages=messages, extra=extra))
    skipped.tell()
    if not talks:
        raise InputProblem(path, "at least one conversation", found="none")
    return talks


def _by_message(path: Path, rows: Any) -> list[Talked]:
    talks: dict[str, list[Message]] = {}
    for number, row in rows:
        for name in ("id", "role", "text"):
            if not cell_of(row.get(name)).strip() and name != "text":
                expected = f"a column {name} (or one of {', '.join(MESSAGES)})"
                raise InputProblem(path, expected, found=row.get(name), line=number, field=name)
        role = cell_of(row["role"]).strip().lower()
        if role == "system":
            continue
        if role not in ROLES:
            raise InputProblem(path, f"one of {', '.join(ROLES)}", found=row["role"], line=number, field="role")
        text = clean_unicode(cell_of(row.get("text")))
        talks.setdefault(cell_of(row["id"]), []).append(Message(role=ROLES[role], text=text))
    return [Talked(id=name, messages=tuple(messages)) for name, messages in talks.items()]
