"""Jackknife covariance of an estimate: every unit left out in turn, by its leverage and without a refit.

CR3 (Bell & McCaffrey 2002; MacKinnon, Nielsen & Webb 2023): with C the inverse information, A_g the information of
unit g (a cluster, or a battle) and s_g its score at the estimate, leaving g out turns its score into
s*_g = (I - A_g C)^-1 s_g, and the covariance is C (sum of s*_g s*_g') C, times (G - 1) / G. Clusters of little
leverage take the series s + A C s + ..., all at once (A C lengthens a score by the leverage at most: of those with
.002 or less s / (1 - share) stands for the series, limits less than .2 % off); the few others (leverages add up to
the number of parameters) are solved one by one over the parameters that they touch.
All of it goes block by block of clusters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import diags_array

from arena.ratings.battles import Battles
from arena.ratings.cells import sums
from arena.ratings.design import Design
from arena.ratings.fitting import Fit, scores
from arena.ratings.linear import one_thread, summed_squares
from arena.ratings.sandwich import by_blocks, cell_rows, dense
from arena.ratings.support import Seen, Support, of_battles

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LIGHT = 0.25
_WHOLE = 1 - 1e-9
_ACCURACY = 2.5e-7
_SLIGHT = 0.002
"""Leverage up to which the series' first term stands for all of it: limits differ by less than this share."""
_FEW = 0.25
"""Share of a block's clusters up to which those that need the series wait for others."""


@dataclass(frozen=True)
class Cells:
    """One battle of each rated cell: the d = 1 or 2 quantities that it sees (lead, and tie parameter).

    ``at`` (n,) numbers the cells; ``i``, ``j`` and ``shared`` (n, k) make the lead of parameters; ``score`` (n, d)
    and ``information`` (n, d, d) are by those quantities; ``spread`` (n, d, d) is their inverse information, and
    ``leverage`` (n,) the share of one battle of a cell in what is estimated: all battles' add up to its rank.
    """

    at: Ints
    i: Ints
    j: Ints
    shared: Floats
    score: Floats
    information: Floats
    spread: Floats
    leverage: Floats
    size: int
    width: int


@dataclass(frozen=True)
class Chunk:
    """Some clusters, ``units`` of them from ``low`` on, and their battles: (N,) cluster, rated cell, weight.

    Clusters count from ``low``. ``i`` and ``j`` are a battle's places in what has (units, P) numbers.
    """

    cells: Cells
    low: int
    units: int
    cluster: Ints
    cell: Ints
    weight: Floats | None
    i: Ints
    j: Ints

    @classmethod
    def of(cls, cells: Cells, low: int, units: int, cluster: Ints, cell: Ints, weight: Floats | None) -> Chunk:
        """The chunk of these battles."""
        start = cluster * cells.width
        i, j = cells.i.take(cell, mode="clip"), cells.j.take(cell, mode="clip")  # "raise" goes through a buffer
        i += start
        j += start
        return cls(cells, low, units, cluster, cell, weight, i, j)

    def only(self, wanted: NDArray[np.bool_]) -> Chunk:
        """The wanted clusters alone, numbered anew."""
        if wanted.all():
            return self
        inside, number = wanted[self.cluster], np.cumsum(wanted) - 1
        weight = None if self.weight is None else self.weight[inside]
        units = int(wanted.sum())
        return Chunk.of(self.cells, 0, units, number[self.cluster[inside]], self.cell[inside], weight)

    def summed(self, amounts: Sequence[Floats]) -> Floats:
        """(g, P) the battles' amounts by lead (and by tie), summed over the parameters that they touch."""
        cells, lead, total = self.cells, amounts[0], self.units * self.cells.width
        full = sums(self.i, lead, total)
        np.subtract.at(full, self.j, lead)  # in place: a second array as large costs more than both sums
        for k in range(cells.shared.shape[1]):
            full[cells.size + k :: cells.width] += self.by_unit(lead * cells.shared[self.cell, k])
        for tie in amounts[1:]:
            full[cells.width - 1 :: cells.width] += self.by_unit(tie)
        return full.reshape(self.units, cells.width)

    def by_unit(self, amount: Floats) -> Floats:
        """(g,) the battles' amounts summed over each cluster."""
        return sums(self.cluster, amount, self.units)

    def of_cells(self, values: Floats) -> Floats:
        """(N,) what one battle of a cell has, times the battle's weight."""
        each = values.take(self.cell, mode="clip")
        return each if self.weight is None else each * self.weight

    def scores(self, times: Floats | None = None) -> Floats:
        """(g, P) what the clusters add to the gradient, each so many ``times`` (g,)."""
        amounts = [self.of_cells(column) for column in self.cells.score.T]
        if times is not None:
            each = times.take(self.cluster, mode="clip")
            amounts = [amount * each for amount in amounts]
        return self.summed(amounts)

    def told(self, parameters: Floats) -> Floats:
        """(g, P) each cluster's information times its own parameters (g, P)."""
        cells, flat = self.cells, parameters.ravel()
        lead = flat.take(self.i, mode="clip")
        lead -= flat.take(self.j, mode="clip")
        for k in range(cells.shared.shape[1]):
            lead += cells.shared[self.cell, k] * parameters[self.cluster, cells.size + k]
        seen = [lead] if cells.score.shape[1] == 1 else [lead, parameters[self.cluster, -1]]
        amounts = [
            np.asarray(sum(self.of_cells(cells.information[:, a, b]) * seen[b] for b in range(len(seen))))
            for a in range(len(seen))
        ]
        return self.summed(amounts)


