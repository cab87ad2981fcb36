"""Jackknife covariance of an estimate: every unit left out in turn, by its leverage and without a refit.

CR3 (Bell & McCaffrey 2002; MacKinnon, Nielsen & Webb 2023): with C the inverse information, A_g the information of
unit g (a cluster, or a battle) and s_g its score at the estimate, leaving g out turns its score into
s*_g = (I - A_g C)^-1 s_g, and the covariance is C (sum of s*_g s*_g') C, times (G - 1) / G. Clusters of little
leverage take the series s + A C s + ..., all at once; the few others (leverages add up to the number of
parameters) are solved one by one over the parameters that they touch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import diags_array

from arena.ratings.battles import Battles
from arena.ratings.cells import sums
from arena.ratings.design import Design
from arena.ratings.fitting import Fit, scores
from arena.ratings.linear import one_thread
from arena.ratings.sandwich import Scores, by_blocks, cell_rows, dense

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LIGHT = 0.25
_WHOLE = 1 - 1e-9
_ACCURACY = 1e-8


@dataclass(frozen=True)
class Cells:
    """One battle of each rated cell: the d = 1 or 2 quantities that it sees (lead, and tie parameter).

    ``at`` (n,) numbers the cells; ``i``, ``j`` and ``shared`` (n, k) make the lead of parameters; ``score`` (n, d)
    and ``information`` (n, d, d) are by those quantities; ``spread`` (n, d, d) is their inverse information.
    """

    at: Ints
    i: Ints
    j: Ints
    shared: Floats
    score: Floats
    information: Floats
    spread: Floats
    size: int
    width: int

    @property
    def leverage(self) -> Floats:
        """(n,) the share that one battle of a cell has in what is estimated; all battles' add up to its rank."""
        return np.einsum("nab,nba->n", self.information, self.spread)

    def seen(self, parameters: Floats, chunk: Chunk) -> Floats:
        """(N, d) what the battles of a chunk see of their clusters' parameters (g, P)."""
        flat = parameters.ravel()
        lead = flat[chunk.i] - flat[chunk.j]
        for k in range(self.shared.shape[1]):
            lead += self.shared[chunk.cell, k] * flat[chunk.start + self.size + k]
        if self.score.shape[1] == 1:
            return lead[:, None]
        return np.stack([lead, flat[chunk.start + self.width - 1]], axis=1)

    def summed(self, amount: Floats, chunk: Chunk) -> Floats:
        """(g, P) amounts (N, d) by lead and tie, summed over the parameters that they touch."""
        total, lead = chunk.scores.size, np.ascontiguousarray(amount[:, 0])
        full = sums(chunk.i, lead, total)
        full -= sums(chunk.j, lead, total)
        units = len(chunk.scores)
        for k in range(self.shared.shape[1]):
            full[self.size + k :: self.width] += sums(chunk.cluster, lead * self.shared[chunk.cell, k], units)
        if amount.shape[1] > 1:
            full[self.width - 1 :: self.width] += sums(chunk.cluster, amount[:, 1], units)
        return full.reshape(units, self.width)

    def chunk(self, scores: Floats, cluster: Ints, cell: Ints, weight: Floats) -> Chunk:
        """Clusters, and their battles by the number of their rated cell."""
        start = cluster * self.width
        return Chunk(scores, cluster, cell, weight, start, start + self.i[cell], start + self.j[cell])


@dataclass(frozen=True)
class Chunk:
    """Some clusters: their scores (g, P), and their battles (cluster, cell among the rated, weight).

    ``start``, ``i`` and ``j`` are the places of a battle's parameters in what has (g, P) numbers.
    """

    scores: Floats
    cluster: Ints
    cell: Ints
    weight: Floats
    start: Ints
    i: Ints
    j: Ints


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
    return Cells(at, i, j, shared, score, information, spread, design.size, width)


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
    """``covariance`` (P, P) of (theta, shared, tie), without the factor (G - 1) / G.

    ``unsupported`` (k, P) are directions about which nothing is known once some unit is left out: what lies along
    them has no variance that could be estimated.
    """

    covariance: Floats
    unsupported: Floats


