"""A dialogue that a tutor writes down in a reply, to talk about it: its first label is no label of the reply.

``Teacher: Is it 5?`` may begin what a tutor says, or a conversation that the tutor shows and asks about. It is
shown where both sides speak in it (or the first name speaks again behind another one) and somebody without a name
goes on behind it. A speaker who merely goes on and writes the other side's lines too ends in one of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import dropwhile
from typing import Literal

from runstore.records import Role
from simulator.labels import FIRST, NAMED
from simulator.overrun import is_sentence

_SOMEBODY = re.compile(r"(?:\*\*|__)?[^\W\d_][\w .'’-]{0,24}(?:\*\*|__)?[:：](?:\*\*|__)?[ \t]+(?P<said>\S.*)")
_MOST_LINES = 400
Speaker = Role | Literal["somebody"] | None
"""One of both sides, somebody else, or nobody named."""


def begins_dialogue(text: str, role: Role, other: Role) -> bool:
    """Whether the label with which the text begins heads a dialogue that is written down in it."""
    first = FIRST[role].match(text)
    if first is None or FIRST[role].match(text[first.end() :]):
        return False
    lines = [line.strip() for line in text[first.end() :].split("\n")[:_MOST_LINES]]
    speakers: list[Speaker] = [role, *(_speaker(lines[at:], role, other) for at in range(1, len(lines)))]
    again = max(at for at, speaker in enumerate(speakers) if speaker == role)
    last = max(at for at, speaker in enumerate(speakers) if speaker in (role, other))
    if other not in speakers and "somebody" not in speakers[:again]:
        return False
    behind: Sequence[str] = lines[last + 1 :]
    is_alone = last > 0 and not _said(lines[last], speakers[last])
    if is_alone:
        behind = list(dropwhile(lambda line: not line, behind))
    if is_alone or last == again:  # the name's own turn goes on to a blank line
        behind = list(dropwhile(bool, behind))
    return any(is_sentence(line) for line in behind)


def _speaker(lines: Sequence[str], role: Role, other: Role) -> Speaker:
    """Who says the first of these lines by its label."""
    for name in (role, other):
        said = _said(lines[0], name)
        if said is not None and is_sentence(said or next((line for line in lines[1:] if line), "")):
            return name
    named = _SOMEBODY.fullmatch(lines[0])
    return "somebody" if named and is_sentence(named["said"]) else None


def _said(line: str, name: Speaker) -> str | None:
    """What stands behind the name's label; None where the line has no label of that name."""
    label = NAMED[name].match(line) if name in NAMED else None
    return line[label.end() :] if label else None
