"""What results say in English (the name of a method, why a figure is missing), as a reader of a report reads it.

Result files are one for all languages, so their sentences are English, whatever the report's language. Each
has its form in ``words/sentences.en.yaml`` (see :mod:`runstore.spoken`).
"""

from __future__ import annotations

from runstore.spoken import spoken_by

TABLES = (("frontdesk.report", "sentences"),)


def spoken(sentence: str | None, language: str) -> str:
    """``sentence`` of a result in ``language``; empty for None."""
    return spoken_by(sentence, language, TABLES)
