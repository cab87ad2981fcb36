"""What results say in English (the name of a method, why a figure is missing), as a reader of a report reads it.

Result files are one for all languages, so their sentences are English, whatever the report's language. Each
has its form in ``words/sentences.en.yaml`` (see :mod:`runstore.spoken`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runstore.problems import Problem
from runstore.spoken import spoken_by

if TYPE_CHECKING:
    from arena.agreement.result import SignificanceTest, TestRow

TABLES = (("frontdesk.report", "sentences"),)
MESSAGES = (("frontdesk.runner", "console"), ("frontdesk.runner", "problems"))
"""What the gateway and the stages say of a failure, as consoles tell it too."""


def spoken(sentence: str | None, language: str) -> str:
    """``sentence`` of a result in ``language``; empty for None."""
    return spoken_by(sentence, language, TABLES)


def how_found(test: SignificanceTest | TestRow, language: str) -> str:
    """How a paired p was found, and by which rule zero differences were counted."""
    return "; ".join(spoken(each, language) for each in (test.method, test.zero_rule) if each)


def spoken_message(message: str, language: str) -> str:
    """A failure's message: our own sentences in ``language``, what a provider said as it said it."""
    try:
        return spoken_by(message, language, MESSAGES, TABLES)
    except Problem:  # a language of one's own may lack the console's tables
        return spoken(message, language)
