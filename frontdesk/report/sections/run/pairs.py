"""Every pair of endpoints in a run's report: counts, tests, gap, and the matrix of win rates."""

from __future__ import annotations

from itertools import combinations

from arena.agreement.shares import Share
from arena.ratings.result import Pair
from frontdesk.report.blocks import Block, Cell, Folded, Section, Table, cells, columns
from frontdesk.report.figures import (
    count,
    level_text,
    p_text,
    percent,
    span_of_points,
)
from frontdesk.report.sections.run import outcomes, pictures
from frontdesk.report.sections.run.data import RunData
from frontdesk.report.sections.run.pictures import colour_of
from frontdesk.report.sentences import spoken
from runstore.languages import Words

_MOST_IN_MATRIX = 30


def matrix(data: RunData, say: Words) -> Section | None:
    """Every pair's counts, tests and gap; and, for more than two endpoints, the matrix of win rates."""
    pairs = data.board.pairs
    if not pairs:
        return None
    level = level_text(data.board.level)
    head = columns(
        say("pair"),
        *(say(key) for key in ("wins", "losses", "ties", "invalid", "win_rate", "gap")),
        say("interval", level=level),
        *(say(key) for key in ("p_value", "p_holm", "decision")),
    )
    rows = [_pair_row(pair, say) for pair in pairs]
    caption = say("pairs_caption", test=spoken(data.board.counts.pair_test, say.language), n=len(pairs))
    if (stop := data.board.stop) is not None and stop.goal != "place":
        caption = say("pairs_caption_stop")
    blocks: list[Block] = []
    if 2 < len(data.names) <= _MOST_IN_MATRIX:
        drawn = pictures.matrix(data, say)
        blocks += [*drawn, Folded(say("as_table"), (_matrix(data, say),))] if drawn else [_matrix(data, say)]
    return Section("matrix", say("matrix"), [*blocks, Table(head, rows, caption)])


def _pair_row(pair: Pair, say: Words) -> tuple[Cell, ...]:
    limits = "–"
    if pair.gap_lower is not None or pair.gap_upper is not None:
        limits = span_of_points(pair.gap_lower, pair.gap_upper)
    return cells(
        f"{pair.a} : {pair.b}",
        *map(count, (pair.wins_a, pair.wins_b, pair.ties, pair.invalid)),
        percent(pair.win_rate_a),
        "–" if pair.gap is None else f"{pair.gap:+.0f}",
        limits,
        *(p_text(p).removeprefix("p ").removeprefix("= ") for p in (pair.p_value, pair.p_holm)),
        decision(pair, say),
    )


def decision(pair: Pair, say: Words) -> str:
    """Who is the better one, or that it is not told."""
    if pair.decision is None:
        return "–"
    return {"a": pair.a, "b": pair.b}.get(pair.decision) or say(
        "undecided" if pair.decision == "not told apart" else "undecided_few"
    )


def _matrix(data: RunData, say: Words) -> Table:
    rates: dict[tuple[str, str], Share] = {}
    for a, b in combinations(data.names, 2):
        own = [verdict for verdict in data.verdicts if set(verdict.endpoints) == {a, b}]
        rates[a, b] = outcomes.win_rate(own, a, data.level)
        rates[b, a] = outcomes.win_rate(own, b, data.level)
    rows = [
        (Cell(row, colour=colour_of(data, row)), *(_rate(rates.get((row, name))) for name in data.names))
        for row in data.names
    ]
    return Table(columns(say("row_beats"), *data.names), rows, say("matrix_caption"))


def _rate(share: Share | None) -> Cell:
    if share is None or share.value is None:
        return Cell("" if share is None else "–")
    return Cell(percent(share.value), lean=share.value, soft=f"({share.of})")
