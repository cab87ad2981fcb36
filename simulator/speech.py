"""What a speaker's raw text becomes as an utterance: a few rules, always the same, and each counted.

What a contestant said is kept as it came (:func:`read_reply`), but for

    thinking_removed     a model's leaked thinking, from the start of the text to the mark that closes it
    role_prefix          the speaker's own label before it ("Teacher:", "### Teacher", "[선생님]", a template's),
                         unless it heads a dialogue that is written down there

The simulated student and the baseline teacher are our own, and more of theirs is set right (:func:`read_speech`):

    role_flip            the text begins with the other side's label: it is kept, without the label
    both_parts           from the first line on that is the other side's turn, the text is not this speaker's
    quotes_removed       quotation marks around the whole text
    end_marker           the student's <END> at the very end

What the first four take off stands in ``removed``. A text without a visible character is blank, whatever it was
made of.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gateway.thinking import without_thinking
from runstore.publish import clean_unicode, has_visible
from runstore.records import Removed, Role
from simulator.ending import without_end
from simulator.labels import FIRST
from simulator.overrun import is_material, overrun_at
from simulator.written_dialogue import begins_dialogue

LONGEST_EXCERPT = 200
MOST_LABELS = 4
"""Labels one behind the other: ``Teacher: 선생님: …``."""
_OTHER: dict[Role, Role] = {"student": "teacher", "teacher": "student"}
_QUOTES = {'"': '"', "“": "”", "«": "»", "「": "」"}


@dataclass(frozen=True, slots=True)
class Speech:
    """An utterance's text, whether the student is done, the rules that acted, and what they took off."""

    text: str
    ended: bool
    notes: tuple[str, ...]
    removed: tuple[Removed, ...] = ()

    @property
    def is_blank(self) -> bool:
        return not has_visible(self.text)


def read_reply(raw: str) -> Speech:
    """A contestant's reply: all of it, but for thinking at its start and a teacher's label in first position."""
    editing = _Editing(clean_unicode(raw), "teacher", writes_dialogues=True)
    editing.take_off_the_start()
    return editing.speech()


def read_speech(raw: str, role: Role) -> Speech:
    """One raw text of the simulated student or the baseline teacher, by all rules."""
    editing = _Editing(clean_unicode(raw), role)
    editing.take_off_the_start()
    editing.text = editing.text.strip()
    editing.take_off_other_label()
    editing.cut_overrun()
    editing.unquote()
    ended = role == "student" and editing.take_off_end()
    return editing.speech(ended=ended)


class _Editing:
    """A text as the rules change it."""

    def __init__(self, text: str, role: Role, *, writes_dialogues: bool = False) -> None:
        """``writes_dialogues``: whether a dialogue in the text may be a quotation, and is no overrun."""
        self.text, self.writes_dialogues = text, writes_dialogues
        self.role: Role = role
        self.notes: list[str] = []
        self.removed: list[Removed] = []

    def speech(self, *, ended: bool = False) -> Speech:
        return Speech(self.text, ended, tuple(dict.fromkeys(self.notes)), tuple(self.removed))

    def take_off_the_start(self) -> None:
        self._take_off_thinking()
        for _ in range(MOST_LABELS):
            if not self._take_off_label(self.role, "role_prefix"):
                break
            self._take_off_thinking()

    def take_off_other_label(self) -> None:
        self._take_off_label(_OTHER[self.role], "role_flip")

    def _take_off_label(self, role: Role, rule: str) -> bool:
        label = FIRST[role].match(self.text)
        if label is None or is_material(self.text[label.end() :], _OTHER[role]):
            return False
        if self.writes_dialogues and begins_dialogue(self.text, role, _OTHER[role]):
            return False
        self._take_off(rule, label.end())
        return True

    def cut_overrun(self) -> None:
        at = overrun_at(self.text, _OTHER[self.role])
        if at is not None:
            self._note("both_parts", self.text[at:])
            self.text = self.text[:at].rstrip()

    def unquote(self) -> None:
        text = self.text
        inside = text[1:-1]
        if (
            len(text) > 2
            and _QUOTES.get(text[0]) == text[-1]
            and text[0] not in inside
            and without_end(inside) != ""
        ):
            self.notes.append("quotes_removed")
            self.text = inside.strip()

    def take_off_end(self) -> bool:
        without = without_end(self.text)
        if without is None:
            return False
        self.notes.append("end_marker")
        self.text = without.strip()
        return True

    def _take_off_thinking(self) -> None:
        rest = without_thinking(self.text)
        if rest != self.text:
            self._take_off("thinking_removed", len(self.text) - len(rest))

    def _take_off(self, rule: str, end: int) -> None:
        self._note(rule, self.text[:end])
        self.text = self.text[end:]

    def _note(self, rule: str, text: str) -> None:
        shown = re.sub(r"\s+", " ", text).strip()
        excerpt = shown if len(shown) <= LONGEST_EXCERPT else f"{shown[:LONGEST_EXCERPT]}…"
        self.notes.append(rule)
        self.removed.append(Removed(rule=rule, role=self.role, text=excerpt))
