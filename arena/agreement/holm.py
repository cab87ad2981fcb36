"""Holm's step-down correction (1979) for a family of tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjusted p values in the order given. A test without p (None) is not part of the family and stays None.

    Raises ValueError for a p outside [0, 1].
    """
    known = sorted((p, i) for i, p in enumerate(p_values) if p is not None)
    if any(not 0 <= p <= 1 for p, _ in known):
        raise ValueError("p values lie between 0 and 1")
    adjusted: list[float | None] = [None] * len(p_values)
    reached = 0.0
    for step, (p, index) in enumerate(known):
        reached = max(reached, min(1.0, (len(known) - step) * p))
        adjusted[index] = reached
    return adjusted


def holm_matrix(p_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Adjusted p values of all pairs, for a symmetric (M, M) table; NaN is not part of the family."""
    i, j = np.triu_indices(len(p_values), 1)
    flat = p_values[i, j]
    order = np.argsort(flat, kind="stable")
    order = order[: int((~np.isnan(flat)).sum())]
    steps = np.arange(len(order), 0, -1)
    adjusted = np.full(len(flat), np.nan)
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, steps * flat[order]))
    out = np.full(p_values.shape, np.nan)
    out[i, j] = out[j, i] = adjusted
    return out
