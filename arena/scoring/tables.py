"""Score tables: one row a session and judge, summaries by any column, and what each judge delivered.

Every mean stands beside how many of how many it is a mean of; a judge's missing scores never leave the count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev
from typing import Literal

from arena.rubrics.rubric import Area, Rubric
from arena.scoring.combine import Combined
from runstore.publish import Cell
from runstore.records import Failure, Sheet
from runstore.results import Number, Result

ALL_JUDGES = "all judges (mean)"
ALL = "all"
MOST_VALUES = 12
Kind = Literal["item", "area", "total"]


@dataclass(frozen=True, slots=True)
class Measure:
    """One score of a rubric, after floors: an item, an area's sum, or the total, with its bounds."""

    name: str
    kind: Kind
    bounds: tuple[float, float]
    get: Callable[[Combined], float | None]


def summed(rubric: Rubric) -> tuple[Area, ...]:
    """The areas that have a sum of their own: a single one's is the total."""
    return rubric.areas if len(rubric.areas) > 1 else ()


def measures(rubric: Rubric) -> list[Measure]:
    """Items under their short names, areas where there are several, total: after floors, all of them."""
    items = [
        Measure(item.name, "item", item.bounds, lambda row, key=item.key: row.scores.after.items[key])
        for item in rubric.items
    ]
    areas = [
        Measure(area.key, "area", area.bounds, lambda row, key=area.key: row.scores.after.areas[key])
        for area in summed(rubric)
    ]
    return [*items, *areas, Measure("total", "total", rubric.bounds, lambda row: row.scores.total)]


def score_table(rubric: Rubric, rows: Sequence[Combined]) -> tuple[list[str], list[list[Cell]]]:
    """Header and rows of ``scores.csv``. An empty cell is a score that is missing; ``reason`` says why.

    Columns of the input come last, those that would repeat a name of ours as ``input_NAME``.
    """
    kept = measures(rubric)
    own = [
        "subject",
        "judge",
        "sheets_asked",
        "sheets_readable",
        "values_missing",
        *(measure.name for measure in kept),
        *(f"{area.key}_before" for area in summed(rubric)),
        "total_before",
        "total_after",
        "floored",
        "floor_undecided",
        "reason",
    ]
    extra = list(dict.fromkeys(name for row in rows for name in row.columns))
    header = own + [f"input_{name}" if name in own else name for name in extra]
    return header, [_score_row(rubric, row, kept, extra) for row in rows]


def _score_row(rubric: Rubric, row: Combined, kept: Sequence[Measure], extra: Sequence[str]) -> list[Cell]:
    scores = row.scores
    names = {item.key: item.name for item in rubric.items}
    why = [f"{names[key]}: {reason}" for key, reason in scores.reasons.items()]
    return [
        row.session,
        row.judge,
        row.asked,
        row.readable,
        len(row.missing),
        *(_whole(measure.get(row)) for measure in kept),
        *(_whole(scores.before.areas[area.key]) for area in summed(rubric)),
        _whole(scores.before.total),
        _whole(scores.after.total),
        " ".join(scores.floored),
        " ".join(scores.undecided),
        ("no readable sheet" if not row.readable else "; ".join(why)) or None,
        *(row.columns.get(name) for name in extra),
    ]


def wide_table(rubric: Rubric, rows: Sequence[Combined]) -> tuple[list[str], list[list[Cell]]]:
    """Header and rows of ``scores_wide.csv``: a session a row, a column for each judge and measure.

    ``JUDGE_MEASURE``, and ``mean_MEASURE`` over the judges where each has a score; empty where there is none. The
    total of every judge stands first. Columns of the input stand behind the session, as ``input_NAME``.
    """
    kept = sorted(measures(rubric), key=lambda measure: measure.kind != "total")
    judges = judges_of(rows)
    called = {judge: "mean" if judge == ALL_JUDGES else judge for judge in judges}
    scores = [by_session(rows, measure, judge) for measure in kept for judge in judges]
    columns = {row.session: row.columns for row in rows}
    extra = list(dict.fromkeys(name for row in rows for name in row.columns))
    header = ["subject", *(f"input_{name}" for name in extra)]
    header += [f"{called[judge]}_{measure.name}" for measure in kept for judge in judges]
    return header, [
        [session, *(own.get(name) for name in extra), *(_whole(each.get(session)) for each in scores)]
        for session, own in columns.items()
    ]


def _whole(score: float | None) -> float | int | None:
    """A whole score without a decimal point, as people and their spreadsheets write it."""
    return int(score) if score is not None and score == int(score) else score


@dataclass(frozen=True, slots=True)
class Spread:
    """One line of ``summary.csv``: ``n`` of ``of`` sessions have the score."""

    column: str
    value: str
    judge: str
    measure: str
    mean: float | None
    sd: float | None
    median: float | None
    lowest: float | None
    highest: float | None
    n: int
    of: int
    reason: str | None = None


def by_session(rows: Sequence[Combined], measure: Measure, judge: str) -> dict[str, float | None]:
    """One judge's scores by session, or the mean over all judges where every one of them has a score."""
    if judge != ALL_JUDGES:
        return {row.session: measure.get(row) for row in rows if row.judge == judge}
    own = [row for row in rows if not row.person]
    judges = {row.judge for row in own}
    of_session: dict[str, list[float]] = {row.session: [] for row in own}
    for row in own:
        if (score := measure.get(row)) is not None:
            of_session[row.session].append(score)
    return {
        session: fmean(scores) if len(scores) == len(judges) else None for session, scores in of_session.items()
    }


