"""Robust covariance of an estimate from the scores of battles or of whole clusters.

White 1982; by cluster Liang & Zeger 1986 with the factor C / (C - 1).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_matrix, diags_array

from arena.ratings.battles import BLOCK, Battles, Rows
from arena.ratings.design import Design
from arena.ratings.fitting import Fit, scores
from arena.ratings.linear import one_thread

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_DENSE_SCORES = 20_000_000
_BLOCK = 100_000
_SORTED = BLOCK
"""Battles up to which a copy in order of clusters is worth its memory."""


@dataclass(frozen=True)
class Scores:
    """What each unit (battle cell or cluster) adds to the gradient, at the estimate.

    ``by_cell`` (K, P), sparse, is the score of one battle of each cell; ``by_cluster`` (C, P) sums the battles of
    each cluster, or is None where battles count as independent.
    """

    by_cell: csr_matrix
    by_cluster: csr_matrix | Floats | None
    square: Floats

    @one_thread
    def meat(self) -> Floats:
        """(P, P) the variance of the gradient."""
        if self.by_cluster is None:
            return dense(self.by_cell.T @ diags_array(self.square) @ self.by_cell)
        clusters = self.by_cluster.shape[0]
        return dense(self.by_cluster.T @ self.by_cluster) * (clusters / max(clusters - 1, 1))


def dense(product: Any) -> Floats:
    """A matrix of any kind as an array."""
    return np.asarray(product if isinstance(product, np.ndarray) else product.toarray(), np.float64)


def score_units(battles: Battles, design: Design, fitted: Fit, *, clustered: bool) -> Scores:
    """Scores of all cells, and of clusters where they are asked for and known."""
    by_eta, by_tie = scores(design, fitted)
    inside = np.flatnonzero(design.row >= 0)
    row, outcome = design.row[inside], design.outcome[inside]
    amount = by_eta[row, outcome][:, None]
    if fitted.tie is not None:
        amount = np.stack([by_eta[row, outcome], by_tie[row, outcome]], axis=1)
    shape = (len(design.row), len(fitted.vector))
    by_cell = cell_rows(
        design.i[row], design.j[row], design.shared_columns[row], amount, inside, shape, design.size
    )
    by_cluster = _cluster_scores(battles, by_cell) if clustered else None
    return Scores(by_cell, by_cluster, battles.square)


def cell_rows(
    i: Ints, j: Ints, shared: Floats, amount: Floats, row: Ints, shape: tuple[int, int], size: int
) -> csr_matrix:
    """Sparse rows over (theta, shared, tie) of amounts (n, d) by the lead of i over j and by the tie parameter."""
    lead = amount[:, 0]
    columns, values = [i, j], [lead, -lead]
    for k in range(shared.shape[1]):
        columns.append(np.full(len(row), size + k))
        values.append(lead * shared[:, k])
    if amount.shape[1] > 1:
        columns.append(np.full(len(row), shape[1] - 1))
        values.append(amount[:, 1])
    at = (np.tile(row, len(columns)), np.concatenate(columns))
    return csr_matrix((np.concatenate(values), at), shape=shape)


def _cluster_scores(battles: Battles, by_cell: csr_matrix) -> csr_matrix | Floats:
    rows = battles.rows
    if rows is None or rows.cluster is None:
        raise ValueError("the battles carry no clusters")
    width = by_cell.shape[1]
    if rows.clusters * width > _DENSE_SCORES:
        shape, total = (rows.clusters, len(battles.i)), csr_matrix((rows.clusters, width))
        for cell, cluster, weight in rows.blocks():
            total += csr_matrix((weight, (cluster, cell)), shape=shape) @ by_cell
        return total
    # Cells have one to a few entries in fixed places, so a bincount per place beats a sparse product.
    counts = np.diff(by_cell.indptr)
    places: list[tuple[Ints, Floats]] = []
    for place in range(int(counts.max(initial=0))):
        has = counts > place
        at = np.where(has, by_cell.indptr[:-1] + place, 0)
        places.append((np.where(has, by_cell.indices[at], 0), np.where(has, by_cell.data[at], 0.0)))
    total = np.empty((rows.clusters, width))
    for low, high, cell, cluster, weight in by_blocks(rows, width):
        start = cluster * np.int64(width)
        block = np.zeros((high - low) * width)
        for column, value in places:
            amount = value[cell] if weight is None else value[cell] * weight
            block += np.bincount(start + column[cell], amount, len(block))
        total[low:high] = block.reshape(high - low, width)
    return total


Block = tuple[int, int, NDArray[np.int32], NDArray[np.int32], Floats | None]
"""``low``, ``high``, and by battle: the cell, the cluster counted from ``low``, the weight."""


def by_blocks(rows: Rows, width: int) -> Iterator[Block]:
    """Clusters from ``low`` to ``high`` with their battles.

    So few at a time that what has ``width`` numbers a cluster stays in a processor's cache.
    """
    if rows.cluster is None:
        raise ValueError("the battles carry no clusters")
    many = max(1, _BLOCK // width)
    if len(rows.cell) <= _SORTED:
        yield from _in_order((0, rows.clusters, rows.cell, rows.cluster, rows.weight), many)
        return
    for part in _ranges(rows):
        yield from _in_order(part, many)


def _in_order(part: Block, many: int) -> Iterator[Block]:
    """The same battles in order of clusters, ``many`` of these at a time."""
    first, last, cell, cluster, weight = part
    count = last - first
    if count <= many:
        yield part
        return
    starts, cell, weight = _sorted(cell, cluster, weight, count)
    cluster = np.repeat(np.arange(count, dtype=np.int32), np.diff(starts))
    for low in range(0, count, many):
        high = min(count, low + many)
        here = slice(starts[low], starts[high])
        own = None if weight is None else weight[here]
        yield first + low, first + high, cell[here], cluster[here] - np.int32(low), own


def _sorted(
    cell: NDArray[np.int32], cluster: NDArray[np.int32], weight: Floats | None, count: int
) -> tuple[NDArray[Any], NDArray[np.int32], Floats | None]:
    """Where each cluster's battles start in order of clusters, and cells and weights in that order."""
    value: NDArray[Any] = np.zeros(len(cell), np.int8) if weight is None else weight
    table = coo_array((value, (cluster, cell)), shape=(count, int(cell.max(initial=0)) + 1))
    table.has_canonical_format = True  # so rows are sorted by counting, and what is in one place is not added up
    ordered = table.tocsr()
    return ordered.indptr, ordered.indices, None if weight is None else ordered.data


