"""Gaps, intervals and decisions of thousands of small tables at once, as ``arena.ratings`` says them.

Only for ties as halves, one battle a row, everything by cluster. A table in which results do not go round, or in
which a gap hangs on one cluster, is not ``regular`` and left to the product itself. ``bench/coverage.py`` compares
the two on some tables of every cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, stdtr, stdtrit

from arena.ratings.decision import MANY_UNITS
from arena.ratings.significance import sign_flip_test
from arena.ratings.support import FLOOR

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Tables:
    """(T, G, P) wins, ties and losses of the first of each of P pairs, by table and cluster."""

    wins: Ints
    ties: Ints
    losses: Ints
    endpoints: int

    @property
    def games(self) -> Floats:
        return (self.wins + self.ties + self.losses).astype(np.float64)

    @property
    def score(self) -> Floats:
        return self.wins + self.ties / 2


@dataclass(frozen=True)
class Said:
    """(T, P) of each pair: limits of its gap (NaN without), who is better (1, -1, 0) and who surely stands above.

    ``theta`` (T, M) gives the order of the table.
    """

    regular: Bools
    theta: Floats
    lower: Floats
    upper: Floats
    better: Ints
    above: Ints


@cache
def contrasts(endpoints: int) -> Floats:
    """(P, M - 1): the lead of each pair by the strengths of all but the last, which is 0."""
    pairs = list(combinations(range(endpoints), 2))
    table = np.zeros((len(pairs), endpoints))
    for at, (i, j) in enumerate(pairs):
        table[at, i], table[at, j] = 1, -1
    return table[:, :-1]


def say(tables: Tables, level: float) -> Said:
    """What the default settings say of every table."""
    x, games = contrasts(tables.endpoints), tables.games
    regular = _goes_round(tables)
    theta, steep = _fitted(x, games.sum(1), tables.score.sum(1), regular)
    p = expit(theta @ x.T)
    inverse = np.linalg.inv(np.where(regular[:, None, None], steep, np.eye(x.shape[1])))
    own = np.einsum("tgp,pa,pb->tgab", games * (p * (1 - p))[:, None], x, x, optimize=True)
    scores = (tables.score - games * p[:, None]) @ x
    share = own @ inverse[:, None]
    left = np.eye(x.shape[1]) - share
    regular &= (np.linalg.det(left) > 1e-8).all(1)
    left[~regular] = np.eye(x.shape[1])
    moved: Floats = np.asarray(np.linalg.solve(left, scores[..., None])[..., 0] @ inverse, np.float64)
    leverage = np.trace(share, axis1=2, axis2=3)
    part = leverage > 0
    variance = np.einsum("tgp->tp", (moved @ x.T) ** 2) * (1 - 1 / part.sum(1))[:, None]
    last = np.concatenate([scores, -scores.sum(-1, keepdims=True)], axis=-1)
    informative = (np.abs(last).max(-1) > 1e-7 * np.maximum(games.sum(-1), 1)).sum(1)
    degrees = _degrees(leverage / leverage.sum(1, keepdims=True))
    deviation = np.where((informative >= FLOOR)[:, None], np.sqrt(variance), np.nan)
    gap = theta @ x.T
    half = stdtrit(degrees, (1 + level) / 2)[:, None] * deviation
    with np.errstate(invalid="ignore", divide="ignore"):
        p_gap = 2 * stdtr(degrees[:, None], -np.abs(gap) / deviation)
    p_gap[(deviation == 0) & (gap == 0)] = 1
    error = 1 - level + 1e-12
    with np.errstate(invalid="ignore"):
        apart = (holm(p_gap) <= error) & (np.abs(gap) > half)
    lead = np.sign(tables.wins.sum(1) - tables.losses.sum(1))
    tested = (holm(_exact(tables)) <= error) & (lead == np.sign(gap))
    settled = apart & (tested | (games.sum(1) == 0))
    sign = np.sign(gap).astype(np.int64)
    above: Bools = np.asarray(settled | (apart & (informative >= MANY_UNITS)[:, None]), bool)
    full = np.concatenate([theta, np.zeros((len(theta), 1))], axis=1)
    return Said(regular, full, gap - half, gap + half, sign * settled, sign * above)


def _goes_round(tables: Tables) -> Bools:
    """(T,) whether from every endpoint wins (or ties) lead to every other."""
    m = tables.endpoints
    won, tied, lost = (part.sum(1) for part in (tables.wins, tables.ties, tables.losses))
    beats = np.zeros((len(won), m, m), bool)
    i, j = np.triu_indices(m, 1)
    beats[:, i, j], beats[:, j, i] = won + tied > 0, lost + tied > 0
    beats |= np.eye(m, dtype=bool)
    for _ in range(int(np.ceil(np.log2(m)))):
        beats = (beats.astype(np.float32) @ beats.astype(np.float32)) > 0
    return np.asarray(beats.all((1, 2)))


def _fitted(x: Floats, games: Floats, score: Floats, regular: Bools) -> tuple[Floats, Floats]:
    """(T, M - 1) strengths and (T, M - 1, M - 1) information, by Newton's method with halved steps."""
    theta = np.zeros((len(games), x.shape[1]))
    keep = regular[:, None, None]

    def slope(at: Floats) -> tuple[Floats, Floats]:
        p = expit(at @ x.T)
        return (score - games * p) @ x, np.einsum("tp,pa,pb->tab", games * p * (1 - p), x, x, optimize=True)

    for _ in range(60):
        gradient, steep = slope(theta)
        step = np.linalg.solve(np.where(keep, steep, np.eye(x.shape[1])), gradient[..., None])[..., 0]
        step[~regular] = 0
        largest = np.abs(step).max(1, keepdims=True)
        theta = theta + step / np.maximum(1, largest)
        if float(largest.max(initial=0)) < 1e-10:
            break
    return theta, slope(theta)[1]


def _degrees(share: Floats) -> Floats:
    """(T,) as :func:`arena.ratings.support.degrees`."""
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = share / (1 - share)
        squares = (odds**2).sum(1)
        spread = squares + squares**2 - (odds**4).sum(1)
        return np.sqrt(((share > 0).sum(1) - 1) * odds.sum(1) ** 2 / spread)


def holm(p: Floats) -> Floats:
    """(T, P) Holm's p values of each row; what is NaN is no test."""
    order = np.argsort(p, axis=1)
    tests = (~np.isnan(p)).sum(1, keepdims=True)
    ordered = np.take_along_axis(p, order, 1) * np.maximum(tests - np.arange(p.shape[1]), 1)
    out = np.zeros(p.shape)
    np.put_along_axis(out, order, np.asarray(np.fmax.accumulate(ordered, axis=1)).clip(max=1), 1)
    return np.asarray(np.where(np.isnan(p), np.nan, out), np.float64)


def _exact(tables: Tables) -> Floats:
    """(T, P) p values of the sign-flip test; 1 where every cluster is even, NaN where nobody won."""
    net = tables.wins - tables.losses
    out = np.where((tables.wins + tables.losses).sum(1) > 0, 1.0, np.nan)
    ordered = np.ascontiguousarray(np.sort(np.abs(net), axis=1).transpose(0, 2, 1))
    total = np.abs(net.sum(1))
    known = dict[tuple[bytes, int], float]()
    for t, p in zip(*np.nonzero(ordered[..., -1] > 0), strict=True):
        key = ordered[t, p].tobytes(), int(total[t, p])
        if key not in known:
            known[key] = sign_flip_test(net[t, :, p]) or 0.0
        out[t, p] = known[key]
    return out
