"""Holm's step-down correction (1979) for a family of tests."""

from __future__ import annotations

from collections.abc import Sequence


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
