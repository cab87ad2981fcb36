"""A model of a stage on several machines, held to measured makespans, then drawn out to 10^9 calls."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
    """What each part takes, in seconds: a call that holds a place, a worker's CPU a call, the driver's a call, a
    stage's start and end."""

    call: float = LATENCY_S
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
    waiting = math.ceil(fullest / concurrency) * parts.call
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


def fitted(few: Measured, many: Measured, concurrency: int, parts: Parts) -> Parts:
    """Parts with start and call from two runs of one worker that differ in their calls alone.

    One run could not tell the two apart: what a stage's start takes would be paid again by every call.
    """
    rounds = [math.ceil(span.calls / concurrency) for span in (few, many)]
    call = (many.elsewhere_s - few.elsewhere_s) / (rounds[1] - rounds[0])
    return replace(parts, call=call, start=max(0.0, many.elsewhere_s - rounds[1] * call))


def outlook(few: Measured, others: Sequence[Measured], driven: Mapping[str, Any], concurrency: int) -> bool:
    """The model with what one worker takes here, held to the makespans of several; then far out.

    ``few``: one worker's run of fewer calls; the first of ``others``: its run of as many as the rest.
    """
    parts = Parts(merge=driven["merge_s"] / driven["count"], publish=driven["publish_s"] / driven["count"])
    parts = fitted(few, others[0], concurrency, parts)
    print(
        f"one worker: {parts.start:.2f} s to start and end, {1000 * parts.call:.0f} ms a call that holds a place"
    )
    worst = 0.0
    for span in others[1:]:
        model = simulated(span.calls, span.workers, concurrency, parts)["elsewhere"]
        worst = max(worst, abs(model / span.elsewhere_s - 1))
        print(f"{span.workers} workers: measured {span.elsewhere_s:.2f} s, model {model:.2f} s")
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
        spans = f"{lasting(told['elsewhere']):<14} {lasting(told['whole']):<11}"
        print(f"{calls:<14,} {workers:<8} {rate:<11} {spans} {bound}")
    return worst <= 0.15


def lasting(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 600 else f"{seconds / 3600:.1f} h"
