"""Pairs of texts that are nearly the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence, Set
from itertools import combinations
from math import ceil

_FEW = 16


def near_pairs(sets: Sequence[Set[Hashable]], threshold: float, fewest: int = 1) -> list[tuple[int, int, float]]:
    """(i, j, Jaccard similarity) of every pair with at least ``threshold`` in common, i < j, in order.

    Sets with fewer than ``fewest`` members are left out. Exact: two sets that similar share a member among the
    rarest few of each (prefix filter, Chaudhuri, Ganti and Kaushik 2006), so only such pairs are compared.
    """
    if len(sets) <= _FEW:
        return [
            (one, other, similarity)
            for one, other in combinations([at for at, each in enumerate(sets) if len(each) >= max(fewest, 1)], 2)
            if (similarity := _jaccard(sets[one], sets[other])) >= threshold
        ]
    often = Counter(member for each in sets if len(each) >= fewest for member in each)
    rank = {member: at for at, member in enumerate(sorted(often, key=lambda one: (often[one], repr(one))))}
    index: dict[Hashable, list[int]] = {}
    pairs: list[tuple[int, int, float]] = []
    for at, each in enumerate(sets):
        if len(each) < max(fewest, 1):
            continue
        ordered = sorted(each, key=rank.__getitem__)
        prefix = ordered[: len(ordered) - ceil(threshold * len(ordered)) + 1]
        candidates = {other for member in prefix for other in index.get(member, ())}
        for other in sorted(candidates):
            similarity = _jaccard(each, sets[other])
            if similarity >= threshold:
                pairs.append((other, at, similarity))
        for member in prefix:
            index.setdefault(member, []).append(at)
    return sorted(pairs)


def _jaccard(one: Set[Hashable], other: Set[Hashable]) -> float:
    common = len(one & other)
    return common / (len(one) + len(other) - common)
