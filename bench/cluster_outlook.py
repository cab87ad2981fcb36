"""A model of a stage on several machines, held to measured makespans, then drawn out to 10^9 calls."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

LATENCY_S = 0.2


@dataclass(frozen=True)
class Measured:
    workers: int
    calls: int
    elsewhere_s: float
    whole_s: float


@dataclass(frozen=True)
class Parts:
    """What each part takes, in seconds: a worker's CPU a call, the driver's a call, a stage's start and end."""

    worker_cpu: float = 0.0009
    merge: float = 0.000006
    publish: float = 0.00014
    start: float = 0.35
    beat: float = 0.2
    desk: float = 0.00002


def largest_share(calls: int, workers: int, seed: int = 1) -> int:
    """Calls of the fullest share where every item falls into one by chance."""
    if workers == 1:
        return calls
    generator = np.random.default_rng(seed)
    return int(generator.multinomial(calls, np.full(workers, 1 / workers)).max())


def simulated(
    calls: int,
    workers: int,
    concurrency: int,
    parts: Parts,
    *,
    a_minute: float = math.inf,
) -> dict[str, float]:
    """Seconds that each part of a stage needs; the workers' parts run side by side, the driver's after them.

    A worker is a queue of ``concurrency`` places and one core; a stage's calls do not wait for each other.
    """
    fullest = largest_share(calls, workers)
    waiting = math.ceil(fullest / concurrency) * LATENCY_S
    computing = fullest * parts.worker_cpu
    limit = calls / (a_minute / 60)
    lending = calls * parts.desk if a_minute < math.inf else 0.0
    beats = workers / parts.beat * parts.desk
    working = max(waiting, computing, limit, lending) * (1 + max(0.0, beats - 0.5))
    return {
        "latency": waiting,
        "worker CPU": computing,
        "limit a minute": limit,
        "desk": lending,
        "merge": calls * parts.merge,
        "publish": calls * parts.publish,
        "elsewhere": parts.start + working,
        "whole": parts.start + working + calls * (parts.merge + parts.publish),
    }


def waited(one: Measured, concurrency: int) -> float:
    """Seconds that the fullest share of a measured run waits for its calls at least."""
    return math.ceil(largest_share(one.calls, one.workers) / concurrency) * LATENCY_S


def outlook(spans: Sequence[Measured], driven: Mapping[str, Any], concurrency: int) -> bool:
    """The model with what this machine measures, held to its makespans; then far out."""
    parts = Parts(
        merge=driven["merge_s"] / driven["count"],
        publish=driven["publish_s"] / driven["count"],
        start=statistics.median(
            [one.elsewhere_s - largest_share(one.calls, one.workers) / concurrency * LATENCY_S for one in spans]
        ),
    )
    worst = 0.0
    for one in spans:
        model = simulated(one.calls, one.workers, concurrency, parts)["elsewhere"]
        worst = max(worst, abs(model / one.elsewhere_s - 1))
        print(f"{one.workers} workers: measured {one.elsewhere_s:.2f} s, model {model:.2f} s")
    print(f"largest difference of the model: {100 * worst:.0f} % (limit 15 %)")
    print("calls          workers  limit/min   elsewhere      published   bound by")
    for calls, workers, a_minute in (
        (10**5, 4, math.inf),
        (10**6, 16, math.inf),
        (10**7, 64, math.inf),
        (10**8, 256, math.inf),
        (10**9, 1024, math.inf),
        (10**9, 1024, 10_000_000),
    ):
        told = simulated(calls, workers, 256, parts, a_minute=a_minute)
        names = ("latency", "worker CPU", "limit a minute", "desk", "publish")
        bound = max(names, key=lambda name: told[name])
        rate = "none" if a_minute == math.inf else f"{a_minute:,.0f}"
        print(
            f"{calls:<14,} {workers:<8} {rate:<11} {span(told['elsewhere']):<14} {span(told['whole']):<11} {bound}"
        )
    return worst <= 0.15


def span(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 600 else f"{seconds / 3600:.1f} h"
