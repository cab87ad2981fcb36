"""How a run with a goal ended, typed: these models write ``goal.json`` and read it again.

A figure that is not known yet is None. ``result`` is None as long as nothing is decided.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, cast

from arena.sequential.goal import GOALS, GoalName
from runstore.problems import InputProblem
from runstore.publish import parse_record, read_json
from runstore.results import Number, Result

Stopped = Literal["reached", "matches ran out"]


class Outcome(Result):
    """The winner, the order (best first) or the newcomer's rating; nothing where endpoints form a circle."""

    winner: str | None = None
    order: tuple[str, ...] | None = None
    rating: Number | None = None


class Matches(Result):
    """Matches asked, those of them with a verdict, and all that could have been asked."""

    used: int
    valid: int
    possible: int


class WinRate(Result):
    """The mean score of the endpoint ``of`` with its confidence sequence over dialogues, or the ``reason``."""

    of: str
    value: Number | None = None
    lower: Number | None = None
    upper: Number | None = None
    dialogues: int | None = None
    reason: str | None = None


class Gap(Result):
    """How far ``a`` is before ``b`` in rating points, by their own matches on ``dialogues``, ties as halves.

    The limits hold at every look. One is None where nothing bounds it on that side; ``reason`` is why all are.
    """

    a: str
    b: str
    gap: Number | None
    lower: Number | None
    upper: Number | None
    dialogues: int
    reason: str | None = None


class Behind(Result):
    """How many rating points an endpoint is behind the best, at least and at most (None: not bounded)."""

    lower: Number | None
    upper: Number | None


class Account(Result):
    """What every goal tells: the ``statement`` is one sentence, ``error`` the probability of a wrong decision.

    The limits of the ``gaps`` have level 1 - ``error``, for all of them "together" or for "each" by itself.
    """

    goal: GoalName
    error: Number
    decided: bool
    statement: str
    result: Outcome | None
    stopped: Stopped
    matches: Matches
    batch: int
    gaps: tuple[Gap, ...] = ()
    gaps_hold: Literal["together", "each"] | None = None


class Candidate(Result):
    """An endpoint, and the evidence against its being the best; ``ruled_out_after`` so many matches."""

    name: str
    is_candidate: bool
    ruled_out_after: int | None
    evidence_against: Number
    behind: Behind | None = None


class BestFound(Result):
    """What is known on the way to the best endpoint."""

    candidates: tuple[str, ...]
    endpoints: tuple[Candidate, ...]
    evidence_needed: Number


class PairFound(Result):
    """Which of two endpoints is better, shown by their own matches or because it follows from others."""

    a: str
    b: str
    better: str | None
    how: Literal["matches", "follows"] | None
    matches: int
    evidence_for_a: Number
    evidence_for_b: Number


class RankingFound(Result):
    """What is known on the way to a ranking."""

    pairs: tuple[PairFound, ...]
    evidence_needed: Number


class PlaceFound(Result):
    """What is known of a newcomer's place on a board, in rating points; ``reason`` why there is no interval."""

    newcomer: str
    rating: Number | None
    lower: Number | None
    upper: Number | None
    half_width: Number | None
    width_wanted: Number
    reason: str | None
    newcomer_matches: int
    certainly_above: tuple[str, ...]
    certainly_below: tuple[str, ...]
    rank_range: tuple[int, int]
    board: Mapping[str, Number]


class BestAccount(BestFound, Account):
    """The whole of ``goal.json`` where the best was asked for, or which of two is better."""

    win_rate: WinRate | None = None


class RankingAccount(RankingFound, Account):
    """The whole of ``goal.json`` where a ranking was asked for."""


class PlaceAccount(PlaceFound, Account):
    """The whole of ``goal.json`` where a newcomer was placed."""


GoalAccount = BestAccount | RankingAccount | PlaceAccount

Found = BestFound | RankingFound | PlaceFound
ACCOUNTS: Mapping[str, type[GoalAccount]] = {
    "best": BestAccount,
    "decide": BestAccount,
    "ranking": RankingAccount,
    "place": PlaceAccount,
}


def read_goal(path: Path) -> GoalAccount:
    """The account in a file. Raises InputProblem naming the field that is missing or wrong."""
    row = read_json(path)
    name = cast("dict[str, object]", row).get("goal") if isinstance(row, dict) else None
    kind = ACCOUNTS.get(str(name))
    if kind is None:
        raise InputProblem(path, f"one of {', '.join(GOALS)}", found=name, field="goal")
    return parse_record(kind, cast("object", row), path)
