"""Who won how often against whom, with exact tests; and against one reference model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from arena.ratings.battles import Battles, Rows
from arena.ratings.cells import sums
from arena.ratings.significance import binomial_interval, sign_flip_test, sign_test
from arena.ratings.support import FLOOR, degrees, too_few
from arena.ratings.uncertainty import quantile

Floats = NDArray[np.float64]
_EXACT_BATTLES = 2_000
_DENSE = 30_000_000
WEIGHTED = "normal test of weighted wins"


@dataclass(frozen=True)
class PairTable:
    """(M, M) tables: wins of the row over the column, ties, and p values (NaN where there is nothing to test).

    ``leaning`` counts the clusters (or battles) that lean to one of two models; ``smallest`` is the smallest p
    value that so many can reach, NaN for a test that is not exact.
    """

    wins: Floats
    ties: Floats
    p_values: Floats
    leaning: Floats
    smallest: Floats
    clustered: bool
    test: str

    def games(self) -> Floats:
        return self.wins + self.wins.T + self.ties

    def rates(self) -> Floats:
        """(M, M) wins and half the ties per game; NaN where two models never met."""
        games = self.games()
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(games > 0, (self.wins + self.ties / 2) / games, np.nan)


def pair_table(battles: Battles, *, clustered: bool) -> PairTable:
    """Wins, ties and a test of every pair; ``clustered`` tests by whole clusters (sign-flip test)."""
    wins, ties = battles.wins(), battles.ties()
    rows = battles.rows
    if clustered and rows is not None and rows.cluster is not None:
        p_values, leaning = _by_cluster(battles, rows, wins)
        if battles.weighted:
            return PairTable(wins, ties, p_values, leaning, np.full(leaning.shape, np.nan), True, WEIGHTED)
        return PairTable(
            wins, ties, p_values, leaning, _smallest(leaning), True, "exact sign-flip test by cluster"
        )
    decided = wins + wins.T
    if battles.weighted:
        nothing = np.full(decided.shape, np.nan)
        return PairTable(wins, ties, _weighted(battles), decided, nothing, False, WEIGHTED)
    return PairTable(wins, ties, _by_battle(wins), decided, _smallest(decided), False, "exact sign test")


def _smallest(leaning: Floats) -> Floats:
    """2 / 2^k: the p value of k clusters (or battles) that all lean the same way."""
    return np.where(leaning > 0, 2.0 ** np.minimum(1 - leaning, 0), np.nan)


def _by_battle(wins: Floats) -> Floats:
    size = len(wins)
    out = np.full((size, size), np.nan)
    for a, b in zip(*np.nonzero(np.triu((wins + wins.T) > 0, 1)), strict=True):
        p = sign_test(float(wins[a, b]), float(wins[b, a]))
        out[a, b] = out[b, a] = np.nan if p is None else p
    return out


def _weighted(battles: Battles) -> Floats:
    size = len(battles.names)
    pair = battles.i * size + battles.j
    net = sums(pair, (battles.outcome - 1) * battles.weight, size * size)
    variance = sums(pair, (battles.outcome != 1) * battles.square, size * size)
    return _mirrored(_normal(net, variance).reshape(size, size))


def _normal(net: Floats, variance: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(variance > 0, 2 * ndtr(-np.abs(net) / np.sqrt(variance)), np.nan)


def _mirrored(upper: Floats) -> Floats:
    return np.where(np.isnan(upper), upper.T, upper)


def _by_cluster(battles: Battles, rows: Rows, wins: Floats) -> tuple[Floats, Floats]:
    size = len(battles.names)
    met, pair_of_cell = np.unique(battles.i * size + battles.j, return_inverse=True)
    sign = (battles.outcome - 1).astype(np.float64)
    if len(met) * rows.clusters <= _DENSE:
        dense = np.zeros(len(met) * rows.clusters)
        for cell, cluster, weight in rows.blocks():
            key = pair_of_cell[cell] * np.int64(rows.clusters) + cluster
            dense += sums(key, sign[cell] * weight, len(dense))
        used = np.flatnonzero(dense)
        net, pair = dense[used], used // rows.clusters
    else:
        parts = [
            _summed(pair_of_cell[cell] * np.int64(rows.clusters) + cluster, sign[cell] * weight)
            for cell, cluster, weight in rows.blocks()
        ]
        key, net = _summed(
            np.concatenate([keys for keys, _ in parts]), np.concatenate([part for _, part in parts])
        )
        pair = key // rows.clusters
    total = sums(pair, net, len(met))
    flat = np.full(size * size, np.nan)
    flat[met] = _normal(total, sums(pair, net**2, len(met)))
    if not battles.weighted:
        starts = np.searchsorted(pair, np.arange(len(met) + 1))
        games = (wins + wins.T).ravel()
        for at in np.flatnonzero(games[met] <= _EXACT_BATTLES):
            p = sign_flip_test(np.rint(net[starts[at] : starts[at + 1]]).astype(np.int64))
            even = 1.0 if games[met[at]] else np.nan
            flat[met[at]] = even if p is None else p
    leaning = np.zeros(size * size)
    leaning[met] = np.bincount(pair[net != 0], minlength=len(met))
    leaning = leaning.reshape(size, size)
    return _mirrored(flat.reshape(size, size)), leaning + leaning.T


def _summed(key: NDArray[np.int64], amount: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Each key once, with the sum of its amounts."""
    unique, inverse = np.unique(key, return_inverse=True)
    return unique, sums(inverse, amount, len(unique))


