"""The words of the reports: ``words/<language>.yaml``, a group a product."""

from __future__ import annotations

from pathlib import Path

from runstore import languages
from runstore.records import Language

FOLDER = Path(__file__).with_name("words")


class ReportWords(languages.Words):
    """The words of one product in one language: ``say("title", name="x")``."""

    def __init__(self, product: str, language: Language) -> None:
        super().__init__(FOLDER, product, language)
        self.language: Language = language
