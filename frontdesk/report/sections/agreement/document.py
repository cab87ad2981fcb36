"""An agreement report as blocks: every figure beside its interval, its "n of n" and its remarks."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from arena.agreement.report import AgreementReport
from arena.agreement.report import Block as Group
from arena.agreement.result import Statistic
from frontdesk.report import blocks
from frontdesk.report.blocks import Column, Document, Heading, Section, Table, Text, cells, points
from frontdesk.report.sentences import spoken
from runstore.languages import Words, words


def document(agreed: AgreementReport, language: str = "en") -> Document:
    """The whole report; tables have one row a statistic."""
    say, settings = words("frontdesk.report", "agreement", language), agreed.settings
    facts = [
        say("source", source=agreed.source, rows=agreed.rows, missing=agreed.missing_rows),
        say("values", measurement=spoken(settings.measurement, language), scale=agreed.scale or say("undeclared")),
        say("intervals", level=f"{settings.level:.0%}"),
    ]
    if agreed.reference:
        facts.append(say("reference", name=agreed.reference))
    sections = [Section("data", "", [points(*facts)]), _section("all", say("all"), agreed.overall, agreed, say)]
    sections += [
        _section(f"group-{number}", f"{agreed.by or ''} = {group.label}", group, agreed, say)
        for number, group in zip(count(1), agreed.groups, strict=False)
    ]
    return Document(say("title"), language, None, [], sections)


def _section(key: str, title: str, group: Group, agreed: AgreementReport, say: Words) -> Section:
    level = agreed.settings.level
    raters = ", ".join(group.raters)
    lead = say("counted", units=group.units, n=len(group.raters), raters=raters, missing=group.cells.missing,
               cells=group.cells.of)  # fmt: skip
    parts: list[blocks.Block] = [Text(lead), *(Text(spoken(note, say.language), "warn") for note in group.notes)]
    parts.append(table(group.statistics, level, say))
    for pair in group.pairs:
        parts += [
            Heading(say("pair", first=pair.first, second=pair.second)),
            table(pair.statistics, level, say),
        ]
    return Section(key, title, parts)


def table(statistics: Iterable[Statistic], level: float, say: Words) -> Table:
    """One row a statistic; one that is not estimable says because of what."""
    heads = (("statistic", False), ("value", True), ("interval", True), ("used", False), ("remarks", False))
    columns = tuple(
        Column(say(key, level=f"{level:.0%}") if key == "interval" else say(key), n) for key, n in heads
    )
    rows = [
        cells(
            spoken(figure.name, say.language),
            number(figure.value),
            f"[{number(figure.interval[0])}, {number(figure.interval[1])}]" if figure.interval else "–",
            say("of", n=figure.n_used, of=figure.n, unit=spoken(figure.unit, say.language)),
            _remarks(figure, say),
        )
        for figure in statistics
    ]
    return Table(columns, rows)


def _remarks(figure: Statistic, say: Words) -> str:
    because = say("not_estimable", reason=spoken(figure.reason, say.language)) if figure.value is None else ""
    tells_something = figure.interval is not None and figure.interval != (-1.0, 1.0)
    why = "" if tells_something or figure.value is None else figure.interval_method or ""
    said = (why, *figure.notes)
    return "; ".join(part for part in (because, *(spoken(part, say.language) for part in said)) if part)


def number(value: float | None) -> str:
    """Three decimals, more for small values, – for none."""
    if value is None:
        return "–"
    return f"{value:.3f}" if abs(value) >= 0.001 or value == 0 else f"{value:.2e}"
