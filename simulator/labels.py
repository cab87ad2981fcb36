"""Speakers' labels: a name, or a chat template's header, that stands before what somebody says."""

from __future__ import annotations

import re

from gateway.thinking import EDGE, SPOKEN_OF
from runstore.records import Role

_NAMES: dict[Role, str] = {
    "student": "student|user|learner|학생|사용자",
    "teacher": "(?:(?:AI|socratic) )?(?:teacher|tutor|assistant|instructor|professor)"
    "|(?:(?:AI|인공지능|소크라테스식?) ?)?(?:선생님|교사|튜터|강사|교수님)|어시스턴트",
}
_CHAT: dict[Role, str] = {"student": "user", "teacher": "assistant|model"}
_TOKEN: dict[Role, str] = {
    "student": r"<\|START_OF_TURN_TOKEN\|><\|USER_TOKEN\|>",
    "teacher": r"<\|START_OF_TURN_TOKEN\|><\|CHATBOT_TOKEN\|>|<\|START_RESPONSE\|>|<\|begin_of_solution\|>"
    r"|\[/INST\]",
}
_EMPHASIS = r"(?:\*\*\*|\*\*|__|\*|_)?"
_COLON = "[:：﹕︰∶]"


def _header(role: Role) -> str:
    """A chat template's header, which nothing but a template writes, unless it is spoken of."""
    chat = _CHAT[role]
    return (
        r"(?:(?:<bos>|<s>|<\|begin_of_text\|>)\s*)?"
        rf"(?:<\|(?:im_start|start|begin)\|>\s*(?:{chat})\b(?:<\|(?:message|im_sep|content)\|>)?"
        rf"|(?:<\|(?:start_header_id|header_start|start_of_role)\|>)?\s*(?:{chat})\s*"
        r"<\|(?:end_header_id|header_end|end_of_role)\|>"
        rf"|(?:<start_of_turn>|<\|turn>)\s*(?:{chat})\b"
        rf"|[<\[][|｜](?:{chat})[|｜][>\]]|{_TOKEN[role]})(?!{SPOKEN_OF})\s*"
    )


def _name(names: str, alone: str) -> str:
    """A speaker's name with a colon, in brackets, as a heading, emphasised or alone on its line.

    Beside it may stand another name of the same speaker: ``Teacher (AI)``, ``선생님/Teacher``.
    """
    full = rf"(?:{names})(?:[ \t]*\([A-Za-z가-힣 ]{{1,24}}\)|[ \t]*/[ \t]*(?:{names}))?"
    dressed = rf"{_EMPHASIS}[\[(【]?{_EMPHASIS}{full}{_EMPHASIS}[\])】]?{_EMPHASIS}"
    return (
        rf"(?:(?:\#{{1,6}}[ \t]*)?{dressed}[ \t]*{_COLON}{_EMPHASIS}\s*"
        rf"|(?:\#{{1,6}}[ \t]*)?{_EMPHASIS}[\[【]{full}[\]】]{_EMPHASIS}(?![A-Za-z0-9(\[])\s*"
        rf"|(?:\#{{1,6}}[ \t]*{dressed}|\*\*{full}\*\*|(?:{alone}))[ \t]*(?:\r?\n\s*|\Z))"
    )


def _first(role: Role) -> re.Pattern[str]:
    named = _name(_NAMES[role] + ("|you" if role == "student" else ""), _NAMES[role])
    return re.compile(rf"{EDGE}(?:{_header(role)}(?:{named})?|{named})", re.IGNORECASE)


FIRST: dict[Role, re.Pattern[str]] = {role: _first(role) for role in _NAMES}
"""Each role's label where a text begins with it, with the blanks around it."""

HEADER: dict[Role, re.Pattern[str]] = {role: re.compile(_header(role), re.IGNORECASE) for role in _NAMES}
"""A header of a template, where a line begins with it."""

NAMED: dict[Role, re.Pattern[str]] = {
    role: re.compile(_name(_NAMES[role], f"(?-i:{_CHAT[role]})"), re.IGNORECASE) for role in _NAMES
}
"""A role's name as a label, where a line begins with it."""
