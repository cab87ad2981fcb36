"""The results table as a paper prints it, in the protocol's layout.

| Metric | Baseline (A) | Proposed (B) | p-value | Effect Size |
| Legal Accuracy | 3.42 (0.78) | 4.21 (0.65) | 0.003** | 0.72 (M) |
"""

from __future__ import annotations

from collections.abc import Sequence

from arena.human.analysis import Analysis, Cell, Comparison
from frontdesk.report.blocks import Column, Table, cells
from frontdesk.report.sentences import spoken
from frontdesk.report.writers.latex import floating
from runstore.languages import Words, words


def protocol_table(analysis: Analysis, say: Words) -> Table:
    """The five columns of the protocol, a row a metric."""
    first, *rest = header(analysis, say)
    columns = (Column(first, number=False), *(Column(name) for name in rest))
    return Table(columns, [cells(*row) for row in rows(analysis.table)], row_heads=False)


def latex_table(analysis: Analysis, language: str = "en") -> str:
    """The table for a paper, with its note and remarks; no package is needed."""
    say = words("frontdesk.report", "study", language)
    notes = [say("note_line", note=say("note")), *remarks(analysis.table, say)]
    return floating(protocol_table(analysis, say), say("title"), notes)


def header(analysis: Analysis, say: Words) -> list[str]:
    """The five headings; the conditions by label and letter."""
    return [
        say("metric"),
        *(f"{name} ({key})" for key, name in analysis.conditions),
        say("p_value"),
        say("effect_size"),
    ]


def rows(comparisons: Sequence[Comparison]) -> list[list[str]]:
    """The five cells of every row."""
    return [
        [row.label, mean_sd(row.first), mean_sd(row.second), p_value(row.test.p_value) + row.stars, effect(row)]
        for row in comparisons
    ]


def mean_sd(cell: Cell) -> str:
    if cell.mean is None:
        return "-"
    return f"{cell.mean:.2f} ({'-' if cell.sd is None else f'{cell.sd:.2f}'})"


def p_value(p: float | None) -> str:
    if p is None:
        return "-"
    return "<0.001" if p < 0.0005 else f"{p:.3f}"


def effect(row: Comparison) -> str:
    return "-" if row.effect.value is None else f"{row.effect.value:.2f} ({row.size})"


def remarks(comparisons: Sequence[Comparison], say: Words) -> list[str]:
    """What a reader must know beside the table: too few pairs for a star, no test, and what holds after Holm."""
    said: list[str] = []
    for row in comparisons:
        least = row.test.smallest_p
        if row.test.p_value is None:
            said.append(say("no_test", label=row.label, reason=spoken(row.test.reason, say.language)))
        elif least is not None and least >= 0.05:
            said.append(
                say(
                    "too_few",
                    label=row.label,
                    n=row.test.n_used,
                    unit=spoken(row.test.unit, say.language),
                    least=least,
                )
            )
        if row.documents and not row.documents_in_both:
            said.append(say("other_documents", label=row.label, n=row.documents))
        if row.effect.value is None:
            said.append(say("no_effect", label=row.label, reason=spoken(row.effect.reason, say.language)))
    kept = [row.label for row in comparisons if row.holm_p is not None and row.holm_p < 0.05]
    if tested := sum(row.test.p_value is not None for row in comparisons):
        said.append(say("after_holm", n=tested, kept=", ".join(kept) or say("none")))
    return said
