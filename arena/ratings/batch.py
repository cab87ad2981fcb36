"""Many refits of one small table at once: Newton steps on a stack of Laplacians (ties as halves only)."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from arena.ratings.design import Design
from arena.ratings.linear import one_thread

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

_STACK = 2_000_000
_ITERATIONS = 25


def connected(design: Design, counts: Floats) -> Mask:
    """(B,) whether each of the (B, G, 3) counts ties every core together by wins that go round."""
    size = design.size
    beats = np.zeros((len(counts), size, size), bool)
    beats[:, design.i, design.j] = (counts[:, :, 1] + counts[:, :, 2]) > 0
    beats[:, design.j, design.i] = (counts[:, :, 1] + counts[:, :, 0]) > 0
    beats[:, np.arange(size), np.arange(size)] = True
    reach = beats.astype(np.float32)
    for _ in range(max(size - 1, 1).bit_length()):
        reach = (reach @ reach > 0).astype(np.float32)
    same = design.core[:, None] == design.core[None, :]
    return np.asarray((reach[:, same] > 0).all(1), np.bool_)


@one_thread
def refit(design: Design, counts: Floats, start: Floats) -> tuple[Floats, Mask]:
    """(B, M) estimates of (B, G, 3) counts from ``start`` on, and which of them converged."""
    theta = np.tile(start, (len(counts), 1))
    converged = np.zeros(len(counts), bool)
    chunk = max(1, _STACK // max(design.size**2, len(design.i)))
    for at in range(0, len(counts), chunk):
        part = slice(at, at + chunk)
        theta[part], converged[part] = _newton(design, counts[part], theta[part])
    return theta, converged


def _newton(design: Design, counts: Floats, theta: Floats) -> tuple[Floats, Mask]:
    i, j, size = design.i, design.j, design.size
    games = counts @ np.ones(3)
    score = counts @ np.array([0.0, 0.5, 1.0])
    incidence = np.zeros((len(i), size))
    incidence[np.arange(len(i)), i], incidence[np.arange(len(i)), j] = 1.0, -1.0
    same = (design.core[:, None] == design.core[None, :]).astype(np.float64)
    same /= same.sum(1, keepdims=True)
    current: Floats = theta
    done: Mask = np.zeros(len(counts), bool)
    for _ in range(_ITERATIONS):
        lead: Floats = current[:, i] - current[:, j]
        chance: Floats = expit(lead)
        weight = games * chance * (1 - chance)
        laplacian = np.zeros((len(counts), size, size))
        laplacian[:, i, j] = laplacian[:, j, i] = -weight
        diagonal = -laplacian.sum(2)
        laplacian[:, np.arange(size), np.arange(size)] = diagonal
        laplacian += same * np.maximum(diagonal.mean(1), 1e-12)[:, None, None]
        gradient = (score - games * chance) @ incidence
        step = cast("Floats", np.linalg.solve(laplacian, gradient[:, :, None]))[:, :, 0]
        largest: Floats = np.abs(step).max(1)
        shorter: Floats = np.minimum(1.0, 2.0 / np.maximum(largest, 1e-300))
        current = current + step * shorter[:, None]
        done = largest < 1e-8
        if done.all():
            break
    return current, done
