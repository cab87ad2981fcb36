"""Scores -> a verdict a subset and pair: whose branches left more transfer credit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product

from arena.learning.scores import Key, Score
from knowledge.rules import Outcomes
from runstore.records import Subset, Verdict, VerdictOutcome
from runstore.student_records import StudentVerdict

_ROUNDING = 1e-9


def student_verdicts(
    known: Mapping[Key, Score],
    subsets: Sequence[Subset],
    endpoints: Sequence[str],
    outcomes: Outcomes,
    *,
    refused: str | None = None,
) -> list[StudentVerdict]:
    """One a subset and pair. ``refused``: why nothing is decided (the panel was not passed)."""
    pairs = list(combinations(sorted(endpoints), 2))
    return [_verdict(known, subset, pair, outcomes, refused) for subset, pair in product(subsets, pairs)]


def _verdict(
    known: Mapping[Key, Score], subset: Subset, pair: tuple[str, str], outcomes: Outcomes, refused: str | None
) -> StudentVerdict:
    first, second = (known.get((subset.id, name)) for name in pair)
    lacking = [name for name, score in zip(pair, (first, second), strict=True) if score is None]
    delta = None if first is None or second is None else _delta(first, second, outcomes)
    nothing = StudentVerdict(
        subset=subset.id,
        dialogue=subset.dialogue,
        endpoints=pair,
        outcome="invalid",
        winner=None,
        delta=delta,
        capped=False,
        reason=refused or f"a branch of {' and '.join(lacking)} did not end",
        leaves=(first.leaves if first is not None else (), second.leaves if second is not None else ()),
    )
    if refused is not None or first is None or second is None or delta is None:
        return nothing
    ahead = None if abs(delta) <= outcomes.margin + _ROUNDING else first if delta > 0 else second
    capped = ahead is not None and ahead.leaked >= outcomes.leak
    winner = None if ahead is None or capped else ahead.arm
    outcome: VerdictOutcome = "tie" if winner is None else "win"
    reason = "gave the answer away" if capped else None
    return nothing.model_copy(update={"outcome": outcome, "winner": winner, "capped": capped, "reason": reason})


def _delta(first: Score, second: Score, outcomes: Outcomes) -> float:
    return round(first.outcomes[outcomes.primary] - second.outcomes[outcomes.primary], 9)


def as_verdicts(decided: Sequence[StudentVerdict]) -> list[Verdict]:
    """The same in the form that ratings are made of."""
    return [
        Verdict(
            subset=verdict.subset,
            dialogue=verdict.dialogue,
            endpoints=verdict.endpoints,
            criterion="transfer",
            outcome=verdict.outcome,
            winner=verdict.winner,
            agreement="unanimous",
            votes=(),
        )
        for verdict in decided
    ]
