"""Ranks, and the places that the data leave open."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arena.ratings.battles import Battles
from arena.ratings.estimate import Estimate
from arena.ratings.settings import Settings
from arena.ratings.winrates import PairTable


def ranks(battles: Battles, found: Estimate, settings: Settings) -> list[int | None]:
    """Rank within the group: models known to stand above, and better ratings in the same core."""
    structure, index = found.structure, found.index
    standing: list[int | None] = []
    for m in range(len(battles.names)):
        at = index.get(m)
        if "no_games" in structure.flags[m]:
            standing.append(None)
        elif at is None or found.fitted is None:
            standing.append(1 + int(structure.above[m]))
        else:
            theta = found.fitted.theta
            same = [
                r
                for k, r in index.items()
                if structure.group[k] == structure.group[m]
                and (settings.prior > 0 or structure.core[k] == structure.core[m])
            ]
            better = int((theta[same] > theta[at] + 1e-9).sum())
            standing.append(1 + better + (0 if settings.prior else int(structure.above[m])))
    return standing


def rank_ranges(found: Estimate, table: PairTable, settings: Settings) -> list[tuple[int, int] | None]:
    """Places that the data leave open, pair by pair at the level of the intervals.

    Rated pairs by the fit; a model without a rating only by its direct results.
    """
    group = found.structure.group
    if settings.intervals == "none":
        return [None] * len(group)
    surely = _surely_better(found, table, settings.level)
    ranges: list[tuple[int, int] | None] = []
    for m in range(len(group)):
        same = group == group[m]
        lowest = 1 + int(surely[same, m].sum())
        highest = int(same.sum()) - int(surely[m, same].sum())
        ranges.append(None if "no_games" in found.structure.flags[m] else (lowest, highest))
    return ranges


def _surely_better(found: Estimate, table: PairTable, level: float) -> NDArray[np.bool_]:
    better, members = found.better(), found.members
    with np.errstate(invalid="ignore"):
        surely = (table.p_values <= 1 - level) & (table.wins > table.wins.T)
        if better is not None and len(members):
            core = found.structure.core[members]
            same = (core[:, None] == core[None, :]) & (core[:, None] >= 0)
            block = np.ix_(members, members)
            surely[block] = np.where(same, better >= (1 + level) / 2, surely[block])
    return surely
