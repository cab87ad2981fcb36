"""What a speaker's raw text becomes as an utterance: a few rules, always the same, and each counted.

    thinking_removed     a <think> block is not speech; an unclosed one takes the rest with it, and a closing tag
                         alone on a line all before it
    role_prefix          the speaker's own name before the text is not part of it ("Student:", "[You]:", "학생:")
    role_flip            the text begins with the other side's name: it is kept, without the name
    both_parts           from the first line that begins with the other side's name, the text is not this speaker's
    quotes_removed       quotation marks around the whole text
    end_marker           the student's <END> at the end, before all else or alone on a line, whatever is around it
                         (quotes, emphasis, brackets): it goes, what was said stays; in a sentence it is just text

A text without a visible character is blank, whatever it was made of.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gateway.thinking import without_thinking
from runstore.publish import clean_unicode, has_visible
from runstore.records import Role

_NAMES: dict[Role, str] = {
    "student": r"student|user|you|학생|사용자",
    "teacher": r"teacher|tutor|assistant|선생님|교사|튜터",
}
_OTHER: dict[Role, Role] = {"student": "teacher", "teacher": "student"}
_GAP = r"[\s\u200b-\u200f\u2060\ufeff]*"
_MARK = r"[<＜]\s*END\s*/?\s*[>＞]"
# In code, quotes or brackets it may be spoken of: there it counts only as a sentence of its own.
_ALONE = rf"(?:\A|\n|(?<=[.!?…。！？])){_GAP}[*_~`\"“(\[]+{_MARK}[*_~`\"”)\].]+"
_GLUED = rf"{_GAP}(?:[*_~]+{_MARK}[*_~]+|(?<![*_~`\"“(\[]){_MARK})[.!]*"
_END_LAST = re.compile(rf"(?:{_ALONE}|{_GLUED})+(?P<rest>[^\w?？]*)\Z", re.IGNORECASE)
_END_FIRST = re.compile(rf"\A(?:{_ALONE}|{_GLUED})(?=\s*\n|\s+[^\sa-z])")
_END_LINE = re.compile(rf"^(?:{_ALONE}|{_GLUED})[^\S\n]*$", re.MULTILINE)
_QUOTES = {'"': '"', "“": "”", "«": "»", "「": "」"}


@dataclass(frozen=True, slots=True)
class Speech:
    """An utterance's text, whether the student is done, and the names of the rules that changed something."""

    text: str
    ended: bool
    notes: tuple[str, ...]

    @property
    def is_blank(self) -> bool:
        return not has_visible(self.text)


def read_speech(raw: str, role: Role) -> Speech:
    """Apply the rules to one raw text of one speaker."""
    notes: list[str] = []
    whole = clean_unicode(raw)
    said = without_thinking(whole)
    if said != whole:
        notes.append("thinking_removed")
    text = said.strip()
    text = _ruled(_prefix(_NAMES[role]), text, "role_prefix", notes)
    text = _ruled(_prefix(_NAMES[_OTHER[role]]), text, "role_flip", notes)
    other = re.search(r"\n\s*" + _prefix(_NAMES[_OTHER[role]]).pattern, text, re.IGNORECASE)
    if other is not None:
        text = text[: other.start()]
        notes.append("both_parts")
    spoken = _without_end(text) if role == "student" else text
    ended = spoken != text
    if ended:
        notes.append("end_marker")
    text = spoken.strip()
    if len(text) > 2 and _QUOTES.get(text[0]) == text[-1] and text[0] not in text[1:-1]:
        text = text[1:-1].strip()
        notes.append("quotes_removed")
    return Speech(text, ended, tuple(notes))


def _without_end(text: str) -> str:
    """The text without its end markers, or the very same text where it has none."""
    if not re.search(_MARK, text, re.IGNORECASE):
        return text
    last = _END_LAST.sub(lambda marker: marker["rest"].rstrip() if has_visible(marker["rest"]) else "", text)
    return _END_LINE.sub("", _END_FIRST.sub("", last))


def _prefix(names: str) -> re.Pattern[str]:
    return re.compile(rf"(?:\*\*)?\[?(?:\*\*)?(?:{names})(?:\*\*)?\]?(?:\*\*)?\s*[:：](?:\*\*)?\s*", re.IGNORECASE)


def _ruled(pattern: re.Pattern[str], text: str, note: str, notes: list[str]) -> str:
    start = pattern.match(text)
    if start is None:
        return text
    notes.append(note)
    return text[start.end() :]
