"""A scoring run's files: sheets, scores, summaries, agreement and comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

from arena.rubrics.rubric import Rubric
from arena.scoring.combine import Combined, combine_all, people_rows
from arena.scoring.compare import GroupComparison, compare_groups
from arena.scoring.judges import Agreed, AgreementWishes, agreements
from arena.scoring.tables import (
    SUMMARY_HEADER,
    JudgeRecord,
    Spread,
    breakdown_columns,
    judge_record,
    score_table,
    summary,
    summary_rows,
    wide_table,
)
from frontdesk.runner.score_plan import Material, Plan
from runstore.publish import write_csv, write_json, write_jsonl
from runstore.records import Failure, Sheet


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
        own = combine_all(material.rubric, self.sheets, material.sessions, plan.judges, plan.repeats)
        return own + people_rows(material.rubric, material.people, material.sessions)

    def records(self) -> list[JudgeRecord]:
        sessions, repeats = len(self.material.sessions), self.plan.repeats
        return [judge_record(judge, self.sheets, self.failures, sessions, repeats) for judge in self.plan.judges]


@dataclass(frozen=True, slots=True)
class ScoreResults:
    """What a scoring run found. ``gaps`` is what is incomplete, in words (empty where nothing is)."""

    scored: Scored
    rows: list[Combined]
    judges: list[JudgeRecord]
    spreads: list[Spread]
    agreed: Agreed
    compared: list[GroupComparison]
    gaps: list[str]


class Teller(Protocol):
    """Who puts results into words: the sentences that stand in the records, and the report."""

    def gaps(self, rows: Sequence[Combined], judges: Sequence[JudgeRecord]) -> list[str]:
        """What is missing, in English."""
        ...

    def undecided(self, rows: Sequence[Combined]) -> list[str]:
        """What is open without being missing, in English."""
        ...

    def report(self, folder: Path, results: ScoreResults) -> None:
        """Write the report of these results into the folder."""
        ...


def publish(folder: Path, scored: Scored, teller: Teller) -> ScoreResults:
    """Write the records of a scoring run."""
    rubric, rows, judges, wishes = scored.rubric, scored.rows(), scored.records(), scored.plan.wishes
    columns = [name for name in breakdown_columns(rows, wishes.by) if name != wishes.match]
    spreads = summary(rubric, rows, columns)
    how = AgreementWishes(wishes.reference, wishes.resamples, wishes.seed, tuple(columns))
    agreed = agreements(rubric, rows, how)
    chosen = _comparisons(rows, columns) if wishes.compare is None else wishes.compare
    compared = [
        comparison
        for column, values in chosen.items()
        for comparison in compare_groups(rubric, rows, column, values, matched=wishes.match)
    ]
    gaps = teller.gaps(rows, judges)
    head = {"rubric": rubric.identity, "notes": [*gaps, *teller.undecided(rows)]}
    counts = {"subjects": len(scored.material.sessions), "repeats": scored.plan.repeats}
    delivered = {
        "judges": list(judges),
        "summary": [asdict(spread) for spread in spreads],
    }
    write_jsonl(folder / "sheets.jsonl", [*scored.sheets, *scored.material.people])
    write_csv(folder / "scores.csv", *score_table(rubric, rows))
    write_csv(folder / "scores_wide.csv", *wide_table(rubric, rows))
    write_csv(folder / "summary.csv", SUMMARY_HEADER, summary_rows(spreads))
    with_people = {"people": agreed.people, "against_people": agreed.against}
    write_json(folder / "agreement.json", {**head, "measures": agreed.judges, **with_people})
    write_json(folder / "comparison.json", {**head, "comparisons": [each.row() for each in compared]})
    write_json(folder / "score.json", {**head, **counts, **delivered})
    return ScoreResults(scored, rows, judges, spreads, agreed, compared, gaps)


def _comparisons(rows: Sequence[Combined], columns: Sequence[str]) -> dict[str, tuple[str, str] | None]:
    values: dict[str, set[str]] = {
        column: {row.columns[column] for row in rows if column in row.columns} for column in columns
    }
    return {column: None for column, levels in values.items() if len(levels) == 2}
