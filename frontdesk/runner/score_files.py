"""A scoring run's files: sheets, scores, summaries, agreement, comparisons and the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from arena.rubrics.rubric import Rubric
from arena.scoring.combine import Combined, combine_all, people_rows
from arena.scoring.compare import compare_groups
from arena.scoring.judges import AgreementWishes, agreement
from arena.scoring.tables import (
    SUMMARY_HEADER,
    JudgeRecord,
    breakdown_columns,
    judge_record,
    score_table,
    summary,
    summary_rows,
)
from frontdesk.report.sections.scores.report import Results, markdown, page
from frontdesk.report.sections.scores.words import Say
from frontdesk.runner.score_plan import Material, Plan
from runstore.publish import write_csv, write_json, write_jsonl, write_text
from runstore.records import Failure, Language, Sheet

ENGLISH = Say("en")  # of files for programs; the report speaks the run's language


@dataclass(frozen=True, slots=True)
class Scored:
    """What came of it: the judges' sheets and failures, and each judge's kind of endpoint."""

    plan: Plan
    material: Material
    sheets: Sequence[Sheet]
    failures: Sequence[Failure]
    kinds: Mapping[str, str]

    @property
    def rubric(self) -> Rubric:
        return self.material.rubric

    def rows(self) -> list[Combined]:
        plan, material = self.plan, self.material
        own = combine_all(material.rubric, self.sheets, material.subjects, plan.judges, plan.repeats)
        return own + people_rows(material.rubric, material.people, material.subjects)

    def records(self) -> list[JudgeRecord]:
        subjects, repeats = len(self.material.subjects), self.plan.repeats
        return [judge_record(judge, self.sheets, self.failures, subjects, repeats) for judge in self.plan.judges]


def publish(folder: Path, scored: Scored, language: Language = "en") -> list[str]:
    """Write the results of a scoring run; returns what is incomplete (empty where nothing is)."""
    rubric, rows, judges, wishes = scored.rubric, scored.rows(), scored.records(), scored.plan.wishes
    columns = [name for name in breakdown_columns(rows, wishes.by) if name != wishes.match]
    spreads = summary(rubric, rows, columns)
    how = AgreementWishes(wishes.reference, wishes.resamples, wishes.seed, tuple(columns))
    agreed = agreement(rubric, rows, how)
    chosen = _comparisons(rows, columns) if wishes.compare is None else wishes.compare
    compared = [
        one
        for column, values in chosen.items()
        for one in compare_groups(rubric, rows, column, values, matched=wishes.match)
    ]
    gaps = incomplete(rows, judges, ENGLISH)
    notes = [*gaps, *floors_open(rows, ENGLISH)]
    head = {"rubric": rubric.identity, "notes": notes}
    counts = {"subjects": len(scored.material.subjects), "repeats": scored.plan.repeats}
    delivered = {"judges": [one.as_json() for one in judges], "summary": [asdict(one) for one in spreads]}
    write_jsonl(folder / "sheets.jsonl", [*scored.sheets, *scored.material.people])
    write_csv(folder / "scores.csv", *score_table(rubric, rows))
    write_csv(folder / "summary.csv", SUMMARY_HEADER, summary_rows(spreads))
    write_json(folder / "agreement.json", {**head, "measures": agreed})
    write_json(folder / "comparison.json", {**head, "comparisons": [one.as_json() for one in compared]})
    write_json(folder / "score.json", {**head, **counts, **delivered})
    say = Say(language)
    told = [*_warnings(scored, say), *incomplete(rows, judges, say), *floors_open(rows, say)]
    results = Results(rubric, rows, judges, spreads, agreed, compared, told, _provenance(scored, say), language)
    write_text(folder / "score.md", markdown(results))
    write_text(folder / "score.html", page(results))
    return gaps


def _provenance(scored: Scored, say: Say) -> str:
    plan = scored.plan
    return say(
        "provenance",
        subjects=len(scored.material.subjects),
        source=plan.source,
        rubric=scored.rubric.identity,
        judges=", ".join(plan.judges),
        repeats=plan.repeats,
    )


def _comparisons(rows: Sequence[Combined], columns: Sequence[str]) -> dict[str, tuple[str, str] | None]:
    values: dict[str, set[str]] = {
        column: {row.columns[column] for row in rows if column in row.columns} for column in columns
    }
    return {column: None for column, found in values.items() if len(found) == 2}


def incomplete(rows: Sequence[Combined], judges: Sequence[JudgeRecord], say: Say) -> list[str]:
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


def floors_open(rows: Sequence[Combined], say: Say) -> list[str]:
    """How many rows leave a floor rule undecided: allowed where the rule's flag is optional, yet to be seen."""
    undecided = sum(bool(row.scores.undecided) for row in rows)
    return [say("undecided", n=undecided, of=len(rows))] if undecided else []


def _warnings(scored: Scored, say: Say) -> list[str]:
    small = [judge for judge, kind in scored.kinds.items() if kind == "local"]
    return [say("small", judges=", ".join(small))] if small else []
