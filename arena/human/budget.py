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


def budget_text(study: Study, language: str = "en") -> str:
    """The budget as a Markdown table, the minutes and the days."""
    found = budget(study, language)
    currency = say(study.currency, language)
    rows = ["| item | unit price | quantity | amount |", "| --- | ---: | ---: | ---: |"]
    for line in found.lines:
        unit = "-" if line.unit is None else f"{line.unit:,.0f}"
        quantity = "-" if line.quantity is None else str(line.quantity)
        rows.append(f"| {line.label} | {unit} | {quantity} | {line.amount:,.0f} |")
    rows += [f"| **total** | | | **{found.total:,.0f} {currency}".rstrip() + "** |", ""]
    rows += [f"- {label}: {minutes:g} minutes per rater" for label, minutes in found.minutes]
    if found.schedule:
        steps = ", ".join(f"{label} {days:g}" for label, days in found.schedule)
        rows.append(f"- schedule: {found.days:g} days, about {found.days / 7:.0f} weeks ({steps})")
    return "\n".join(rows) + "\n"
