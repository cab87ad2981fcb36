"""One endpoint's page of a site: its record, where it wins and loses, what it costs, examples."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from frontdesk.report.blocks import Block, Cell, Document, Section, Table, Text, cells, columns
from frontdesk.report.figures import count, level_text, percent, plain, service_texts, span, span_of_points
from frontdesk.report.plots.dots import Dot, dot_chart
from frontdesk.report.sections.run import outcomes, pictures
from frontdesk.report.sections.run.data import RunData
from frontdesk.report.sections.run.judges import example
from frontdesk.report.sections.run.names import level_name
from runstore.ids import draw
from runstore.languages import Words, words
from runstore.publish import safe_name
from runstore.records import Language, Verdict

FIRST_PAGE = "index.html"
FEWEST = 8
"""Matches that a level must have to be named as where an endpoint wins or loses most."""
_EXAMPLES = 2


def page_name(name: str) -> str:
    """The file of an endpoint's page: the same as long as its name is."""
    return f"endpoint-{safe_name(name)}.html"


def match_link(verdict: Verdict) -> str:
    """The address of a match: by what it is, so that it stays when others are added."""
    parts = (verdict.subset, *verdict.endpoints, verdict.criterion)
    return f"{FIRST_PAGE}#match/{'/'.join(quote(part, safe='') for part in parts)}"


def document(data: RunData, name: str, title: str, language: Language) -> Document:
    """The page's blocks."""
    say, run = words("frontdesk.report", "site", language), words("frontdesk.report", "run", language)
    sections = [
        Section("record", say("record"), list(_record(data, name, run))),
        Section("where", say("where"), list(_where(data, name, say, run))),
        Section("history", say("history"), pictures.history(data, run, only=name)),
        Section("service", say("service"), _service(data, name, say, run)),
        Section("examples", say("examples"), list(_examples(data, name, say, run))),
    ]
    return Document(
        title=name,
        language=language,
        demonstration=None,
        banner=[],
        sections=[section for section in sections if section.blocks],
        contents_label=run("contents"),
        skip_label=run("skip"),
        back=(title, FIRST_PAGE),
    )


def _record(data: RunData, name: str, run: Words) -> Iterator[Block]:
    model = data.board.model(name)
    own = outcomes.standing(data.verdicts, name, data.level)
    if model is not None and model.rating is not None:
        limits = "–" if model.lower is None or model.upper is None else f"{model.lower:.0f}–{model.upper:.0f}"
        interval = run("interval", level=level_text(data.level))
        place = run("rank"), "–" if model.rank is None else str(model.rank)
        facts = [(run("rating"), f"{model.rating:.0f}"), (interval, limits), place]
        yield Text(" · ".join(f"{key} {value}" for key, value in facts), "lead")
    head = columns(
        run("endpoint"),
        *(run(key) for key in ("wins", "losses", "ties", "matches", "win_rate")),
        run("interval", level=level_text(data.level)),
        run("gap"),
        run("interval", level=level_text(data.level)),
    )
    rows = [_against(data, name, other) for other in data.names if other != name]
    total = outcomes.win_rate(data.verdicts, name, data.level)
    rows.append(
        (
            Cell(run("total")),
            *cells(count(own.wins.hits), str(own.losses), str(own.ties), str(own.wins.of), percent(total.value)),
            *cells(span(total.lower, total.upper), "", ""),
        )
    )
    yield Table(head, rows)


def _against(data: RunData, name: str, other: str) -> tuple[Cell, ...]:
    own = [verdict for verdict in data.valid if set(verdict.endpoints) == {name, other}]
    rate = outcomes.win_rate(own, name, data.level)
    wins, losses = (sum(verdict.winner == winner for verdict in own) for winner in (name, other))
    pair = data.board.pair(name, other)
    gap, limits = "–", "–"
    if pair is not None and pair.gap is not None:
        sign = 1 if pair.a == name else -1
        gap = f"{sign * pair.gap:+.0f}"
        ends = [None if end is None else sign * end for end in (pair.gap_lower, pair.gap_upper)]
        limits = span_of_points(*(ends if sign > 0 else reversed(ends)))
    return (
        Cell(other, colour=pictures.colour_of(data, other), href=page_name(other)),
        *cells(str(wins), str(losses), str(len(own) - wins - losses), str(len(own))),
        Cell(percent(rate.value), lean=rate.value),
        *cells(span(rate.lower, rate.upper), gap, limits),
    )


def _where(data: RunData, name: str, say: Words, run: Words) -> Iterator[Block]:
    own = [verdict for verdict in data.verdicts if name in verdict.endpoints]
    colour, named = pictures.colour_of(data, name), list[tuple[float, str]]()
    charts: list[Block] = []
    for category, level_of in outcomes.categories(data.subset, data.criteria).items():
        levels = outcomes.breakdown(own, [name], level_of, data.level)
        title = pictures.category_title(data, run, category)
        rows: list[Dot] = []
        for level in levels:
            rate, label = level.rates[name], level_name(data.config, category, level.name, run)
            rows.append(Dot(label, rate.value, rate.lower, rate.upper, colour, percent(rate.value), "–"))
            if rate.value is not None and rate.of >= FEWEST:
                named.append((rate.value, f"{title}: {label} ({percent(rate.value)}, n {rate.of})"))
        if len(rows) > 1:
            axis = run("win_rate_axis")
            charts.append(dot_chart(rows, title, reference=0.5, percent=True, axis=axis))
    if len(named) > 1:
        named.sort()
        yield Text(say("best_at", what=named[-1][1]))
        yield Text(say("worst_at", what=named[0][1]))
    yield from charts


def _service(data: RunData, name: str, say: Words, run: Words) -> list[Block]:
    model = data.board.model(name)
    seconds, dollars = ("–", "–") if model is None else service_texts(model)
    lengths = sorted(len(reply.text) for reply in data.replies if reply.endpoint == name)
    half = plain(float(lengths[len(lengths) // 2])) if lengths else "–"
    rows = [
        cells(run("seconds"), seconds),
        cells(run("usd_per_1000"), dollars),
        cells(say("letters"), half),
        cells(say("replies"), str(len(lengths))),
    ]
    return [Table(columns(say("fact"), say("figure")), rows)]


def _examples(data: RunData, name: str, say: Words, run: Words) -> Iterator[Block]:
    own = [verdict for verdict in data.valid if name in verdict.endpoints]
    seed = data.config.run.seed
    own.sort(key=lambda v: (draw(seed, "endpoint", v.subset, *v.endpoints, v.criterion), v.subset))
    won = [verdict for verdict in own if verdict.winner == name]
    lost = [verdict for verdict in own if verdict.winner not in (name, None)]
    chosen = [*won[:_EXAMPLES], *lost[:_EXAMPLES]]
    if not chosen:
        return
    rows = [
        (
            Cell(verdict.subset, href=match_link(verdict)),
            Cell(" : ".join(verdict.endpoints)),
            Cell(verdict.winner or ""),
        )
        for verdict in chosen
    ]
    yield Table(tuple(columns(title)[0] for title in (say("match"), run("pair"), run("winner"))), rows)
    for verdict in chosen:
        yield example(data, run, verdict)
