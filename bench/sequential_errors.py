"""How often goals decide wrongly, and how often what is reported at the stop holds the truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import norm

from arena.ratings.battles import from_columns
from arena.ratings.leaderboard import build
from arena.sequential.best import Best
from arena.sequential.field import Field, Meeting, Policy
from arena.sequential.goal import Goal
from arena.sequential.goals import account, next_matches, play, start
from arena.sequential.place import Place
from arena.sequential.ranking import Ranking
from bench.tournaments import ERROR, NU, Truth, field, generator

# -- wrong decisions ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Null:
    """A tournament in which something must not be decided, or only one way. ``wrong`` reads a finished state."""

    name: str
    strengths: tuple[float, ...]
    start: Callable[[Field], Policy]
    wrong: Callable[[Policy], bool]
    dialogues: int
    per_dialogue: int = 1
    shared: float = 0.0
    most: int = 1 << 62


def any_winner(state: Policy) -> bool:
    decision = state.decide()
    return decision is not None and decision.result.winner is not None


def not_the_first(state: Policy) -> bool:
    decision = state.decide()
    return decision is not None and decision.result.winner != state.field.names[0]


def false_order(state: Policy) -> bool:
    """Endpoints 0 and 1 are equal, 2 is below."""
    assert isinstance(state, Ranking)
    before = state.before
    return bool(before[0, 1] or before[1, 0] or before[2, 0] or before[2, 1])


def false_neighbour(state: Policy) -> bool:
    """The newcomer (5) equals member 2; members rise by number."""
    assert isinstance(state, Place)
    above, below = state.certain()
    return bool({2, 3, 4} & set(above) or {0, 1, 2} & set(below))


def newcomer(whole: Field) -> Place:
    return Place.start(whole, "m05", board=np.array([-1.0, -0.5, 0.0, 0.5, 1.0, 0.0]), width_elo=1.0)


NULLS = (
    Null("two, equal", (0, 0), Best.start, any_winner, 400),
    Null("two, equal, 4 dependent subsets a dialogue", (0, 0), Best.start, any_winner, 150, 4, 0.8),
    Null("best of 4, two equal at the top", (0, 0, -0.5, -1), Best.start, any_winner, 200),
    Null("best of 4, equal at the top, dependent", (0, 0, -0.5, -1), Best.start, any_winner, 120, 2, 0.8),
    Null("best of 4, a lead of .05, dependent", (0.05, 0, 0, 0), Best.start, not_the_first, 120, 2, 0.8),
    Null("order of 3, two equal, dependent", (0, 0, -0.4), Ranking.start, false_order, 120, 2, 0.8),
    Null(
        "newcomer equal to one of 5, dependent", (-1, -0.5, 0, 0.5, 1, 0), newcomer, false_neighbour, 300, 2, 0.8
    ),
)


def wrong_decision(null: int, number: int) -> bool:
    case = NULLS[null]
    whole = replace(field(len(case.strengths), case.dialogues, case.per_dialogue), seed=number)
    rng = generator("null", case.name, number)
    truth = Truth(np.array(case.strengths), rng, NU, case.per_dialogue, case.shared)
    return case.wrong(play(replace(case.start(whole), batch=32), truth.ask, case.most))


def naive_peeking(battles: int, per_dialogue: int, shared: float, number: int) -> bool:
    """Two equal endpoints, a z test at 5 % after every battle from the tenth on."""
    truth = Truth(np.zeros(2), generator("naive", per_dialogue, number), NU, per_dialogue, shared)
    scores = np.array(truth.ask([Meeting(subset, 0, 1) for subset in range(battles)])) - 0.5
    n = np.arange(1, battles + 1)
    spread = np.sqrt(np.cumsum(scores**2))
    return bool((np.abs(np.cumsum(scores)) > norm.ppf(1 - ERROR / 2) * spread)[n >= 10].any())


# -- what is reported at the stop --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stopped:
    """A tournament that runs until its goal is reached, or its dialogues are used up."""

    name: str
    goal: Goal
    strengths: tuple[float, ...]
    dialogues: int
    per_dialogue: int = 2
    shared: float = 0.6


STOPPED = (
    Stopped("decide, a gap of 0", Goal("decide"), (0, 0), 150),
    Stopped("decide, a gap of .3", Goal("decide"), (0.3, 0), 400),
    Stopped("decide, a gap of .8", Goal("decide"), (0.8, 0), 400),
    Stopped("best of 4", Goal("best"), (0.6, 0.2, 0, -0.5), 300),
    Stopped("ranking of 3", Goal("ranking"), (0.5, 0, -0.5), 200),
)


@dataclass(frozen=True)
class AtStop:
    """Of one tournament: whether all gaps hold, each by itself, the winner's leads, and ordinary intervals.

    ``ahead`` is how many points the ordinary rating of the gap between the first two is above the truth.
    """

    together: bool
    each: tuple[bool, ...]
    leads: tuple[bool, ...]
    ordinary: tuple[bool, ...]
    ahead: float


def at_stop(place: int, number: int) -> AtStop:
    case = STOPPED[place]
    whole = replace(field(len(case.strengths), case.dialogues, case.per_dialogue), seed=number)
    truth = Truth(
        np.array(case.strengths), generator("stop", case.name, number), NU, case.per_dialogue, case.shared
    )
    state, asked, scores = start(case.goal, whole), list[Meeting](), list[float]()
    while batch := next_matches(state):
        found = truth.ask(batch)
        asked, scores, state = asked + batch, scores + found, state.absorb(found)
    told = account(case.goal, state, asked, scores)
    true = {
        (a, b): true_gap(case.strengths[int(a[1:])] - case.strengths[int(b[1:])])
        for a in whole.names
        for b in whole.names
    }
    each = {(gap.a, gap.b): holds(true[gap.a, gap.b], gap.lower, gap.upper) for gap in told.gaps}
    winner = told.result.winner if told.result is not None else None
    dialogue = {subset: name for name, subsets in whole.dialogues for subset in subsets}
    board = build(
        from_columns(
            [whole.names[one.i] for one in asked],
            [whole.names[one.j] for one in asked],
            [("model_b", "tie", "model_a")[round(2 * score)] for score in scores],
            cluster=[dialogue[one.subset] for one in asked],
        )
    )  # fmt: skip
    ordinary = [
        holds(true[pair.a, pair.b], pair.gap_lower, pair.gap_upper)
        for pair in board.pairs
        if pair.gap_lower is not None
    ]
    first = board.pair(*whole.names[:2])
    gap = None if first is None else first.gap
    if first is not None and gap is not None:
        gap = (gap if first.a == whole.names[0] else -gap) - true[whole.names[0], whole.names[1]]
    leads = tuple(held for names, held in each.items() if winner in names)
    return AtStop(
        all(each.values()), tuple(each.values()), leads, tuple(ordinary), gap if gap is not None else np.nan
    )


def true_gap(lead: float) -> float:
    """What the mean score between two is worth in rating points, ties as halves."""
    half = np.exp(lead / 2)
    score = (half + NU / 2) / (half + 1 / half + NU)
    return float(400 * np.log10(score / (1 - score)))


def holds(value: float, lower: float | None, upper: float | None) -> bool:
    return (lower is None or lower <= value + 1e-6) and (upper is None or value <= upper + 1e-6)
