"""What a scoring run came to, in words: its gaps for the records, and its report in the run's language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.scoring.combine import Combined
from arena.scoring.tables import JudgeRecord
from frontdesk.report.sections.scores.report import Results, markdown, page
from frontdesk.runner.score_files import Scored, ScoreResults
from runstore.languages import Words, words
from runstore.publish import write_text
from runstore.records import Language


@dataclass(frozen=True, slots=True)
class ScoreTeller:
    """The ``Teller`` of scoring runs."""

    language: Language

    def gaps(self, rows: Sequence[Combined], judges: Sequence[JudgeRecord]) -> list[str]:
        return incomplete(rows, judges, words("frontdesk.report", "scores", "en"))

    def undecided(self, rows: Sequence[Combined]) -> list[str]:
        return floors_open(rows, words("frontdesk.report", "scores", "en"))

    def report(self, folder: Path, results: ScoreResults) -> None:
        """``score.md`` and ``score.html``."""
        say, scored, rows, judges = (
            words("frontdesk.report", "scores", self.language),
            results.scored,
            results.rows,
            results.judges,
        )
        told = [*_warnings(scored, say), *incomplete(rows, judges, say), *floors_open(rows, say)]
        about = _provenance(scored, say)
        shown = Results(
            scored.rubric,
            rows,
            judges,
            results.spreads,
            results.agreed,
            results.compared,
            told,
            about,
            self.language,
        )
        write_text(folder / "score.md", markdown(shown))
        write_text(folder / "score.html", page(shown))


def _provenance(scored: Scored, say: Words) -> str:
    plan = scored.plan
    return say(
        "provenance",
        subjects=len(scored.material.subjects),
        source=plan.source,
        rubric=scored.rubric.identity,
        judges=", ".join(plan.judges),
        repeats=plan.repeats,
    )


def _warnings(scored: Scored, say: Words) -> list[str]:
    small = [judge for judge, kind in scored.kinds.items() if kind == "local"]
    return [say("small", judges=", ".join(small))] if small else []


def incomplete(rows: Sequence[Combined], judges: Sequence[JudgeRecord], say: Words) -> list[str]:
    """What is missing, in words: sheets without a reply, unreadable ones, values, totals."""
    notes: list[str] = []
    for one in judges:
        parts = [
            say("without_reply", n=one.failed) if one.failed else "",
            say("not_asked", n=left) if (left := one.asked - one.failed - one.received) else "",
            say("unreadable", n=unreadable) if (unreadable := one.received - one.readable) else "",
            say("missing", n=one.values_missing, of=one.values) if one.values_missing else "",
        ]
        if any(parts):
            notes.append(
                say("asked", judge=one.judge, n=one.asked, what=", ".join(part for part in parts if part))
            )
    lost = sum(row.scores.total is None for row in rows)
    if lost:
        notes.append(say("lost", n=lost, of=len(rows)))
    return notes


def floors_open(rows: Sequence[Combined], say: Words) -> list[str]:
    """How many rows leave a floor rule undecided: allowed where the rule's flag is optional, yet to be seen."""
    undecided = sum(bool(row.scores.undecided) for row in rows)
    return [say("undecided", n=undecided, of=len(rows))] if undecided else []
