"""Certify the whole order: every undecided pair meets on each dialogue, and a pair stops as soon as it is certain.

Each direction of each pair is a hypothesis of its own; the pairs share the error equally, and so do a pair's two
directions. What follows from two certain pairs (a before b, b before c) need not be asked: it is wrong only where
one of them is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from arena.sequential.evidence import BETS, log_threshold, log_wealth, stakes
from arena.sequential.field import Decision, Field, Meeting, every_pair
from arena.sequential.result import Outcome, PairFound, RankingFound
from arena.sequential.waves import Wave, next_waves

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Ranking:
    """A tournament for the order. P pairs (i, j) with i < j, as :func:`every_pair` lists them.

    ``wealth`` (P, 2, B): log wealth by bet that i beats j, and that j beats i. ``winner`` (P,): 1 where i is
    certainly before j, -1 the other way, 0 where neither has been shown. ``met`` (P,) matches asked.
    """

    field: Field
    error: float
    batch: int
    at: int
    used: int
    wealth: Floats
    winner: NDArray[np.int64]
    met: NDArray[np.int64]

    @classmethod
    def start(cls, field: Field, error: float = 0.05, batch: int = 16) -> Ranking:
        pairs = field.size * (field.size - 1) // 2
        wealth = np.zeros((pairs, 2, len(BETS)))
        return cls(field, error, batch, 0, 0, wealth, np.zeros(pairs, np.int64), np.zeros(pairs, np.int64))

    @cached_property
    def all_pairs(self) -> list[tuple[int, int]]:
        return every_pair(self.field.size)

    @cached_property
    def before(self) -> NDArray[np.bool_]:
        """(M, M) whether the row is certainly before the column, what follows included."""
        size = self.field.size
        table = np.zeros((size, size), bool)
        for (i, j), won in zip(self.all_pairs, self.winner, strict=True):
            table[i, j], table[j, i] = won > 0, won < 0
        for middle in range(size):
            table |= table[:, middle, None] & table[None, middle, :]
        return table

    @property
    def is_circular(self) -> bool:
        return bool(self.before.diagonal().any())

    @cached_property
    def open_pairs(self) -> list[tuple[int, int]]:
        return [(i, j) for i, j in self.all_pairs if not (self.before[i, j] or self.before[j, i])]

    def next_matches(self) -> list[Meeting]:
        return [meeting for _, wave in self._waves for meeting in wave]

    @cached_property
    def _waves(self) -> list[Wave]:
        if not self.open_pairs or self.is_circular:
            return []
        return next_waves(self.field, self.at, self.batch, lambda _: self.open_pairs)

    def absorb(self, scores: Sequence[float | None]) -> Ranking:
        wealth, winner, met = self.wealth.copy(), self.winner.copy(), self.met.copy()
        bar = log_threshold(self.error, 2 * len(self.all_pairs))
        number = {pair: place for place, pair in enumerate(self.all_pairs)}
        place = 0
        for _, wave in self._waves:
            total, asked = np.zeros(len(met)), np.zeros(len(met), np.int64)
            for (_, i, j), score in zip(wave, scores[place : place + len(wave)], strict=True):
                asked[number[i, j]] += 1
                total[number[i, j]] += 0.0 if score is None else score - 0.5
            place += len(wave)
            gains = total / np.maximum(asked, 1)
            wealth += np.stack([stakes(gains), stakes(-gains)], axis=1)
            met += asked
            reached = log_wealth(wealth) >= bar
            winner[(winner == 0) & reached[:, 0]] = 1
            winner[(winner == 0) & reached[:, 1]] = -1
        return replace(
            self,
            at=self._waves[-1][0] + 1,
            used=self.used + len(scores),
            wealth=wealth,
            winner=winner,
            met=met,
        )

    def decide(self) -> Decision | None:
        if self.is_circular:
            return Decision("The certain pairs form a circle: there is no one order.", Outcome())
        if self.open_pairs:
            return None
        order = sorted(range(self.field.size), key=lambda endpoint: -int(self.before[endpoint].sum()))
        names = [self.field.names[endpoint] for endpoint in order]
        return Decision(f"The order is {', '.join(names)}.", Outcome(order=tuple(names)))

    def found(self) -> RankingFound:
        names, largest = self.field.names, log_wealth(self.wealth)
        return RankingFound(
            pairs=tuple(
                PairFound(
                    a=names[i],
                    b=names[j],
                    better=names[i] if self.before[i, j] else names[j] if self.before[j, i] else None,
                    how=self._how(place),
                    matches=int(self.met[place]),
                    evidence_for_a=float(np.exp(min(largest[place, 0], 700.0))),
                    evidence_for_b=float(np.exp(min(largest[place, 1], 700.0))),
                )
                for place, (i, j) in enumerate(self.all_pairs)
            ),
            evidence_needed=float(np.exp(log_threshold(self.error, 2 * len(self.all_pairs)))),
        )

    def _how(self, place: int) -> Literal["matches", "follows"] | None:
        if self.winner[place]:
            return "matches"
        i, j = self.all_pairs[place]
        return "follows" if self.before[i, j] or self.before[j, i] else None
