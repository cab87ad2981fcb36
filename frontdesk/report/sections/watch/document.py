"""A run as it goes, as blocks: stages, endpoints, the leaderboard so far, and what went wrong in words."""

from __future__ import annotations

from arena.ratings.result import Leaderboard
from frontdesk.report.blocks import Block, Column, Document, Section, Table, Text, cells, columns
from frontdesk.report.sections.ratings.document import ratings_table
from frontdesk.report.sentences import spoken_message
from frontdesk.runner.outcome import EndpointDone
from frontdesk.runner.watching import Live, Stage
from runstore.languages import Words, words

LONGEST = 600
"""Letters of an unreadable reply that are shown; the journal has it whole."""


def document(live: Live) -> Document:
    """The page of a moment."""
    say = words("frontdesk.report", "watch", live.language)
    sections = [
        Section("stages", say("stages"), [_stages(live.stages, say) if live.stages else Text(say("no_stage"))]),
        *([Section("endpoints", say("endpoints"), [_endpoints(live.endpoints, say)])] if live.endpoints else []),
        Section("board", say("board_so_far" if live.provisional else "board"), _board(live, say)),
        *_texts(live, say),
    ]
    return Document(
        say("title", name=live.name),
        live.language,
        None,
        [],
        sections,
        notes=[say(live.state.replace(" ", "_"))],
    )


def _stages(stages: tuple[Stage, ...], say: Words) -> Table:
    rows = [
        cells(
            stage.stage,
            f"{stage.done:,} / {stage.of:,}",
            "–" if stage.failed is None else f"{stage.failed:,}",
            "–" if stage.per_minute is None else f"{stage.per_minute:,.0f}",
            "–" if stage.left_s is None else _duration(stage.left_s, say),
        )
        for stage in stages
    ]
    return Table(columns(*(say(key) for key in ("stage", "finished", "failed", "per_minute", "left"))), rows)


def _duration(seconds: float, say: Words) -> str:
    return say("minutes", n=round(seconds / 60)) if seconds >= 90 else say("seconds", n=round(seconds))


def _endpoints(endpoints: tuple[EndpointDone, ...], say: Words) -> Table:
    keys = ("endpoint", "calls", "failed", "unreadable_count", "tokens", "usd", "median", "served")
    rows = [
        cells(
            each.endpoint,
            f"{each.calls:,}",
            f"{each.failed:,}",
            f"{each.unreadable:,}",
            f"{each.input + each.output + each.thinking:,}",
            _usd(each, say),
            "–" if each.median_latency_s is None else f"{each.median_latency_s:.2f}",
            f"{each.served:,}",
        )
        for each in endpoints
    ]
    return Table(columns(*(say(key) for key in keys)), rows)


def _usd(each: EndpointDone, say: Words) -> str:
    if each.usd is None:
        return say("unknown") if each.unpriced else "–"
    return say("usd_part", usd=f"{each.usd:,.4f}") if each.unpriced else f"{each.usd:,.4f}"


def _board(live: Live, say: Words) -> list[Block]:
    if live.board is None:
        return [Text(say("no_board"))]
    warning: list[Block] = [Text(say("provisional", n=live.judged), "warn")] if live.provisional else []
    return [*warning, *_groups(live.board, live.language)]


def _groups(board: Leaderboard, language: str) -> list[Block]:
    say = words("frontdesk.report", "ratings", language)
    groups = [[model for model in board.models if model.name in set(group)] for group in board.groups]
    return [ratings_table(board, members, say) for members in groups]


def _texts(live: Live, say: Words) -> list[Section]:
    unreadable = [
        cells(each.judge, each.item, spoken_message(each.reason, live.language), each.text[:LONGEST])
        for each in reversed(live.unreadable)
    ]
    failures = [
        cells(each.endpoint, each.stage, each.kind, spoken_message(each.message, live.language)[:LONGEST])
        for each in reversed(live.failures)
    ]
    shown = (
        ("unreadable", ("judge", "item", "why", "text"), unreadable),
        ("failures", ("endpoint", "stage", "kind", "message"), failures),
    )
    return [
        Section(
            key,
            say(key, n=len(rows)),
            [Table(tuple(Column(say(head), number=False) for head in heads), rows, row_heads=False)],
        )
        for key, heads, rows in shown
        if rows
    ]
