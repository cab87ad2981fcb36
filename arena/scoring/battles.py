"""Scores as battles: two scored things that answer to the same item meet, the higher score wins."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from runstore.problems import InputProblem, Problem
from runstore.publish import require_columns
from runstore.tables import Names, Schema, read_table, strict_number, text_rows

SCORES = Schema({"judge": ("심사자", "채점자"), "total": ("총점", "합계")})
_MT_BENCH = {"question_id", "model", "judge", "judgment", "score", "turn"}
"""The columns of MT-bench's ``JUDGE_single.jsonl``: two turns a question, -1 where the judge could not be read."""


@dataclass(frozen=True, slots=True)
class Score:
    """One score: ``model`` was scored by ``judge`` on ``item`` (and its ``turn``); None where there is none."""

    model: str
    item: str
    judge: str
    value: float | None
    turn: str = ""


@dataclass(frozen=True, slots=True)
class ScoreBattles:
    """Rows of a battles file, and how often each pair could not meet because one of the two has no score."""

    rows: list[dict[str, object]]
    without_score: dict[tuple[str, str], int]


def battles_from_scores(scores: Sequence[Score], margin: float) -> ScoreBattles:
    """A battle for every pair of models on one item under one judge.

    A difference of at most ``margin`` (>= 0, in points) is a tie. Rows have ``model_a, model_b, winner, cluster``
    (the item), ``judge``, ``difference`` (a - b), and ``turn`` where there are turns; model_a sorts first.
    Raises Problem for a negative margin, or a model scored twice on one item by one judge.
    """
    if not 0 <= margin < float("inf"):
        raise Problem(f"margin: found {margin}, expected 0 or more points")
    met: dict[tuple[str, str, str], dict[str, float | None]] = {}
    for score in scores:
        field = met.setdefault((score.item, score.judge, score.turn), {})
        if score.model in field:
            raise Problem(f"{score.model!r} is scored twice on item {score.item!r} by judge {score.judge!r}")
        field[score.model] = score.value
    rows: list[dict[str, object]] = []
    without: Counter[tuple[str, str]] = Counter()
    for (item, judge, turn), field in met.items():
        for a, b in combinations(sorted(field), 2):
            first, second = field[a], field[b]
            if first is None or second is None:
                without[a, b] += 1
                continue
            about = {"cluster": item, "judge": judge} | ({"turn": turn} if turn else {})
            rows.append(_battle(a, b, first - second, margin) | about)
    return ScoreBattles(rows, dict(without))


def _battle(a: str, b: str, difference: float, margin: float) -> dict[str, object]:
    # Sums of decimals such as 0.1 + 0.2 must not decide whether a difference is within the margin.
    difference = round(difference, 9)
    winner = "tie" if abs(difference) <= margin else "model_a" if difference > 0 else "model_b"
    return {"model_a": a, "model_b": b, "winner": winner, "difference": difference}


def read_scores(path: Path, *, model: str, item: str, measure: str = "total") -> list[Score]:
    """A table of scores with columns that say which model each row scores and on what item.

    Any form that :func:`read_table` knows; None where a score is blank.
    Raises InputProblem naming file, row and column.
    """
    table = read_table(path, SCORES)
    require_columns(path, table.header, (model, item, measure))
    return list(_scores(path, text_rows(table), model, item, measure))


def _scores(
    path: Path, rows: list[tuple[int, dict[str, str]]], model: str, item: str, measure: str
) -> Iterable[Score]:
    by_turn = bool(rows) and set(rows[0][1]) >= _MT_BENCH
    names = {column: Names(path) for column in dict.fromkeys((model, item, "judge"))}
    for number, row in rows:
        if blank := [column for column in (model, item) if not row[column].strip()]:
            raise InputProblem(path, "a name", line=number, field=blank[0])
        value = strict_number(row[measure])
        if row[measure].strip() and (value is None or not math.isfinite(value)):
            raise InputProblem(path, "a number or nothing", found=row[measure], line=number, field=measure)
        if by_turn:
            row, value = row | {"judge": _first_name(row["judge"])}, None if value == -1 else value
        taken = {name: seen.take(row.get(name, ""), line=number, column=name) for name, seen in names.items()}
        yield Score(taken[model], taken[item], taken["judge"], value, row["turn"] if by_turn else "")


def _first_name(judge: str) -> str:
    """MT-bench names its judge and the prompt: ``["gpt-4", "single-v1"]``; what is no such list is a name."""
    with suppress(ValueError):
        return str(json.loads(judge)[0]) if judge.startswith('["') else judge
    return judge