def _ranges(rows: Rows) -> Iterator[Block]:
    """Some millions of battles at a time: ranges of clusters, each looked for in all of the rows."""
    before = np.zeros(rows.clusters + 1, np.int64)
    for _, cluster, _ in rows.blocks():
        before[1:] += np.bincount(cluster, minlength=rows.clusters)
    before = np.cumsum(before)
    low = 0
    while low < rows.clusters:
        full = int(np.searchsorted(before, int(before[low]) + BLOCK, side="right")) - 1
        high = min(max(full, low + 1), rows.clusters)
        parts: list[tuple[NDArray[np.int32], NDArray[np.int32], Floats]] = []
        for cell, cluster, weight in rows.blocks():
            mine = (cluster >= low) & (cluster < high)
            parts.append((cell[mine], cluster[mine] - np.int32(low), weight[mine]))
        cells, clusters = np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
        weights = None if rows.weight is None else np.concatenate([part[2] for part in parts])
        yield low, high, cells, clusters, weights
        low = high


def cluster_cells(battles: Battles) -> csr_matrix:
    """(C, K) weight of each cell in each cluster."""
    rows = battles.rows
    if rows is None or rows.cluster is None:
        raise ValueError("the battles carry no clusters")
    value = np.ones(len(rows.cell)) if rows.weight is None else rows.weight
    return csr_matrix((value, (rows.cluster, rows.cell)), shape=(rows.clusters, len(battles.i)))


@one_thread
def sandwich(fitted: Fit, units: Scores) -> Floats:
    """(P, P) robust covariance of (theta, shared, tie)."""
    return fitted.curvature @ units.meat() @ fitted.curvature
