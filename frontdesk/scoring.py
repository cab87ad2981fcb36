"""A scoring run's files: sheets, scores, summaries, agreement, comparisons and the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from arena.rubrics.rubric import Rubric
from arena.scoring.combine import Combined, combine_all
from arena.scoring.compare import agreement, check_pairs, compare_groups, two_groups
from arena.scoring.subjects import Subject
from arena.scoring.tables import (
    SUMMARY_HEADER,
    JudgeRecord,
    breakdown_columns,
    judge_record,
    score_table,
    summary,
    summary_rows,
)
from frontdesk.report.score_report import Results, markdown, page
from runstore.problems import InputProblem, Problem
from runstore.publish import read_records, write_csv, write_json, write_jsonl, write_text
from runstore.records import Failure, Sheet


@dataclass(frozen=True, slots=True)
class Wishes:
    """What tables are asked for: breakdown columns, two-group comparisons, and how intervals are made."""

    by: Sequence[str] = ()
    compare: Mapping[str, tuple[str, str] | None] | None = None
    match: str | None = None
    reference: str | None = None
    resamples: int = 1000
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Scored:
    """What was scored and what came of it. ``people``: sheets that people filled in, as judges of one repeat.

    ``kinds``: each judge's kind of endpoint.
    """

    rubric: Rubric
    subjects: Sequence[Subject]
    judges: Sequence[str]
    repeats: int
    sheets: Sequence[Sheet]
    failures: Sequence[Failure]
    people: Sequence[Sheet] = ()
    kinds: Mapping[str, str] | None = None

    def rows(self) -> list[Combined]:
        names = list(dict.fromkeys(sheet.judge for sheet in self.people))
        own = combine_all(self.rubric, self.sheets, self.subjects, self.judges, self.repeats)
        return own + combine_all(self.rubric, self.people, self.subjects, names, 1)

    def records(self) -> list[JudgeRecord]:
        return [
            judge_record(judge, self.sheets, self.failures, len(self.subjects), self.repeats)
            for judge in self.judges
        ]


def check(subjects: Sequence[Subject], wishes: Wishes) -> None:
    """Refuse what could not be made of these subjects in the end, before anything is called. Raises Problem."""
    known = list(dict.fromkeys(name for subject in subjects for name in subject.columns))
    for name in (*wishes.by, *(wishes.compare or {}), *([wishes.match] if wishes.match else [])):
        if name not in known:
            raise Problem(f"column {name!r}: found no such column, expected one of {', '.join(known) or 'none'}")
    if wishes.match and not wishes.compare:
        raise Problem("--match: found without --compare, expected the groups to pair")
    for column, values in (wishes.compare or {}).items():
        pair = two_groups(column, (subject.columns.get(column) for subject in subjects), values)
        for value in pair if wishes.match else ():
            check_pairs(
                subject.columns.get(wishes.match or "")
                for subject in subjects
                if subject.columns.get(column) == value
            )


def read_people(path: Path, rubric: Rubric, subjects: Sequence[Subject], judges: Sequence[str]) -> list[Sheet]:
    """Sheets that people filled in, in the form of ``sheets.jsonl``. Raises InputProblem."""
    sheets = read_records(path, Sheet)
    ids, slots = {subject.id for subject in subjects}, {item.key: set(item.slots) for item in rubric.items}
    seen: set[tuple[str, str]] = set()
    for line, sheet in enumerate(sheets, 1):
        if sheet.subject not in ids:
            raise InputProblem(path, "a subject of the input", found=sheet.subject, line=line, field="subject")
        if sheet.judge in judges or (sheet.subject, sheet.judge) in seen:
            raise InputProblem(path, "one sheet a person and subject", found=sheet.judge, line=line, field="judge")
        if unknown := [item for item, given in sheet.values.items() if not set(given) <= slots.get(item, set())]:
            raise InputProblem(path, f"the keys of {rubric.name}", found=unknown[0], line=line, field="values")
        seen.add((sheet.subject, sheet.judge))
    return sheets


def publish(folder: Path, scored: Scored, wishes: Wishes, provenance: str) -> list[str]:
    """Write every file of a scoring run; returns the notes on what is incomplete (empty where nothing is)."""
    rubric, rows, judges = scored.rubric, scored.rows(), scored.records()
    columns = [name for name in breakdown_columns(rows, wishes.by) if name != wishes.match]
    spreads = summary(rubric, rows, columns)
    agreed = agreement(rubric, rows, reference=wishes.reference, resamples=wishes.resamples, seed=wishes.seed)
    chosen = _comparisons(rows, columns) if wishes.compare is None else wishes.compare
    compared = [
        one
        for column, values in chosen.items()
        for one in compare_groups(rubric, rows, column, values, matched=wishes.match)
    ]
    gaps = incomplete(rows, judges)
    notes = [*gaps, *floors_open(rows)]
    write_jsonl(folder / "sheets.jsonl", [*scored.sheets, *scored.people])
    write_csv(folder / "scores.csv", *score_table(rubric, rows))
    write_csv(folder / "summary.csv", SUMMARY_HEADER, summary_rows(spreads))
    write_json(folder / "agreement.json", {"rubric": rubric.identity, "notes": notes, "measures": agreed})
    write_json(folder / "comparison.json", {"notes": notes, "comparisons": [one.as_json() for one in compared]})
    write_json(
        folder / "score.json",
        {
            "rubric": rubric.identity,
            "subjects": len(scored.subjects),
            "repeats": scored.repeats,
            "notes": notes,
            "judges": [one.as_json() for one in judges],
            "summary": [asdict(one) for one in spreads],
        },
    )
    results = Results(rubric, rows, judges, spreads, agreed, compared, [*_warnings(scored), *notes], provenance)
    write_text(folder / "score.md", markdown(results))
    write_text(folder / "score.html", page(results))
    return gaps


def _comparisons(rows: Sequence[Combined], columns: Sequence[str]) -> dict[str, tuple[str, str] | None]:
    values: dict[str, set[str]] = {
        column: {row.columns[column] for row in rows if column in row.columns} for column in columns
    }
    return {column: None for column, found in values.items() if len(found) == 2}


def incomplete(rows: Sequence[Combined], judges: Sequence[JudgeRecord]) -> list[str]:
    """What is missing, in words: sheets without a reply, unreadable ones, values, totals."""
    notes: list[str] = []
    for one in judges:
        parts = [
            f"{one.failed} without a reply" if one.failed else "",
            f"{unreadable} unreadable" if (unreadable := one.asked - one.failed - one.readable) else "",
            f"{one.values_missing} of {one.values} values missing" if one.values_missing else "",
        ]
        if any(parts):
            notes.append(f"{one.judge}: {one.asked} sheets asked, {', '.join(part for part in parts if part)}.")
    lost = sum(row.scores.total is None for row in rows)
    if lost:
        notes.append(f"{lost} of {len(rows)} totals are missing; means are over what is there and say how much.")
    return notes


def floors_open(rows: Sequence[Combined]) -> list[str]:
    """How many rows leave a floor rule undecided: allowed where the rule's flag is optional, yet to be seen."""
    undecided = sum(bool(row.scores.undecided) for row in rows)
    if not undecided:
        return []
    return [f"In {undecided} of {len(rows)} rows the sheets do not say whether the floor rule applies."]


def _warnings(scored: Scored) -> list[str]:
    small = [judge for judge in scored.judges if (scored.kinds or {}).get(judge) == "local"]
    if not small:
        return []
    return [f"Scores by {', '.join(small)} come from a very small model: a demonstration, not evidence."]
