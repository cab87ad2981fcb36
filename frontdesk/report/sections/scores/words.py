"""The words of the score report."""

from __future__ import annotations

from frontdesk.report.wording import ReportWords
from runstore.records import Language


class Say(ReportWords):
    """The words of one language: ``say("judges")``, ``say("more", n=3)``."""

    def __init__(self, language: Language = "en") -> None:
        super().__init__("scores", language)
