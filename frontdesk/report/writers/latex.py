"""A table of blocks as LaTeX."""

from __future__ import annotations

from collections.abc import Sequence

from frontdesk.report.blocks import Table
from frontdesk.report.untrusted import latex as literal


def tabular(tables: Sequence[Table]) -> str:
    """One ``tabular`` with the rules of booktabs: the columns of the first table, a rule between the tables."""
    lines = [r"% needs \usepackage{booktabs}", *_tabular(tables, r"\toprule", r"\midrule", r"\bottomrule"), ""]
    return "\n".join(lines)


def floating(table: Table, caption: str, notes: Sequence[str]) -> str:
    """A ``table`` environment with rules of its own, for which no package is needed, and notes under it."""
    lines = [r"\begin{table}", r"\centering", rf"\caption{{{literal(caption)}}}"]
    lines += _tabular([table], *[r"\hline"] * 3, numbers="c")
    lines += [rf"\par\footnotesize {literal(note)}" for note in notes]
    return "\n".join([*lines, r"\end{table}", ""])


def _tabular(tables: Sequence[Table], top: str, middle: str, bottom: str, numbers: str = "r") -> list[str]:
    columns = tables[0].columns
    spec = "".join(numbers if column.number else "l" for column in columns)
    lines = [
        rf"\begin{{tabular}}{{{spec}}}",
        top,
        " & ".join(literal(column.title) for column in columns) + r" \\",
    ]
    for table in tables:
        lines += [middle, *(" & ".join(_cell(cell.text) for cell in row) + r" \\" for row in table.rows)]
    return [*lines, bottom, r"\end{tabular}"]


def _cell(text: str) -> str:
    return literal(text).replace("–", "--") if text else ""
