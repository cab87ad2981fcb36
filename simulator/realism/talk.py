"""What a student said in one dialogue, after the opener, as the measures see it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from runstore.publish import has_visible
from runstore.records import Dialogue

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Said:
    """One student utterance that leaves a mark. ``turn`` 2 is the first after the opener."""

    turn: int
    text: str
    length: int


@dataclass(frozen=True, slots=True)
class Talk:
    """One dialogue's student. ``opener`` comes from the question bank and takes no part in measures."""

    dialogue: Dialogue
    opener: str
    said: tuple[Said, ...]

    @property
    def id(self) -> str:
        return self.dialogue.id


def talk_of(dialogue: Dialogue) -> Talk:
    """One dialogue's student; blank utterances are not utterances here (they are failures)."""
    own = [each.text for each in dialogue.utterances if each.role == "student"]
    said = [Said(turn, text, len(text.split())) for turn, text in enumerate(own[1:], 2) if has_visible(text)]
    return Talk(dialogue, own[0] if own else "", tuple(said))


@lru_cache(maxsize=256)
def plain_words(text: str) -> tuple[str, ...]:
    """Lower-case words without punctuation, in any script: for comparing texts, not for counting length.

    Several detectors ask for those of one dialogue, one after the other.
    """
    return tuple(_WORD.findall(text.casefold()))


def ngrams(words: Sequence[str], n: int) -> list[tuple[str, ...]]:
    """Every run of ``n`` words, in order."""
    return list(zip(*(words[at:] for at in range(n)), strict=False))