def judges_of(rows: Iterable[Combined]) -> list[str]:
    """Judges and people in the order of the rows, and all judges together where there are several."""
    names = {row.judge: row.person for row in rows}
    return [*names, ALL_JUDGES] if list(names.values()).count(False) > 1 else list(names)


def breakdown_columns(rows: Sequence[Combined], wanted: Sequence[str] = ()) -> list[str]:
    """The columns asked for, or those with two values, or with up to 12 that have three sessions on average."""
    if wanted:
        return list(wanted)
    values: dict[str, set[str]] = {}
    for row in rows:
        for name, value in row.columns.items():
            values.setdefault(name, set()).add(value)
    most = min(MOST_VALUES, len({row.session for row in rows}) // 3)
    return [name for name, levels in values.items() if len(levels) == 2 or 2 < len(levels) <= most]


def summary(rubric: Rubric, rows: Sequence[Combined], columns: Sequence[str]) -> list[Spread]:
    """Every measure by judge, over all sessions and per value of each column (blank: a group of its own)."""
    spreads: list[Spread] = []
    for column in (ALL, *columns):
        group_of = {row.session: ALL if column == ALL else row.columns.get(column, "") for row in rows}
        for value in sorted(set(group_of.values())):
            for judge in judges_of(rows):
                for measure in measures(rubric):
                    scores = by_session(rows, measure, judge)
                    chosen = [score for session, score in scores.items() if group_of[session] == value]
                    spreads.append(_spread((column, value, judge, measure.name), chosen))
    return spreads


def _spread(place: tuple[str, str, str, str], scores: Sequence[float | None]) -> Spread:
    known = [score for score in scores if score is not None]
    if not known:
        return Spread(*place, None, None, None, None, None, 0, len(scores), "nothing scored")
    sd = stdev(known) if len(known) > 1 else None
    return Spread(*place, fmean(known), sd, median(known), min(known), max(known), len(known), len(scores))


SUMMARY_HEADER = (
    "column", "value", "judge", "measure", "mean", "sd", "median", "lowest", "highest", "n", "of", "reason",
)  # fmt: skip


def summary_rows(spreads: Iterable[Spread]) -> list[list[Cell]]:
    return [[getattr(spread, name) for name in SUMMARY_HEADER] for spread in spreads]


class JudgeRecord(Result):
    """What one judge delivered; shares are None of nothing.

    ``asked`` sheets were wanted: ``failed`` brought no reply, ``received`` did (the rest was never asked, the run
    was stopped), and ``readable`` of these gave any value; ``values_missing`` of
    ``values`` single values; ``quotes_found`` of ``quotes`` checked quotations stand where they were said to;
    ``steady`` of ``repeated`` elements got the same value in every repeat; ``repairs`` counts reading steps.
    """

    judge: str
    asked: int
    failed: int
    received: int
    readable: int
    values: int
    values_missing: int
    quotes: int
    quotes_found: int
    repeated: int
    steady: int
    flags_missing: int
    asked_again: int
    repairs: Mapping[str, int]
    reasons: Mapping[str, int]
    quotes_found_share: Number | None
    steady_share: Number | None


def judge_record(
    judge: str, sheets: Sequence[Sheet], failures: Sequence[Failure], sessions: int, repeats: int
) -> JudgeRecord:
    """One judge's record out of all sheets and failures."""
    own = [sheet for sheet in sheets if sheet.judge == judge]
    checked = [is_found for sheet in own for slots in sheet.evidence_found.values() for is_found in slots.values()]
    quotes = [is_found for is_found in checked if is_found is not None]
    values = [
        (value, slot in sheet.not_applicable.get(item, ()))
        for sheet in own
        for item, slots in sheet.values.items()
        for slot, value in slots.items()
    ]
    repeated = _repeated(own)
    steady = sum(len(set(answers)) == 1 for answers in repeated)
    return JudgeRecord(
        judge=judge,
        asked=sessions * repeats,
        failed=sum(failure.endpoint == judge for failure in failures),
        received=len(own),
        readable=sum(sheet.readable for sheet in own),
        values=len(values),
        values_missing=sum(value is None and not aside for value, aside in values),
        quotes=len(quotes),
        quotes_found=sum(quotes),
        repeated=len(repeated),
        steady=steady,
        flags_missing=sum(value is None for sheet in own for value in sheet.flags.values()),
        asked_again=sum(len(sheet.asked_again) for sheet in own),
        repairs=dict(
            sorted(Counter(step for sheet in own for step in (sheet.repair or "").split("+") if step).items())
        ),
        reasons=dict(sorted(Counter(sheet.reason for sheet in own if sheet.reason).items())),
        quotes_found_share=sum(quotes) / len(quotes) if quotes else None,
        steady_share=steady / len(repeated) if repeated else None,
    )


def _repeated(sheets: Sequence[Sheet]) -> list[list[int]]:
    """The values of each element that several repeats for one session answered."""
    answers: dict[tuple[str, str, str], list[int]] = {}
    for sheet in sheets:
        for item, slots in sheet.values.items():
            for slot, value in slots.items():
                if value is not None:
                    answers.setdefault((sheet.subject, item, slot), []).append(value)
    return [values for values in answers.values() if len(values) > 1]
