"""How far students' typing is from a profile: lengths by their whole distribution, traits by their shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from runstore.records import Language
from simulator.realism.talk import Talk
from simulator.style.profile import StyleProfile
from simulator.style.traits import TRAITS, Trait, typed

_PROBABILITIES = np.linspace(0.025, 0.975, 20)


@dataclass(frozen=True, slots=True)
class Beside:
    """One feature: the students' value and the profile's. ``apart``: doublings of length, or halves of a share."""

    value: float
    target: float
    apart: float


@dataclass(frozen=True, slots=True)
class Held:
    """``distance``: the mean of what features are apart; None without an utterance after an opener."""

    distance: float | None
    utterances: int
    words: Beside | None
    traits: dict[Trait, Beside]


def held_against(profile: StyleProfile, talks: Sequence[Talk], language: Language) -> Held:
    """Earth mover's distance of log2 words between what was said after openers and what the profile has for the
    same turns, and differences of shares; a difference of 0.5 weighs as a doubling of length."""
    said = [(each.turn, typed(each.text, language)) for talk in talks for each in talk.said]
    if not said:
        return Held(None, 0, None, {})
    own = np.quantile([typed_as.words for _, typed_as in said], _PROBABILITIES)
    by_turn = {turn: [profile.words_of(turn).at(float(p)) for p in _PROBABILITIES] for turn, _ in said}
    pooled = np.quantile([value for turn, _ in said for value in by_turn[turn]], _PROBABILITIES)
    apart = float(np.abs(np.log2(np.maximum(own, 1)) - np.log2(pooled)).mean())
    words = Beside(float(np.median(own)), float(np.median(pooled)), apart)
    traits: dict[Trait, Beside] = {}
    for trait in TRAITS:
        if (share := profile.shares.get(trait)) is not None:
            value = sum(trait in typed_as.traits for _, typed_as in said) / len(said)
            traits[trait] = Beside(value, share, abs(value - share) / 0.5)
    distance = float(np.mean([apart, *(beside.apart for beside in traits.values())]))
    return Held(distance, len(said), words, traits)
