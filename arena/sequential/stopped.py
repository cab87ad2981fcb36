"""A leaderboard whose matches were chosen by a goal: it says so, and keeps no interval that the stop has spoilt.

Ordinary intervals and tests hold for a number of matches that was settled beforehand. Where judging ends as soon
as somebody is ahead they hold less often, and the ratings lie further apart than the truth. So the limits of gaps,
the decisions and the places are those of the goal's own bets, and what these do not bound has no limits. A
newcomer's place ends on the width of its interval, which says nothing about who won: that table keeps its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arena.ratings.result import (
    CategoryTable,
    Decision,
    Leaderboard,
    LevelModel,
    Pair,
    RatedModel,
    Stop,
    StyleControl,
    number,
)
from arena.sequential.goal import Goal
from arena.sequential.result import BestAccount, GoalAccount, PlaceAccount, RankingAccount

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

METHOD = "betting"
TEST = "sequential test by betting, valid at every look"
_CHOSEN = "matches were chosen by what was seen, so a test for a fixed number of them does not hold"
_TIED = "limits are for ties as halves"


def at_the_stop(board: Leaderboard, goal: Goal, account: GoalAccount | None) -> Leaderboard:
    """The board as it holds at the stop; ``account`` is None where judging broke off before the goal's end."""
    stop = Stop(
        goal=goal.name,
        reached=None if account is None else account.stopped == "reached",
        error=goal.error,
        limits=None if account is None else account.gaps_hold,
    )
    if isinstance(account, PlaceAccount) or (account is None and goal.name == "place"):
        return board.model_copy(update={"stop": stop})
    names = [model.name for model in board.models]
    better = _better(names, account)
    lower = _lower_limits(names, account) if board.ties == "half" else np.full((len(names),) * 2, -np.inf)
    intervals = board.intervals.model_copy(
        update={
            "method": METHOD,
            "level": 1 - goal.error,
            **dict.fromkeys(("resamples", "seed", "refit", "usable", "note", "needed"), None),
            "reason": None if board.ties == "half" else _TIED,
        }
    )
    return board.model_copy(
        update={
            "stop": stop,
            "intervals": intervals,
            "counts": board.counts.model_copy(update={"pair_test": TEST}),
            "models": _models(board, lower, better, account),
            "pairs": tuple(_pair(pair, names, lower, better, account) for pair in board.pairs),
            "by": tuple(_levels(part) for part in board.by),
            "style": None if board.style is None else _style(board.style),
        }
    )


def _better(names: Sequence[str], account: GoalAccount | None) -> Bools:
    """(M, M) whether the row is certainly before the column."""
    at, size = {name: place for place, name in enumerate(names)}, len(names)
    table = np.zeros((size, size), bool)
    if isinstance(account, BestAccount) and account.result is not None and account.result.winner in at:
        table[at[account.result.winner]] = True
    if isinstance(account, RankingAccount):
        for pair in account.pairs:
            if pair.better is not None and pair.a in at and pair.b in at:
                worse = pair.b if pair.better == pair.a else pair.a
                table[at[pair.better], at[worse]] = True
    np.fill_diagonal(table, val=False)
    return table


def _lower_limits(names: Sequence[str], account: GoalAccount | None) -> Floats:
    """(M, M) the least that the row is before the column, in points; limits that hold together are added up."""
    at, size = {name: place for place, name in enumerate(names)}, len(names)
    table = np.where(np.eye(size, dtype=bool), 0.0, -np.inf)
    if account is None:
        return table
    for gap in account.gaps:
        if gap.a in at and gap.b in at:
            a, b = at[gap.a], at[gap.b]
            table[a, b] = -np.inf if gap.lower is None else gap.lower
            table[b, a] = -np.inf if gap.upper is None else -gap.upper
    if account.gaps_hold == "together":
        added = table.copy()
        for middle in range(size):
            added = np.maximum(added, added[:, middle, None] + added[None, middle, :])
        if not (added.diagonal() > 0).any():
            return added
    return table


def _models(
    board: Leaderboard, lower: Floats, better: Bools, account: GoalAccount | None
) -> tuple[RatedModel, ...]:
    names = [model.name for model in board.models]
    together = account is not None and account.gaps_hold == "together" and len(board.groups) == 1
    least = np.full(len(names), -np.inf)
    most = -least
    if together and (anchor := board.scale.anchor) is not None and anchor[0] in names:
        at = names.index(anchor[0])
        least, most = float(anchor[1]) + lower[:, at], float(anchor[1]) - lower[at]
    elif together and all(model.rating is not None for model in board.models):
        least, most = board.scale.mean + lower.mean(axis=1), board.scale.mean - lower.mean(axis=0)
    rows: list[RatedModel] = []
    for at, model in enumerate(board.models):
        against = model.reference and model.reference.model_copy(update={"lower": None, "upper": None})
        rated = model.rating is not None
        rows.append(
            model.model_copy(
                update={
                    "lower": number(float(least[at])) if rated else None,
                    "upper": number(float(most[at])) if rated else None,
                    "rank_range": None if model.rank_range is None else _places(at, better, account, names),
                    "reference": against,
                }
            )
        )
    return tuple(rows)


def _places(at: int, better: Bools, account: GoalAccount | None, names: Sequence[str]) -> tuple[int, int]:
    lowest, highest = 1 + int(better[:, at].sum()), len(names) - int(better[at].sum())
    if isinstance(account, BestAccount) and names[at] not in account.candidates:
        lowest = max(lowest, 2)
    return min(lowest, highest), highest


def _pair(pair: Pair, names: Sequence[str], lower: Floats, better: Bools, account: GoalAccount | None) -> Pair:
    a, b = names.index(pair.a), names.index(pair.b)
    met = account is not None and any({pair.a, pair.b} == {gap.a, gap.b} for gap in account.gaps)
    decision: Decision = "not told apart" if met else "not enough data"
    if better[a, b] != better[b, a]:
        decision = "a" if better[a, b] else "b"
    return pair.model_copy(
        update={
            "p_value": None,
            "p_holm": None,
            "smallest_p": None,
            "gap_lower": number(float(lower[a, b])),
            "gap_upper": number(float(-lower[b, a])),
            "decision": decision if pair.decision is not None else None,
            "reason": pair.reason if pair.p_value is None else _CHOSEN,
        }
    )


def _levels(table: CategoryTable) -> CategoryTable:
    bare = {"lower": None, "upper": None}

    def of(model: LevelModel) -> LevelModel:
        return model.model_copy(update={**bare, "shrunken": model.shrunken.model_copy(update=bare)})

    levels = tuple(
        level.model_copy(update={"models": tuple(of(model) for model in level.models)}) for level in table.levels
    )
    return table.model_copy(update={"levels": levels})


def _style(style: StyleControl) -> StyleControl:
    bare = {"lower": None, "upper": None}
    return style.model_copy(
        update={
            "covariates": tuple(covariate.model_copy(update=bare) for covariate in style.covariates),
            "models": tuple(model.model_copy(update=bare) for model in style.models),
        }
    )
