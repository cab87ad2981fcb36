"""Where each model stands among the others, in one sentence, and what the table could not have told."""

from __future__ import annotations

from arena.ratings.decision import clusters_needed
from arena.ratings.result import Leaderboard, Pair
from frontdesk.report.figures import p_text
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


def out_of_reach(board: Leaderboard, pair: Pair, level: float, say: Words) -> list[str]:
    """The smallest p value that the pair's clusters can reach, where that is too large to tell anything."""
    tested = sum(each.p_value is not None for each in board.pairs)
    if pair.smallest_p is None or pair.clusters is None or pair.smallest_p * tested <= 1 - level + 1e-12:
        return []
    more = clusters_needed(level, tested) - pair.clusters
    smallest = {"n": pair.clusters, "p": p_text(min(1.0, pair.smallest_p)), "more": more}
    return [say("smallest_p_of_one", **smallest) if tested == 1 else say("smallest_p", pairs=tested, **smallest)]
