"""Two tables of verdicts rated at once, so that an endpoint's move between them has an interval of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from arena.ratings.estimate import SCALE, Estimate, estimate
from arena.ratings.result import number
from arena.ratings.settings import Settings
from arena.ratings.verdicts import from_verdicts
from runstore.records import Verdict
from runstore.results import Number, Result

Floats = NDArray[np.float64]
_NOWHERE = 1e-6


class Move(Result):
    """Rating points above the mean of the endpoints that both tables rate, and how far they moved.

    ``lower`` and ``upper`` limit the difference; None where there is no interval.
    """

    name: str
    before: Number | None
    after: Number | None
    moved: Number | None
    lower: Number | None
    upper: Number | None


def moves(before: Sequence[Verdict], after: Sequence[Verdict], settings: Settings) -> tuple[Move, ...]:
    """The move of each endpoint that both tables rate, in the order of names.

    Both tables are fitted as one whose endpoints never meet those of the other, clustered by dialogue: what
    the two share (the same dialogues, replies, or matches) makes their estimates vary together, and the
    covariance says by how much.
    Dialogues count as the same where their ids are equal. Raises Problem as :func:`from_verdicts` does.
    """
    joint = [_renamed(verdict, 0) for verdict in before] + [_renamed(verdict, 1) for verdict in after]
    if not joint:
        return ()
    battles = from_verdicts(joint)
    estimated = estimate(battles, replace(settings, anchor=None, reference=None, position="ignore"))
    rows = [{name[2:]: at for at, name in enumerate(battles.names) if name[0] == str(side)} for side in (0, 1)]
    rated: set[int] = set() if estimated.fitted is None else {int(member) for member in estimated.members}
    names = sorted(name for name in rows[0].keys() & rows[1].keys() if {rows[0][name], rows[1][name]} <= rated)
    if estimated.fitted is None or not _comparable(estimated, [[side[name] for name in names] for side in rows]):
        return tuple(
            Move(name=name, before=None, after=None, moved=None, lower=None, upper=None) for name in names
        )
    index = estimated.index
    places = [np.array([index[side[name]] for name in names]) for side in rows]
    centred = [estimated.fitted.theta[at] - estimated.fitted.theta[at].mean() for at in places]
    half = _half_widths(estimated, places, settings.level)
    return tuple(
        Move(
            name=name,
            before=number(SCALE * centred[0][at]),
            after=number(SCALE * centred[1][at]),
            moved=number(SCALE * (moved := centred[1][at] - centred[0][at])),
            lower=number(SCALE * (moved - half[at])),
            upper=number(SCALE * (moved + half[at])),
        )
        for at, name in enumerate(names)
    )


def _renamed(verdict: Verdict, side: int) -> Verdict:
    """A verdict whose subset and endpoints are those of one of the two tables."""
    a, b = verdict.endpoints
    return verdict.model_copy(
        update={
            "subset": f"{side}:{verdict.subset}",
            "endpoints": (f"{side}:{a}", f"{side}:{b}"),
            "winner": verdict.winner and f"{side}:{verdict.winner}",
        }
    )


def _comparable(estimated: Estimate, members: Sequence[Sequence[int]]) -> bool:
    """Whether each table's results alone connect the endpoints that both have, two at least."""
    core = estimated.structure.core
    return all(len(side) > 1 and len({int(core[m]) for m in side}) == 1 for side in members)


def _half_widths(estimated: Estimate, places: Sequence[NDArray[np.int64]], level: float) -> Floats:
    """(n,) half the width of the interval of each move, in log-odds; NaN where there is none."""
    told, count = estimated.uncertainty, len(places[0])
    if told is None or not told.support.enough:
        return np.full(count, np.nan)
    contrast = np.zeros((count, len(told.covariance)))
    for sign, at in zip((-1.0, 1.0), places, strict=True):
        contrast[np.arange(count), at] += sign
        contrast[:, at] -= sign / count
    variance = np.einsum("np,pq,nq->n", contrast, told.covariance, contrast)
    half = told.quantile(level) * np.sqrt(np.maximum(variance, 0))
    return np.where((np.abs(told.unsupported @ contrast.T) > _NOWHERE).any(0), np.nan, half)
