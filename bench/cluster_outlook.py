"""A model of a stage on several machines, held to measured makespans, then drawn out to 10^9 calls.

What the model is made of is measured in the same minutes: a call by a long run of one worker, start and end of a
stage, and how workers of one machine hold each other up, by short runs of as many workers as are foretold; the
scheduler's messages and the driver's merging and publishing each by itself.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median

import numpy as np

from frontdesk.runner.cluster.shard import MOST_BEATS, beat_s
from runstore.ids import hashed_number

LATENCY_S = 0.2
ERROR = 0.15
LENT_AT_ONCE = 16
"""Calls that a message lends to, where that many wait while the one before it is under way."""
COUNTED = 200_000
"""Up to so many calls, shares are those of the ids; beyond, such as chance makes them."""
FAR: Sequence[tuple[int, int, float]] = (
    (10**5, 4, math.inf),
    (10**6, 16, math.inf),
    (10**7, 64, math.inf),
    (10**8, 256, math.inf),
    (10**9, 1024, math.inf),
    (10**9, 1024, 10_000_000),
)
"""Calls, workers and calls a minute that are allowed."""
FAR_CONCURRENCY = 256


@dataclass(frozen=True)
class Measured:
    """One stage: seconds until its workers had ended and until all was published, CPU seconds until they had.

    ``call_s``: what a call held a place for with the worker that took longest, from its first to its last.
    """

    workers: int
    calls: int
    elsewhere_s: float
    whole_s: float
    workers_cpu_s: float = 0.0
    driver_cpu_s: float = 0.0
    call_s: float = LATENCY_S


@dataclass(frozen=True)
class Parts:
    """What each part takes, in seconds.

    ``call``: that holds a place; ``shared``: how much longer it does where so many workers share this machine;
    ``starts``: a stage's start and end by the number of workers, ``more``: the driver's part of one worker more;
    ``worker_cpu``, ``merge`` and ``publish``: of a call; ``message``: of the scheduler;
    ``busy``: seconds that the driver took for a second of its CPU, beside whatever else runs here.
    """

    call: float = LATENCY_S
    shared: Mapping[int, float] = field(default_factory=dict[int, float])
    starts: Mapping[int, float] = field(default_factory=lambda: {1: 0.35})
    more: float = 0.01
    worker_cpu: float = 0.0009
    merge: float = 0.000006
    publish: float = 0.00014
    message: float = 0.0003
    busy: float = 1.0

    def here(self, workers: int) -> Parts:
        """The same for so many workers on this machine, which share its cores."""
        held = self.shared.get(workers, 1.0)
        return replace(self, call=self.call * held, merge=self.merge * self.busy, publish=self.publish * self.busy)

    def start(self, workers: int) -> float:
        """As it was measured, or the start of the most workers that were and what each further one takes."""
        known = max(count for count in self.starts if count <= workers)
        return self.starts[known] + self.more * (workers - known)


def largest_share(calls: int, workers: int, seed: int = 1) -> int:
    """Calls of the fullest share: items fall into shares by a hash of their ids."""
    if workers == 1:
        return calls
    if calls <= COUNTED:
        return max(Counter(hashed_number("share", f"s-{at:07d}") % workers for at in range(calls)).values())
    generator = np.random.default_rng(seed)
    return int(generator.multinomial(calls, np.full(workers, 1 / workers)).max())


def rounds(calls: int, workers: int, concurrency: int) -> int:
    """How often the fullest share's worker fills its places."""
    return math.ceil(largest_share(calls, workers) / concurrency)


def simulated(
    calls: int, workers: int, concurrency: int, parts: Parts, *, a_minute: float = math.inf
) -> dict[str, float]:
    """Seconds that each part of a stage needs; the workers' parts run side by side, the driver's after them.

    A worker is a queue of ``concurrency`` places and one core; a stage's calls do not wait for each other. The
    scheduler hears every worker's beat; where a limit is set it also lends to each call.
    """
    waiting = rounds(calls, workers, concurrency) * parts.call
    computing = largest_share(calls, workers) * parts.worker_cpu
    limit = calls / (a_minute / 60)
    beats = workers / beat_s(workers) * parts.message
    lending = calls / LENT_AT_ONCE * parts.message / max(0.01, 1 - beats) if a_minute < math.inf else 0.0
    working = max(waiting, computing, limit, lending)
    start = parts.start(workers)
    merge, publish = calls * parts.merge, calls * parts.publish
    return {
        "start": start,
        "latency": waiting,
        "worker CPU": computing,
        "limit a minute": limit,
        "leases": lending,
        "merge": merge,
        "publish": publish,
        "elsewhere": start + working,
        "whole": start + working + merge + publish,
    }


