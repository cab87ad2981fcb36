"""What ratings could be if matches that are missing had been played: all won, or all lost, by one model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from arena.ratings.battles import LOSS, WIN, Battles
from arena.ratings.leaderboard import build
from arena.ratings.settings import Settings
from runstore.problems import Problem


def rating_bounds(
    battles: Battles, missing: Mapping[tuple[str, str], float], settings: Settings
) -> dict[str, tuple[float | None, float | None]]:
    """Each model's rating if it had lost, and if it had won, every one of its ``missing`` matches.

    ``missing`` counts matches of a pair (names in either order); those between two others stay missing. A bound is
    None where the model would then have no rating: it would have won, or lost, every game.
    """
    plain = replace(settings, intervals="none", reference=None)
    bounds: dict[str, tuple[float | None, float | None]] = {}
    for name in battles.names:
        own = {pair: count for pair, count in missing.items() if name in pair and count > 0}
        bounds[name] = (
            _rating(battles, own, name, plain, won=False),
            _rating(battles, own, name, plain, won=True),
        )
    return bounds


def _rating(
    battles: Battles, missing: Mapping[tuple[str, str], float], name: str, settings: Settings, *, won: bool
) -> float | None:
    try:
        model = build(_played(battles, missing, name, won=won), settings).model(name)
    except Problem:  # the anchor has no rating then
        return None
    return None if model is None else model.rating


def _played(battles: Battles, missing: Mapping[tuple[str, str], float], name: str, *, won: bool) -> Battles:
    """The battles, and the missing ones of this model with one outcome."""
    at = {known: number for number, known in enumerate(battles.names)}
    pairs = [tuple(sorted(pair)) for pair in missing]
    i, j = (np.array([at[pair[side]] for pair in pairs], battles.i.dtype) for side in (0, 1))
    outcome = np.array([WIN if (pair[0] == name) == won else LOSS for pair in pairs], battles.outcome.dtype)
    many = np.array(list(missing.values()), np.float64)
    return replace(
        battles,
        i=np.concatenate([battles.i, i]),
        j=np.concatenate([battles.j, j]),
        outcome=np.concatenate([battles.outcome, outcome]),
        first=np.concatenate([battles.first, np.zeros_like(i, battles.first.dtype)]),
        weight=np.concatenate([battles.weight, many]),
        square=np.concatenate([battles.square, many]),
        number=np.concatenate([battles.number, many.astype(battles.number.dtype)]),
        rows=None,
        rounds=None,
    )
