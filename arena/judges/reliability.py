"""A panel as a model instead of a vote: each judge has a reliability, and counts for as much as it has.

Crowd-BT (Chen, Bennett, Collins-Thompson & Horvitz, WSDM 2013): judge k says what the endpoints' strengths say
with probability eta_k and the opposite else,

    P(k says i over j) = eta_k p_ij + (1 - eta_k) (1 - p_ij),    p_ij = expit(theta_i - theta_j).

Fitted by penalised maximum likelihood over single readable rounds, ties as half a win each way. What keeps it
finite: a Beta prior on each eta, as if the judge had been seen right nine times and wrong once, and one even game
of each endpoint against an average opponent (the paper's virtual node). Without the first, all judges turned round
and all strengths upside down would fit as well.

Where endpoints do not differ, any eta fits and the prior's 0.9 is what comes out. So there is no estimate unless
some judge's rounds can be told from coin flips: a score test of equal strengths by clusters (Hotelling's F).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, fdtrc, logit

from arena.ratings.estimate import MEAN, SCALE
from arena.ratings.linear import one_thread
from arena.ratings.support import FLOOR, too_few
from arena.ratings.uncertainty import quantile
from runstore.records import Judgment

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RIGHT, WRONG = 9.0, 1.0
GAMES = 1.0
PRIOR = (
    f"each judge as if seen right {RIGHT:g} times and wrong {WRONG:g}; "
    f"{GAMES:g} even game of each endpoint against an average opponent"
)
_START = RIGHT / (RIGHT + WRONG)
_ERROR = 0.01
COINS = (
    "no judge's rounds can be told from coin flips (or there are too few dialogues to tell): "
    f"the reliabilities would be the prior's {_START:g}"
)
_STEP = 1e-5


@dataclass(frozen=True)
class Estimate:
    """A figure with its interval; limits are None where fewer clusters differ than an interval takes."""

    name: str
    value: float
    lower: float | None
    upper: float | None


@dataclass(frozen=True)
class Panel:
    """``judges``: probability of saying what the strengths say; ``endpoints``: ratings, mean 1000.

    ``reason`` says why there is no estimate; ``note`` what the data alone could not settle.
    """

    judges: tuple[Estimate, ...]
    endpoints: tuple[Estimate, ...]
    rounds: int
    converged: bool
    reason: str | None = None
    note: str | None = None


@dataclass(frozen=True)
class _Cells:
    """Rounds counted: who beat whom with which judge (``i`` over ``j``), and in which cluster."""

    i: Ints
    j: Ints
    judge: Ints
    cluster: Ints
    weight: Floats
    models: int
    judges: int


def panel(judgments: Sequence[Judgment], *, level: float = 0.95) -> Panel:
    """Strengths and reliabilities of all judges of these judgments, with intervals clustered by dialogue.

    Sandwich covariance (White 1982) with the Hessian of the penalised likelihood.
    """
    readable = [judgment for judgment in judgments if judgment.outcome != "unreadable"]
    judges = sorted({judgment.judge for judgment in readable})
    names = sorted({name for judgment in readable for name in (judgment.slot_a, judgment.slot_b)})
    if len(judges) < 2:
        return Panel((), (), len(readable), False, reason=f"{len(judges)} judges; at least 2 are needed")
    cells = _counted(readable, names, judges)
    if not _is_identified(cells):
        return Panel((), (), len(readable), False, reason=COINS)
    start = np.concatenate([np.zeros(len(names)), np.full(len(judges), logit(_START))])
    fitted = minimize(
        _loss, start, args=(cells,), jac=True, method="L-BFGS-B",
        options={"maxiter": 5000, "maxfun": 20000, "ftol": 1e-15, "gtol": 1e-8},
    )  # fmt: skip
    vector = np.asarray(fitted.x, dtype=np.float64)
    converged = float(np.abs(_loss(vector, cells)[1]).max()) < 1e-4 * max(1.0, float(cells.weight.sum()))
    deviation, differing = _deviations(vector, cells)
    clusters = int(cells.cluster.max()) + 1
    times = quantile(level, clusters - 1) if differing >= FLOOR else float("nan")
    few = () if differing >= FLOOR else (f"no interval: {too_few(clusters, differing or 1, 'dialogue')}",)
    two = () if len(names) > 2 else ("with two endpoints the size of their gap rests on the prior",)
    return Panel(
        tuple(_reliability(vector, deviation, times, len(names) + k, name) for k, name in enumerate(judges)),
        tuple(_rating(vector, deviation, times, m, name, len(names)) for m, name in enumerate(names)),
        len(readable),
        converged,
        note="; ".join((*two, *few)) or None,
    )


def _counted(readable: Sequence[Judgment], names: Sequence[str], judges: Sequence[str]) -> _Cells:
    model = {name: at for at, name in enumerate(names)}
    bench = {name: at for at, name in enumerate(judges)}
    dialogue = {name: at for at, name in enumerate(sorted({judgment.dialogue for judgment in readable}))}
    counted: dict[tuple[int, int, int, int], float] = {}
    for row in readable:
        a, b, k, c = model[row.slot_a], model[row.slot_b], bench[row.judge], dialogue[row.dialogue]
        share = 0.5 if row.winner is None else float(row.winner == row.slot_a)
        for over, under, amount in ((a, b, share), (b, a, 1 - share)):
            if amount:
                counted[over, under, k, c] = counted.get((over, under, k, c), 0.0) + amount
    keys = np.array(sorted(counted), dtype=np.int64).reshape(-1, 4)
    weight = np.array([counted[key] for key in sorted(counted)])
    return _Cells(keys[:, 0], keys[:, 1], keys[:, 2], keys[:, 3], weight, len(names), len(judges))


def _is_identified(cells: _Cells) -> bool:
    """Whether some judge sees the endpoints differ: else strengths are 0 and reliabilities the prior's.

    Each cluster's score of the strengths at equal strengths is half its wins less its losses, up to a factor of
    eta that cancels. The error is shared out over the judges.
    """
    clusters = int(cells.cluster.max()) + 1
    for judge in range(cells.judges):
        own = cells.judge == judge
        scores = np.zeros((clusters, cells.models))
        np.add.at(scores, (cells.cluster[own], cells.i[own]), cells.weight[own] / 2)
        np.add.at(scores, (cells.cluster[own], cells.j[own]), -cells.weight[own] / 2)
        spread, total = scores.T @ scores, scores.sum(axis=0)
        rank = int(np.linalg.matrix_rank(spread, hermitian=True))
        if not rank or clusters <= rank:
            continue
        told = float(total @ np.linalg.pinv(spread, hermitian=True) @ total)
        ratio = (clusters - rank) * told / (rank * max(clusters - told, 1e-12))
        if fdtrc(rank, clusters - rank, max(ratio, 0.0)) < _ERROR / cells.judges:
            return True
    return False


def _slopes(vector: Floats, cells: _Cells) -> tuple[Floats, Floats, Floats]:
    """(cells,) probability of what was said, and its log's slope by the strengths' gap and by logit eta."""
    theta, eta = vector[: cells.models], expit(vector[cells.models :])[cells.judge]
    p = expit(theta[cells.i] - theta[cells.j])
    said = eta * p + (1 - eta) * (1 - p)
    return said, (2 * eta - 1) * p * (1 - p) / said, (2 * p - 1) * eta * (1 - eta) / said


@one_thread
def _loss(vector: Floats, cells: _Cells) -> tuple[float, Floats]:
    """Minus the penalised log-likelihood, and its gradient."""
    said, by_gap, by_eta = _slopes(vector, cells)
    theta, eta = vector[: cells.models], expit(vector[cells.models :])
    even = expit(theta)
    value = float(cells.weight @ np.log(said)) + GAMES / 2 * float(np.log(even * (1 - even)).sum())
    value += float((RIGHT * np.log(eta) + WRONG * np.log1p(-eta)).sum())
    gap = cells.weight * by_gap
    slope = np.bincount(cells.i, gap, cells.models) - np.bincount(cells.j, gap, cells.models)
    slope += GAMES / 2 * (1 - 2 * even)
    worth = np.bincount(cells.judge, cells.weight * by_eta, cells.judges) + RIGHT - (RIGHT + WRONG) * eta
    return -value, -np.concatenate([slope, worth])


@one_thread
def _deviations(vector: Floats, cells: _Cells) -> tuple[Floats, int]:
    """(P, P) sandwich covariance of (theta, logit eta), clustered; theta measured from their mean.

    And how many clusters say something else than the mean of all.
    """
    size = len(vector)
    steps = _STEP * np.eye(size)
    hessian = np.stack(
        [(_loss(vector + step, cells)[1] - _loss(vector - step, cells)[1]) / (2 * _STEP) for step in steps]
    )
    inverse = np.linalg.pinv((hessian + hessian.T) / 2, hermitian=True)
    _, by_gap, by_eta = _slopes(vector, cells)
    clusters = int(cells.cluster.max()) + 1
    scores = np.zeros((clusters, size))
    np.add.at(scores, (cells.cluster, cells.i), cells.weight * by_gap)
    np.add.at(scores, (cells.cluster, cells.j), -cells.weight * by_gap)
    np.add.at(scores, (cells.cluster, cells.models + cells.judge), cells.weight * by_eta)
    scores -= scores.mean(0)
    covariance = inverse @ (scores.T @ scores) @ inverse * (clusters / max(clusters - 1, 1))
    centre = np.eye(size)
    centre[: cells.models, : cells.models] -= 1 / cells.models
    return centre @ covariance @ centre.T, int((np.abs(scores).max(axis=1) > 1e-9).sum())


def _reliability(vector: Floats, covariance: Floats, times: float, at: int, name: str) -> Estimate:
    half = times * float(np.sqrt(max(covariance[at, at], 0.0)))
    value = float(vector[at])
    if not np.isfinite(half):
        return Estimate(name, float(expit(value)), None, None)
    return Estimate(name, float(expit(value)), float(expit(value - half)), float(expit(value + half)))


def _rating(vector: Floats, covariance: Floats, times: float, at: int, name: str, models: int) -> Estimate:
    value = MEAN + SCALE * float(vector[at] - vector[:models].mean())
    half = SCALE * times * float(np.sqrt(max(covariance[at, at], 0.0)))
    return Estimate(name, value, *((value - half, value + half) if np.isfinite(half) else (None, None)))
