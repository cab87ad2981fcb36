"""Which of several things a sentence speaks of, by the words that it shares with what is written about each.

Words count by how few of the things have them, and not by how often (inverse document frequency, Spärck Jones
1972).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Mapping
from math import log, sqrt
from typing import Generic, TypeVar

Thing = TypeVar("Thing", bound=Hashable)
NEAR, AHEAD = 0.8, 0.2
"""What a sentence must have of a thing's words, and by how much more than of any other's."""
_WORD = re.compile(r"[a-z0-9_]{3,}|[가-힣]{2,}")
_COMMON = frozenset(
    _WORD.findall(
        """
        the and that this what which with you your for are was were from have has had not they them then than there
        their when where who how why does did would could should can will just only all any each one two its into
        out about because more most very much same other some such
        """
    )
)


def _stems(text: str) -> frozenset[str]:
    """The beginnings of words: their endings change, in Korean after the second syllable."""
    words = (word for word in _WORD.findall(text.casefold()) if word not in _COMMON)
    return frozenset(word[:6] if word.isascii() else word[:2] for word in words)


class Wording(Generic[Thing]):
    """Things, and the words of what is written about each."""

    def __init__(self, texts: Mapping[Thing, str]) -> None:
        self._words = {thing: _stems(text) for thing, text in texts.items()}
        having = Counter(word for words in self._words.values() for word in words)
        self._weight = {word: log((len(texts) + 1) / count) for word, count in having.items()}
        self._whole = {
            thing: sqrt(sum(self._weight[word] ** 2 for word in words)) for thing, words in self._words.items()
        }

    def nearest(self, sentence: str) -> Thing | None:
        """The thing that a sentence shares enough words with, and clearly more than with any other."""
        said = _stems(sentence)
        shared = {
            thing: sum(self._weight[word] for word in said & words) / self._whole[thing]
            for thing, words in self._words.items()
            if words
        }
        first, second = sorted([*shared.values(), 0.0, 0.0], reverse=True)[:2]
        if first < NEAR or first - second < AHEAD:
            return None
        return max(shared, key=shared.__getitem__)
