"""How often the rounds of one question agree: all pairs of rounds, pass@k and pass^k."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from arena.agent_runs.figures import Indices, round_order
from arena.agent_runs.result import Consistency, RoundPair
from arena.agent_runs.state import ABSENT, NO_KEY, Records

# More rounds than this are summed over all pairs but not listed pair by pair.
_LISTED_ROUNDS = 12
_LISTED_K = 50
LABELS: tuple[str, ...] = ("not applicable", "unmatched", "pass", "fail")


@dataclass(frozen=True)
class Queries:
    """Per question (a distinct Query ID): rounds it is in, rounds scored, rounds won; and each row's question.

    ``member`` is -1 for a row without an id.
    """

    member: Indices
    present: Indices
    scored: Indices
    won: Indices

    @property
    def labels(self) -> NDArray[np.uint8]:
        """Index into LABELS, per question: "pass" where all its rounds succeed or all fail."""
        label = np.where((self.won == 0) | (self.won == self.scored), 2, 3)
        label = np.where(self.scored < 2, 1, label)
        return np.where(self.scored == 0, 0, label).astype(np.uint8)


def group_queries(records: Records) -> Queries:
    """Count rounds per question. ``records`` hold each Query ID at most once a round."""
    named = (records["flags"] & NO_KEY) == 0
    keys, inverse = np.unique(records["key"][named], return_inverse=True)
    accuracy = records["accuracy"][named]
    member = np.full(len(records), -1, dtype=np.int64)
    member[named] = inverse

    def count(weights: NDArray[np.bool_]) -> Indices:
        return np.bincount(inverse, weights=weights, minlength=len(keys)).astype(np.int64)

    everything = np.ones(len(accuracy), dtype=bool)
    return Queries(member, count(everything), count(accuracy != ABSENT), count(accuracy > 0))


def consistency(records: Records, rounds: list[str], queries: Queries) -> Consistency:
    """The consistency figure. With more than two rounds the counts run over all pairs of rounds.

    Success is an accuracy above 0. ``rate`` = (both succeed + both fail) / comparisons, ``score`` = 5 x rate;
    both None where no question was scored in two rounds.
    """
    scored, won = queries.scored, queries.won
    lost = scored - won
    both_success = int((won * (won - 1) // 2).sum())
    both_fail = int((lost * (lost - 1) // 2).sum())
    differ = int((won * lost).sum())
    comparisons = both_success + both_fail + differ
    rate = (both_success + both_fail) / comparisons if comparisons else None
    at, hat, complete = _pass_at(queries, len(rounds))
    return Consistency(
        both_success=both_success,
        both_fail=both_fail,
        differ=differ,
        queries=int((scored >= 2).sum()),
        rate=rate,
        score=None if rate is None else 5 * rate,
        comparisons=comparisons,
        unmatched=int((queries.present < len(rounds)).sum()),
        reason=None if comparisons else "no question was scored in two rounds",
        pairs=_pairs(records, rounds, queries),
        pass_at_k=at,
        pass_hat_k=hat,
        pass_queries=complete,
    )


def _pairs(records: Records, rounds: list[str], queries: Queries) -> tuple[RoundPair, ...]:
    order = round_order(rounds)
    if not 2 <= len(order) <= _LISTED_ROUNDS:
        return ()
    table = np.full((len(queries.scored), len(order)), ABSENT, dtype=np.int8)
    named = queries.member >= 0
    won = np.where(records["accuracy"] == ABSENT, ABSENT, records["accuracy"] > 0)
    table[queries.member[named], records["round"][named]] = won[named]
    return tuple(_pair(table[:, a], table[:, b], rounds[a], rounds[b]) for a, b in combinations(order, 2))


def _pair(a: NDArray[np.int8], b: NDArray[np.int8], name_a: str, name_b: str) -> RoundPair:
    both = (a != ABSENT) & (b != ABSENT)
    cells = np.bincount(2 * a[both].astype(np.int64) + b[both], minlength=4)
    total = int(cells.sum())
    rate = int(cells[0] + cells[3]) / total if total else None
    return RoundPair(
        a=name_a,
        b=name_b,
        both_success=int(cells[3]),
        both_fail=int(cells[0]),
        only_a=int(cells[2]),
        only_b=int(cells[1]),
        queries=total,
        rate=rate,
        score=None if rate is None else 5 * rate,
    )


def _pass_at(queries: Queries, rounds: int) -> tuple[dict[str, float], dict[str, float], int]:
    """pass@k (any of k rounds succeeds; Chen et al. 2021, eq. 1) and pass^k (all of k do; Yao et al. 2024).

    Both are means over the questions scored in all n rounds: 1 - C(n-c, k)/C(n, k) and C(c, k)/C(n, k) for c
    successes.
    """
    complete = queries.scored == rounds
    count = int(complete.sum())
    if not count or rounds > _LISTED_K:
        return {}, {}, count
    successes = np.bincount(queries.won[complete], minlength=rounds + 1)
    at: dict[str, float] = {}
    hat: dict[str, float] = {}
    for k in range(1, rounds + 1):
        ways = comb(rounds, k)
        at[str(k)] = sum(int(n) * (1 - comb(rounds - c, k) / ways) for c, n in enumerate(successes)) / count
        hat[str(k)] = sum(int(n) * comb(c, k) / ways for c, n in enumerate(successes)) / count
    return at, hat, count
