"""Ratings of largest likelihood by Newton's method on counted battles.

The lead of i over j is theta_i - theta_j + gamma * shown_first + beta . covariates; what it says of a battle's
outcome is the rating model's (:mod:`arena.ratings.model`). The Hessian by theta is a graph Laplacian (Hunter
2004; Agresti 2013, ch. 11), whose null space, one constant per core, is filled before it is solved and taken out
of the inverse again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arena.ratings.design import Design
from arena.ratings.linear import inverse, one_thread, solve
from arena.ratings.model import RatingModel
from arena.ratings.models import HALF

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LARGEST_STEP = 2.0
_ITERATIONS = 100


@dataclass(frozen=True)
class Fit:
    """An estimate: ``theta`` (natural log-odds, mean 0 in each core), ``shared`` covariates' effects, ``tie``.

    ``curvature`` is the inverse information of (theta, shared, tie), with theta centred in each core.
    """

    theta: Floats
    shared: Floats
    tie: float | None
    curvature: Floats
    converged: bool
    iterations: int
    largest_gradient: float
    model: RatingModel

    @property
    def vector(self) -> Floats:
        tail = [] if self.tie is None else [self.tie]
        return np.concatenate([self.theta, self.shared, tail])


@dataclass(frozen=True)
class Pull:
    """A Gaussian pull of theta towards ``centre`` with a precision per model (a prior, or shrinkage)."""

    centre: Floats
    precision: Floats


@one_thread
def fit(
    design: Design,
    counts: Floats,
    *,
    model: RatingModel = HALF,
    prior: float = 0.0,
    pull: Pull | None = None,
    tie: float | None = None,
    start: Fit | None = None,
    covariance: bool = True,
    tolerance: float = 1e-9,
) -> Fit:
    """The estimate of largest likelihood for (G, 3) counts.

    The caller makes sure that it exists (:mod:`arena.ratings.graph`). ``prior`` gives every model that many extra
    games at an even score against an opponent of strength 0. ``tie`` holds the
    tie parameter at a value. ``start`` may be a fit of nearby counts.
    """
    problem = _Problem(design, counts, model, prior, pull, tie)
    vector = problem.start() if start is None else start.vector.copy()
    value = problem.value(vector)
    converged, iteration = False, 0
    while not converged and iteration < _ITERATIONS:
        iteration += 1
        step = problem.step(vector)
        if step is None:
            break
        largest = float(np.abs(step).max(initial=0.0))
        step *= min(1.0, _LARGEST_STEP / largest) if largest else 1.0
        vector, value, moved = _searched(problem, vector, value, step)
        converged = largest < tolerance
        if not moved:
            converged = largest < 1e-6
            break
    return problem.finished(vector, converged, iteration, covariance=covariance)


def _searched(problem: _Problem, vector: Floats, value: float, step: Floats) -> tuple[Floats, float, bool]:
    """Halve the step until the likelihood does not fall (up to rounding)."""
    slack = 1e-11 * (1 + abs(value))
    for _ in range(40):
        tried = vector + step
        new = problem.value(tried)
        if new >= value - slack:
            return tried, new, True
        step = step / 2
    return vector, value, False


class _Problem:
    """Likelihood, gradient and Hessian of one set of counts."""

    def __init__(
        self,
        design: Design,
        counts: Floats,
        model: RatingModel,
        prior: float,
        pull: Pull | None,
        tie: float | None = None,
    ) -> None:
        self.design, self.counts, self.prior, self.pull = design, counts, prior, pull
        self.model = model
        self.size, self.shared = design.size, design.shared_columns.shape[1]
        self.has_tie = self.model.has_parameter and tie is None
        self.held_tie = tie or 0.0
        self.anchored = prior > 0 or pull is not None

    def start(self) -> Floats:
        tail = [self.model.start] if self.has_tie else []
        return np.concatenate([np.zeros(self.size + self.shared), tail])

    def split(self, vector: Floats) -> tuple[Floats, Floats, float]:
        theta, shared = vector[: self.size], vector[self.size : self.size + self.shared]
        return theta, shared, float(vector[-1]) if self.has_tie else self.held_tie

    def value(self, vector: Floats) -> float:
        theta, shared, tie = self.split(vector)
        if not self.model.admissible(tie):
            return -np.inf
        value = self.model.loglik(self.design.eta(theta, shared), tie, self.counts)
        if self.prior:
            value += float((self.prior * (theta / 2 - np.logaddexp(0, theta))).sum())
        if self.pull is not None:
            value -= float((self.pull.precision * (theta - self.pull.centre) ** 2).sum()) / 2
        return value

    def gradient(self, vector: Floats) -> Floats:
        theta, shared, tie = self.split(vector)
        by_eta, by_tie = self.model.scores(self.design.eta(theta, shared), tie)
        u = np.einsum("gk,gk->g", self.counts, by_eta)
        i, j, size = self.design.i, self.design.j, self.size
        by_theta = np.bincount(i, u, size) - np.bincount(j, u, size)
        if self.prior:
            by_theta -= self.prior * np.tanh(theta / 2) / 2
        if self.pull is not None:
            by_theta -= self.pull.precision * (theta - self.pull.centre)
        tail = [(self.counts * by_tie).sum()] if self.has_tie else []
        return np.concatenate([by_theta, u @ self.design.shared_columns, tail])

    def hessian(self, vector: Floats) -> Floats:
        """The information, positive semidefinite: a Laplacian bordered by the shared parameters."""
        theta, shared, tie = self.split(vector)
        info = self.model.information(self.design.eta(theta, shared), tie, self.counts)
        i, j, size = self.design.i, self.design.j, self.size
        total = len(vector)
        full = np.zeros((total, total))
        laplacian = full[:size, :size]
        laplacian -= np.bincount(i * size + j, info.eta, size * size).reshape(size, size)
        laplacian += laplacian.T.copy()
        diagonal = -laplacian.sum(1)
        if self.prior:
            diagonal = diagonal + self.prior / (4 * np.cosh(theta / 2) ** 2)
        if self.pull is not None:
            diagonal = diagonal + self.pull.precision
        laplacian[np.diag_indices(size)] = diagonal
        self._border(full, info.eta, info.mixed, float(info.tie.sum()))
        return full

    def _border(self, full: Floats, by_eta: Floats, mixed: Floats, by_tie: float) -> None:
        i, j, size, shared = self.design.i, self.design.j, self.size, self.shared
        columns = self.design.shared_columns
        borders = [by_eta * columns[:, k] for k in range(shared)] + ([mixed] if self.has_tie else [])
        for k, border in enumerate(borders, size):
            full[k, :size] = full[:size, k] = np.bincount(i, border, size) - np.bincount(j, border, size)
        end = size + shared
        full[size:end, size:end] = columns.T @ (by_eta[:, None] * columns)
        if self.has_tie:
            full[end, size:end] = full[size:end, end] = mixed @ columns
            full[end, end] = by_tie

    def filled(self, hessian: Floats) -> tuple[Floats, Floats]:
        """The Hessian with its null space filled, and the inverse of what was added (to be taken out again)."""
        added = np.zeros_like(hessian)
        if self.anchored:
            return hessian, added
        same = (self.design.core[:, None] == self.design.core[None, :]).astype(np.float64)
        same /= same.sum(1, keepdims=True)
        scale = max(float(np.diag(hessian)[: self.size].mean()), 1e-12) if self.size else 1.0
        added[: self.size, : self.size] = same
        return hessian + scale * added, added / scale

    def step(self, vector: Floats) -> Floats | None:
        step = solve(self.filled(self.hessian(vector))[0], self.gradient(vector))
        return step if step is not None and bool(np.isfinite(step).all()) else None

    def finished(self, vector: Floats, converged: bool, iterations: int, *, covariance: bool) -> Fit:
        gradient = self.gradient(vector)
        theta, shared, tie = self.split(vector)
        curvature = np.empty((0, 0))
        if covariance:
            filled, added = self.filled(self.hessian(vector))
            curvature = inverse(filled) - added
        if self.pull is None:
            centring = centred(self.design.core if not self.anchored else np.zeros(self.size, np.int64))
            theta = centring @ theta
            if covariance and self.anchored:
                curvature = widened(centring, len(vector)) @ curvature @ widened(centring, len(vector)).T
        return Fit(
            theta,
            shared,
            tie if self.has_tie else None,
            curvature,
            converged,
            iterations,
            float(np.abs(gradient).max(initial=0.0)),
            self.model,
        )


def centred(core: Ints) -> Floats:
    """(M, M): takes the mean of its core off each model."""
    same = (core[:, None] == core[None, :]).astype(np.float64)
    return np.eye(len(core)) - same / same.sum(1, keepdims=True)


def widened(matrix: Floats, total: int) -> Floats:
    """The matrix acting on theta, and nothing on the parameters after it."""
    full = np.eye(total)
    full[: len(matrix), : len(matrix)] = matrix
    return full


def scores(design: Design, fitted: Fit) -> tuple[Floats, Floats]:
    """(G, 3) scores of one battle by eta and by the tie parameter, at the estimate."""
    return fitted.model.scores(design.eta(fitted.theta, fitted.shared), fitted.tie or 0.0)
