"""What a run with a goal found out, from how many of the matches, and how sure it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from arena.sequential.result import BestAccount, GoalAccount, PlaceAccount, RankingAccount
from frontdesk.report.blocks import Block, Section, Table, Text, cells, columns
from frontdesk.report.figures import level_text, limits, significant, span_of_points
from runstore.languages import words
from runstore.records import Language


def pursued(goal: GoalAccount | None, language: Language) -> Section | None:
    """The section of a run's report; None where the run had no goal."""
    if goal is None:
        return None
    sure = "sure_place" if goal.goal == "place" else "sure"
    blocks: list[Block] = [
        Text(_outcome(goal, language), "lead"),
        *_details(goal, language),
        Text(_say("used", language, **dict(goal.matches))),
        Text(_say(sure, language, error=goal.error, level=1 - goal.error), "soft"),
        Text(_say("lean", language), "soft"),
    ]
    return Section("goal", _say("goal", language), blocks)


def _outcome(goal: GoalAccount, language: Language) -> str:
    if goal.result is None:
        return _say("undecided", language)
    if isinstance(goal, PlaceAccount):
        return _say(
            "placed", language, newcomer=goal.newcomer, rating=goal.rating, lower=goal.lower, upper=goal.upper
        )
    if goal.result.winner is not None:
        return _say("winner", language, winner=goal.result.winner)
    if goal.result.order:
        return _say("order", language, order=", ".join(goal.result.order))
    return _say("circle", language)


def _details(goal: GoalAccount, language: Language) -> Iterator[Block]:
    if isinstance(goal, BestAccount):
        if goal.result is None and len(goal.candidates) > 1:
            yield Text(_say("left", language, names=", ".join(goal.candidates)))
        if goal.win_rate is not None and goal.win_rate.value is not None:
            yield Text(_say("win_rate", language, **dict(goal.win_rate)))
        yield _candidates(goal, language)
        yield _gaps(goal, language)
    elif isinstance(goal, RankingAccount):
        yield _pairs(goal, language)
        yield _gaps(goal, language)
    else:
        lowest, highest = goal.rank_range
        above, below = (_names(names, language) for names in (goal.certainly_above, goal.certainly_below))
        yield Text(_say("neighbours", language, above=above, below=below, lowest=lowest, highest=highest))


def _candidates(goal: BestAccount, language: Language) -> Table:
    rows = [
        cells(
            endpoint.name,
            significant(endpoint.evidence_against, 3),
            "–" if endpoint.ruled_out_after is None else f"{endpoint.ruled_out_after}",
            "–" if endpoint.behind is None else limits(endpoint.behind.lower, endpoint.behind.upper),
        )
        for endpoint in goal.endpoints
    ]
    titles = [_say(key, language) for key in ("endpoint", "evidence_against", "ruled_out")]
    head = columns(*titles, _say("behind", language, level=level_text(1 - goal.error)))
    return Table(head, rows, _say("needed", language, needed=goal.evidence_needed))


def _pairs(goal: RankingAccount, language: Language) -> Table:
    rows = [
        cells(
            f"{pair.a} – {pair.b}",
            pair.better or "–",
            f"{pair.matches}",
            _say(f"how_{pair.how}", language) if pair.how else "–",
        )
        for pair in goal.pairs
    ]
    titles = (_say(key, language) for key in ("pair", "better", "matches", "shown_by"))
    return Table(columns(*titles, worded=[_say("better", language), _say("shown_by", language)]), rows)


def _gaps(goal: GoalAccount, language: Language) -> Table:
    """Every gap with the limits that hold at the stop."""
    rows = [
        cells(
            f"{gap.a} – {gap.b}",
            "–" if gap.gap is None else f"{gap.gap:+.0f}",
            gap.reason or span_of_points(gap.lower, gap.upper),
            f"{gap.dialogues}",
        )
        for gap in goal.gaps
    ]
    titles = [_say("limits", language, level=level_text(1 - goal.error)), _say("dialogues", language)]
    caption = _say(f"gaps_{goal.gaps_hold or 'each'}", language)
    return Table(columns(_say("pair", language), _say("gap", language), *titles), rows, caption)


def _names(names: Sequence[str], language: Language) -> str:
    return ", ".join(names) or _say("none", language)


def _say(key: str, language: Language, **values: object) -> str:
    return words("frontdesk.report", "goal", language)(key, **values)
