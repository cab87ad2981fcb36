"""What a scoring run came to, in words: its gaps for the records, and its report in the run's language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.scoring.combine import Combined
from arena.scoring.tables import JudgeRecord
from frontdesk.report.blocks import charts
from frontdesk.report.plots.files import write_pictures
from frontdesk.report.sections.scores.document import document
from frontdesk.report.sections.scores.notes import incomplete, left_open
from frontdesk.report.writers.html import html
from frontdesk.report.writers.markdown import markdown
from frontdesk.runner.score_files import ScoreResults
from runstore.languages import words
from runstore.publish import write_text
from runstore.records import Language


@dataclass(frozen=True, slots=True)
class ScoreTeller:
    """The ``Teller`` of scoring runs."""

    language: Language
    plots: tuple[str, ...] = ()

    def gaps(self, rows: Sequence[Combined], judges: Sequence[JudgeRecord]) -> list[str]:
        return incomplete(rows, judges, words("frontdesk.report", "scores", "en"))

    def undecided(self, rows: Sequence[Combined]) -> list[str]:
        return left_open(rows, words("frontdesk.report", "scores", "en"))

    def report(self, folder: Path, results: ScoreResults) -> None:
        """``score.md`` and ``score.html``, and ``plots/`` in the formats asked for."""
        report = document(results, self.language)
        write_text(folder / "score.md", markdown(report))
        write_text(folder / "score.html", html(report))
        write_pictures(charts(report), folder / "plots", self.plots)
