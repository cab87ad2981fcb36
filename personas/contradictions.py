"""Paragraphs that meet in one persona and say the opposite of each other.

Behaviours that a text can ask for or rule out stand in ``words/behaviour.LANGUAGE.yaml``: for each, the patterns
by which a sentence ``does`` it and those by which it ``never`` does. Sentences under a condition ("when you ask")
ask for nothing. What is found is told by words alone: it is a hint for who reads the texts, and no proof.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

from personas.factors_file import FactorSet
from runstore.languages import words
from runstore.records import Persona, Record

_SENTENCE = re.compile(r"(?<=[.!?。])[\"'”’)]*\s+|(?<=[;；])\s+|\n+")


class Contradiction(Record):
    """Two texts (``first``, ``second``: where they stand) that ask one persona for opposite behaviour."""

    about: str
    first: str
    says: str
    second: str
    opposes: str


@dataclass(frozen=True, slots=True)
class _Behaviour:
    name: str
    does: re.Pattern[str]
    never: re.Pattern[str]
    unless: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class _Paragraph:
    """A text, where it stands, and the levels (factor -> level) it comes with."""

    place: str
    levels: Mapping[str, str]
    text: str


def in_factors(factors: FactorSet) -> list[Contradiction]:
    """The pairs of levels' and interactions' texts that meet in some persona and contradict each other."""
    paragraphs = [
        _Paragraph(f"{factor.id}-{level.id}", {factor.id: level.id}, level.text)
        for factor in factors.factors
        for level in factor.levels
    ]
    paragraphs += [
        _Paragraph(" + ".join(f"{factor}-{level}" for factor, level in each.when.items()), each.when, each.text)
        for each in factors.interactions
    ]
    paragraphs += [
        _Paragraph(name, {}, text) for name, text in (("intro", factors.intro), ("outro", factors.outro))
    ]
    return list(_found(paragraphs, factors.language))


def in_lists(people: Iterable[Persona]) -> list[Contradiction]:
    """The same within each persona's own text, paragraph by paragraph."""
    contradictions: list[Contradiction] = []
    for who in people:
        parts = [part for part in who.text.splitlines() if part.strip()]
        contradictions += _found(
            [_Paragraph(f"{who.id}, paragraph {at}", {}, text) for at, text in enumerate(parts, 1)], who.language
        )
    return contradictions


def _found(paragraphs: Sequence[_Paragraph], language: str) -> Iterator[Contradiction]:
    for one, other in combinations(paragraphs, 2):
        if not _meet(one.levels, other.levels):
            continue
        for behaviour in _behaviours(language):
            for first, second in ((one, other), (other, one)):
                says, opposes = _does(behaviour, first.text), _never(behaviour, second.text)
                if says is not None and opposes is not None:
                    yield Contradiction(
                        about=behaviour.name,
                        first=first.place,
                        says=says,
                        second=second.place,
                        opposes=opposes,
                    )


def _meet(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    return all(other.get(factor, level) == level for factor, level in one.items())


def _does(behaviour: _Behaviour, text: str) -> str | None:
    for sentence in _SENTENCE.split(text):
        plain = behaviour.never.search(sentence) is None and behaviour.unless.search(sentence) is None
        if plain and (match := behaviour.does.search(sentence)):
            return match.group()
    return None


def _never(behaviour: _Behaviour, text: str) -> str | None:
    match = next((match for part in _SENTENCE.split(text) if (match := behaviour.never.search(part))), None)
    return match.group() if match else None


@lru_cache(16)
def _behaviours(language: str) -> tuple[_Behaviour, ...]:
    table = words("personas", "behaviour", language)
    names = sorted({key.partition(".")[0] for key in table.texts})
    return tuple(
        _Behaviour(
            table(f"{name}.name"),
            *(re.compile(table(f"{name}.{part}"), re.IGNORECASE) for part in ("does", "never", "unless")),
        )
        for name in names
    )
