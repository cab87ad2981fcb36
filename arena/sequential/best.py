"""Certify the best of several endpoints: the leader meets every challenger until one candidate is left.

For each endpoint the hypothesis "it is the best" is bet against on all of its matches at once: if it holds, its
expected score is at least 1/2 against anybody. The true best is the one whose hypothesis holds, so a wrong winner
needs that one hypothesis refused: no correction for the number of endpoints. Wealth of 2 / error refuses; the 2
covers ties for the best place: with k best, naming one needs k - 1 of k true hypotheses refused, and by Markov's
inequality on their number that has probability k / (k - 1) * error / 2 at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from arena.sequential.evidence import BETS, log_threshold, log_wealth, lower_limit, stakes
from arena.sequential.field import Decision, Field, Meeting
from arena.sequential.result import BestFound, Candidate, Outcome
from arena.sequential.waves import Wave, next_waves, strengths, tallied
from runstore.ids import shuffled

Floats = NDArray[np.float64]
_WARM = 4


@dataclass(frozen=True)
class Best:
    """A tournament for the best place. ``at`` is the next dialogue, ``used`` the matches asked so far.

    ``scores`` (M, M) are summed scores of row against column, ``wealth`` (M, B) log wealth by bet against "it is
    the best", ``largest`` (M,) the largest mixed log wealth so far, ``out_after`` (M,) the matches asked when an
    endpoint was ruled out (-1: it is a candidate). ``units`` hold (2, M) a dialogue: the mean score of each
    endpoint's opponents over the matches bet on, and the share of those that have a verdict.
    """

    field: Field
    error: float
    batch: int
    at: int
    used: int
    scores: Floats
    wealth: Floats
    largest: Floats
    out_after: NDArray[np.int64]
    units: tuple[Floats, ...] = ()

    @classmethod
    def start(cls, field: Field, error: float = 0.05, batch: int = 16) -> Best:
        size = field.size
        return cls(
            field,
            error,
            batch,
            0,
            0,
            np.zeros((size, size)),
            np.zeros((size, len(BETS))),
            np.zeros(size),
            np.full(size, -1),
        )

    @cached_property
    def strengths(self) -> Floats:
        return strengths(self.scores)

    @cached_property
    def candidates(self) -> list[int]:
        """Endpoints not ruled out, the strongest so far first (equal ones by name)."""
        alive = np.flatnonzero(self.out_after < 0)
        return sorted(alive.tolist(), key=lambda endpoint: (-self.strengths[endpoint], self.field.names[endpoint]))

    def next_matches(self) -> list[Meeting]:
        return [meeting for _, wave in self._waves for meeting in wave]

    @cached_property
    def _waves(self) -> list[Wave]:
        if len(self.candidates) < 2:
            return []
        return next_waves(self.field, self.at, self.batch, self.pairs)

    def pairs(self, dialogue: str) -> list[tuple[int, int]]:
        """Who meets on a dialogue: all in a drawn ring at first, then the leader and every other candidate."""
        if self.used < _WARM * self.field.size and self.field.size > 2:
            named = [(self.field.names[endpoint], endpoint) for endpoint in range(self.field.size)]
            drawn = shuffled(named, self.field.seed, "ring", dialogue)
            return list(zip(drawn, [*drawn[1:], drawn[0]], strict=True))
        leader = self.candidates[0]
        return [(leader, other) for other in self.candidates[1:]]

    def absorb(self, scores: Sequence[float | None]) -> Best:
        against = self._against()
        wealth, largest, out_after = self.wealth.copy(), self.largest.copy(), self.out_after.copy()
        used, place, units = self.used, 0, list(self.units)
        for _, wave in self._waves:
            used += len(wave)
            gained, held = unit = _unit(wave, scores[place : place + len(wave)], against)
            units.append(unit)
            wealth += stakes(gained - held / 2)
            place += len(wave)
            largest = np.maximum(largest, log_wealth(wealth))
            out_after[(out_after < 0) & (largest >= log_threshold(self.error))] = used
            if (out_after < 0).sum() <= 1:
                break
        return replace(
            self,
            at=self._waves[-1][0] + 1,
            used=self.used + len(scores),
            scores=tallied(self.scores, self._waves, scores),
            wealth=wealth,
            largest=largest,
            out_after=out_after,
            units=tuple(units),
        )

    def _against(self) -> NDArray[np.bool_]:
        """(M, M) whether the row is bet against when it meets the column: those stronger so far, settled before.

        The leader is bet against when it meets the runner-up, so that a wrong leader can be found out.
        """
        if not self.used:
            return np.ones((self.field.size, self.field.size), bool)
        chosen = self.strengths[:, None] < self.strengths[None, :]
        chosen[self.candidates[0], self.candidates[1]] = True
        return chosen

    def decide(self) -> Decision | None:
        left = np.flatnonzero(self.out_after < 0)
        if len(left) > 1:
            return None
        if not len(left):
            return Decision(
                "Every endpoint was ruled out as the best: they beat each other in a circle.", Outcome()
            )
        winner = self.field.names[int(left[0])]
        return Decision(f"{winner} is the best of {self.field.size}.", Outcome(winner=winner))

    def found(self) -> BestFound:
        names = self.field.names
        return BestFound(
            candidates=tuple(names[candidate] for candidate in self.candidates),
            endpoints=tuple(
                Candidate(
                    name=name,
                    is_candidate=bool(self.out_after[endpoint] < 0),
                    ruled_out_after=int(self.out_after[endpoint]) if self.out_after[endpoint] >= 0 else None,
                    evidence_against=float(np.exp(min(self.largest[endpoint], 700.0))),
                )
                for endpoint, name in enumerate(names)
            ),
            evidence_needed=float(np.exp(log_threshold(self.error))),
        )

    def behind(self, endpoint: int) -> float:
        """How many log-odds an endpoint is behind the best at least: the same bets, against other means than 1/2.

        Whoever is at most so far behind the best scores against anybody what that allows, or more. Above 0 exactly
        where it was ruled out.
        """
        gained, held = np.array(self.units).reshape(-1, 2, self.field.size)[:, :, endpoint].T
        return float(logit(lower_limit(gained, self.error, held)))


def _unit(wave: Sequence[Meeting], scores: Sequence[float | None], against: NDArray[np.bool_]) -> Floats:
    """(2, M): the score of each endpoint's opponents on a dialogue, and the share of its matches with a verdict.

    Over the matches bet on. The divisor is what was asked, known beforehand; what has no verdict moves nothing.
    """
    total, held, asked = np.zeros((3, len(against)))
    for (_, i, j), score in zip(wave, scores, strict=True):
        sides = ((i, j, None if score is None else 1 - score), (j, i, score))
        for one, other, lost in sides:
            if against[one, other]:
                asked[one] += 1
                if lost is not None:
                    total[one] += lost
                    held[one] += 1
    return np.stack([total, held]) / np.maximum(asked, 1)
