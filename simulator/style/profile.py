"""A style profile: aggregates of how a group of students types, and nothing that anybody wrote.

language: en
source: where it was counted
utterances: 563
words:                              # of the student's utterance in a turn, and those after it; 1 is the opener
  - {turn: 2, quantiles: {0.32: 3, 0.5: 6, 0.9: 24}}
shares: {question_mark: 0.28}       # of utterances; a trait left out, or null, is not steered
assumed: [what was set by hand]
levels:                             # how a level differs: words by a factor, traits by odds
  motivation-low: {words: 0.8, odds: {question_mark: 0.7}}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field, field_validator, model_validator

from runstore.languages import listed, resource
from runstore.numbers import Real, Whole
from runstore.problems import InputProblem, Problem
from runstore.publish import parse_record, write_text
from runstore.records import Language, Persona, Record
from runstore.yaml_file import read_yaml, yaml_text
from simulator.style.traits import Trait

Share = Annotated[Real, Field(ge=0, le=1)]
LONGEST = 400
"""Words beyond which no message is asked for, whatever a profile says."""


class WordsByTurn(Record):
    """Quantiles of words, by probability, of the utterances of ``turn`` and those after it."""

    turn: Whole = Field(ge=1)
    utterances: Whole | None = None
    quantiles: dict[Share, Real] = Field(min_length=1)

    @field_validator("quantiles")
    @classmethod
    def _rise(cls, quantiles: dict[float, float]) -> dict[float, float]:
        ordered = dict(sorted(quantiles.items()))
        values = list(ordered.values())
        if values != sorted(values) or values[0] < 0:
            raise ValueError("words that rise with the probability, from 0 on")
        return ordered

    def at(self, probability: float) -> int:
        """The words at a probability, linear between quantiles on the scale of log2(words + 1)."""
        known, values = list(self.quantiles), list(self.quantiles.values())
        scaled = np.interp(probability, known, np.log2(np.asarray(values) + 1))
        return max(1, min(LONGEST, round(2 ** float(scaled) - 1)))


class Level(Record):
    """How students of a level differ from the whole group."""

    words: Real = Field(default=1.0, gt=0)
    odds: dict[Trait, Annotated[Real, Field(gt=0)]] = Field(default_factory=dict[Trait, float])


class StyleProfile(Record):
    """How a group types. ``levels`` by ``factor-level``; ``assumed`` says what was not counted."""

    language: Language
    source: str
    utterances: Whole | None = None
    dialogues: Whole | None = None
    words: tuple[WordsByTurn, ...] = Field(min_length=1)
    shares: dict[Trait, Share | None] = Field(default_factory=dict[Trait, float | None])
    reasons: dict[str, str] = Field(default_factory=dict[str, str])
    assumed: tuple[str, ...] = ()
    levels: dict[str, Level] = Field(default_factory=dict[str, Level])

    @model_validator(mode="after")
    def _turns_rise(self) -> StyleProfile:
        turns = [each.turn for each in self.words]
        if turns != sorted(set(turns)):
            raise ValueError("turns that rise")
        return self

    def words_of(self, turn: int) -> WordsByTurn:
        """The quantiles that hold for a turn."""
        return next((each for each in reversed(self.words) if each.turn <= turn), self.words[0])

    def share(self, trait: Trait, levels: Mapping[str, str]) -> float | None:
        """The share of a trait among students of these levels; None where it is not known."""
        share = self.shares.get(trait)
        if share is None or share in (0.0, 1.0):
            return share
        ratio = share / (1 - share)
        for level in self._levels_of(levels):
            ratio *= level.odds.get(trait, 1.0)
        return ratio / (1 + ratio)

    def scale(self, levels: Mapping[str, str]) -> float:
        """By how much students of these levels write more."""
        return float(np.prod([level.words for level in self._levels_of(levels)]))

    def _levels_of(self, levels: Mapping[str, str]) -> list[Level]:
        names = [f"{factor}-{level}" for factor, level in levels.items()]
        return [self.levels[name] for name in names if name in self.levels]


def shipped(language: str) -> dict[str, Path]:
    """The profiles that come with the product in a language, by name."""
    ending = f".{language}"
    paths = listed("simulator.style", "profiles", f"*{ending}.yaml")
    return {path.stem.removesuffix(ending): path for path in paths}


def load(name: str, language: str) -> StyleProfile:
    """A profile from a file, or a shipped one by name. Raises InputProblem naming file and field, Problem."""
    path = Path(name)
    if not (path.exists() or path.suffix or len(path.parts) > 1):
        if name not in shipped(language):
            raise Problem(f"style: found {name!r}, expected a file, or one of {', '.join(shipped(language))}")
        path = resource("simulator.style", f"profiles/{name}.{language}.yaml")
    file = read_yaml(path, plain_scalars=False)
    fields = file.mapping(file.data, (), StyleProfile.model_fields)
    profile = parse_record(StyleProfile, fields, path)
    if profile.language != language:
        raise InputProblem(path, f"a profile of {language!r}", found=profile.language, field="language")
    return profile


def check_levels(profile: StyleProfile, people: Sequence[Persona]) -> list[str]:
    """The levels that a profile names and no persona has."""
    known = {f"{factor}-{level}" for who in people for factor, level in who.levels.items()}
    return sorted(name for name in profile.levels if name not in known)


def as_yaml(profile: StyleProfile) -> str:
    """The profile as a file that :func:`load` reads."""
    data = profile.model_dump(mode="json", exclude_defaults=True)
    for row, each in zip(data["words"], profile.words, strict=True):
        row["quantiles"] = dict(each.quantiles)
    return yaml_text(data)


def write(path: Path, profile: StyleProfile) -> None:
    """Write a profile for :func:`load`."""
    write_text(path, as_yaml(profile))
