"""The outcome sections of a run's report: result, reliability, leaderboard, breakdowns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from arena.agreement.shares import Share
from arena.ratings.result import Leaderboard, Pair, RatedModel
from frontdesk.report.blocks import Bar, Block, Cell, Section, Table, Text, cells, columns, points
from frontdesk.report.figures import (
    count,
    level_text,
    p_text,
    percent,
    places_text,
    plain,
    service_texts,
    span,
    with_span,
)
from frontdesk.report.marks import INVALID, LESS_SURE, SURE, TIE
from frontdesk.report.plots.dots import Dot, dot_chart
from frontdesk.report.sections.ratings.standings import out_of_reach, standings
from frontdesk.report.sections.ratings.stop import stop_told
from frontdesk.report.sections.run import gaps, outcomes, pictures, service
from frontdesk.report.sections.run.data import RunData
from frontdesk.report.sections.run.names import level_name
from frontdesk.report.sections.run.pictures import colour_of
from frontdesk.report.sentences import spoken
from runstore.languages import Words

_MOST_IN_SENTENCES = 12
_SURENESS = {"unanimous": SURE, "majority": LESS_SURE, "split": TIE, "invalid": INVALID}


def result(data: RunData, say: Words) -> Section:
    """Wins and shares per endpoint and ties: one table for two endpoints, one a pair for more."""
    blocks: list[Block] = [Text(headline(data, say), "lead")]
    if (verdict := _apart(data, say)) is not None:
        blocks.append(Text(verdict))
    pairs = list(combinations(data.names, 2)) if len(data.names) > 1 else []
    if not data.verdicts:
        return Section("result", say("result"), blocks)
    if 2 < len(data.names) <= _MOST_IN_SENTENCES and (said := standings(data.board, say)):
        blocks.append(points(*said))
    if len(pairs) == 1:
        blocks += _two(data, say, pairs[0])
    else:
        blocks += [_many(data, say)]
    blocks += [Text(text, "warn") for text in gaps.told(data, say)]
    blocks += _stop(data, say)
    blocks.append(Text(say("share_method", level=level_text(data.level)), "soft"))
    return Section("result", say("result"), blocks)


def _stop(data: RunData, say: Words) -> list[Block]:
    told = stop_told(data.board, say.language)
    return [] if told is None else [Text(told, "warn")]


def unit_of(data: RunData, say: Words) -> str:
    """What is counted: matches, or verdicts where a match has one for each of several criteria."""
    several = len(data.criteria) > 1
    return say("unit_verdicts", n=len(data.criteria)) if several else say("unit_matches")


def _counted(data: RunData, say: Words) -> str:
    """The same as a column's title."""
    return say("verdicts_counted") if len(data.criteria) > 1 else say("matches")


def headline(data: RunData, say: Words) -> str:
    """The result in one sentence, and one for each endpoint that has no part in it."""
    absent = [f"{spoken(sentence, say.language)}." for sentence in data.absent]
    return " ".join([_first_said(data, say), *absent])


def _first_said(data: RunData, say: Words) -> str:
    names = data.names
    if not data.valid:
        return say("nothing_judged")
    if len(names) == 2:
        pair = outcomes.pair_result(data.verdicts, (names[0], names[1]), data.level)
        return say(
            "headline_two",
            unit=unit_of(data, say),
            a=names[0],
            b=names[1],
            of=pair.a.of,
            wins_a=count(pair.a.hits),
            wins_b=count(pair.b.hits),
            ties=count(pair.ties.hits),
            share_a=percent(pair.a.value),
            share_b=percent(pair.b.value),
            share_t=percent(pair.ties.value),
        )
    if (groups := len(data.board.groups)) > 1:
        return say("headline_groups", n=len(names), groups=groups)
    first = outcomes.standing(data.verdicts, names[0], data.level)
    return say(
        "headline_many",
        unit=unit_of(data, say),
        name=names[0],
        n=len(names),
        wins=count(first.wins.hits),
        ties=count(first.ties),
        of=first.wins.of,
        share=percent(first.wins.value),
    )


