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
from arena.ratings.sandwich import Scores, cell_rows, dense

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LIGHT = 0.25
_WHOLE = 1 - 1e-9
_ACCURACY = 1e-7
_CHUNK = 20_000_000


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

    def seen(self, parameters: Floats, unit: Ints, cell: Ints) -> Floats:
        """(N, d) what battles of these cells see of their units' parameters (units, P)."""
        flat, start = parameters.ravel(), unit * self.width
        lead = flat[start + self.i[cell]] - flat[start + self.j[cell]]
        for k in range(self.shared.shape[1]):
            lead += self.shared[cell, k] * flat[start + self.size + k]
        return (
            lead[:, None] if self.score.shape[1] == 1 else np.stack([lead, flat[start + self.width - 1]], axis=1)
        )

    def summed(self, amount: Floats, unit: Ints, cell: Ints, units: int) -> Floats:
        """(units, P) amounts (N, d) by lead and tie, summed over the parameters that they touch."""
        total, start = units * self.width, unit * self.width
        lead = np.ascontiguousarray(amount[:, 0])
        full = sums(start + self.i[cell], lead, total) - sums(start + self.j[cell], lead, total)
        for k in range(self.shared.shape[1]):
            full[self.size + k :: self.width] += sums(unit, lead * self.shared[cell, k], units)
        if amount.shape[1] > 1:
            full[self.width - 1 :: self.width] += sums(unit, amount[:, 1], units)
        return full.reshape(units, self.width)


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


@dataclass(frozen=True)
class _Chunk:
    """Some clusters: their scores (g, P), and their battles (cluster, cell among the rated, weight)."""

    scores: Floats
    cluster: Ints
    cell: Ints
    weight: Floats


def _chunks(cells: Cells, units: Scores, battles: Battles) -> Iterator[_Chunk]:
    rows = battles.rows
    if rows is None or rows.cluster is None or units.by_cluster is None:
        raise ValueError("the battles carry no clusters")
    place = np.full(len(battles.i), -1)
    place[cells.at] = np.arange(len(cells.at))
    cell, cluster = place[rows.cell], rows.cluster.astype(np.int64)
    inside = cell >= 0
    cell, cluster = cell[inside], cluster[inside]
    weight = np.ones(len(cell)) if rows.weight is None else rows.weight[inside]
    many = max(1, _CHUNK // cells.width)
    if rows.clusters > many:
        order = np.argsort(cluster, kind="stable")
        cell, cluster, weight = cell[order], cluster[order], weight[order]
    for low in range(0, rows.clusters, many):
        high = min(rows.clusters, low + many)
        part = slice(*np.searchsorted(cluster, (low, high))) if rows.clusters > many else slice(None)
        yield _Chunk(dense(units.by_cluster[low:high]), cluster[part] - low, cell[part], weight[part])


def _entries(cluster: Ints, wanted: Ints) -> Iterator[tuple[int, Ints]]:
    """Each wanted cluster with its battles' places."""
    places = np.flatnonzero(np.isin(cluster, wanted))
    places = places[np.argsort(cluster[places], kind="stable")]
    starts = np.searchsorted(cluster[places], wanted)
    ends = np.searchsorted(cluster[places], wanted, side="right")
    for g, start, end in zip(wanted.tolist(), starts, ends, strict=True):
        yield g, places[start:end]


def _series(inverse: Floats, cells: Cells, chunk: _Chunk, light: NDArray[np.bool_]) -> Floats:
    """(g, P) s*_g of all clusters of little leverage."""
    term = np.where(light[:, None], chunk.scores, 0.0)
    total, least = term.copy(), _ACCURACY * float(np.abs(term).max(initial=0.0))
    while float(np.abs(term).max(initial=0.0)) > least:
        seen = cells.seen(term @ inverse, chunk.cluster, chunk.cell)
        if seen.shape[1] == 1:
            amount = seen * (cells.information[:, 0, 0][chunk.cell] * chunk.weight)[:, None]
        else:
            amount = np.einsum("nab,nb->na", cells.information[chunk.cell], seen) * chunk.weight[:, None]
        term = cells.summed(amount, chunk.cluster, chunk.cell, len(term))
        total += term
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
