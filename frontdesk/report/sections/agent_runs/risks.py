"""What to look at: where items fail, which questions differ between rounds, what is slow, and what breaks."""

from __future__ import annotations

from collections.abc import Sequence

from arena.agent_runs.result import Cause, PathFailures, Pattern, ShownItem
from arena.agent_runs.scoring import Analysis
from frontdesk.report.blocks import Block, Cell, Column, Either, Point, Section, Table, Text, cells, points
from frontdesk.report.figures import percent, plain
from frontdesk.report.marks import INVALID
from frontdesk.report.sections.agent_runs.texts import DIGITS, brief
from frontdesk.report.sentences import spoken
from runstore.languages import Words


def risks(analysis: Analysis, say: Words) -> Section:
    """The lists of the scoring document; on a page they are tables with bars."""
    figures = analysis.figures
    paths, patterns, causes = figures.failures_by_path, figures.patterns, figures.instability
    lists = points(
        _listed(say("by_path"), [_path_line(row, say) for row in paths], say),
        _listed(say("patterns"), [_pattern_line(row, say) for row in patterns], say),
        *_question_lists(analysis, say),
        _listed(
            say("causes"), [f"{brief(spoken(row.cause, say.language), 120)}: {row.items}" for row in causes], say
        ),
    )
    tables = (
        _table(_paths(paths, say), say),
        _table(_patterns(patterns, say), say),
        *question_tables(analysis, ("differing", "slowest"), say),
        _table(_causes(causes, say), say),
    )
    return Section("risks", say("risks"), [Either(text=(lists,), page=tables)])


def question_tables(analysis: Analysis, keys: Sequence[str], say: Words) -> tuple[Block, ...]:
    """A table of the items listed under each key that the analysis has."""
    return tuple(
        _table(_questions(say(key), analysis.shown[key], say), say) for key in keys if key in analysis.shown
    )


def _listed(title: str, lines: Sequence[str], say: Words) -> Point:
    return Point(title, tuple(lines)) if lines else Point(f"{title}: {say('none')}")


def _table(table: Table, say: Words) -> Block:
    return table if table.rows else Text(f"{table.title}: {say('none')}")


def _path_line(row: PathFailures, say: Words) -> str:
    failed = say("of", n=row.fail, m=row.items)
    return f"{_name(row.path, say)}: {failed} ({say('no_url')} {row.no_url})"


def _pattern_line(row: Pattern, say: Words) -> str:
    place = f"{_name(row.track, say)} / {_name(row.category, say)}"
    return f"{place}: {say('basis_' + row.reason)} {say('of', n=row.fail, m=row.items)}"


def _question_lists(analysis: Analysis, say: Words) -> tuple[Point, Point]:
    differing = [f"{brief(row.query_id)}: {brief(row.query)}" for row in analysis.shown["differing"]]
    slowest = [
        f"{brief(row.query_id)} ({brief(row.round)}): {plain(row.seconds, 2)}{say('sec')}"
        for row in analysis.shown["slowest"]
    ]
    return _listed(say("differing"), differing, say), _listed(say("slowest"), slowest, say)


def _paths(failures: Sequence[PathFailures], say: Words) -> Table:
    rows = [
        cells(
            _name(row.path, say, 120),
            say("of", n=row.fail, m=row.items),
            str(row.no_url),
            _share(row.rate),
        )
        for row in failures
    ]
    head = _head(say, ("path",), ("fail", "no_url", "share"))
    return Table(head, rows, title=say("by_path"))


def _patterns(patterns: Sequence[Pattern], say: Words) -> Table:
    rows = [
        cells(
            _name(row.track, say),
            _name(row.category, say),
            say(f"basis_{row.reason}"),
            say("of", n=row.fail, m=row.items),
            _share(row.rate),
        )
        for row in patterns
    ]
    head = _head(say, ("track", "category", "reason"), ("fail", "share"))
    return Table(head, rows, title=say("patterns"), row_heads=False)


def _causes(causes: Sequence[Cause], say: Words) -> Table:
    rows = [cells(brief(spoken(row.cause, say.language), 120), str(row.items)) for row in causes]
    return Table(_head(say, ("reason",), ("items",)), rows, title=say("causes"))


def _questions(title: str, listed: Sequence[ShownItem], say: Words) -> Table:
    rows = [
        cells(
            str(row.row),
            brief(row.query_id),
            brief(row.round),
            brief(row.query, 120),
            say(f"basis_{row.accuracy_basis}"),
            plain(row.seconds, 2),
        )
        for row in listed
    ]
    titles = (say("row"), "Query ID", say("round"), say("queries"), say("reason"))
    head = (*(Column(name, number=False) for name in titles), Column(say("seconds")))
    return Table(head, rows, title=title, row_heads=False)


def _head(say: Words, texts: Sequence[str], numbers: Sequence[str]) -> tuple[Column, ...]:
    return (*(Column(say(key), number=False) for key in texts), *(Column(say(key)) for key in numbers))


def _share(rate: float) -> Cell:
    return Cell(percent(rate, DIGITS), share=rate, colour=INVALID)


def _name(text: str | None, say: Words, limit: int = 80) -> str:
    return brief(text, limit) if text else say("no_name")
