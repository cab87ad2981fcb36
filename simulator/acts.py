"""Whether a student's message does what was planned: rules first, a reader with a model where rules can't tell.

follow_up            asks about what the teacher has just said
clarification        says or asks what was not understood
new_question         asks about the subject, and not about what was just said
irrelevant_question  asks about nothing that was spoken of
right_answer, wrong_answer   says something; whether it is right, rules can't tell
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from gateway.prompt import Ask
from knowledge.wording import stem
from runstore.languages import words
from runstore.records import Act, Language, Realised, Utterance

_WORD = re.compile(r"[a-z][a-z0-9]{2,}|[가-힣]{2,}")
_ANSWERS = frozenset({"right_answer", "wrong_answer"})


@dataclass(frozen=True, slots=True)
class Signs:
    """What can be seen of a message: whether it asks, asks openly, is puzzled; words shared with what was said."""

    asks: bool
    opens: bool
    puzzled: bool
    with_last: int
    with_all: int


class ActReader(Protocol):
    """Who names the act of a message where rules can't tell."""

    @property
    def name(self) -> str: ...
    async def __call__(
        self, ask: Ask, history: Sequence[Utterance], text: str, *, item: str, repeat: int, stage: str = "simulate"
    ) -> Act | None:
        """The act, or None where no answer could be read. Raises Stopped."""
        ...


def signs(text: str, history: Sequence[Utterance], language: Language) -> Signs:
    """The signs of a message after ``history``, whose last utterance is the teacher's."""
    table = _patterns(language)
    plain = text.strip().casefold().replace("’", "'")
    own = content(plain, language)
    last = content(history[-1].text, language) if history else frozenset[str]()
    whole = frozenset[str]().union(*(content(each.text, language) for each in history))
    return Signs(
        asks=table["asks"].search(plain) is not None,
        opens=table["open"].search(plain) is not None,
        puzzled=table["puzzled"].search(plain) is not None,
        with_last=len(own & last),
        with_all=len(own & whole),
    )


def realised(act: Act, text: str, history: Sequence[Utterance], language: Language) -> Realised:
    """What rules can say: ``yes``, ``no``, or ``unknown``."""
    seen = signs(text, history, language)
    if act in _ANSWERS:
        return "no" if seen.puzzled or seen.opens else "unknown"
    if act == "clarification":
        if seen.puzzled:
            return "yes"
        return "unknown" if seen.asks else "no"
    if not seen.asks:
        return "no"
    if act == "irrelevant_question":
        return "yes" if not seen.with_all else "no" if seen.with_all > 1 else "unknown"
    if seen.puzzled:
        return "unknown"
    if act == "follow_up":
        return "yes" if seen.with_last else "unknown"
    return "yes" if seen.with_all and not seen.with_last else "unknown"


def content(text: str, language: Language) -> frozenset[str]:
    """The stems of the words that say what a text is about."""
    stop = _stop(language)
    return frozenset(stem(word) for word in _WORD.findall(text.casefold()) if word not in stop)


@lru_cache(16)
def _patterns(language: str) -> dict[str, re.Pattern[str]]:
    table = words("simulator", "acts", language)
    return {name: re.compile(table(name), re.MULTILINE) for name in ("asks", "open", "puzzled")}


@lru_cache(16)
def _stop(language: str) -> frozenset[str]:
    return frozenset(words("simulator", "acts", language)("stop").split())
