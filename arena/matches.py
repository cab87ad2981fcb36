"""Replies -> matches: which endpoints meet on which subsets, and in which order each round shows them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from runstore.ids import draw
from runstore.problems import Problem
from runstore.records import Reply, Subset

Order = Literal["random", "balanced"]


@dataclass(frozen=True, slots=True)
class Match:
    """One subset and two endpoints' replies to it, in the order of their names."""

    subset: Subset
    first: Reply
    second: Reply

    @property
    def endpoints(self) -> tuple[str, str]:
        return self.first.endpoint, self.second.endpoint

    @property
    def id(self) -> str:
        return "/".join((self.subset.id, *self.endpoints))


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


def matches(
    subsets: Sequence[Subset], replies: Iterable[Reply], pairs: Sequence[tuple[str, str]]
) -> tuple[list[Match], list[tuple[str, tuple[str, str]]]]:
    """The matches that can be played, and (subset id, pair) of those that lack a reply."""
    found = {(reply.subset, reply.endpoint): reply for reply in replies}
    played: list[Match] = []
    missing: list[tuple[str, tuple[str, str]]] = []
    for subset in subsets:
        for pair in pairs:
            one, other = (found.get((subset.id, name)) for name in pair)
            if one is None or other is None:
                missing.append((subset.id, pair))
            else:
                played.append(Match(subset, one, other))
    return played, missing


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
