"""The model that `docs/cluster.md` is drawn from: short runs and one worker foretell what several do."""

import heapq
from dataclasses import replace

import pytest

from bench.cluster_outlook import Measured, Parts, fitted, simulated
from frontdesk.runner.cluster.shares import Share

PLACES = 16


def played_out(calls: int, workers: int, call_s: float, start_s: float) -> Measured:
    """Every call of every share put into a place as it falls free: what the model sums up, step by step."""
    ends: list[float] = []
    for share in (Share(index, workers) for index in range(workers)):
        free = [start_s] * PLACES
        for number in range(calls):
            if share.has(f"s-{number:07d}"):
                heapq.heappush(free, heapq.heappop(free) + call_s)
        ends.append(max(free))
    cpu = {"workers_cpu_s": 0.001 * calls, "driver_cpu_s": 0.01 * workers}
    return Measured(workers, calls, max(ends), max(ends), **cpu, call_s=call_s)


@pytest.mark.parametrize("start_s", [{1: 0.0, 4: 0.0}, {1: 0.7, 4: 2.0}, {1: 3.0, 4: 3.1}])
@pytest.mark.parametrize("call_s", [0.2, 0.31])
@pytest.mark.parametrize("shared", [1.0, 1.4])
def test_short_runs_and_a_long_one_of_one_worker_foretell_several(call_s, start_s, shared):
    short = [
        played_out(64 * workers, workers, call_s * (shared if workers > 1 else 1), seconds)
        for workers, seconds in start_s.items()
    ]
    parts = fitted(short, played_out(3200, 1, call_s, start_s[1]), PLACES, Parts())
    assert parts.call == pytest.approx(call_s)
    assert parts.starts == pytest.approx(start_s, abs=1e-6)
    assert (parts.worker_cpu, parts.more) == pytest.approx((0.001, 0.01))
    real = played_out(3200, 4, call_s * shared, start_s[4]).elsewhere_s
    assert simulated(3200, 4, PLACES, parts.here(4))["elsewhere"] == pytest.approx(real)


def test_workers_that_were_not_tried_start_as_the_most_that_were_and_take_their_part_of_the_driver():
    parts = Parts(starts={1: 0.5, 4: 1.0}, more=0.01)
    assert [parts.start(workers) for workers in (1, 2, 4, 104)] == pytest.approx([0.5, 0.51, 1.0, 2.0])


def test_what_bounds_a_stage_is_its_slowest_part_and_the_driver_comes_after():
    parts = Parts(call=0.2, starts={1: 1.0}, more=0.0, worker_cpu=0.001, merge=0.0, publish=0.0001, message=0.001)
    free = simulated(160_000, 4, 256, parts)
    assert free["leases"] == 0
    assert free["elsewhere"] == pytest.approx(1.0 + max(free["latency"], free["worker CPU"]))
    limited = simulated(160_000, 4, 256, parts, a_minute=60_000)
    assert limited["limit a minute"] == 160
    assert limited["elsewhere"] == pytest.approx(161)
    assert limited["whole"] == pytest.approx(161 + 16)
    beside_others = simulated(160_000, 4, 256, replace(parts, busy=2.0).here(4), a_minute=60_000)
    assert beside_others["whole"] == pytest.approx(161 + 32), "the driver waits for a core"
    assert 10 < limited["leases"] < 11, (
        "a message lends to sixteen, and beats take two hundredths of the scheduler"
    )
