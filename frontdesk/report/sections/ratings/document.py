"""The leaderboard as blocks: the table, what it rests on, what is wrong with it, and every pair's win rates."""

from __future__ import annotations

from collections.abc import Sequence

from arena.ratings.result import CategoryTable, Leaderboard, RatedModel, StyleControl
from frontdesk.report.blocks import Block, Column, Document, Section, Table, Text, cells, columns, points
from frontdesk.report.figures import count, level_text, limits, percent, places_text, rounded, service_texts
from frontdesk.report.sections.ratings.standings import out_of_reach, standings
from frontdesk.report.sections.ratings.stop import stop_told
from frontdesk.report.sections.run.names import category_name
from frontdesk.report.sentences import spoken
from runstore.languages import Words, words

METHOD = "betting"
_MOST_IN_MATRIX = 30


def document(board: Leaderboard, language: str = "en") -> Document:
    """The whole of ``leaderboard.md``."""
    say = words("frontdesk.report", "ratings", language)
    sections = [
        Section("basis", "", [*_warnings(board, language), Text(_basis(board, say))]),
        *_groups(board, say),
        *_remarks(board, say),
        *_position(board, say),
        *_decisions(board, say),
        *_win_rates(board, say),
        *_style(board.style, say),
        *(_levels(part, say) for part in board.by),
    ]
    return Document(say("title"), language, None, [], sections)


def _warnings(board: Leaderboard, language: str) -> list[Block]:
    stop = stop_told(board, language)
    notes = [spoken(note, language) for note in board.notes]
    return [Text(note, "warn") for note in (*notes, *([] if stop is None else [stop]))]


def latex_tables(board: Leaderboard, language: str = "en") -> list[Table]:
    """The ratings of each group for a paper; an empty board is one empty table."""
    say = words("frontdesk.report", "ratings", language)
    keys = ("rating", "lower", "upper", "wins", "losses", "ties")
    head = (Column(say("rank")), Column(say("model"), number=False), *(Column(say(key)) for key in keys))
    return [
        Table(
            head,
            [
                cells(
                    rounded(model.rank),
                    model.name,
                    *(rounded(value) for value in (model.rating, model.lower, model.upper)),
                    *(count(value) for value in (model.wins, model.losses, model.ties)),
                )
                for model in board.models
                if model.name in set(group)
            ],
        )
        for group in board.groups or ((),)
    ]


def ratings_table(board: Leaderboard, members: Sequence[RatedModel], say: Words) -> Table:
    """One row a model: rank, places, rating with its interval, and results."""
    has_rounds = any(model.rating_rounds is not None for model in members)
    reference = board.settings.reference
    heads = [Column(say("rank")), Column(say("places")), Column(say("model"), number=False), Column(say("rating"))]
    heads += [Column(say("interval", level=level_text(board.level)))]
    heads += [Column(say(key)) for key in ("wins", "losses", "ties", "win_rate")]
    heads += [Column(say("by_rounds"))] if has_rounds else []
    heads += [Column(say("against", name=reference))] if reference is not None else []
    heads += [Column(say(key)) for key in ("seconds", "usd_per_1000")] if board.has_service else []
    rows = [
        cells(
            rounded(model.rank),
            places_text(model.rank_range),
            model.name,
            rounded(model.rating),
            limits(model.lower, model.upper),
            *(count(value) for value in (model.wins, model.losses, model.ties)),
            percent(model.win_rate),
            *([rounded(model.rating_rounds)] if has_rounds else []),
            *([_versus(model, say)] if reference is not None else []),
            *(service_texts(model) if board.has_service else ()),
        )
        for model in members
    ]
    return Table(tuple(heads), rows, row_heads=False)


def _groups(board: Leaderboard, say: Words) -> list[Section]:
    sections: list[Section] = []
    for number, group in enumerate(board.groups, 1):
        members = [model for model in board.models if model.name in set(group)]
        title = say("group", n=number, of=len(board.groups)) if len(board.groups) > 1 else ""
        sections.append(Section(f"group-{number}", title, [ratings_table(board, members, say)]))
    return sections


def _basis(board: Leaderboard, say: Words) -> str:
    counts = board.counts
    said = [
        f"{spoken(board.method, say.language)}.",
        say("counted", battles=counts.battles, models=counts.models),
        _intervals(board, say),
        *support(board, say),
    ]
    if counts.invalid:
        said.append(say("invalid", n=counts.invalid, of=counts.battles + counts.invalid))
    if board.agreement is not None:
        kinds = ", ".join(
            say("kind_counted", n=value, kind=say(f"kind_{kind}")) for kind, value in board.agreement.items()
        )
        said.append(say("verdicts", kinds=kinds))
    return " ".join(said)


def _intervals(board: Leaderboard, say: Words) -> str:
    settings = board.settings
    if settings.intervals == "none":
        return say("no_intervals")
    level, unit = level_text(board.level), spoken(board.intervals.cluster, say.language) or say("battle")
    if board.intervals.method == METHOD:
        return say(METHOD, level=level, unit=unit)
    if settings.intervals in ("jackknife", "sandwich"):
        return say(settings.intervals, level=level, unit=unit)
    kind = spoken(board.intervals.refit or "exact", say.language)
    return say("bootstrap", level=level, kind=kind, n=settings.resamples, unit=unit)


