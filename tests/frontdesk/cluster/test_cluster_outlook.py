"""The model that `docs/cluster.md` is drawn from: what one worker takes foretells what several do."""

import heapq

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
    return Measured(workers, calls, max(ends), max(ends))


@pytest.mark.parametrize("start_s", [0.0, 0.7, 3.0])
@pytest.mark.parametrize("call_s", [0.2, 0.31])
def test_two_runs_of_one_worker_foretell_the_makespan_of_several(call_s, start_s):
    few, many = (played_out(calls, 1, call_s, start_s) for calls in (800, 3200))
    parts = fitted(few, many, PLACES, Parts())
    assert (parts.call, parts.start) == pytest.approx((call_s, start_s), abs=1e-6)
    for workers in (2, 4, 16):
        real = played_out(3200, workers, call_s, start_s).elsewhere_s
        assert simulated(3200, workers, PLACES, parts)["elsewhere"] == pytest.approx(real, rel=0.15)
