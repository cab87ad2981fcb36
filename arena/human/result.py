"""What people said of a run's matches, typed: these models write ``human.json`` and read it again."""

from __future__ import annotations

from pathlib import Path

from arena.agreement.calibrated import CalibratedRow, VotesNeeded
from arena.agreement.result import StatisticRow
from arena.ratings.result import Leaderboard
from runstore.publish import parse_record, read_json
from runstore.results import Result


class ComparedRow(Result):
    """People's verdicts beside the model judges' for one criterion.

    ``counts[i][j]``: matches in which people said ``labels[i]`` and the judges ``labels[j]``; the labels are the
    winner as first or second of the pair, and the tie. ``unjudged``: matches with a human verdict only.
    """

    criterion: str
    labels: tuple[str, str, str]
    counts: tuple[tuple[int, ...], ...]
    agree: int
    n: int
    unjudged: int
    kappa: StatisticRow


class _Pair(Result):
    criterion: str
    a: str
    b: str


class CalibratedPairRow(CalibratedRow, _Pair):
    """The win rate of ``a`` against ``b`` as people would give it, beside the judges' raw figure; votes needed."""

    votes_needed: VotesNeeded


class Votes(Result):
    """People's votes: the leaderboard they make, and what they say of the judges'."""

    judgments: int
    verdicts: int
    both_good: int
    both_bad: int
    leaderboard: Leaderboard
    judges: tuple[ComparedRow, ...]
    calibrated: tuple[CalibratedPairRow, ...]


class _Study(Result):
    study: str


class HumanVotes(Votes, _Study):
    """The whole of ``human.json``."""


def read_human(path: Path) -> HumanVotes:
    """The votes in a run's file. Raises InputProblem naming the field that is missing or wrong."""
    return parse_record(HumanVotes, read_json(path), path)
