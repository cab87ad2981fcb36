"""The words of the agent-run report. The outline is the scoring document's own."""

from __future__ import annotations

from frontdesk.report.wording import ReportWords
from runstore.records import Language


class Words(ReportWords):
    """The words of one language: ``words("title")``, ``words("round_n", n=2)``."""

    def __init__(self, language: Language) -> None:
        super().__init__("agent_runs", language)

    def round(self, index: int) -> str:
        return self("round_n", n=index)

    def check(self, name: str) -> str:
        return self(f"check_{name}")

    def basis(self, name: str) -> str:
        return self(f"basis_{name}")
