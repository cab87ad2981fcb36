"""What could be played: endpoints, dialogues in the order of their visits, and the matches that cannot be held."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple, Protocol

from arena.sequential.result import Found, Outcome
from runstore.ids import shuffled


class Meeting(NamedTuple):
    """A match by numbers: the subset, and the two endpoints with ``i`` < ``j``."""

    subset: int
    i: int
    j: int


@dataclass(frozen=True)
class Field:
    """``dialogues``: (id, its subsets by number) in the order in which they are visited.

    ``subsets`` are the ids that the numbers stand for; ``missing`` are meetings that lack a reply.
    """

    names: tuple[str, ...]
    dialogues: tuple[tuple[str, tuple[int, ...]], ...]
    subsets: tuple[str, ...]
    seed: int = 0
    missing: frozenset[Meeting] = field(default_factory=frozenset[Meeting])

    @property
    def size(self) -> int:
        return len(self.names)

    def playable(self, meetings: Iterable[Meeting]) -> list[Meeting]:
        """Those of the meetings for which both replies exist."""
        return [meeting for meeting in meetings if meeting not in self.missing]

    @property
    def possible(self) -> int:
        """How many matches could be played in all."""
        return len(self.subsets) * self.size * (self.size - 1) // 2 - len(self.missing)


def field_of(
    names: Sequence[str],
    subsets: Sequence[tuple[str, str]],
    seed: int,
    missing: Iterable[tuple[str, tuple[str, str]]] = (),
) -> Field:
    """A field of (subset id, dialogue id); dialogues and the subsets of each are visited in drawn order.

    ``missing`` are (subset id, pair of names) that cannot be played. Raises ValueError for a subset given twice.
    """
    ordered = sorted(names)
    ids = sorted(subset for subset, _ in subsets)
    if len(set(ids)) < len(ids):
        raise ValueError("a subset is given twice")
    number = {subset: place for place, subset in enumerate(ids)}
    held: dict[str, list[tuple[str, int]]] = {}
    for subset, dialogue in subsets:
        held.setdefault(dialogue, []).append((subset, number[subset]))
    visits = shuffled([(dialogue, dialogue) for dialogue in held], seed, "visit", "dialogue")
    place = {name: index for index, name in enumerate(ordered)}
    lacking = [Meeting(number[subset], *sorted((place[one], place[other]))) for subset, (one, other) in missing]
    return Field(
        tuple(ordered),
        tuple((dialogue, tuple(shuffled(held[dialogue], seed, "visit", dialogue))) for dialogue in visits),
        tuple(ids),
        seed,
        frozenset(lacking),
    )


def every_pair(size: int) -> list[tuple[int, int]]:
    """All pairs (i, j) with i < j."""
    return list(combinations(range(size), 2))


@dataclass(frozen=True)
class Decision:
    """What was found out. ``statement`` is one sentence, ``result`` the same as data."""

    statement: str
    result: Outcome


class Policy(Protocol):
    """A tournament under way: frozen, and the same for the same seed and scores, whoever finished first.

    ``next_matches`` is one batch (empty where nothing is left to ask). ``absorb`` takes its scores in the same
    order (for ``i``: 1 win, 1/2 tie, 0 loss, means of several criteria in between, None where there is no
    verdict) and gives the next state. ``decide`` is None until the goal is reached.
    """

    @property
    def field(self) -> Field: ...

    def next_matches(self) -> list[Meeting]: ...

    def absorb(self, scores: Sequence[float | None]) -> Policy: ...

    def decide(self) -> Decision | None: ...

    def found(self) -> Found:
        """How far it has come, decided or not, as data."""
        ...
