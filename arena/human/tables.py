"""The results table as a paper prints it: Markdown, LaTeX and CSV in the protocol's layout.

| Metric | Baseline (A) | Proposed (B) | p-value | Effect Size |
| Legal Accuracy | 3.42 (0.78) | 4.21 (0.65) | 0.003** | 0.72 (M) |
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from arena.human.analysis import Analysis, Cell, Comparison

NOTE = (
    "Mean (sd) over ratings. * p < 0.05, ** p < 0.01, before correction for several rows. "
    "Effect size: Cohen's d, pooled standard deviation; N = negligible (< 0.2), S = small (< 0.5), "
    "M = medium (0.5-0.8), L = large (> 0.8)."
)
_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip


def header(analysis: Analysis) -> list[str]:
    """The five headings; the conditions by label and letter."""
    return ["Metric", *(f"{name} ({key})" for key, name in analysis.conditions), "p-value", "Effect Size"]


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


def remarks(comparisons: Sequence[Comparison]) -> list[str]:
    """What a reader must know beside the table: too few pairs for a star, no test, and what holds after Holm."""
    found: list[str] = []
    for row in comparisons:
        least = row.test.smallest_p
        if row.test.p_value is None:
            found.append(f"{row.label}: {row.test.reason}")
        elif least is not None and least >= 0.05:
            found.append(
                f"{row.label}: {row.test.n_used} {row.test.unit} can't reach p < 0.05 (least possible {least:.3f})"
            )
        if row.documents and not row.documents_in_both:
            found.append(
                f"{row.label}: none of {row.documents} documents was rated in both conditions, "
                "so this is also a difference between documents"
            )
        if row.effect.value is None:
            found.append(f"{row.label}: no effect size, {row.effect.reason}")
    kept = [row.label for row in comparisons if row.holm_p is not None and row.holm_p < 0.05]
    tested = sum(row.test.p_value is not None for row in comparisons)
    if tested:
        found.append(f"After Holm's correction over {tested} rows, p < 0.05 for: {', '.join(kept) or 'none'}")
    return found


def markdown_table(analysis: Analysis) -> str:
    """The table with its note."""
    head = [_cell(name) for name in header(analysis)]
    lines = [f"| {' | '.join(head)} |", f"|{'|'.join('---' for _ in head)}|"]
    lines += [f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows(analysis.table)]
    lines += ["", f"Note: {NOTE}"]
    lines += [f"- {_cell(line)}" for line in remarks(analysis.table)]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    plain = re.sub(r"([\\|\[`])", r"\\\1", " ".join(text.split()))
    return re.sub(r"<(?=[A-Za-z!?/])", "&lt;", plain)  # "<0.001" begins no tag and stays as it is


def latex_table(analysis: Analysis) -> str:
    """A ``table`` environment with rules of its own: no package is needed."""
    lines = [r"\begin{table}", r"\centering", r"\caption{Human Evaluation Results}", r"\begin{tabular}{lcccc}",
             r"\hline", " & ".join(latex(name) for name in header(analysis)) + r" \\", r"\hline"]  # fmt: skip
    lines += [" & ".join(latex(cell) for cell in row) + r" \\" for row in rows(analysis.table)]
    lines += [r"\hline", r"\end{tabular}", rf"\par\footnotesize Note: {latex(NOTE)}"]
    lines += [rf"\par\footnotesize {latex(line)}" for line in remarks(analysis.table)]
    return "\n".join([*lines, r"\end{table}", ""])


def latex(text: str) -> str:
    """Any text as LaTeX shows it."""
    return "".join(_LATEX.get(character, character) for character in " ".join(text.split()))