@one_thread
def jackknife(fitted: Fit, cells: Cells, units: Scores, battles: Battles) -> Jackknife:
    """The covariance by leaving out clusters where the scores have them, and single battles where not."""
    by_cluster = units.by_cluster is not None
    meat, alone = (_by_cluster if by_cluster else _by_battle)(fitted.curvature, cells, units, battles)
    unsupported = np.array(alone).reshape(-1, cells.width)
    return Jackknife(fitted.curvature @ meat @ fitted.curvature, unsupported)


def _by_battle(inverse: Floats, cells: Cells, units: Scores, battles: Battles) -> tuple[Floats, list[Floats]]:
    del units
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
    return meat, [inverse[cells.i[c]] - inverse[cells.j[c]] for c in np.flatnonzero(whole)]


def _by_cluster(inverse: Floats, cells: Cells, units: Scores, battles: Battles) -> tuple[Floats, list[Floats]]:
    meat, alone = np.zeros((cells.width, cells.width)), list[Floats]()
    for chunk in _chunks(cells, units, battles):
        moved = chunk.scores
        leverage = sums(chunk.cluster, chunk.weight * cells.leverage[chunk.cell], len(moved))
        heavy = np.flatnonzero(leverage > _LIGHT)
        solved = dict[int, Floats]()
        for g, own in _entries(chunk.cluster, heavy):
            solved[g], lost = _solved(inverse, cells, chunk.cell[own], chunk.weight[own], moved[g])
            alone += lost
        moved = _series(inverse, cells, chunk, leverage <= _LIGHT)
        for g, vector in solved.items():
            moved[g] = vector
        meat += moved.T @ moved
    return meat, alone


def _chunks(cells: Cells, units: Scores, battles: Battles) -> Iterator[Chunk]:
    rows = battles.rows
    if rows is None or units.by_cluster is None:
        raise ValueError("the battles carry no clusters")
    place = np.full(len(battles.i), -1)
    place[cells.at] = np.arange(len(cells.at))
    everything = len(cells.at) == len(battles.i)
    for low, high, of_all, cluster, weights in by_blocks(rows, cells.width):
        cell, unit = place[of_all], cluster.astype(np.int64) - low
        weight = np.ones(len(cell)) if weights is None else weights
        if not everything:
            inside = cell >= 0
            cell, unit, weight = cell[inside], unit[inside], weight[inside]
        yield cells.chunk(dense(units.by_cluster[low:high]), unit, cell, weight)


def _entries(cluster: Ints, wanted: Ints) -> Iterator[tuple[int, Ints]]:
    """Each wanted cluster with its battles' places."""
    places = np.flatnonzero(np.isin(cluster, wanted))
    places = places[np.argsort(cluster[places], kind="stable")]
    starts = np.searchsorted(cluster[places], wanted)
    ends = np.searchsorted(cluster[places], wanted, side="right")
    for g, start, end in zip(wanted.tolist(), starts, ends, strict=True):
        yield g, places[start:end]


def _series(inverse: Floats, cells: Cells, chunk: Chunk, light: NDArray[np.bool_]) -> Floats:
    """(g, P) s*_g of all clusters of little leverage."""
    term = np.where(light[:, None], chunk.scores, 0.0)
    total, first = term.copy(), _largest(term)
    told = cells.information[chunk.cell] * chunk.weight[:, None, None]
    last = first
    while last > 0:
        seen = cells.seen(term @ inverse, chunk)
        amount = seen * told[:, 0] if seen.shape[1] == 1 else np.einsum("nab,nb->na", told, seen)
        term = cells.summed(amount, chunk)
        total += term
        size = _largest(term)
        if size * size <= _ACCURACY * first * last:  # terms shrink by a factor, so the next is as small
            break
        last = size
    return total


def _largest(term: Floats) -> float:
    return max(float(term.max(initial=0.0)), -float(term.min(initial=0.0)))


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
