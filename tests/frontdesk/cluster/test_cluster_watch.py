"""How the driver follows shares whose workers hang or are gone; the desk is real, the way to it a call."""

import asyncio
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from frontdesk.runner.cluster import watch as watching
from frontdesk.runner.cluster.addresses import parse
from frontdesk.runner.cluster.crew import Crew, Shard
from frontdesk.runner.cluster.desk import Desk, Looked, MachinesLost, Told, sum_of
from frontdesk.runner.cluster.kept import Kept, kept
from frontdesk.runner.cluster.watch import Watch
from gateway.budget import Budget
from gateway.engine import Gateway
from tests.frontdesk.cluster.test_cluster_parts import calls_of

A, B, C = "tcp://10.0.0.1:1", "tcp://10.0.0.2:1", "tcp://10.0.0.3:1"


class Placed(Crew):
    """Shares are placed by writing down where; the scheduler knows the workers that the test names."""

    def __init__(self, on: str, *known: str) -> None:
        super().__init__(parse(on))
        self.known, self.own, self.said = list(known), Desk(), list[str]()
        self.client = SimpleNamespace(
            scheduler=SimpleNamespace(identity=self._identity), run=self._run, status="running"
        )
        self.hanging: set[str] = set()
        self.kept: list[Kept] = []

    async def _identity(self, **_: object) -> dict[str, Any]:
        return {"workers": {name: {"host": name} for name in self.known}}

    async def _run(self, ask: Any, *args: Any, workers: list[str], on_error: str) -> dict[str, Any]:
        if self.hanging & set(workers):
            await asyncio.sleep(3600)
        return {name: self.kept if ask is kept else ask(*args) for name in workers}

    async def desk(self, op: str, *args: object, within_s: float = 1.0) -> Any:
        if op == "absent":
            return [worker for worker in args[0] if worker not in self.known]  # type: ignore[attr-defined] - a list
        answer = getattr(self.own, op)(*args)
        return asdict(answer) if isinstance(answer, Looked) else answer

    def submit(self, pipeline: Any, stage: str, shard: Shard) -> None:
        shard.attempt += 1
        shard.holder = f"{stage}-{shard.share.index}-{shard.attempt}"
        shard.future = SimpleNamespace(status="pending", release=lambda: None)
        self.own.start(stage, shard.holder, shard.worker)


async def watch_of(crew: Placed, journal: Path, *workers: str, gateway: Gateway | None = None) -> Watch:
    folder = SimpleNamespace(journal=journal)
    progress = SimpleNamespace(say=crew.said.append, note="", reach=lambda done: None)
    gateway = gateway or Gateway({})
    config = SimpleNamespace(budget=SimpleNamespace(trial_rounds=0))
    pipeline: Any = SimpleNamespace(opened=lambda: gateway, folder=folder, progress=progress, config=config)
    pipeline.start = lambda stage, of: None
    pipeline.log_progress = lambda: None
    watch = Watch(crew, pipeline, "judge", workers)
    await watch.begin(9, "rounds")
    for shard in watch._shards:
        crew.submit(pipeline, "judge", shard)
    return watch


def beat(crew: Placed, shard: Shard, done: int) -> None:
    plain = {"done": done, "of": 9, "in_flight": 0, "spent": {}, "endpoints": {}, "judges": {}}
    assert crew.own.beat(shard.holder, plain, []) is None


async def looked(watch: Watch) -> None:
    lost = await watch._look()
    for shard in watch._shards:
        await watch._settle(shard, lost)


async def test_what_a_lost_worker_had_finished_before_stays_counted(tmp_path):
    crew = Placed("tcp://10.0.0.9:1", A, B, C)
    watch = await watch_of(crew, tmp_path, A, B, C)
    first, second, third = watch._shards
    for shard, done in ((first, 9), (second, 5), (third, 2)):
        beat(crew, shard, done)
    first.result = {"state": "done"}
    crew.known.remove(B)
    await looked(watch)
    assert second.worker == A, "the free one"
    beat(crew, second, 5)
    crew.known.remove(A)
    await looked(watch)
    beat(crew, second, 6)
    assert second.worker == C
    assert crew.own.look().done == 9 + 6 + 2


