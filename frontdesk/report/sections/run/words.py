"""The words of a run's report."""

from __future__ import annotations

from frontdesk.report.wording import ReportWords
from runstore.records import Language


class Words(ReportWords):
    """The words of one language: ``words("title", name="x")``."""

    def __init__(self, language: Language) -> None:
        super().__init__("run", language)