class Versus(NamedTuple):
    """A win rate against the reference with its limits (NaN for ``reason``), of so many games."""

    rate: float
    lower: float
    upper: float
    games: float
    reason: str | None = None


def against(battles: Battles, reference: int, level: float, *, clustered: bool = True) -> list[Versus | None]:
    """Each model's win rate against the reference, None where they never met.

    Limits: Clopper-Pearson, or by whole clusters (jackknife of the ratio, Student's t).
    """
    score, games = pair_table_counts(battles)
    spread = _cluster_spread(battles, reference) if clustered else None
    out: list[Versus | None] = []
    for m in range(len(battles.names)):
        n = float(games[m, reference])
        if m == reference or not n:
            out.append(None)
            continue
        rate, why = float(score[m, reference]) / n, None
        limits = binomial_interval(float(score[m, reference]), n, level) or (0.0, 1.0)
        if spread is not None:
            half = quantile(level, spread.degrees[m]) * float(spread.deviation[m])
            limits = max(0.0, rate - half), min(1.0, rate + half)
            if not np.isfinite(half):
                limits = np.nan, np.nan
                units, own = int(spread.clusters[m]), int(spread.informative[m])
                why = f"no interval: {too_few(units, own or min(units, 1), battles.cluster_name or 'cluster')}"
        out.append(Versus(rate, *limits, n, why))
    return out


def pair_table_counts(battles: Battles) -> tuple[Floats, Floats]:
    """(M, M) scores (wins and half the ties) and games."""
    wins, ties = battles.wins(), battles.ties()
    return wins + ties / 2, wins + wins.T + ties


@dataclass(frozen=True)
class _Spread:
    """(M,) standard deviation of each model's rate against the reference (NaN with too few clusters), degrees.

    And how many clusters hold their games, and how many of those say something of their own.
    """

    deviation: Floats
    degrees: Floats
    clusters: Floats
    informative: Floats


def _cluster_spread(battles: Battles, reference: int) -> _Spread | None:
    rows = battles.rows
    if rows is None or rows.cluster is None:
        return None
    score, games = pair_table_counts(battles)
    i, j = battles.i[rows.cell], battles.j[rows.cell]
    other = np.where(i == reference, j, np.where(j == reference, i, -1))
    keep = other >= 0
    share = battles.outcome[rows.cell] / 2.0
    share = np.where(i == reference, 1 - share, share)[keep]
    weight = np.ones(int(keep.sum())) if rows.weight is None else rows.weight[keep]
    other = other[keep]
    n = np.maximum(games[:, reference], 1e-300)
    rate = score[:, reference] / n
    key = other * np.int64(rows.clusters) + rows.cluster[keep]
    unique, inverse = np.unique(key, return_inverse=True)
    model = unique // rows.clusters
    part = np.bincount(inverse, weight, len(unique)) / n[model]
    moved = np.bincount(inverse, weight * (share - rate[other]), len(unique)) / n[model]
    moved = np.divide(moved, 1 - part, out=np.full_like(moved, np.nan), where=part < 1)
    size = len(battles.names)
    informative = np.bincount(model, np.abs(moved) > 1e-9, size)
    clusters = np.bincount(model, minlength=size).astype(np.float64)
    square = np.bincount(model, moved**2, size) * (1 - 1 / np.maximum(clusters, 1))
    deviation = np.where(informative >= FLOOR, np.sqrt(square), np.nan)
    freedom = np.array([degrees(part[model == m]) for m in range(size)])
    return _Spread(deviation, freedom, clusters, informative.astype(np.float64))
