"""Place a newcomer on a board: it meets those nearest to where it seems to belong, until that is known.

The board is taken as it is: its strengths are fitted once, from all matches among its members. A near opponent
tells most (the information p (1 - p) of a match is largest at even odds). Matches go round the dialogues, one
each, before any dialogue is used again. It ends when the newcomer's interval is narrow enough: a fixed-width
interval (Chow & Robbins 1965), clustered by dialogue, right as its width shrinks; the width says nothing about
who won.

Beside the interval stand the neighbours that are certain: "above the lowest", "above the next", ... are bet on in
this fixed order, so a direction needs no correction for the number of members (the first wrong one would have to
pass). Bets are taken on first visits to dialogues only, which are independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from arena.ratings.estimate import SCALE
from arena.ratings.uncertainty import quantile
from arena.sequential.evidence import BETS, log_threshold, log_wealth, stakes
from arena.sequential.field import Decision, Field, Meeting, every_pair
from arena.sequential.result import Outcome, PlaceFound
from arena.sequential.waves import strengths
from runstore.ids import pick

Floats = NDArray[np.float64]
NEAREST = 3
_FIRST_BATCH, _LAST_BATCH = 8, 4
_FEWEST_DIALOGUES = 10
_RIDGE = 0.05
_NEARLY = 0.95
_SILENT = 1e-7


@dataclass(frozen=True)
class Placed:
    """The newcomer's strength (log-odds, board mean 0) and its standard error.

    The error is None where too few dialogues differ or every match ended alike; ``degrees`` are Student's t's.
    """

    theta: float
    error: float | None
    degrees: int = 0


def placed(offsets: Floats, scores: Floats, dialogues: NDArray[np.int64]) -> Placed:
    """Fit one strength against opponents of known strength: (n,) strengths met, scores, dialogues' numbers.

    Logistic regression with offsets, drawn to 0 so lightly that it only makes it exist; the standard error is the
    jackknife over dialogues, each left out by its leverage, as in the ratings.
    """
    theta = 0.0
    for _ in range(50):
        p = expit(theta - offsets)
        info = float((p * (1 - p)).sum()) + _RIDGE
        step = float((scores - p).sum() - _RIDGE * theta) / info
        theta += min(1.0, max(-1.0, step))
        if abs(step) < 1e-9:
            break
    p = expit(theta - offsets)
    _, group = np.unique(dialogues, return_inverse=True)
    groups = int(group.max()) + 1
    score, info = np.bincount(group, scores - p), np.bincount(group, p * (1 - p))
    differing = int((np.abs(score) > _SILENT).sum())
    if differing < _FEWEST_DIALOGUES or scores.min() == scores.max():
        return Placed(theta, None, groups - 1)
    left_out = score / (1 - info / info.sum()) / info.sum()
    return Placed(theta, float(np.sqrt((left_out**2).sum() * (groups - 1) / groups)), groups - 1)


def information(gap: float) -> float:
    """What one match tells about a gap in log-odds: p (1 - p)."""
    p = float(expit(gap))
    return p * (1 - p)


def going_round(field: Field) -> tuple[tuple[int, int], ...]:
    """(dialogue number, subset): the first subset of every dialogue, then the second of every one that has it."""
    rounds = max((len(subsets) for _, subsets in field.dialogues), default=0)
    return tuple(
        (number, subsets[place])
        for place in range(rounds)
        for number, (_, subsets) in enumerate(field.dialogues)
        if place < len(subsets)
    )


@dataclass(frozen=True)
class Place:
    """A newcomer's matches. ``board``: (M,) strengths, the newcomer's own as 0; None until its matches are known.

    ``visits`` are (dialogue number, subset) in the order of going round; ``at`` counts visits over all rounds.
    ``log`` holds a row (subset, opponent, dialogue, score or None) a match; ``wealth`` (2, M, B) log wealth that
    the newcomer is above, and below, each member; ``largest`` (2, M) the most it has been.
    """

    field: Field
    newcomer: int
    width: float
    error: float
    batch: int
    board: Floats | None
    visits: tuple[tuple[int, int], ...]
    at: int
    log: tuple[tuple[int, int, int, float | None], ...]
    used: int
    wealth: Floats
    largest: Floats

    @classmethod
    def start(
        cls,
        field: Field,
        newcomer: str,
        *,
        width_elo: float = 35.0,
        error: float = 0.05,
        batch: int = 16,
        board: Floats | None = None,
    ) -> Place:
        """``width_elo``: the half-width wanted, in rating points. ``board``: no matches among its members."""
        size = field.size
        return cls(
            field,
            field.names.index(newcomer),
            width_elo / SCALE,
            error,
            batch,
            np.zeros(size) if size == 2 else board,
            going_round(field),
            0,
            (),
            0,
            np.zeros((2, size, len(BETS))),
            np.zeros((2, size)),
        )

    @cached_property
    def members(self) -> list[int]:
        return [endpoint for endpoint in range(self.field.size) if endpoint != self.newcomer]

    @cached_property
    def estimate(self) -> Placed:
        """Where the newcomer stands by the matches so far."""
        rows = [row for row in self.log if row[3] is not None]
        if not rows or self.board is None:
            return Placed(0.0, None)
        offsets = self.board[[row[1] for row in rows]]
        scores = np.array([row[3] for row in rows], float)
        return placed(offsets, scores, np.array([row[2] for row in rows], np.int64))

    @property
    def half_width(self) -> float | None:
        estimate = self.estimate
        return None if estimate.error is None else quantile(1 - self.error, estimate.degrees) * estimate.error

    @property
    def is_narrow(self) -> bool:
        return self.half_width is not None and self.half_width <= self.width

    def next_matches(self) -> list[Meeting]:
        if self.board is None:
            return self._board_meetings()
        return [Meeting(subset, *sorted((self.newcomer, other))) for _, subset, other in self._planned]

    def _board_meetings(self) -> list[Meeting]:
        pairs = [pair for pair in every_pair(self.field.size) if self.newcomer not in pair]
        numbers = range(len(self.field.subsets))
        return self.field.playable(Meeting(subset, *pair) for subset in numbers for pair in pairs)

    @cached_property
    def _planned(self) -> list[tuple[int, int, int]]:
        """(visit, subset, opponent) of the next batch."""
        if self.is_narrow or self.board is None:
            return []
        met: dict[int, set[int]] = {}
        for subset, other, *_ in self.log:
            met.setdefault(subset, set()).add(other)
        planned: list[tuple[int, int, int]] = []
        for visit in range(self.at, len(self.visits) * len(self.members)):
            if len(planned) >= self._next_batch:
                break
            subset = self.visits[visit % len(self.visits)][1]
            if (other := self._opponent(subset, visit, met.setdefault(subset, set()))) is not None:
                met[subset].add(other)
                planned.append((visit, subset, other))
        return planned

    @cached_property
    def _next_batch(self) -> int:
        """Few at first, when nothing is known, and at the end, by the width (it goes with 1/sqrt(n))."""
        if not self.log:
            return min(self.batch, _FIRST_BATCH)
        if self.half_width is None:
            return self.batch
        needed = len(self.log) * ((self.half_width / self.width) ** 2 - 1)
        return min(self.batch, max(_LAST_BATCH, int(needed)))

    def _opponent(self, subset: int, visit: int, met: set[int]) -> int | None:
        names, board = self.field.names, self.board
        if board is None:
            return None
        left = [
            other
            for other in self.members
            if other not in met and self.field.playable([Meeting(subset, *sorted((self.newcomer, other)))])
        ]
        if self.log:
            theta = self.estimate.theta
            left = sorted(left, key=lambda other: (abs(board[other] - theta), names[other]))[:NEAREST]
            tells = [information(theta - board[other]) for other in left]
            left = [other for other, told in zip(left, tells, strict=True) if told >= _NEARLY * tells[0]]
        rounds, subset_id = visit // len(self.visits), self.field.subsets[subset]
        return pick(left, self.field.seed, "opponent", subset_id, rounds) if left else None

    def absorb(self, scores: Sequence[float | None]) -> Place:
        if self.board is None:
            return self._with_board(scores)
        rows: list[tuple[int, int, int, float | None]] = []
        wealth, largest = self.wealth.copy(), self.largest
        for (visit, subset, other), score in zip(self._planned, scores, strict=True):
            mine = score if score is None or self.newcomer < other else 1 - score
            rows.append((subset, other, self.visits[visit % len(self.visits)][0], mine))
            if visit < len(self.field.dialogues) and mine is not None:
                wealth += self._staked(other, mine)
                largest = np.maximum(largest, log_wealth(wealth))
        return replace(
            self,
            at=self._planned[-1][0] + 1,
            log=self.log + tuple(rows),
            used=self.used + len(scores),
            wealth=wealth,
            largest=largest,
        )

    def _with_board(self, scores: Sequence[float | None]) -> Place:
        table = np.zeros((self.field.size, self.field.size))
        for (_, i, j), score in zip(self.next_matches(), scores, strict=True):
            if score is not None:
                table[i, j] += score
                table[j, i] += 1 - score
        board = strengths(table[np.ix_(self.members, self.members)])
        full = np.zeros(self.field.size)
        full[self.members] = board - board.mean()
        return replace(self, board=full, used=self.used + len(scores))

    def _staked(self, other: int, score: float) -> Floats:
        """(2, M, B) log factors of one match with ``other``, for every member that it says something about.

        If the newcomer is not above a member, neither is it above those that are stronger. Beyond the member
        itself, opponents count that the newcomer seemed to be above (or below) when they were chosen.
        """
        board, theta = self._known_board, self.estimate.theta
        above = (board <= board[other]) & (board[other] < theta)
        below = (board >= board[other]) & (board[other] > theta)
        above[other] = below[other] = True
        gains = np.stack([np.where(above, score - 0.5, 0.0), np.where(below, 0.5 - score, 0.0)])
        return stakes(gains)

    @property
    def _known_board(self) -> Floats:
        return np.zeros(self.field.size) if self.board is None else self.board

    def certain(self) -> tuple[list[int], list[int]]:
        """Members that the newcomer is certainly above (weakest first) and below (strongest first)."""
        bar, board = log_threshold(self.error), self._known_board
        rising = sorted(self.members, key=lambda endpoint: (board[endpoint], self.field.names[endpoint]))
        sides: list[list[int]] = []
        for side, order in ((0, rising), (1, rising[::-1])):
            passed = next(
                (n for n, endpoint in enumerate(order) if self.largest[side, endpoint] < bar), len(order)
            )
            sides.append(order[:passed])
        return sides[0], sides[1]

    def decide(self) -> Decision | None:
        half = self.half_width
        if half is None or not self.is_narrow:
            return None
        name = self.field.names[self.newcomer]
        rating = 1000 + SCALE * self.estimate.theta
        statement = f"{name} stands at {rating:.0f} ± {SCALE * half:.0f} where the board's mean is 1000."
        return Decision(statement, Outcome(rating=rating))

    def found(self) -> PlaceFound:
        names, half, theta = self.field.names, self.half_width, self.estimate.theta
        above, below = self.certain()
        size = len(self.members) + 1
        return PlaceFound(
            newcomer=names[self.newcomer],
            rating=1000 + SCALE * theta if self.log else None,
            lower=None if half is None else 1000 + SCALE * (theta - half),
            upper=None if half is None else 1000 + SCALE * (theta + half),
            half_width=None if half is None else SCALE * half,
            width_wanted=SCALE * self.width,
            reason=None if half is not None else "too few dialogues, or every match ended alike",
            newcomer_matches=len(self.log),
            certainly_above=tuple(names[endpoint] for endpoint in above),
            certainly_below=tuple(names[endpoint] for endpoint in below),
            rank_range=(1 + len(below), size - len(above)),
            board={names[member]: 1000 + SCALE * float(self._known_board[member]) for member in self.members},
        )
