"""Speakers' labels: a name, or a chat template's header, that stands before what somebody says."""

from __future__ import annotations

import re

from runstore.records import Role

_NAMES: dict[Role, str] = {
    "student": "student|user|learner|학생|사용자",
    "teacher": "(?:(?:AI|socratic) )?(?:teacher|tutor|assistant)"
    "|(?:(?:AI|인공지능|소크라테스식?) ?)?(?:선생님|교사|튜터|강사)|어시스턴트",
}
_CHAT: dict[Role, str] = {"student": "user", "teacher": "assistant|model"}
_EDGE = r"[\s\u200b-\u200f\u2060\ufeff]*"
_EMPHASIS = r"(?:\*\*\*|\*\*|__|\*|_)?"


def _header(role: Role) -> str:
    """A chat template's header, which nothing but a template writes."""
    chat = _CHAT[role]
    return (
        rf"(?:(?:<bos>|<s>|<\|begin_of_text\|>)\s*)?(?:<\|(?:im_start|start)\|>\s*(?:{chat})\b(?:<\|message\|>)?"
        rf"|<\|start_header_id\|>\s*(?:{chat})\s*<\|end_header_id\|>"
        rf"|<start_of_turn>\s*(?:{chat})\b"
        rf"|[<\[][|｜](?:{chat})[|｜][>\]])\s*"
    )


def _name(names: str, alone: str) -> str:
    """A speaker's name with a colon, in brackets, as a heading, emphasised or alone on its line."""
    dressed = rf"{_EMPHASIS}[\[(【]?{_EMPHASIS}(?:{names}){_EMPHASIS}[\])】]?{_EMPHASIS}"
    return (
        rf"(?:(?:\#{{1,6}}[ \t]*)?{dressed}[ \t]*[:：]{_EMPHASIS}\s*"
        rf"|(?:\#{{1,6}}[ \t]*)?{_EMPHASIS}[\[【](?:{names})[\]】]{_EMPHASIS}(?![A-Za-z0-9(\[])\s*"
        rf"|(?:\#{{1,6}}[ \t]*{dressed}|\*\*(?:{names})\*\*|(?:{alone}))[ \t]*(?:\r?\n\s*|\Z))"
    )


def _first(role: Role) -> re.Pattern[str]:
    named = _name(_NAMES[role] + ("|you" if role == "student" else ""), _NAMES[role])
    return re.compile(rf"{_EDGE}(?:{_header(role)}(?:{named})?|{named})", re.IGNORECASE)


FIRST: dict[Role, re.Pattern[str]] = {role: _first(role) for role in _NAMES}
"""Each role's label where a text begins with it, with the blanks around it."""

HEADER: dict[Role, re.Pattern[str]] = {role: re.compile(_header(role), re.IGNORECASE) for role in _NAMES}
"""A header of a template, where a line begins with it."""

NAMED: dict[Role, re.Pattern[str]] = {
    role: re.compile(_name(_NAMES[role], f"(?-i:{_CHAT[role]})"), re.IGNORECASE) for role in _NAMES
}
"""A role's name as a label, where a line begins with it."""