def _apart(data: RunData, say: Words) -> str | None:
    """Whether the first two are told apart (:mod:`arena.ratings.decision`), and the figures of it."""
    if len(data.names) < 2:
        return None
    pair = data.board.pair(*data.names[:2])
    if pair is None or pair.decision is None:
        return None
    better, worse, limits = pair.a, pair.b, (pair.gap, pair.gap_lower, pair.gap_upper)
    if (pair.gap or 0) < 0 or pair.decision == "b":
        better, worse = worse, better
        limits = tuple(None if value is None else -value for value in (limits[0], limits[2], limits[1]))
    key = {"not told apart": "not_apart", "not enough data": "not_enough"}.get(pair.decision, "apart")
    if None in limits:
        key = _without_limits(data.board, key)
    gap, lower, upper = ("…" if value is None else plain(value) for value in limits)
    interval = say("interval", level=level_text(data.board.level))
    said = [say(key, better=better, worse=worse, gap=gap, interval=interval, lower=lower, upper=upper)]
    if len(data.names) == 2:
        said.append(_test(data.board, pair, say))
    said += out_of_reach(data.board, pair, data.level, say)
    return " ".join(said)


def _without_limits(board: Leaderboard, key: str) -> str:
    if key != "apart":
        return "not_enough"
    return "apart_one_way" if board.stop is None else "apart_stopped"


def _test(board: Leaderboard, pair: Pair, say: Words) -> str:
    if pair.p_value is None and board.stop is not None:
        return say("tested_by_betting")
    if pair.p_value is None:
        return say("no_test", reason=spoken(pair.reason, say.language))
    test = spoken(board.counts.pair_test, say.language)
    return say("test_p", test=test[:1].upper() + test[1:], p=p_text(pair.p_value))


def _two(data: RunData, say: Words, names: tuple[str, str]) -> list[Block]:
    pair = outcomes.pair_result(data.verdicts, names, data.level)
    colours = [colour_of(data, name) for name in names]
    rows = [
        _share_row(name, share, colour)
        for name, share, colour in zip(
            (*names, say("tie")), (pair.a, pair.b, pair.ties), (*colours, TIE), strict=True
        )
    ]
    parts = [
        (names[0], int(pair.a.hits), colours[0]),
        (say("tie"), int(pair.ties.hits), TIE),
        (names[1], int(pair.b.hits), colours[1]),
    ]
    caption = _of_what(data, pair.invalid, say)
    head = ("wins", "share")
    titles = [say(key) for key in head] + [say("interval", level=level_text(data.level))]
    return [Bar(say("result"), parts), Table(columns(say("endpoint"), *titles), rows, caption)]


def _share_row(label: str, share: Share, colour: int) -> tuple[Cell, ...]:
    return (
        Cell(label, colour=colour),
        Cell(count(share.hits)),
        Cell(percent(share.value), share=share.value, colour=colour),
        Cell(span(share.lower, share.upper)),
    )


def _many(data: RunData, say: Words) -> Table:
    rows = [outcomes.standing(data.verdicts, name, data.level) for name in data.names]
    titles = *map(say, ("wins", "losses", "ties")), _counted(data, say), say("share")
    head = columns(say("endpoint"), *titles, say("interval", level=level_text(data.level)))
    invalid = len(data.verdicts) - len(data.valid)
    body = [
        (
            Cell(row.name, colour=colour_of(data, row.name)),
            *cells(count(row.wins.hits), str(row.losses), str(row.ties), str(row.wins.of)),
            Cell(percent(row.wins.value), share=row.wins.value, colour=colour_of(data, row.name)),
            Cell(span(row.wins.lower, row.wins.upper)),
        )
        for row in rows
    ]
    return Table(head, body, _of_what(data, invalid, say))


