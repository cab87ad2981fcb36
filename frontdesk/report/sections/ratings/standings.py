"""Where each model stands among the others, in one sentence."""

from __future__ import annotations

from arena.ratings.result import Leaderboard
from runstore.languages import Words

_STANDING = {
    ("a", True): "better_than",
    ("b", False): "better_than",
    ("a", False): "worse_than",
    ("b", True): "worse_than",
}
_UNDECIDED = {"not told apart": "not_apart_from", "not enough data": "not_enough_against"}
_STANDINGS = ("better_than", "worse_than", "not_apart_from", "not_enough_against")


def standings(board: Leaderboard, say: Words) -> list[str]:
    """One sentence a model: whom it is better than, worse than, and not told apart from; one where none is."""
    said: list[str] = []
    if len(board.models) > 2 and {pair.decision for pair in board.pairs} == {"not told apart"}:
        return [say("none_apart", n=len(board.models))]
    for model in board.models:
        others: dict[str, list[str]] = {}
        for pair in board.pairs:
            if pair.decision is not None and model.name in (pair.a, pair.b):
                first = model.name == pair.a
                other = pair.b if first else pair.a
                key = _STANDING.get((pair.decision, first), _UNDECIDED.get(pair.decision, ""))
                others.setdefault(key, []).append(other)
        if parts := [say(key, names=", ".join(others[key])) for key in _STANDINGS if key in others]:
            said.append(f"{model.name}: {'; '.join(parts)}")
    return said