async def test_a_share_that_starts_anew_leaves_others_at_the_same_worker_alone(tmp_path):
    crew = Placed("tcp://10.0.0.9:1", A)
    watch = await watch_of(crew, tmp_path, A, A)
    first, second = watch._shards
    beat(crew, second, 4)

    async def again() -> dict[str, str]:
        return {"state": "again"}

    first.future = Finished(again())
    await looked(watch)
    assert (first.attempt, second.attempt) == (2, 1)
    beat(crew, second, 5)


class Finished:
    """A share's future whose result is fetched from its worker."""

    status = "finished"

    def __init__(self, result: Any) -> None:
        self._result = result

    def __await__(self) -> Any:
        return self._result.__await__()

    def release(self) -> None:
        pass


async def test_a_result_whose_worker_is_gone_is_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(watching, "FETCH_S", 0.05)
    crew = Placed("tcp://10.0.0.9:1", A, B)
    watch = await watch_of(crew, tmp_path, A, B)
    first, _ = watch._shards
    first.future = Finished(asyncio.get_running_loop().create_future())
    await asyncio.wait_for(looked(watch), 5)
    assert (first.worker, first.result) == (A, None)
    crew.known.remove(A)
    first.future = SimpleNamespace(status="pending", release=lambda: None)
    await looked(watch)
    assert first.worker == B


async def test_of_workers_that_were_started_for_the_run_one_that_hangs_is_not_replaced_by_a_wait(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(watching, "ANOTHER_WORKER_S", 0.0)
    crew = Placed("local:3", A, B, C)
    watch = await watch_of(crew, tmp_path, A, B, C)
    beat(crew, watch._shards[0], 1)
    await watch._settle(watch._shards[0], {A})
    assert watch._shards[0].worker in (B, C)
    crew.known.remove(A)
    with pytest.raises(MachinesLost, match="no worker has come"):
        await watch._settle(watch._shards[0], {watch._shards[0].worker})


async def test_what_a_machine_was_too_slow_to_send_is_asked_for_again(tmp_path, monkeypatch):
    monkeypatch.setattr(watching, "FETCH_S", 0.05)
    crew = Placed("tcp://10.0.0.9:1", A)
    watch = await watch_of(crew, tmp_path, A)
    crew.seen[A] = False
    far = tmp_path / "far.jsonl"
    far.write_bytes(b"one\n")
    crew.kept = [Kept(str(far), 4, False)]
    run, slow = crew.client.run, True

    async def slowly(ask: Any, *args: Any, **more: Any) -> Any:
        if slow and ask is not kept:
            await asyncio.sleep(3600)
        return await run(ask, *args, **more)

    crew.client.run = slowly
    assert await watch._fetch_left() == 1
    slow = False
    assert await watch._fetch_left() == 0
    assert watch._copies.fetched == {str(far): 4}


async def test_a_stop_is_waited_for_by_the_clock(tmp_path, monkeypatch):
    crew = Placed("tcp://10.0.0.9:1", A)
    watch = await watch_of(crew, tmp_path, A)
    watch._gateway.stop()
    assert not await watch._has_waited_enough()
    monkeypatch.setattr(watching, "time", SimpleNamespace(monotonic=lambda: 1e12))
    assert await watch._has_waited_enough(), "though it was looked at twice only"


@pytest.mark.parametrize("told", [1, 5])
def test_without_a_scheduler_what_was_spent_is_what_is_written_or_was_told_of_last(tmp_path, told):
    """Two calls are written; of five, three lie on a disk that nobody can ask."""
    crew = Placed("tcp://10.0.0.9:1", A)
    (tmp_path / "journal").mkdir()
    (tmp_path / "r.jsonl").write_text('{"reply":"yes"}\n')
    gateway = Gateway.open(
        {"s": {"kind": "scripted", "replies": str(tmp_path / "r.jsonl")}}, budget=Budget(calls=9)
    )
    watch = asyncio.run(watch_of(crew, tmp_path / "journal", A, gateway=gateway))
    calls_of(tmp_path / "journal", ("judge", "s-1"), ("judge", "s-2"))
    sums = {**sum_of([]), "calls": float(told)}
    (shard,) = watch._shards
    crew.own.beat(shard.holder, asdict(Told(spent=sums, endpoints={"s": sums})), [])
    asyncio.run(watch._look())
    gateway.stop(MachinesLost("the scheduler is gone"))
    watch.merge()
    assert gateway.budget.total.calls == gateway.endpoints["s"].spent.calls == max(2, told)