def _of_what(data: RunData, invalid: int, say: Words) -> str:
    """Of how many matches asked for; several criteria make several verdicts a match, and are no matches."""
    valid, asked = len(data.valid), max(data.workload.verdicts, len(data.verdicts))
    unit = unit_of(data, say)
    if valid == asked:
        return say("result_caption_whole", of=valid, unit=unit)
    return say(
        "result_caption",
        of=valid,
        invalid=invalid,
        judged=valid + invalid,
        lost=asked - valid - invalid,
        all=asked,
        unit=unit,
    )


def reliability(data: RunData, say: Words) -> Section:
    """How much the rounds of each match agreed."""
    shares = outcomes.reliability(data.verdicts, data.level)
    shown = {kind: share for kind, share in shares.items() if kind != "invalid" or share.hits}
    rows = [
        (
            Cell(say(kind)),
            Cell(count(share.hits)),
            Cell(percent(share.value), share=share.value, colour=_SURENESS[kind]),
            Cell(span(share.lower, share.upper)),
        )
        for kind, share in shown.items()
    ]
    judge = data.config.judge
    rounds = judge.rounds if judge is not None else 0
    judges = len(judge.endpoints) if judge is not None else len(data.judges)
    key = "reliability_caption_one" if judges == 1 else "reliability_caption"
    caption = say(key, of=len(data.verdicts), asked=rounds * judges, rounds=rounds, judges=judges)
    titles = [say("count"), say("share"), say("interval", level=level_text(data.level))]
    blocks: list[Block] = [Table(columns(say("how_sure"), *titles), rows, caption)]
    if judge is not None and judge.rounds_mode == "decisive":
        blocks.append(Text(say("decisive"), "soft"))
    return Section("reliability", say("reliability"), blocks)


def leaderboard(data: RunData, say: Words) -> Section:
    """Ratings with intervals as a picture and a table, what they rest on, and what is wrong with them."""
    board = data.board
    level = level_text(board.level)
    reference = 1000.0 if data.config.rate.anchor == {} else None
    dot_rows = [
        Dot(
            model.name,
            model.rating,
            model.lower,
            model.upper,
            colour_of(data, model.name),
            plain(model.rating),
            spoken(model.reason, say.language),
        )
        for model in board.models
    ]
    title = say("rating_chart", level=level)
    blocks: list[Block] = [dot_chart(dot_rows, title, reference=reference, axis=say("rating_axis"), key="ratings")]
    rounds = any(model.rating_rounds is not None for model in board.models)
    keys = ("rating", "interval", "rank", "places", "wins", "losses", "ties")
    titles = [say(key, level=level) if key == "interval" else say(key) for key in keys]
    titles += [_counted(data, say), say("win_rate")]
    titles += [say("rating_rounds")] if rounds else []
    titles += [say("seconds"), say("usd_per_1000")] if board.has_service else []
    adjusted = board.settings.position == "adjust" and board.position.log_odds is not None
    captions = [say("rounds_caption_adjusted" if adjusted else "rounds_caption")] if rounds else []
    captions += [say("service_caption")] if board.has_service else []
    rows = [_leaderboard_row(data, model, rounds=rounds) for model in board.models]
    blocks.append(Table(columns(say("endpoint"), *titles), rows, " ".join(captions)))
    blocks += service.pictures(data, say, dot_rows)
    blocks += pictures.history(data, say)
    blocks += [
        Text(f"{model.name}: {spoken(model.reason, say.language)}", "soft")
        for model in board.models
        if model.reason
    ]
    blocks += [Text(spoken(note, say.language), "warn") for note in board.notes]
    blocks += _stop(data, say)
    if not board.converged and any(model.rating is not None for model in board.models):
        blocks.append(Text(say("not_converged"), "warn"))
    blocks += [Text(text, "warn") for text in support(board, say)]
    blocks.append(Text(_method(board, say), "soft"))
    return Section("leaderboard", say("leaderboard"), blocks)


