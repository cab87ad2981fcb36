"""Assignments over indices: rater i's list of (document, condition), in the order they are rated.

The design for 30 raters x 5 of 30 documents x 2 conditions is in closed form; other sizes are dealt, coloured by
an Euler split and ordered; common sets and full designs use Williams squares.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arena.human.balance import order_conditions, permuted, split_in_two, williams
from arena.human.places import Slot, even_out

Rows = list[list[tuple[int, int]]]
_TRIES = 6
_DRAWS = 40
# Offsets with distinct differences modulo 30, residues modulo 3 as even as 5 allows; and a word that holds each
# of the four transitions once. Odd raters take the complement.
_OFFSETS = (0, 1, 3, 8, 14)
_WORD = (0, 0, 1, 1, 0)


def is_cyclic_size(raters: int, items: int, strata: Sequence[int], conditions: int) -> bool:
    """Whether the closed-form design fits: 30 raters, 5 items, three strata of 10 documents, two conditions."""
    sizes = [strata.count(stratum) for stratum in set(strata)]
    return (raters, items, sizes, conditions) == (30, 5, [10, 10, 10], 2)


def cyclic_design(strata: Sequence[int], rng: np.random.Generator) -> Rows:
    """Document (i + offset) mod 30 at each place of rater i; documents, raters and conditions drawn."""
    by_stratum = [_drawn([i for i, own in enumerate(strata) if own == s], rng) for s in permuted(3, rng)]
    flip = int(rng.integers(2))
    rows: Rows = []
    for i in permuted(30, rng):
        slots = [(i + offset) % 30 for offset in _OFFSETS]
        rows.append(
            [
                (by_stratum[slot % 3][slot // 3], (code + i + flip) % 2)
                for slot, code in zip(slots, _WORD, strict=True)
            ]
        )
    return rows


def dealt_design(
    raters: int, items: int, strata: Sequence[int], conditions: int, rng: np.random.Generator
) -> Rows:
    """Any size, one or two conditions: documents dealt within one, conditions split within one, places evened.

    Drawn again, a fixed number of times, until raters and cells hang together and all places are even; the
    certificate says what came of it, since the numbers do not always allow both.
    """
    rows: Rows = []
    for _ in range(_TRIES):
        coloured = _coloured(deal(raters, items, strata, rng), strata, conditions, rng)
        for _ in range(_DRAWS):
            if components([list(row.items()) for row in coloured]) == 1:
                break
            coloured = _coloured(deal(raters, items, strata, rng), strata, conditions, rng)
        rows, even = _ordered(coloured, strata, conditions, rng)
        if even:
            break
    return rows


def deal(raters: int, items: int, strata: Sequence[int], rng: np.random.Generator) -> list[list[int]]:
    """Documents of each rater: uses within one, strata of a rater within one of their share, none twice.

    The rest of each stratum's share is laid out by McNaughton's wrap-around rule; within a stratum each rater gets
    the least used documents, of those the ones that met his others least.
    """
    names = _drawn(sorted(set(strata)), rng)
    sizes = {name: strata.count(name) for name in names}
    quota = {name: items * sizes[name] // len(strata) for name in names}
    extra = _rounded({name: raters * (items * sizes[name] / len(strata) - quota[name]) for name in names})
    ring = [name for name in names for _ in range(extra[name])]
    more: list[list[int]] = [[] for _ in range(raters)]
    for slot, name in enumerate(ring):
        more[slot % raters].append(name)
    uses = np.zeros(len(strata), dtype=np.int64)
    met = np.zeros((len(strata), len(strata)), dtype=np.int64)
    members = {name: np.array([d for d, own in enumerate(strata) if own == name]) for name in names}
    result: list[list[int]] = [[] for _ in range(raters)]
    for rater in permuted(raters, rng):
        mine = result[rater]
        for name in names:
            for _ in range(quota[name] + more[rater].count(name)):
                open_documents = np.array([d for d in members[name] if d not in mine])
                cost = uses[open_documents] * 1e6 + met[open_documents][:, mine].sum(axis=1)
                chosen = int(open_documents[np.argmin(cost + rng.random(len(cost)) * 0.5)])
                met[chosen, mine] += 1
                met[mine, chosen] += 1
                uses[chosen] += 1
                mine.append(chosen)
    return result


def _drawn(values: Sequence[int], rng: np.random.Generator) -> list[int]:
    return [values[place] for place in permuted(len(values), rng)]


def _rounded(shares: dict[int, float]) -> dict[int, int]:
    """Each share rounded up or down so that the sum stays what it is (largest remainder)."""
    whole = {name: int(share + 1e-9) for name, share in shares.items()}
    left = round(sum(shares.values())) - sum(whole.values())
    order = sorted(shares, key=lambda name: whole[name] - shares[name])
    for name in order[:left]:
        whole[name] += 1
    return whole


def _coloured(
    dealt: list[list[int]], strata: Sequence[int], conditions: int, rng: np.random.Generator
) -> list[dict[int, int]]:
    edges = [(rater, document) for rater, row in enumerate(dealt) for document in row]
    if conditions == 1:
        return [dict.fromkeys(row, 0) for row in dealt]
    left = [((rater, strata[document]), (rater, -1), 0) for rater, document in edges]
    right = [((document, -1), (-1, strata[document]), 0) for _, document in edges]
    colours = split_in_two(left, right, rng)
    result: list[dict[int, int]] = [{} for _ in dealt]
    for (rater, document), colour in zip(edges, colours, strict=True):
        result[rater][document] = colour
    return result


def _ordered(
    coloured: list[dict[int, int]], strata: Sequence[int], conditions: int, rng: np.random.Generator
) -> tuple[Rows, bool]:
    length = len(coloured[0])
    if conditions == 1:
        places = np.zeros((len(coloured), length), dtype=np.int8)
    else:
        zeros = [sum(colour == 0 for colour in row.values()) for row in coloured]
        places = order_conditions(zeros, length, rng)
    lists: list[list[Slot]] = []
    for row, word in zip(coloured, places, strict=True):
        hands = {code: _drawn([d for d, own in row.items() if own == code], rng) for code in (0, 1)}
        drawn = [(int(code), hands[int(code)].pop()) for code in word]
        lists.append([Slot(strata[document], code, document) for code, document in drawn])
    even = even_out(lists, conditions, rng)
    return [[(slot.document, slot.condition) for slot in slots] for slots in lists], even


def common_design(
    raters: int,
    items: int,
    strata: Sequence[int],
    conditions: int,
    rng: np.random.Generator,
    *,
    both: bool = False,
) -> Rows:
    """All raters rate the same cells, each in an order of a Williams square.

    ``both``: every document is rated in both conditions, the second time in the same order after all the others;
    half of the raters begin with the other condition.
    """
    distinct = items // 2 if both else items
    share = {s: distinct * strata.count(s) / len(strata) for s in sorted(set(strata))}
    quota = _rounded(share)
    chosen = [d for s in quota for d in _drawn([i for i, own in enumerate(strata) if own == s], rng)[: quota[s]]]
    colour = dict.fromkeys(chosen, 0)
    if conditions == 2:
        keys = [((strata[d], -1), (-1, 0)) for d in chosen]
        singles = [((d, -1),) for d in chosen]
        colour = dict(zip(chosen, split_in_two(keys, singles, rng), strict=True))
    orders = _williams_orders(raters, len(chosen), rng)
    rows: Rows = []
    for rater, order in enumerate(orders):
        first = [(chosen[i], (colour[chosen[i]] + rater * both) % conditions) for i in order]
        rows.append(first + [(document, 1 - code) for document, code in first] if both else first)
    return rows


def both_design(raters: int, items: int, strata: Sequence[int], rng: np.random.Generator) -> Rows:
    """Documents dealt to the raters, each rated in both conditions: all in one, then again in the other.

    The first halves are a dealt design of two conditions, so that of a document's raters as many begin with one
    condition as with the other (within one), and each rater's first half holds both.
    """
    halves = dealt_design(raters, items // 2, strata, 2, rng)
    return [row + [(document, 1 - code) for document, code in row] for row in halves]


def full_design(raters: int, strata: Sequence[int], conditions: int, rng: np.random.Generator) -> Rows:
    """Every rater rates every document, in an order of a Williams square; conditions within one per document."""
    documents = permuted(len(strata), rng)
    orders = _williams_orders(raters, len(documents), rng)
    if conditions == 2:
        coloured = _coloured([list(documents) for _ in range(raters)], strata, 2, rng)
    else:
        coloured = [
            {document: (rater + place) % conditions for place, document in enumerate(documents)}
            for rater in range(raters)
        ]
    return [[(documents[i], coloured[rater][documents[i]]) for i in order] for rater, order in enumerate(orders)]


def _williams_orders(raters: int, size: int, rng: np.random.Generator) -> list[list[int]]:
    """Rows of Williams squares for so many raters: whole Latin squares first, rows of each in drawn order."""
    square = williams(size)
    blocks = [square[start : start + size] for start in range(0, len(square), size)]
    orders: list[list[int]] = []
    while len(orders) < raters:
        for block in blocks:
            orders += [block[i] for i in permuted(len(block), rng)]
    return orders[:raters]


def components(rows: Rows) -> int:
    """Connected components of the graph of raters and (document, condition) cells."""
    parent: dict[object, object] = {}

    def root(node: object) -> object:
        while parent.setdefault(node, node) != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for rater, row in enumerate(rows):
        for cell in row:
            parent[root(("rater", rater))] = root(cell)
    return len({root(node) for node in list(parent)})
