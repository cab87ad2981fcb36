"""Leaves -> one score a subset and arm, and the paired differences of two arms over subsets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from arena.learning.leaves import Leaf
from arena.learning.paired import Mean, clustered_mean

Outcome = Literal["transfer", "recall", "diagnostic", "misconceptions", "control"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
Key = tuple[str, str]
"""(subset, arm)."""


@dataclass(frozen=True, slots=True)
class Score:
    """All leaves of one branch tree, as means; ``leaves`` are their ids, ``own_ratings`` those that were given."""

    subset: str
    dialogue: str
    question: str
    arm: str
    outcomes: Mapping[Outcome, float]
    leaked: float
    told_after_attempt: float
    first_by_student: int
    said: int
    leaves: tuple[str, ...]
    own_ratings: tuple[int, ...] = ()


def scores(leaves: Iterable[Leaf], wanted: int) -> dict[Key, Score]:
    """Score of each branch tree that has all of its ``wanted`` leaves with every item answered.

    Trees branch evenly, so the mean over leaves is the nested mean up the tree.
    """
    trees: dict[Key, list[Leaf]] = defaultdict(list)
    for leaf in leaves:
        trees[leaf.subset, leaf.arm].append(leaf)
    return {key: _score(tree) for key, tree in trees.items() if len(tree) == wanted and all(map(_is_whole, tree))}


def _is_whole(leaf: Leaf) -> bool:
    return {"transfer", "recall", "diagnostic", "control"} <= leaf.credit.keys()


def _score(tree: Sequence[Leaf]) -> Score:
    first, count = tree[0], len(tree)
    outcomes: dict[Outcome, float] = {name: sum(_value(leaf, name) for leaf in tree) / count for name in OUTCOMES}
    return Score(
        subset=first.subset,
        dialogue=first.dialogue,
        question=first.question,
        arm=first.arm,
        outcomes=outcomes,
        leaked=sum(leaf.leaked for leaf in tree) / count,
        told_after_attempt=sum(leaf.told_after_attempt for leaf in tree) / count,
        first_by_student=sum(leaf.first_by_student for leaf in tree),
        said=sum(leaf.said for leaf in tree),
        leaves=tuple(leaf.id for leaf in tree),
        own_ratings=tuple(leaf.own_rating for leaf in tree if leaf.own_rating is not None),
    )


def _value(leaf: Leaf, outcome: Outcome) -> float:
    return leaf.misconceived if outcome == "misconceptions" else leaf.credit[outcome]


@dataclass(frozen=True, slots=True)
class Difference:
    """First minus second, subset by subset; ``missing`` subsets lack a score of one of the two."""

    values: tuple[float, ...]
    dialogues: tuple[str, ...]
    questions: tuple[str, ...]
    missing: int

    def by_dialogue(self, level: float) -> Mean:
        return clustered_mean(self.values, self.dialogues, level)

    def by_question(self, level: float) -> Mean:
        """The interval that a claim beyond these questions needs."""
        return clustered_mean(self.values, self.questions, level)


def difference(known: Mapping[Key, Score], subsets: Sequence[str], a: str, b: str, outcome: Outcome) -> Difference:
    """``a`` minus ``b`` in one outcome, over the subsets where both have a score."""
    pairs = [(known[s, a], known[s, b]) for s in subsets if (s, a) in known and (s, b) in known]
    return Difference(
        tuple(one.outcomes[outcome] - other.outcomes[outcome] for one, other in pairs),
        tuple(one.dialogue for one, _ in pairs),
        tuple(one.question for one, _ in pairs),
        len(subsets) - len(pairs),
    )