def _leaderboard_row(data: RunData, model: RatedModel, *, rounds: bool) -> tuple[Cell, ...]:
    limits = "–"
    if model.lower is not None or model.upper is not None:
        limits = "–".join("…" if limit is None else plain(limit) for limit in (model.lower, model.upper))
    return (
        Cell(model.name, colour=colour_of(data, model.name)),
        *cells(
            plain(model.rating),
            limits,
            "–" if model.rank is None else str(model.rank),
            places_text(model.rank_range),
        ),
        *(Cell(count(number)) for number in (model.wins, model.losses, model.ties, model.matches)),
        Cell(percent(model.win_rate)),
        *([Cell(plain(model.rating_rounds))] if rounds else []),
        *(map(Cell, service_texts(model)) if data.board.has_service else ()),
    )


def _method(board: Leaderboard, say: Words) -> str:
    how = board.intervals
    unit = say("unit_dialogue") if how.cluster == "dialogue" else how.cluster or say("unit_match")
    intervals = say(
        f"intervals_{how.method}",
        level=level_text(how.level or 0),
        unit=unit,
        resamples=how.resamples,
        seed=how.seed,
    )
    if how.informative is not None and how.needed is None:
        intervals += " " + say("rests_on", n=how.informative, unit=unit)
    scale = board.scale
    return say(
        "method",
        method=spoken(board.method, say.language),
        intervals=intervals,
        scale=scale.name,
        mean=plain(scale.mean),
    )


def support(board: Leaderboard, say: Words) -> list[str]:
    """What is wrong with the data that the intervals rest on: too few clusters, or one that outweighs the rest."""
    how, said = board.intervals, list[str]()
    if how.needed is not None:
        said.append(say("too_few", why=spoken(how.reason, say.language), more=how.needed))
    if how.dominant is not None:
        said.append(say("dominant", name=how.dominant, share=percent(how.dominant_share)))
    return said


def breakdowns(data: RunData, say: Words) -> Section:
    """Win rates by subject, persona factor, depth and criterion."""
    blocks: list[Block] = [Text(say("breakdown_caption", level=level_text(data.level)), "soft")]
    asked = gaps.asked_by_level(data)
    for category, level_of in outcomes.categories(data.subset, data.criteria).items():
        levels = outcomes.breakdown(data.verdicts, data.names, level_of, data.level)
        if levels:
            blocks += pictures.levels(data, say, category, levels)
            blocks.append(_breakdown_table(data, say, category, levels, asked.get(category, {})))
    return Section("breakdowns", say("breakdowns"), blocks)


def _breakdown_table(
    data: RunData, say: Words, category: str, levels: Sequence[outcomes.Level], asked: Mapping[str, int]
) -> Table:
    """``asked`` for on each level, where something is missing: a level without a verdict is then there too."""
    title = pictures.category_title(data, say, category)
    empty = {name: outcomes.win_rate((), name, data.level) for name in data.names}
    missing = [outcomes.Level(name, 0, 0, empty) for name in asked.keys() - {level.name for level in levels}]
    rows = [
        (
            Cell(level_name(data.config, category, level.name, say)),
            Cell(_of_asked(level, asked.get(level.name), say)),
            *(
                Cell(with_span(rate, n=len(data.names) > 2), share=rate.value, colour=colour_of(data, name))
                for name, rate in level.rates.items()
            ),
        )
        for level in sorted([*levels, *missing], key=lambda level: outcomes.natural(level.name))
    ]
    return Table(columns(say("level"), _counted(data, say), *data.names), rows, title=title)


def _of_asked(level: outcomes.Level, asked: int | None, say: Words) -> str:
    valid = level.matches - level.invalid
    return str(valid) if asked is None or valid >= asked else say("n_of", n=valid, of=asked)
