"""The agreement report as Markdown: every figure beside its interval, its "n of n" and its remarks."""

from __future__ import annotations

from collections.abc import Iterable

from arena.agreement.report import AgreementReport, Block
from arena.agreement.result import Statistic


def markdown(found: AgreementReport) -> str:
    """The whole report; tables have one row a statistic."""
    settings = found.settings
    lines = [
        "# Agreement between raters",
        "",
        f"- Source: {_cell(found.source)}, {found.rows} rows, {found.missing_rows} of them with a missing value",
        f"- Values: {settings.measurement}; scale {_cell(found.scale) if found.scale else 'not declared'}",
        f"- Intervals: {settings.level:.0%}, {settings.resamples} resamples, seed {settings.seed}",
    ]
    if found.reference:
        lines.append(f"- Reference: {_cell(found.reference)}; pairs below are another rater minus the reference")
    lines += _block("## All", found.overall, settings.level)
    for block in found.groups:
        lines += _block(f"## {_cell(found.by or '')} = {_cell(block.label)}", block, settings.level)
    return "\n".join(lines) + "\n"


def _block(title: str, block: Block, level: float) -> list[str]:
    gaps = f"{block.cells - block.rated} of {block.cells} cells missing"
    raters = ", ".join(_cell(name) for name in block.raters)
    lines = ["", title, "", f"{block.units} units, {len(block.raters)} raters ({raters}), {gaps}.", ""]
    for note in block.notes:
        lines += [f"> {_cell(note)}", ""]
    lines += table(block.statistics, level)
    for pair in block.pairs:
        lines += ["", f"### {_cell(pair.first)} and {_cell(pair.second)}", "", *table(pair.statistics, level)]
    return lines


def table(statistics: Iterable[Statistic], level: float = 0.95) -> list[str]:
    """Markdown table lines of some statistics; one that is not estimable says because of what."""
    lines = [f"| Statistic | Value | {level:.0%} interval | Used | Remarks |", "| --- | ---: | --- | --- | --- |"]
    for one in statistics:
        interval = f"[{number(one.interval[0])}, {number(one.interval[1])}]" if one.interval else "–"
        because = f"not estimable because: {one.reason}" if one.value is None else ""
        no_interval = "" if one.interval or one.value is None else one.interval_method or ""
        remarks = "; ".join(part for part in (because, no_interval, *one.notes) if part)
        used = f"{one.n_used} of {one.n} {one.unit}"
        lines.append(f"| {_cell(one.name)} | {number(one.value)} | {interval} | {used} | {_cell(remarks)} |")
    return lines


def number(value: float | None) -> str:
    """Three decimals, more for small values, – for none."""
    if value is None:
        return "–"
    return f"{value:.3f}" if abs(value) >= 0.001 or value == 0 else f"{value:.2e}"


def _cell(text: str) -> str:
    """Somebody's text so that it stays in its cell and starts no markup."""
    flat = " ".join(text.split())
    for sign in "\\`*_[]<>|#":
        flat = flat.replace(sign, f"\\{sign}")
    return flat
