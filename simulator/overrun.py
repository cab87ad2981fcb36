"""A speaker who goes on and writes the other side's lines too: where the others' lines begin.

This is looked for in the simulated student and the baseline teacher only. A line that begins with the other
side's name is no turn of theirs inside code, a table or a list, among lines of the same make (``Course: …``,
``Server: …``), after a line that announces it with a colon, or where what follows is no sentence.
"""

from __future__ import annotations

import re

from runstore.records import Role
from simulator.labels import FIRST, HEADER, NAMED

_FENCE = re.compile(r"[ \t]{0,3}(?:```|~~~)")
_ITEM = re.compile(r"\s*(?:[-*+•]\s|\d+[.)]\s)")
_FIELD = re.compile(r"\s*[\w가-힣][\w가-힣 _-]{0,30}[:：=]\s*(?P<value>\S.*)")
_SENTENCE = re.compile(r"[.!?…。？！~]['\"”’)*_\]]*\Z|[요다죠까네지][ ㅋㅎㅠㅜ]*\Z")
_SIGNS = re.compile(r"[;=|{}<>\\]|/\w")
_WORD = re.compile(r"\s*\w+(?: \w+)?\s*")
_RATIO = re.compile(
    r"[^\n]{0,40}(?: :: |\.\.\*|=\s*\d+\s*:\s*\d)|(?:student|pupil|learner)s?[ -]ratios?\b", re.IGNORECASE
)
"""A figure, or the words for one: ``Teacher: student ratio``, without an article, is what nobody begins to say."""


def overrun_at(text: str, other: Role) -> int | None:
    """Where the first line begins that is the ``other`` side's turn, or None where there is none."""
    lines = text.split("\n")
    at = 0
    in_fence = False
    for index, line in enumerate(lines):
        if _FENCE.match(line):
            in_fence = not in_fence
        elif index and not in_fence and _is_turn(lines, index, other):
            return at
        at += len(line) + 1
    return None


def _is_turn(lines: list[str], index: int, other: Role) -> bool:
    line = lines[index]
    if HEADER[other].match(line.lstrip()):
        return True
    rest = "\n".join((line.strip(), *lines[index + 1 : index + 9]))  # a label may stand alone above blank lines
    label = NAMED[other].match(rest)
    if label is None or line.startswith(("  ", "\t")) or "|" in line:
        return False
    before = [each for each in lines[max(0, index - 9) : index] if each.strip()]
    if before and before[-1].rstrip().endswith((":", "：")):
        return False
    return is_sentence(rest[label.end() :].split("\n", 1)[0]) and not _is_among_others(lines, index)


def _is_among_others(lines: list[str], index: int) -> bool:
    """Whether the line stands in a list, or beside a line that names something which is no speaker."""
    after = lines[index + 1] if index + 1 < len(lines) else ""
    if _ITEM.match(lines[index - 1]) and _ITEM.match(after):
        return True
    return any("|" in line or _is_field(line) for line in (lines[index - 1], after))


def _is_field(line: str) -> bool:
    field = _FIELD.fullmatch(line)
    return field is not None and not is_sentence(field["value"])


def is_material(after: str, other: Role) -> bool:
    """Whether a name at the very start heads a table, a list or a ratio, and nobody speaks: what stands after it
    begins with the ``other`` side's name or has it behind a comma, or is no sentence and is followed by a field, a
    word or two alone or that name.
    """
    lines = [line for line in after.split("\n") if line.strip()][:40]
    if not lines:
        return False
    label = FIRST[other].match(lines[0])
    if _RATIO.match(after) or (label and not is_sentence(lines[0][label.end() :])):
        return True
    if any(FIRST[other].match(part) for part in lines[0].split(",")[1:]):
        return True
    if _is_said(lines[0]) or len(lines) == 1:
        return False
    is_word = _WORD.fullmatch(lines[0]) and _WORD.fullmatch(lines[1])
    return bool(is_word) or _is_field(lines[1]) or any(FIRST[other].match(line) for line in lines[1:])


def _is_said(line: str) -> bool:
    """Whether somebody could say the line, formulas and all: the doubt is the speaker's."""
    words = line.split()
    return bool(_SENTENCE.search(line.rstrip())) or (len(words) >= 4 and (line.count(",") + 1) * 2 < len(words))


def is_sentence(text: str) -> bool:
    """Whether somebody could say this: it ends like a sentence, or has four words and the signs of none else."""
    said = text.strip()
    if not said or _SIGNS.search(said):
        return False
    words = said.split()
    return bool(_SENTENCE.search(said)) or (len(words) >= 4 and said.count(",") * 2 < len(words))
