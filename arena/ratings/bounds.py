"""What ratings could be if matches that are missing had been played: all won, or all lost, by one model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from arena.ratings.battles import LOSS, WIN, Battles
from arena.ratings.leaderboard import build
from arena.ratings.result import Leaderboard
from arena.ratings.settings import Settings
from runstore.problems import Problem


def rating_bounds(
    battles: Battles, missing: Mapping[tuple[str, str], float], settings: Settings
) -> dict[str, tuple[float | None, float | None]]:
    """Each model's rating if it had lost, and if it had won, every one of its ``missing`` matches.

    ``missing`` counts matches of a pair (names in either order); those between two others stay missing. A bound is
    None where the model would then have no rating: it would have won, or lost, every game. Where other models join
    its group by these matches, the scale stays that of the group as it is now.
    """
    plain = replace(settings, intervals="none", reference=None)
    now = build(battles, plain)
    bounds: dict[str, tuple[float | None, float | None]] = {}
    for name in battles.names:
        own = {pair: count for pair, count in missing.items() if name in pair and count > 0}
        bounds[name] = (
            _rating(now, _played(battles, own, name, won=False), name, plain),
            _rating(now, _played(battles, own, name, won=True), name, plain),
        )
    return bounds


def _rating(now: Leaderboard, played: Battles, name: str, settings: Settings) -> float | None:
    try:
        then = build(played, settings)
    except Problem:  # the anchor has no rating then
        return None
    model = then.model(name)
    if model is None or model.rating is None:
        return None
    before, after = _rated_beside(now, name), _rated_beside(then, name)
    if settings.anchor is not None or not before or not before.keys() < after.keys():
        return model.rating
    return model.rating + sum(before.values()) / len(before) - sum(after[each] for each in before) / len(before)


def _rated_beside(board: Leaderboard, name: str) -> dict[str, float]:
    """Ratings of this model's group; empty where it has no rating itself."""
    group = next((group for group in board.groups if name in group), ())
    found = {
        model.name: model.rating for model in board.models if model.name in group and model.rating is not None
    }
    return found if name in found else {}


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