def support(board: Leaderboard, say: Words) -> list[str]:
    """How many clusters (or battles) carry the result, how many more it takes, and which one outweighs all."""
    how, unit = board.intervals, spoken(board.intervals.cluster, say.language) or say("battle")
    if how.informative is None:
        return []
    said = [say("rests_on", n=how.informative, unit=unit)]
    if how.needed is not None:
        said = [say("too_few", why=spoken(how.reason, say.language), more=how.needed)]
    if how.dominant is not None:
        said.append(say("dominant", unit=unit, name=how.dominant, share=percent(how.dominant_share)))
    return said


def _decisions(board: Leaderboard, say: Words) -> list[Section]:
    if not (said := standings(board, say)) or len(said) > _MOST_IN_MATRIX:
        return []
    about = "decisions_stop" if board.intervals.method == METHOD else "decisions_about"
    level = board.intervals.level
    short = [
        f"{pair.a}, {pair.b}: {told}"
        for pair in board.pairs
        if level is not None
        for told in out_of_reach(board, pair, level, say)
    ]
    beyond = [points(*short)] if 0 < len(short) <= _MOST_IN_MATRIX else []
    return [Section("decisions", say("decisions"), [Text(say(about)), points(*said), *beyond])]


def _versus(model: RatedModel, say: Words) -> str:
    result = model.reference
    if result is None:
        return say("no_games")
    rate, low, high = map(percent, (result.win_rate, result.lower, result.upper))
    known = result.lower is not None
    return say("versus" if known else "versus_alone", rate=rate, low=low, high=high, n=count(result.matches))


def _remarks(board: Leaderboard, say: Words) -> list[Section]:
    reasons = [f"{model.name}: {spoken(model.reason, say.language)}" for model in board.models if model.reason]
    reasons += [
        f"{model.name} / {against.name}: {spoken(against.reason, say.language)}"
        for model in board.models
        if (against := model.reference) is not None and against.reason
    ]
    return [Section("remarks", say("remarks"), [points(*reasons)])] if reasons else []


def _position(board: Leaderboard, say: Words) -> list[Section]:
    effect = board.position
    if not (effect.first_wins or effect.second_wins or effect.ties):
        return []
    numbers = {"first": effect.first_wins, "second": effect.second_wins, "ties": effect.ties}
    text = say("shown_first", **numbers, unit=spoken(effect.of, say.language))
    if effect.log_odds is None:
        text += " " + say("no_effect", reason=spoken(effect.reason, say.language))
    elif effect.lower is None or effect.upper is None:
        why = spoken(effect.reason, say.language)
        text += " " + say("effect_alone" if why else "effect", value=effect.log_odds, why=why)
    else:
        text += " " + say("effect_within", value=effect.log_odds, lower=effect.lower, upper=effect.upper)
    return [Section("position", say("position"), [Text(text)])]


def _win_rates(board: Leaderboard, say: Words) -> list[Section]:
    names = [model.name for model in board.models]
    if not names or len(names) > _MOST_IN_MATRIX:
        return []
    rates: dict[tuple[str, str], str] = {}
    for pair in board.pairs:
        rate = pair.win_rate_a
        rates[pair.a, pair.b] = percent(rate) if rate is not None else say("no_games")
        rates[pair.b, pair.a] = percent(1 - rate) if rate is not None else say("no_games")
    rows = [
        cells(row, *("" if row == name else rates.get((row, name), say("no_games")) for name in names))
        for row in names
    ]
    return [Section("win-rates", say("win_rates"), [Table(columns(say("row_beats_column"), *names), rows)])]


def _style(style: StyleControl | None, say: Words) -> list[Section]:
    if style is None:
        return []
    if style.reason and not style.models:
        return [
            Section("style", say("style"), [Text(say("not_estimated", reason=spoken(style.reason, say.language)))])
        ]
    effects = [
        cells(
            row.name,
            "–" if row.log_odds_per_sd is None else f"{row.log_odds_per_sd:+.3f}",
            "–" if row.lower is None or row.upper is None else f"[{row.lower:+.3f}, {row.upper:+.3f}]",
        )
        for row in style.covariates
    ]
    ratings = [
        cells(row.name, rounded(row.raw), rounded(row.rating), limits(row.lower, row.upper))
        for row in sorted(style.models, key=lambda row: -(row.rating or 0))
    ]
    blocks: list[Block] = [
        Table(columns(say("covariate"), say("log_odds_per_sd"), say("limits")), effects),
        Table(columns(say("model"), say("plain"), say("controlled"), say("limits")), ratings),
    ]
    blocks += [Text(spoken(style.reason, say.language), "soft")] if style.reason else []
    return [Section("style", say("style"), blocks)]


def _levels(part: CategoryTable, say: Words) -> Section:
    blocks: list[Block] = []
    if part.deviation is not None:
        blocks.append(Text(say("scatter", deviation=part.deviation)))
    heads = ("rating", "limits", "shrunken", "limits", "matches", "win_rate")
    head = (
        Column(say("level"), number=False),
        Column(say("model"), number=False),
        *(Column(say(key)) for key in heads),
    )
    rows = [
        cells(
            level.level,
            row.name,
            rounded(row.rating),
            limits(row.lower, row.upper),
            rounded(row.shrunken.rating),
            limits(row.shrunken.lower, row.shrunken.upper),
            count(row.matches),
            percent(row.win_rate),
        )
        for level in part.levels
        for row in level.models
    ]
    blocks.append(Table(head, rows, row_heads=False))
    return Section(f"by-{part.category}", say("by", category=category_name(part.category, say.language)), blocks)
