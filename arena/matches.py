"""Replies -> matches: which endpoints meet on which subsets, and in which order each round shows them."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal

from runstore.ids import draw
from runstore.problems import Problem
from runstore.records import Reply, Subset
from runstore.stored import WhenAsked

Order = Literal["random", "balanced"]


@dataclass(frozen=True, slots=True)
class Match:
    """One subset and two endpoints' replies to it, in the order of their names."""

    subset: Subset
    first: Reply
    second: Reply
    id: str = field(init=False)

    @property
    def endpoints(self) -> tuple[str, str]:
        return self.first.endpoint, self.second.endpoint

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", "/".join((self.subset.id, *self.endpoints)))


def all_pairs(endpoints: Sequence[str]) -> list[tuple[str, str]]:
    """Every pair of endpoints once, each in the order of their names.

    Raises Problem where one is listed twice: comparing an endpoint with itself takes a second name for it.
    """
    return chosen_pairs(endpoints, list(combinations(endpoints, 2)))


def chosen_pairs(endpoints: Sequence[str], pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The pairs asked for, each once, in the order of their names. Raises Problem for one that cannot be."""
    known = set(endpoints)
    if len(known) < len(endpoints):
        twice = next(name for name in endpoints if list(endpoints).count(name) > 1)
        raise Problem(f"endpoint {twice!r} is listed twice; to compare it with itself, give it a second name")
    chosen: dict[tuple[str, str], None] = {}
    for one, other in pairs:
        if one == other:
            raise Problem(f"endpoint {one!r} cannot meet itself; to compare it with itself, give it a second name")
        if unknown := {one, other} - known:
            raise Problem(f"pair {one!r}, {other!r}: {min(unknown)!r} is not among the endpoints collected")
        chosen[(min(one, other), max(one, other))] = None
    return list(chosen)


class Answered:
    """Which endpoint's reply to which subset stands where, eight bytes each: the records may stay on the disk."""

    def __init__(self, subsets: Sequence[Subset], replies: Sequence[Reply]) -> None:
        self.subsets, self.replies = subsets, replies
        place_of = _Places(subsets)
        self._size = len(subsets)
        self._at: dict[str, array[int]] = {}
        for number, reply in enumerate(replies):
            if reply.endpoint not in self._at:
                self._at[reply.endpoint] = array("q", [-1]) * self._size
            if (at := place_of(reply.subset)) is not None:
                self._at[reply.endpoint][at] = number

    @property
    def endpoints(self) -> list[str]:
        """Who replied to any of the subsets, by name."""
        return sorted(self._at)

    def matches(self, pairs: Sequence[tuple[str, str]]) -> tuple[Played, list[tuple[str, tuple[str, str]]]]:
        """The matches that can be played, and (subset id, pair) of those that lack a reply."""
        nobody = array("q", [-1]) * self._size
        columns = [tuple(self._at.get(name, nobody) for name in pair) for pair in pairs]
        rows = array("Q")
        missing: list[tuple[str, tuple[str, str]]] = []
        for at in range(self._size):
            for pair, (first, second) in zip(pairs, columns, strict=True):
                if first[at] < 0 or second[at] < 0:
                    missing.append((self.subsets[at].id, pair))
                else:
                    rows.extend((at, first[at], second[at]))
        return Played(self, rows), missing


class _Places:
    """Where a subset stands. Replies come in the order of subsets, but for those of one's own: as long as they do,
    nothing is kept but the place of the last."""

    def __init__(self, subsets: Sequence[Subset]) -> None:
        self._subsets, self._ahead = subsets, enumerate(subsets)
        self._last: tuple[int, str] | None = None
        self._all: dict[str, int] | None = None

    def __call__(self, name: str) -> int | None:
        if self._last is not None and self._last[1] == name:
            return self._last[0]
        if self._all is not None:
            return self._all.get(name)
        for at, subset in self._ahead:
            if subset.id == name:
                self._last = at, name
                return at
        self._last, self._all = None, {subset.id: at for at, subset in enumerate(self._subsets)}
        return self._all.get(name)


class Played(WhenAsked[Match]):
    """Matches in the order of subsets, then of pairs, each made of its records when it is asked for."""

    def __init__(self, answered: Answered, rows: array[int]) -> None:
        self._answered, self._rows = answered, rows

    def __len__(self) -> int:
        return len(self._rows) // 3

    def at(self, place: int) -> Match:
        subset, first, second = self._rows[3 * place : 3 * place + 3]
        replies = self._answered.replies
        return Match(self._answered.subsets[subset], replies[first], replies[second])


def matches(
    subsets: Sequence[Subset], replies: Sequence[Reply], pairs: Sequence[tuple[str, str]]
) -> tuple[Sequence[Match], list[tuple[str, tuple[str, str]]]]:
    """The matches that can be played, and (subset id, pair) of those that lack a reply."""
    return Answered(subsets, replies).matches(pairs)


def slots(
    match: Match, judge: str, criterion: str, round_number: int, order: Order, seed: int
) -> tuple[Reply, Reply]:
    """The replies as (Teacher A, Teacher B) of one round (from 1), drawn by identity.

    ``random``: each round is drawn for itself. ``balanced``: the first is drawn, then sides alternate, so rounds
    one and two always show opposite orders.
    """
    if order == "random":
        flipped = draw(seed, "order", match.id, judge, criterion, round_number) < 0.5
    else:
        flipped = (draw(seed, "order", match.id, judge, criterion) < 0.5) != (round_number % 2 == 0)
    return (match.second, match.first) if flipped else (match.first, match.second)