def cells_of(fitted: Fit, design: Design) -> Cells:
    """Scores, information and leverage of one battle of each cell that takes part in the fit."""
    at = np.flatnonzero(design.row >= 0)
    row, outcome = design.row[at], design.outcome[at]
    d = 1 if fitted.tie is None else 2
    score = np.stack([table[row, outcome] for table in scores(design, fitted)[:d]], axis=1)
    eta = design.eta(fitted.theta, fitted.shared)
    information = np.zeros((len(at), d, d))
    for kind in range(3):
        told = fitted.model.information(eta, fitted.tie or 0.0, np.tile(np.eye(3)[kind], (len(eta), 1)))
        mine = outcome == kind
        information[mine, 0, 0] = told.eta[row[mine]]
        if d > 1:
            information[mine, 0, 1] = information[mine, 1, 0] = told.mixed[row[mine]]
            information[mine, 1, 1] = told.tie[row[mine]]
    i, j, shared = design.i[row], design.j[row], design.shared_columns[row]
    width = len(fitted.vector)
    spread = _spread(fitted.curvature, i, j, shared, design.size, d)
    leverage = np.einsum("nab,nba->n", information, spread)
    return Cells(at, i, j, shared, score, information, spread, leverage, design.size, width)


def _spread(inverse: Floats, i: Ints, j: Ints, shared: Floats, size: int, d: int) -> Floats:
    """(n, d, d) inverse information of each cell's lead and tie parameter."""
    k = shared.shape[1]
    own = inverse[size : size + k, size : size + k]
    border = inverse[size : size + k, :]
    out = np.empty((len(i), d, d))
    out[:, 0, 0] = inverse[i, i] + inverse[j, j] - 2 * inverse[i, j]
    if k:
        out[:, 0, 0] += 2 * (shared * (border[:, i] - border[:, j]).T).sum(1) + ((shared @ own) * shared).sum(1)
    if d > 1:
        mixed = inverse[-1, i] - inverse[-1, j] + shared @ inverse[-1, size : size + k]
        out[:, 0, 1] = out[:, 1, 0] = mixed
        out[:, 1, 1] = inverse[-1, -1]
    return out


@dataclass(frozen=True)
class Jackknife:
    """``covariance`` (P, P) of (theta, shared, tie), without the factor (G - 1) / G, and the units' ``support``.

    ``unsupported`` (k, P) are directions about which nothing is known once some unit is left out: what lies along
    them has no variance that could be estimated.
    """

    covariance: Floats
    unsupported: Floats
    support: Support


@one_thread
def jackknife(fitted: Fit, cells: Cells, battles: Battles, *, clustered: bool) -> Jackknife:
    """The covariance by leaving out clusters, or single battles."""
    meat, alone, support = (_by_cluster if clustered else _by_battle)(fitted.curvature, cells, battles)
    unsupported = np.array(alone).reshape(-1, cells.width)
    return Jackknife(fitted.curvature @ meat @ fitted.curvature, unsupported, support)


def support_of(cells: Cells, battles: Battles, *, clustered: bool) -> Support:
    """What the clusters, or the single battles, behind a fit amount to."""
    if not clustered:
        return of_battles(battles.number[cells.at], cells.score)
    seen = Seen(_clusters(battles))
    for chunk in _chunks(cells, battles):
        seen.add(chunk.low, chunk.scores(), chunk.by_unit(chunk.of_cells(cells.leverage)), chunk.cluster)
    return seen.support()


