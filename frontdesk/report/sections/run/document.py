"""A run's data and a language -> the whole report as blocks."""

from __future__ import annotations

from frontdesk.report.blocks import Document
from frontdesk.report.sections.run.data import RunData
from frontdesk.report.sections.run.goal import pursued
from frontdesk.report.sections.run.judges import examples, judging
from frontdesk.report.sections.run.made import cost, dialogues, missing, provenance
from frontdesk.report.sections.run.pairs import matrix
from frontdesk.report.sections.run.panel import panel
from frontdesk.report.sections.run.people import people
from frontdesk.report.sections.run.quality import quality
from frontdesk.report.sections.run.refresh import refreshed
from frontdesk.report.sections.run.removed import removed
from frontdesk.report.sections.run.result import breakdowns, leaderboard, reliability, result, unit_of
from frontdesk.report.sections.run.student import student_side
from runstore.languages import Words, words
from runstore.records import Language


def document(data: RunData, language: Language) -> Document:
    """Every section in the order of questions: who won, how sure, why, and how it was made."""
    say = words("frontdesk.report", "run", language)
    sections = [
        result(data, say),
        pursued(data.goal, language),
        reliability(data, say),
        leaderboard(data, say),
        refreshed(data.refreshed, language),
        matrix(data, say),
        judging(data, say),
        panel(data.panel, language),
        student_side(data.student, data.config, language) if data.student is not None else None,
        people(data.human, language),
        breakdowns(data, say),
        examples(data, say),
        dialogues(data, say),
        removed(data, say),
        quality(data.quality, data.config, language),
        missing(data, say),
        cost(data, say),
        provenance(data, say),
    ]
    return Document(
        title=say("title", name=data.config.run.name),
        language=language,
        demonstration=say("demonstration", judges=", ".join(data.small_judges)) if data.small_judges else None,
        banner=banner(data, say),
        sections=[section for section in sections if section is not None],
        contents_label=say("contents"),
        skip_label=say("skip"),
    )


def banner(data: RunData, say: Words) -> list[str]:
    """What is missing, in one line that opens the report; nothing where the run is whole."""
    if not data.incomplete:
        return []
    parts, unit = list[str](), unit_of(data, say)
    for row in data.coverage:
        lost = row.of - row.done
        if row.what == "rounds" and data.unreadable:
            parts.append(say("unreadable_rounds", n=data.unreadable, of=row.of))
            lost -= data.unreadable
        if row.what == "verdicts":
            invalid = len(data.verdicts) - len(data.valid)
            if invalid:
                parts.append(say("invalid_verdicts", n=invalid, of=row.of, unit=unit))
            lost -= invalid
        if lost > 0:
            parts.append(say(f"missing_{row.what}", n=lost, of=row.of, unit=unit))
    if not parts:
        parts.append(say("recorded_failures", n=len(data.failures)))
    return [say("incomplete", what="; ".join(parts)), say("banner_kept")]
