"""Battles for tests, written as results."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from arena.ratings.battles import Battles, from_columns
from arena.ratings.result import Leaderboard, RatedModel

Result = tuple[str, str, int, int, int]
Row = tuple[str, str, str]


def rows_of(results: Iterable[Result]) -> list[Row]:
    """(a, b, wins of a, wins of b, ties) as single rows, model_a listed first."""
    rows: list[Row] = []
    for a, b, won, lost, tied in results:
        rows += [(a, b, "model_a")] * won + [(a, b, "model_b")] * lost + [(a, b, "tie")] * tied
    return rows


def battles_of(rows: Iterable[Row]) -> Battles:
    listed = list(rows)
    return from_columns([a for a, _, _ in listed], [b for _, b, _ in listed], [w for _, _, w in listed])


def swapped(row: Row) -> Row:
    """The same battle with its sides exchanged."""
    a, b, winner = row
    return b, a, {"model_a": "model_b", "model_b": "model_a"}.get(winner, winner)


def ratings(board: Leaderboard) -> dict[str, float | None]:
    return {model.name: model.rating for model in board.models}


def model(board: Leaderboard, name: str) -> RatedModel:
    return next(model for model in board.models if model.name == name)


def random_rows(seed: int, models: int, battles: int, *, ties: float = 0.25, spread: float = 0.8) -> list[Row]:
    """Random pairs with random strengths; a cycle of wins makes sure that an estimate exists."""
    generator = np.random.default_rng(seed)
    strength = generator.normal(0, spread, models)
    rows: list[Row] = [(f"m{k}", f"m{(k + 1) % models}", "model_a") for k in range(models)]
    for _ in range(battles):
        a, b = generator.choice(models, 2, replace=False)
        chance = 1 / (1 + np.exp(strength[b] - strength[a]))
        word = "tie" if generator.random() < ties else "model_a" if generator.random() < chance else "model_b"
        rows.append((f"m{a}", f"m{b}", word))
    return rows
