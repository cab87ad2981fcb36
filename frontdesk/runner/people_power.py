"""How many documents and raters: a difference of means or a correlation that is expected, or a table of scores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path

import numpy as np

from arena.human.forms import NOT_APPLICABLE
from arena.human.power import (
    Correlation,
    Difference,
    at_difference,
    correlated_items_needed,
    correlation_limits,
    correlation_power,
    difference_power,
    items_needed,
    seen_difference,
)
from runstore.problems import InputProblem, Problem
from runstore.tables import Schema, read_table, strict_number, text_rows

Range = tuple[float | None, float | None]
COLUMNS = ("item", "rater", "condition", "value")
SCORES = Schema(
    {
        "item": ("항목", "대상", "document", "subject", "문서"),
        "question": ("문항", "질문"),
        "rater": ("평가자", "채점자", "judge"),
        "condition": ("조건", "endpoint", "model"),
        "value": ("값", "점수", "평점", "score"),
    }
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is expected: a ``difference`` with its spreads, a ``correlation``; or ``scores``, a table to see it in.

    ``items`` are rated by ``raters`` each. ``question``: the one of a study's ``ratings.csv`` that counts.
    """

    difference: float | None = None
    item_sd: float = 0.0
    rater_sd: float = 0.0
    residual_sd: float | None = None
    scores: Path | None = None
    correlation: float | None = None
    reliability: float = 1.0
    items: int | None = None
    raters: int = 1
    power: float = 0.8
    level: float = 0.95
    question: str | None = None


@dataclass(frozen=True, slots=True)
class PeopleAnswer:
    """``needed`` items (None: no number would do) and, with items given, their power; each with its range.

    ``limits`` is the interval that the items would give a correlation, ``seen`` what raters' noise leaves of it.
    """

    of: Difference | Correlation
    raters: int
    needed: int | None
    needed_range: Range
    items: int | None = None
    power: float | None = None
    power_range: Range = (None, None)
    limits: tuple[float, float] | None = None
    seen: float | None = None
    conditions: tuple[str, str] | None = None

    def to_json(self) -> dict[str, object]:
        """The answer as ``power --json`` prints it."""
        kind = "correlation" if isinstance(self.of, Correlation) else "difference"
        data: dict[str, object] = {"kind": kind, **asdict(self.of), "raters": self.raters}
        data |= {"items_needed": self.needed, "items_needed_range": self.needed_range}
        data |= {"items": self.items, "power": self.power, "power_range": self.power_range}
        if isinstance(self.of, Correlation):
            data |= {"seen_correlation": self.seen, "limits": self.limits}
        if self.conditions is not None:
            data["conditions"] = self.conditions
        return data


def answers(asked: Asked) -> list[PeopleAnswer]:
    """An answer for each thing asked for. Raises Problem, InputProblem for what cannot be planned."""
    people_answers: list[PeopleAnswer] = []
    if asked.difference is not None and asked.scores is not None:
        raise Problem("power: found --difference and --scores, expected one of them")
    if asked.difference is not None:
        if asked.residual_sd is None:
            raise Problem("power: found --difference without --residual-sd")
        expected = Difference(asked.difference, asked.item_sd, asked.rater_sd, asked.residual_sd)
        people_answers.append(_difference(expected, asked, (expected.difference, expected.difference)))
    if asked.scores is not None:
        table, conditions = _differences(asked.scores, asked.question)
        expected, limits = seen_difference(table, asked.level)
        people_answers.append(_difference(expected, asked, limits, conditions, len(table)))
    if asked.correlation is not None:
        people_answers.append(_correlation(Correlation(asked.correlation, asked.reliability), asked))
    return people_answers


def _difference(
    expected: Difference,
    asked: Asked,
    limits: tuple[float, float],
    conditions: tuple[str, str] | None = None,
    held: int | None = None,
) -> PeopleAnswer:
    nearest = 0.0 if limits[0] <= 0 <= limits[1] else min(limits, key=abs)
    ends = [at_difference(expected, value) for value in (nearest, max(limits, key=abs))]
    small, large = (items_needed(end, asked.raters, asked.power, asked.level) for end in ends)
    items = asked.items if asked.items is not None else held
    power, low, high = None, None, None
    if items is not None:
        power, low, high = (difference_power(each, items, asked.raters, asked.level) for each in (expected, *ends))
    needed = items_needed(expected, asked.raters, asked.power, asked.level)
    return PeopleAnswer(
        expected, asked.raters, needed, (large, small), items, power, (low, high), conditions=conditions
    )


def _correlation(expected: Correlation, asked: Asked) -> PeopleAnswer:
    needed = correlated_items_needed(expected, asked.raters, asked.power, asked.level)
    power = limits = None
    if asked.items is not None:
        power = correlation_power(expected, asked.items, asked.raters, asked.level)
        limits = correlation_limits(expected, asked.items, asked.raters, asked.level)
    seen = expected.seen_with(asked.raters)
    return PeopleAnswer(
        expected, asked.raters, needed, (needed, needed), asked.items, power, (power, power), limits, seen
    )


def _differences(path: Path, question: str | None) -> tuple[np.ndarray, tuple[str, str]]:
    """(items, raters) first condition minus second, NaN where a rater lacks one of them."""
    cells: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for item, rater, condition, value in _rows(path, question):
        cells[item, rater][condition].append(value)
    conditions = sorted({name for held in cells.values() for name in held})
    if len(conditions) != 2:
        raise InputProblem(path, "two conditions", found=", ".join(conditions) or "none", field="condition")
    first, second = conditions
    items, raters = (sorted({key[side] for key in cells}) for side in (0, 1))
    table = np.full((len(items), len(raters)), np.nan)
    for (item, rater), held in cells.items():
        if first in held and second in held:
            lead = float(np.mean(held[first]) - np.mean(held[second]))
            table[items.index(item), raters.index(rater)] = lead
    return table, (first, second)


def _rows(path: Path, question: str | None) -> Iterator[tuple[str, str, str, float]]:
    """(item, rater, condition, value) of every row that has a value and, where several are there, the question."""
    table = read_table(path, SCORES)
    if absent := [name for name in COLUMNS if name not in table.header]:
        raise InputProblem(path, f"columns {', '.join(COLUMNS)}", found=f"no {', '.join(absent)}", line=1)
    rows = list(text_rows(table))
    asked = dict.fromkeys(row["question"].strip() for _, row in rows) if "question" in table.header else {}
    if question not in asked and (question is not None or len(asked) > 1):
        expected = f"one question (--question), of {', '.join(asked) or 'a table that has the column'}"
        raise InputProblem(path, expected, found=question or "several", field="question")
    for number, row in rows:
        if question is not None and row["question"].strip() != question:
            continue
        item, rater, condition, text = (row[name].strip() for name in COLUMNS)
        if text in ("", NOT_APPLICABLE):
            continue
        for name, found in zip(COLUMNS, (item, rater, condition), strict=False):
            if not found:
                raise InputProblem(path, "a name", found=found, line=number, field=name)
        value = strict_number(text)
        if value is None or not isfinite(value):
            raise InputProblem(path, "a number", found=text, line=number, field="value")
        yield item, rater, condition, value
