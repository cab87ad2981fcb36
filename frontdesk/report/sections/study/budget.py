"""What a study costs, as blocks: lines and total, minutes of each group, days of the schedule."""

from __future__ import annotations

from arena.human.budget import budget
from arena.human.forms import say as text_of
from arena.human.study import Study
from frontdesk.report.blocks import Block, Column, Table, cells, points
from runstore.languages import words


def budget_blocks(study: Study, language: str = "en") -> list[Block]:
    """The table, and a list of what raters and organisers spend in time."""
    say, spent = words("frontdesk.report", "study", language), budget(study, language)
    rows = [
        cells(
            line.label,
            "-" if line.unit is None else f"{line.unit:,.0f}",
            "-" if line.quantity is None else str(line.quantity),
            f"{line.amount:,.0f}",
        )
        for line in spent.lines
    ]
    total = f"{spent.total:,.0f} {text_of(study.currency, language)}".rstrip()
    rows.append(cells(say("total"), "", "", total))
    figures = (Column(say(key)) for key in ("unit_price", "quantity", "amount"))
    heads = (Column(say("budget_item"), number=False), *figures)
    said = [say("minutes", label=label, minutes=minutes) for label, minutes in spent.minutes]
    if spent.schedule:
        steps = ", ".join(f"{label} {days:g}" for label, days in spent.schedule)
        said.append(say("schedule", days=spent.days, weeks=spent.days / 7, steps=steps))
    return [*([Table(heads, rows)] if spent.lines else []), points(*said)]
