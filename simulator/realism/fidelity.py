"""Do students differ in the direction that their levels say, and can their levels be told from their words?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from runstore.ids import draw_seed
from simulator.realism.phrases import HEDGES
from simulator.realism.profile import RESAMPLES, Floats, limits
from simulator.realism.recover import by_turn, documents_of, recoverability
from simulator.realism.talk import Talk

Measure = Callable[[Talk], float | None]


def _mean(talk: Talk, of: Callable[[str], float]) -> float | None:
    return sum(of(said.text) for said in talk.said) / len(talk.said) if talk.said else None


MEASURES: dict[str, Measure] = {
    "words": lambda talk: _mean(talk, lambda text: float(len(text.split()))),
    "questions": lambda talk: _mean(talk, lambda text: float("?" in text or "？" in text)),
    "hedges": lambda talk: _mean(talk, lambda text: float(HEDGES.search(text) is not None)),
    "left": lambda talk: float(talk.dialogue.end == "student ended"),
}
"""Per dialogue: mean words of an utterance; shares of utterances that ask or hedge; whether the student left."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """``sign`` 1: the high level should show more of the measure than the low one; -1: less."""

    factor: str
    measure: str
    sign: int
    why: str


EXPECTED: tuple[Expectation, ...] = (
    Expectation("motivation", "words", 1, "motivated students write more"),
    Expectation("motivation", "questions", 1, "motivated students ask more"),
    Expectation("self_efficacy", "hedges", -1, "students who trust themselves hedge less"),
    Expectation("goal_commitment", "left", -1, "committed students leave less often"),
)


def fidelity(talks: Sequence[Talk], seed: int) -> dict[str, Any]:
    """Expected directions, every measure by factor and level, and the recoverability of factors and personas."""
    factors = list(dict.fromkeys(factor for talk in talks for factor in talk.dialogue.levels))
    documents = documents_of(talks, seed)
    factors_told = {
        factor: recoverability(
            documents, lambda talk, factor=factor: talk.dialogue.levels.get(factor), seed, factor
        )
        for factor in factors
    }
    return {
        "directions": [_direction(talks, each, seed) for each in EXPECTED if each.factor in factors],
        "by_level": {factor: _by_level(talks, factor) for factor in factors},
        "recoverability": {
            "method": "naive Bayes, cross-validated by seed question; mean recall; levels dealt out at random",
            "dialogues": len(documents.talks),
            "of": len(talks),
            "factors": factors_told,
            "by_turn": {
                factor: by_turn(talks, lambda talk, factor=factor: talk.dialogue.levels.get(factor), seed, factor)
                for factor in factors
                if factors_told[factor]["p"] is not None
            },
            "persona": recoverability(documents, lambda talk: talk.dialogue.persona, seed, "persona"),
        },
    }


def _direction(talks: Sequence[Talk], expected: Expectation, seed: int) -> dict[str, Any]:
    """High minus low, with an interval over dialogues; ``found`` is None where the interval holds 0."""
    high, low = (_values(talks, expected.factor, level, expected.measure) for level in ("high", "low"))
    row: dict[str, Any] = {
        "factor": expected.factor,
        "measure": expected.measure,
        "why": expected.why,
        "expected": "more" if expected.sign > 0 else "less",
        "dialogues": {"high": len(high), "low": len(low)},
    }
    if min(len(high), len(low)) < 2:
        reason = "fewer than two dialogues of a level"
        return {**row, "difference": None, "lower": None, "upper": None, "found": None, "reason": reason}
    generator = np.random.default_rng(draw_seed(seed, "direction", expected.factor, expected.measure))
    drawn = [
        group[generator.integers(len(group), size=(RESAMPLES, len(group)))].mean(axis=1) for group in (high, low)
    ]
    lower, upper = limits(drawn[0] - drawn[1])
    sure = lower > 0 or upper < 0
    direction = None if not sure else "as expected" if (lower > 0) == (expected.sign > 0) else "opposite"
    difference = float(high.mean() - low.mean())
    reason = None if sure else "the interval holds 0"
    return {**row, "difference": difference, "lower": lower, "upper": upper, "found": direction, "reason": reason}


def _values(talks: Sequence[Talk], factor: str, level: str, measure: str) -> Floats:
    of = MEASURES[measure]
    values = [of(talk) for talk in talks if talk.dialogue.levels.get(factor) == level]
    return np.asarray([value for value in values if value is not None], dtype=np.float64)


def _by_level(talks: Sequence[Talk], factor: str) -> dict[str, dict[str, float | int | None]]:
    levels = sorted({talk.dialogue.levels[factor] for talk in talks if factor in talk.dialogue.levels})
    table: dict[str, dict[str, float | int | None]] = {}
    for level in levels:
        row: dict[str, float | int | None] = {
            "dialogues": sum(talk.dialogue.levels.get(factor) == level for talk in talks)
        }
        for measure in MEASURES:
            values = _values(talks, factor, level, measure)
            row[measure] = float(values.mean()) if len(values) else None
        table[level] = row
    return table