def fitted(short: Sequence[Measured], long: Measured, concurrency: int, parts: Parts) -> Parts:
    """The parts as short runs of several numbers of workers and a long one of one worker show them.

    One run could not tell start and call apart: what a stage's start takes would be paid again by every call.
    """
    by_count: dict[int, list[Measured]] = {}
    for span in short:
        by_count.setdefault(span.workers, []).append(span)
    alone = by_count[long.workers]
    filled = {count: rounds(spans[0].calls, count, concurrency) for count, spans in by_count.items()}
    ends = {
        count: median(span.elsewhere_s - filled[count] * span.call_s for span in spans)
        for count, spans in by_count.items()
    }
    call = (long.elsewhere_s - ends[long.workers]) / rounds(long.calls, long.workers, concurrency)
    shared = {
        count: median(span.call_s / beside.call_s for span, beside in zip(spans, alone, strict=True))
        for count, spans in by_count.items()
    }
    cpu = {
        count: (median(each.workers_cpu_s for each in spans), median(each.driver_cpu_s for each in spans))
        for count, spans in by_count.items()
    }
    most = max(by_count)
    more = (cpu[most][1] - cpu[long.workers][1]) / max(1, most - long.workers)
    return Parts(
        call=call,
        shared=shared,
        starts={count: max(0.0, seconds) for count, seconds in ends.items()},
        more=max(0.0, more),
        worker_cpu=(long.workers_cpu_s - cpu[long.workers][0]) / (long.calls - alone[0].calls),
        merge=parts.merge,
        publish=parts.publish,
        message=parts.message,
        busy=parts.busy,
    )


def outlook(parts: Parts, held_to: Sequence[Measured], concurrency: int) -> bool:
    """Print the parts, the model beside makespans that it was not made of, and the far figures.

    Whether all of them are within :data:`ERROR`.
    """
    starts = ", ".join(f"{count}: {seconds:.2f} s" for count, seconds in sorted(parts.starts.items()))
    longer = ", ".join(f"{count}: x {times:.2f}" for count, times in sorted(parts.shared.items()))
    print(f"a call holds a place for {1000 * parts.call:.0f} ms and takes {1000 * parts.worker_cpu:.2f} ms of CPU")
    print(f"longer by workers that share these cores: {longer}")
    print(
        f"a stage's start and end, by workers: {starts}; one worker more: {1000 * parts.more:.0f} ms of the driver"
    )
    _limits(parts)
    worst = 0.0
    for span in held_to:
        model = simulated(span.calls, span.workers, concurrency, parts.here(span.workers))
        for name, seconds in (("elsewhere", span.elsewhere_s), ("whole", span.whole_s)):
            worst = max(worst, abs(model[name] / seconds - 1))
            print(
                f"{span.workers} workers, {span.calls} calls, {name}: measured {seconds:.2f} s, "
                f"model {model[name]:.2f} s ({100 * (model[name] / seconds - 1):+.0f} %)"
            )
    print(f"largest difference of the model: {100 * worst:.0f} % (limit {100 * ERROR:.0f} %)")
    _far(parts)
    return worst <= ERROR


def _limits(parts: Parts) -> None:
    """Where each part ends."""
    messages = 1 / parts.message
    print(
        f"scheduler: {messages:,.0f} messages/s, of which beats take {MOST_BEATS:,} at most; leases: "
        f"{messages:,.0f} calls/s lent to one by one, {LENT_AT_ONCE * messages:,.0f} by {LENT_AT_ONCE}; "
        f"merge: {1 / parts.merge:,.0f} calls/s; publishing: {1 / parts.publish:,.0f} replies/s"
    )


def _far(parts: Parts) -> None:
    names = ("start", "latency", "worker CPU", "limit a minute", "leases", "merge", "publish")
    print("| calls | workers | a minute | " + " | ".join(names) + " | whole | bound by |")
    print("|" + " --- |" * (len(names) + 5))
    for calls, workers, a_minute in FAR:
        told = simulated(calls, workers, FAR_CONCURRENCY, parts, a_minute=a_minute)
        bound = max(names, key=lambda name: told[name])
        rate = "no limit" if a_minute == math.inf else f"{a_minute:,.0f}"
        spans = " | ".join(lasting(told[name]) if told[name] else "-" for name in (*names, "whole"))
        print(f"| {calls:,} | {workers:,} | {rate} | {spans} | {bound} |")


def lasting(seconds: float) -> str:
    """A time as people say it."""
    for most, size, unit in ((90, 1, "s"), (5400, 60, "min")):
        if seconds < most:
            return f"{seconds / size:.2g} {unit}" if seconds / size < 10 else f"{seconds / size:.0f} {unit}"
    return f"{seconds / 3600:.2g} h" if seconds < 36_000 else f"{seconds / 3600:,.0f} h"
