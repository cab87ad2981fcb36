"""The features of a student's writing, and the profiles of people and of LLM students they are held against.

Words are separated by white space. Every feature is of the student utterances after the opener.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Feature = Literal[
    "median_words", "at_most_3_words", "question_mark", "ends_sentence", "lower_case_start", "thanks"
]
FEATURES: tuple[Feature, ...] = (
    "median_words",
    "at_most_3_words",
    "question_mark",
    "ends_sentence",
    "lower_case_start",
    "thanks",
)
SHARES: tuple[Feature, ...] = FEATURES[1:]


@dataclass(frozen=True, slots=True)
class Reference:
    """A profile counted on a public corpus: a median and shares. ``human``: written by people."""

    source: str
    human: bool
    utterances: int
    median_words: float
    at_most_3_words: float
    question_mark: float
    ends_sentence: float
    lower_case_start: float
    thanks: float
    distinct_2: float


TARGET = "people to an LLM maths tutor (SimulatorArena subset)"
REFERENCES: tuple[Reference, ...] = (
    Reference(TARGET, True, 563, 7, 0.32, 0.28, 0.42, 0.26, 0.02, 0.78),
    Reference("children to a novice tutor (Bridge)", True, 1110, 1, 0.88, 0.04, 0.07, 0.63, 0.01, 0.56),
    Reference("LLM student (MathDial test)", False, 3329, 32, 0.01, 0.01, 0.94, 0.0, 0.03, 0.47),
    Reference("LLM student (SocraticBench)", False, 1405, 45, 0.0, 0.01, 1.0, 0.0, 0.23, 0.83),
)
"""Counted for this project; white-space words, English. The first is the setting that realism is measured in."""
