"""A judge's scores beside people's: for a study's documents, as they were answered in each condition."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from statistics import mean

from arena.agreement.correlation import kendall, pearson, spearman
from arena.agreement.result import StatisticRow
from arena.human.forms import say
from arena.human.ratings import Scored
from arena.human.study import Document, Study
from runstore.problems import InputProblem
from runstore.results import Result
from runstore.tables import Schema, read_table, require_rows, strict_number

SCORES = Schema(
    {"document": ("문서", "자료"), "condition": ("조건",), "judge": ("심판",), "total": ("점수", "score")}
)
Unit = tuple[str, str]
"""Document and condition."""


class AgainstPeople(Result):
    """One judge's scores against the people's mean of one row of the table; units are documents x conditions."""

    judge: str
    metric: str
    label: str
    statistics: tuple[StatisticRow, ...]


def sessions(documents: Iterable[Document], language: str) -> Iterator[dict[str, str]]:
    """What ``score`` reads to score the same documents: a row a document and condition, as raters saw it."""
    for document in documents:
        for condition, reply in document.replies.items():
            yield {
                "id": f"{document.id}:{condition}",
                "question": say(document.original, language),
                "answer": say(reply, language),
                "document": document.id,
                "condition": condition,
                "stratum": document.stratum,
            }


def read_scores(path: Path, study: Study) -> dict[str, dict[Unit, float]]:
    """By judge, the total of each document and condition: a ``scores.csv``, or such a table of any form.

    Rows without a total are left out. Raises InputProblem: a column that is missing, a condition that the study
    does not have, no number, or the same twice.
    """
    table = read_table(path, SCORES)
    if missing := [name for name in SCORES.names if name not in table.header]:
        raise InputProblem(path, f"the columns {', '.join(SCORES.names)}", found=f"no {missing[0]}")
    require_rows(table)
    by_judge: dict[str, dict[Unit, float]] = defaultdict(dict)
    for line, row in table.rows:
        document, condition, judge, total = (str(row.get(name) or "").strip() for name in SCORES.names)
        if condition not in study.conditions:
            expected = f"one of {', '.join(study.conditions)}"
            raise InputProblem(path, expected, found=condition, line=line, field="condition")
        if not total:
            continue
        if (document, condition) in by_judge[judge]:
            raise InputProblem(path, "each document and condition once for a judge", found=document, line=line)
        if (value := strict_number(total)) is None or not isfinite(value):
            raise InputProblem(path, "a number", found=total, line=line, field="total")
        by_judge[judge][document, condition] = value
    return dict(by_judge)


def against_people(
    study: Study, rows: Sequence[Scored], scores: Mapping[str, Mapping[Unit, float]], language: str
) -> list[AgainstPeople]:
    """Pearson's r, Spearman's rho and Kendall's tau-b of every judge with every row of the study's table."""
    comparisons: list[AgainstPeople] = []
    for metric in study.table:
        given: dict[Unit, list[float]] = defaultdict(list)
        for row in rows:
            if (value := row.mean(metric.questions)) is not None:
                given[row.document, row.condition].append(value)
        for judge, own in scores.items():
            units = sorted(given.keys() & own.keys())
            people, judged = [mean(given[unit]) for unit in units], [own[unit] for unit in units]
            figures = tuple(measure(judged, people).row() for measure in (pearson, spearman, kendall))
            comparisons.append(
                AgainstPeople(
                    judge=judge, metric=metric.metric, label=say(metric.label, language), statistics=figures
                )
            )
    return comparisons
