"""What a study costs: minutes per rater, fees and other costs, and the days of its schedule."""

from __future__ import annotations

from dataclasses import dataclass

from arena.human.forms import say
from arena.human.study import Study


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the budget; unit price and quantity are None for a flat cost."""

    label: str
    unit: float | None
    quantity: int | None
    amount: float


@dataclass(frozen=True, slots=True)
class Budget:
    """``minutes`` per rater of each group (label, minutes); ``days`` of the whole schedule."""

    lines: tuple[Line, ...]
    total: float
    minutes: tuple[tuple[str, float], ...]
    schedule: tuple[tuple[str, float], ...]
    days: float


def budget(study: Study, language: str = "en") -> Budget:
    """The budget in the study's currency."""
    groups = study.groups.values()
    lines = [Line(say(g.label, language), g.fee, g.size, g.fee * g.size) for g in groups if g.fee]
    lines += [Line(say(cost.label, language), None, None, cost.amount) for cost in study.costs]
    per_item = sum(study.time.per_item.values())
    minutes = tuple(
        (say(g.label, language), study.time.training + g.items * per_item + study.time.survey) for g in groups
    )
    schedule = tuple((say(stage.label, language), stage.days) for stage in study.schedule)
    return Budget(
        tuple(lines), sum(line.amount for line in lines), minutes, schedule, sum(days for _, days in schedule)
    )