Found = tuple[Floats, list[Floats], Support]
"""(P, P) variance of the gradient, directions without support, support."""


def _by_battle(inverse: Floats, cells: Cells, battles: Battles) -> Found:
    weight, square = battles.weight[cells.at], battles.square[cells.at]
    each = np.divide(square, weight, out=np.zeros_like(weight), where=weight > 0)
    times = np.divide(weight**2, square, out=np.zeros_like(weight), where=square > 0)
    left = np.eye(cells.score.shape[1]) - each[:, None, None] * cells.information @ cells.spread
    whole = (np.linalg.det(left) < 1 - _WHOLE) & (weight > 0)
    left[whole] = np.eye(cells.score.shape[1])
    moved: Floats = np.linalg.solve(left, (each[:, None] * cells.score)[..., None])[..., 0].astype(np.float64)
    moved[whole] = 0
    n = np.arange(len(cells.at))
    rows = cell_rows(cells.i, cells.j, cells.shared, moved, n, (len(n), cells.width), cells.size)
    meat = dense(rows.T @ diags_array(times) @ rows)
    alone = [inverse[cells.i[c]] - inverse[cells.j[c]] for c in np.flatnonzero(whole)]
    return meat, alone, of_battles(battles.number[cells.at], cells.score)


def _by_cluster(inverse: Floats, cells: Cells, battles: Battles) -> Found:
    alone, seen = list[Floats](), Seen(_clusters(battles))
    meat = summed_squares(_moved(inverse, cells, battles, alone, seen))
    return meat, alone, seen.support()


def _moved(inverse: Floats, cells: Cells, battles: Battles, alone: list[Floats], seen: Seen) -> Iterator[Floats]:
    """(g, P) s*_g of some clusters at a time; what else they show goes into ``alone`` and ``seen``."""
    waiting = _Waiting(inverse, cells)
    rank = float((cells.leverage * battles.weight[cells.at]).sum())
    for chunk in _chunks(cells, battles):
        leverage = chunk.by_unit(chunk.of_cells(cells.leverage))
        share = leverage / max(rank, 1.0)
        slight, heavy = leverage <= _SLIGHT, leverage > _LIGHT
        felt = ~(slight | heavy)
        scores = chunk.scores(1 / (1 - np.where(slight, share, 0.0)) if slight.any() else None)
        seen.add(chunk.low, scores, leverage, chunk.cluster)
        solved = dict[int, Floats]()
        for g, own in _entries(chunk.cluster, np.flatnonzero(heavy)):
            weight = np.ones(len(own)) if chunk.weight is None else chunk.weight[own]
            solved[g], lost = _solved(inverse, cells, chunk.cell[own], weight, scores[g])
            alone += lost
        count = int(felt.sum())
        if 0 < count < chunk.units * _FEW:
            waiting.add(chunk, felt, scores[felt], share[felt])
            scores[felt] = 0
        elif count:
            scores[felt] = _series(inverse, chunk.only(felt), scores[felt], share[felt])
        for g, vector in solved.items():
            scores[g] = vector
        yield scores
        yield from waiting.moved(chunk.units)
    yield from waiting.moved(1)


class _Waiting:
    """Clusters that need the series and are few among those of their block: they take it together."""

    def __init__(self, inverse: Floats, cells: Cells) -> None:
        self._inverse, self._cells, self._units = inverse, cells, 0
        self._battles: list[tuple[Ints, Ints, Floats | None]] = []
        self._scores: list[Floats] = []
        self._shares: list[Floats] = []

    def add(self, chunk: Chunk, wanted: NDArray[np.bool_], scores: Floats, share: Floats) -> None:
        """The chunk's wanted clusters, with their scores (g, P) and shares (g,) of all leverage."""
        inside = np.flatnonzero(wanted[chunk.cluster])
        number = np.cumsum(wanted) + (self._units - 1)
        weight = None if chunk.weight is None else chunk.weight[inside]
        self._battles.append((number[chunk.cluster[inside]], chunk.cell[inside], weight))
        self._scores.append(scores)
        self._shares.append(share)
        self._units += len(scores)

    def moved(self, enough: int) -> Iterator[Floats]:
        """(g, P) s*_g of those that wait, where they are enough."""
        if self._units >= enough:
            clusters, cells, weights = zip(*self._battles, strict=True)
            weight = None if weights[0] is None else np.concatenate(weights)
            chunk = Chunk.of(self._cells, 0, self._units, np.concatenate(clusters), np.concatenate(cells), weight)
            yield _series(self._inverse, chunk, np.concatenate(self._scores), np.concatenate(self._shares))
            self._battles, self._scores, self._shares, self._units = [], [], [], 0


