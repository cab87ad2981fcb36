"""What an endpoint's replies took and cost: figures that stand beside its rating."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from arena.ratings.result import Leaderboard, number
from runstore.records import Reply

Figures = tuple[float | None, float | None]
"""Seconds and US dollars of one reply."""


def with_service(board: Leaderboard, replies: Iterable[Reply]) -> Leaderboard:
    """The board with seconds and US dollars of each endpoint's replies.

    ``latency_s`` is the median and ``latency_p95_s`` the 95th percentile (between two replies by straight line)
    of the ``timed`` replies; ``usd_per_1000`` is 1,000 times the mean over the ``priced`` ones. What no reply
    tells is None: a price that nobody knows is not 0.
    """
    of = defaultdict[str, list[Figures]](list)
    for reply in replies:
        of[reply.endpoint].append((reply.latency_s, reply.cost_usd))
    models = [model.model_copy(update=_figures(of[model.name])) for model in board.models]
    return board.model_copy(update={"models": tuple(models)})


def _figures(replies: list[Figures]) -> dict[str, float | None]:
    seconds = [latency for latency, _ in replies if latency is not None]
    dollars = [cost for _, cost in replies if cost is not None]
    median, high = np.quantile(seconds, (0.5, 0.95)).tolist() if seconds else (None, None)
    return {
        "replies": len(replies),
        "timed": len(seconds),
        "latency_s": number(median),
        "latency_p95_s": number(high),
        "priced": len(dollars),
        "usd_per_1000": number(1000 * float(np.mean(dollars))) if dollars else None,
    }
