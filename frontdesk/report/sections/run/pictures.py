"""The pictures of a run: ratings over refreshes, who beats whom, judges and levels beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from arena.judges import behaviour
from frontdesk.report.blocks import Block
from frontdesk.report.figures import level_text, percent, plain
from frontdesk.report.plots.dots import Dot
from frontdesk.report.plots.grids import Shade, grid_chart
from frontdesk.report.plots.panels import Panel, rate_panels
from frontdesk.report.plots.planes import Moment, over_time
from frontdesk.report.sections.run import outcomes
from frontdesk.report.sections.run.data import RunData
from frontdesk.report.sections.run.names import factor_name, level_name
from frontdesk.runner.leaderboard_history import Figures
from runstore.languages import Words

MOST_SERIES = 12
MOST_LEVELS = 12
MOST_IN_GRID = 16


def colour_of(data: RunData, name: str) -> int:
    """The series of an endpoint: by name, so that it keeps its colour when ranks change."""
    return sorted(data.names).index(name)


def history(data: RunData, say: Words, only: str | None = None) -> list[Block]:
    """Ratings over the run's refreshes, of all endpoints or one; nothing where there was none."""
    if not data.refreshes:
        return []
    gone = {model.name for line in data.refreshes for model in (*line.before, *line.after)} - set(data.names)
    colours = {name: at for at, name in enumerate([*sorted(data.names), *sorted(gone)])}
    if only is None and len(colours) > MOST_SERIES:
        return []

    def moment(label: str, models: Sequence[Figures]) -> Moment:
        return Moment(
            label, {model.name: _dot(model, colours[model.name]) for model in models if only in (None, model.name)}
        )

    moments = [moment(say("history_start"), data.refreshes[0].before)]
    moments += [moment(line.at[:10], line.after) for line in data.refreshes]
    title = say("history_chart", level=level_text(data.level))
    return [over_time(title, say("rating_axis"), moments, "history")]


def _dot(model: Figures, colour: int) -> Dot:
    return Dot(model.name, model.rating, model.lower, model.upper, colour, plain(model.rating))


def matrix(data: RunData, say: Words) -> list[Block]:
    """Win rates of every pair, shaded away from a half."""
    if not 2 < len(data.names) <= MOST_IN_GRID:
        return []
    cells: dict[tuple[str, str], Shade] = {}
    for a, b in combinations(data.names, 2):
        own = [verdict for verdict in data.valid if set(verdict.endpoints) == {a, b}]
        rate = outcomes.win_rate(own, a, data.level).value
        if rate is not None:
            cells[a, b], cells[b, a] = Shade(rate, len(own)), Shade(1 - rate, len(own))
    return [grid_chart(say("matrix_chart"), data.names, cells, diverging=True, key="matrix")]


def judges(data: RunData, say: Words) -> list[Block]:
    """How often two judges decide alike, of the matches on which both decide."""
    if not 2 <= len(data.judges) <= MOST_IN_GRID:
        return []
    cells: dict[tuple[str, str], Shade] = {}
    for row in behaviour.between_judges(data.judgments, data.judges, data.level):
        if row.alike.value is not None:
            cells[row.a, row.b] = cells[row.b, row.a] = Shade(row.alike.value, row.alike.of)
    return [grid_chart(say("judges_chart"), data.judges, cells, diverging=False, key="judges")] if cells else []


def levels(data: RunData, say: Words, category: str, rows_of: Sequence[outcomes.Level]) -> list[Block]:
    """Win rates by level of one category, a panel an endpoint."""
    if not (1 < len(rows_of) <= MOST_LEVELS and 1 < len(data.names) <= MOST_SERIES):
        return []
    named = {level.name: level_name(data.config, category, level.name, say) for level in rows_of}
    panels = [
        Panel(
            name,
            colour_of(data, name),
            {level.name: _rate(level, name, colour_of(data, name)) for level in rows_of},
        )
        for name in data.names
    ]
    title = f"{category_title(data, say, category)}: {say('level_chart', level=level_text(data.level))}"
    return [rate_panels(title, say("win_rate_axis"), named, panels, f"by-{category.replace('.', '-')}")]


def _rate(level: outcomes.Level, name: str, colour: int) -> Dot:
    share = level.rates[name]
    return Dot(name, share.value, share.lower, share.upper, colour, percent(share.value))


def category_title(data: RunData, say: Words, category: str) -> str:
    """``By subject``."""
    if category.startswith("persona."):
        return say("by_persona", factor=factor_name(data.config, category.partition(".")[2], say.language))
    return say(f"by_{category}")