def _chunks(cells: Cells, battles: Battles) -> Iterator[Chunk]:
    rows = battles.rows
    if rows is None:
        raise ValueError("the battles carry no clusters")
    place = np.full(len(battles.i), -1)
    place[cells.at] = np.arange(len(cells.at))
    everything = len(cells.at) == len(battles.i)
    for low, high, cell, cluster, weight in by_blocks(rows, cells.width):
        unit, cell = cluster.astype(np.int64), cell.astype(np.int64)
        if not everything:
            cell = place[cell]
            inside = cell >= 0
            cell, unit, weight = cell[inside], unit[inside], None if weight is None else weight[inside]
        yield Chunk.of(cells, low, high - low, unit, cell, weight)


def _clusters(battles: Battles) -> int:
    return 0 if battles.rows is None else battles.rows.clusters


def _entries(cluster: Ints, wanted: Ints) -> Iterator[tuple[int, Ints]]:
    """Each wanted cluster with its battles' places."""
    if not len(wanted):
        return
    places = np.flatnonzero(np.isin(cluster, wanted))
    places = places[np.argsort(cluster[places], kind="stable")]
    starts = np.searchsorted(cluster[places], wanted)
    ends = np.searchsorted(cluster[places], wanted, side="right")
    for g, start, end in zip(wanted.tolist(), starts, ends, strict=True):
        yield g, places[start:end]


def _series(inverse: Floats, chunk: Chunk, scores: Floats, share: Floats) -> Floats:
    """(g, P) s*_g of clusters of little leverage; ``share`` (g,) is theirs of all.

    A cluster like the whole has A C = share * I on what is estimated, so s* = s / (1 - share): the series runs in
    what differs from that, and its terms fall the faster.
    """
    rest, shift = (1 / (1 - share))[:, None], share[:, None]
    term = scores * rest
    total, first = term.copy(), float(np.linalg.norm(term))
    last = first
    while last > 0:
        told = chunk.told(term @ inverse)
        term *= shift
        told -= term
        told *= rest
        total += told
        term, size = told, float(np.linalg.norm(told))
        if size * size <= _ACCURACY * first * last:  # terms shrink by a factor, so the next is as small
            break
        last = size
    return total


def _solved(
    inverse: Floats, cells: Cells, cell: Ints, weight: Floats, score: Floats
) -> tuple[Floats, list[Floats]]:
    """s* of one cluster, over the parameters that it touches, and the directions that it alone supports.

    With C = R R' on those parameters, s* = s + A R (I - R' A R)^-1 R' s (Woodbury).
    """
    used, at = np.unique(cell, return_inverse=True)
    amount = sums(at, weight, len(used))
    tail = np.arange(cells.size, cells.width)
    touched = np.concatenate([np.unique(np.concatenate([cells.i[used], cells.j[used]])), tail])
    local = np.zeros(cells.width, np.int64)
    local[touched] = np.arange(len(touched))
    n, d = len(used), cells.score.shape[1]
    unit = np.eye(d)
    rows = np.stack(
        [
            dense(
                cell_rows(
                    local[cells.i[used]],
                    local[cells.j[used]],
                    cells.shared[used],
                    np.tile(unit[k], (n, 1)),
                    np.arange(n),
                    (n, len(touched)),
                    len(touched) - len(tail),
                )
            )
            for k in range(d)
        ],
        axis=1,
    )
    weighted = np.einsum("nab,nbp->nap", cells.information[used] * amount[:, None, None], rows)
    own = rows.reshape(-1, len(touched)).T @ weighted.reshape(-1, len(touched))
    values, vectors = np.linalg.eigh(inverse[np.ix_(touched, touched)])
    kept = values > 1e-12 * values.max(initial=0.0)
    root = vectors[:, kept] * np.sqrt(values[kept])
    share, axes = np.linalg.eigh(root.T @ own @ root)
    lost = share > _WHOLE
    more = np.where(lost, 0.0, 1 / np.where(lost, 1.0, 1 - share))
    moved = score.copy()
    moved[touched] += own @ (root @ (axes @ (more * (axes.T @ (root.T @ score[touched])))))
    return moved, list((inverse[:, touched] @ own @ root @ axes[:, lost]).T)
