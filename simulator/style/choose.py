"""Of several candidates the one nearest to its own target is used, so that the whole set nears the profile."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import log2

from runstore.ids import draw
from simulator.style.target import Spot, Target
from simulator.style.traits import Trait, typed

MISSED = 0.5
"""What a trait that is missed weighs, in doublings of length."""


def distance(text: str, language: str, wanted: Target, free: Collection[Trait] = ()) -> float:
    """How far a message is from its target: |log2 of words| and :data:`MISSED` for each trait missed.

    ``free``: traits that typing will set anyway.
    """
    typing = typed(text, language)
    missed = sum((trait in typing.traits) != has for trait, has in wanted.traits.items() if trait not in free)
    return abs(log2(max(typing.words, 1)) - log2(wanted.words)) + MISSED * missed


def nearest(texts: Sequence[str], language: str, wanted: Target, spot: Spot, free: Collection[Trait] = ()) -> int:
    """The place of the nearest text; ties by draw. ``texts`` is not empty."""
    ranked = [
        (
            round(distance(text, language, wanted, free), 9),
            draw(spot.seed, "tie", spot.dialogue, spot.turn, at),
            at,
        )
        for at, text in enumerate(texts)
    ]
    return min(ranked)[2]
