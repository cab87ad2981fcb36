"""Many short texts of many different values as numbers, eight bytes at a time.

A hash table of texts looks a text up somewhere in memory for every row. Here every row's bytes become a few whole
numbers, which arrays of numpy compare at once: rows are thrown into slots by a product of those numbers, the first
row in a slot stands for it, and rows that are not like the one which stands for theirs are thrown again. So the
numbering is exact, whatever the product does.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LONGEST = 64
"""Bytes up to which a text is taken apart."""
_MOST_SLOTS = 22
_PIECE = 1 << 14
_THROWS = 8
_ODD = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]


def numbered(
    start: Ints, length: Ints, data: NDArray[np.uint8]
) -> tuple[NDArray[np.int32], NDArray[np.intp]] | None:
    """(n,) number of each row's text, in order of appearance, and the row in which each number stands first.

    A row's text is ``length`` bytes of ``data`` from ``start`` on. None where texts are too long, or too many
    different ones to be worth it.
    """
    if not len(start) or int(length.max()) > LONGEST:
        return None
    like = _first_like(_taken_apart(start, length, data))
    if like is None:
        return None
    first = np.flatnonzero(like == np.arange(len(like), dtype=np.int32))
    number = np.empty(len(like), np.int32)
    number[first] = np.arange(len(first), dtype=np.int32)
    return number.take(like, mode="clip"), first


def _taken_apart(start: Ints, length: Ints, data: NDArray[np.uint8]) -> list[Words]:
    """Numbers that are the same for two rows exactly where their texts are."""
    shortest, longest = int(length.min()), int(length.max())
    padded = np.concatenate([data, np.zeros(8, np.uint8)])
    eights = np.ndarray((len(padded) - 7,), "V8", padded, strides=(1,))  # the eight bytes from each byte on
    own = _little([(1 << 8 * min(count, 8)) - 1 for count in range(longest + 1)])
    behind = _little([count << 56 for count in range(min(longest, 7) + 1)])
    words = [np.empty(len(start), np.uint64) for _ in range(0, max(longest, 1), 8)]
    for piece in _pieces(len(start)):
        begin, size = start[piece], length[piece]
        for at, word in enumerate(words):
            # The last eight of a text stand for its end: they overlap with those before, which is no harm.
            place = begin if at == 0 else begin + np.minimum(8 * at, np.maximum(size - 8, 0))
            word[piece] = eights[place].view(np.uint64)
            if shortest < 8:
                word[piece] &= own.take(size, mode="clip")
        if longest < 8:  # there is room for its length behind the text
            words[0][piece] |= behind.take(size, mode="clip")
    return words if longest < 8 or shortest == longest else [*words, length.astype(np.uint64)]


def _pieces(count: int) -> list[slice]:
    """Rows of which all that is made stays in a processor's cache."""
    return [slice(low, min(low + _PIECE, count)) for low in range(0, count, _PIECE)]


def _little(numbers: list[int]) -> Words:
    """Numbers whose lowest byte comes first in memory, as the machine reads them."""
    return np.array(numbers, "<u8").view(np.uint64)


def _first_like(words: list[Words]) -> NDArray[np.int32] | None:
    """(n,) the first row that has the same numbers."""
    rows = like = np.arange(len(words[0]), dtype=np.int32)
    bits = min(_MOST_SLOTS, max(len(rows).bit_length(), 4))
    slots = np.zeros(1 << bits, np.int32)
    for throw in range(_THROWS):
        found, left = _thrown(words, throw, slots, bits)
        if throw == 0:
            like = found
        else:
            like[rows] = rows.take(found, mode="clip")
        if not len(left):
            return like
        rows, words = rows[left], [word[left] for word in words]
    return None


def _thrown(
    words: list[Words], throw: int, slots: NDArray[np.int32], bits: int
) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
    """(n,) the first row in each row's slot, and the rows that are not like it."""
    found = np.empty(len(words[0]), np.int32)
    pieces, left = _pieces(len(found)), list[NDArray[np.intp]]()
    for piece in reversed(pieces):  # of several rows in a slot the last that is written stays: the first of them
        rows = np.arange(piece.stop - 1, piece.start - 1, -1, dtype=np.int32)
        slots[_slots(words, piece, throw, bits)[::-1]] = rows
    for piece in pieces:
        found[piece] = slots.take(_slots(words, piece, throw, bits), mode="clip")
        other = np.zeros(piece.stop - piece.start, np.bool_)
        for word in words:
            other |= word.take(found[piece], mode="clip") != word[piece]
        left.append(np.flatnonzero(other) + piece.start)
    return found, np.concatenate(left)


def _slots(words: list[Words], piece: slice, throw: int, bits: int) -> Ints:
    """(n,) slots of some rows: the top bits of a sum of products, which differs from throw to throw."""
    total = np.zeros(piece.stop - piece.start, np.uint64)
    for place, word in enumerate(words):
        odd = (_ODD[(place + throw) % 3] * (2 * (place + 3 * throw) + 1)) % (1 << 64)
        total += word[piece] * np.uint64(odd)
    total >>= np.uint64(64 - bits)
    return total.view(np.int64)
