"""The one reader of model output: every judge, rubric sheet and intent check is read here and nowhere else.

Whole reply, declared form, strict first; repair only when strict failed and never when the reply was cut off or
blocked. What cannot be read is unreadable, with a reason; it is never a tie, a zero or a pass. The rules in full
are in ``docs/reading.md``.
"""

from arena.reading.escapes import escape_latex
from arena.reading.marker import LetterReading, read_choice, read_marker
from arena.reading.objects import ObjectReading, read_object, scan_element
from arena.reading.text import CUT_OFF, plain_text
from arena.reading.values import NOT_APPLICABLE, ScoreReading, read_flag, read_integer, read_score

__all__ = [
    "CUT_OFF",
    "NOT_APPLICABLE",
    "LetterReading",
    "ObjectReading",
    "ScoreReading",
    "escape_latex",
    "plain_text",
    "read_choice",
    "read_flag",
    "read_integer",
    "read_marker",
    "read_object",
    "read_score",
    "scan_element",
]
