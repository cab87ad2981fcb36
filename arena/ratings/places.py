"""Ranks, and the places that the data leave open."""

from __future__ import annotations

from arena.ratings.battles import Battles
from arena.ratings.decision import Decisions
from arena.ratings.estimate import TIED, Estimate
from arena.ratings.settings import Settings


def ranks(battles: Battles, estimated: Estimate, settings: Settings) -> list[int | None]:
    """Rank within the group: models known to stand above, and better ratings in the same core."""
    structure, index = estimated.structure, estimated.index
    standing: list[int | None] = []
    for m in range(len(battles.names)):
        at = index.get(m)
        if "no_games" in structure.flags[m]:
            standing.append(None)
        elif at is None or estimated.fitted is None:
            standing.append(1 + int(structure.above[m]))
        else:
            theta = estimated.fitted.theta
            same = [
                r
                for k, r in index.items()
                if structure.group[k] == structure.group[m]
                and (settings.prior > 0 or structure.core[k] == structure.core[m])
            ]
            better = int((theta[same] > theta[at] + TIED).sum())
            standing.append(1 + better + (0 if settings.prior else int(structure.above[m])))
    return standing


def rank_ranges(estimated: Estimate, decided: Decisions, settings: Settings) -> list[tuple[int, int] | None]:
    """Places that the data leave open, all of them together at the level of the intervals."""
    group = estimated.structure.group
    if settings.intervals == "none":
        return [None] * len(group)
    ranges: list[tuple[int, int] | None] = []
    for m in range(len(group)):
        same = group == group[m]
        lowest = 1 + int(decided.above[same, m].sum())
        highest = int(same.sum()) - int(decided.above[m, same].sum())
        ranges.append(None if "no_games" in estimated.structure.flags[m] else (lowest, highest))
    return ranges
