"""One stage while it is made elsewhere: progress, what came, what was lost, why it ends."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import cast

from frontdesk.runner.cluster.crew import (
    ANOTHER_WORKER_S,
    ANSWER_S,
    FETCH_S,
    GONE,
    LOOK_S,
    Crew,
    Shard,
)
from frontdesk.runner.cluster.desk import STOPS, Looked, MachinesLost, StopKind, Sums, kind_of
from frontdesk.runner.cluster.segments import Copies, read_block
from frontdesk.runner.cluster.shares import Share
from frontdesk.runner.pipeline import Pipeline
from gateway.budget import Spent
from gateway.errors import Interrupted, Stopped
from runstore.problems import Problem

LONGEST_STOP_S = 45.0
MOST_ATTEMPTS = 8


async def ahead(crew: Crew, pipeline: Pipeline, stage: str, of: int, unit: str) -> None:
    """Let the workers make the calls of a stage; afterwards the gateway's journal has them.

    Where it ends early, the gateway is stopped for the reason. ``unit``: what judges are tried by. Raises Problem.
    """
    gateway, progress = pipeline.opened(), pipeline.progress
    if of == 0 or gateway.stopped is not None:
        return
    await crew.ready(progress.say)
    names = await crew.placed(gateway)
    await crew.look_around(pipeline, names)
    shards = [Shard(Share(index, len(names)), name) for index, name in enumerate(names)]
    gateway.sync()
    progress.start(stage, of)
    watch = Watch(crew, pipeline, stage, shards)
    limits = {name: endpoint.limits for name, endpoint in gateway.endpoints.items()}
    trial = (pipeline.config.budget.trial_rounds, unit)
    await crew.desk("open", stage, limits, gateway.budget.caps, gateway.budget.state(), trial)
    try:
        await watch.to_the_end()
    except Problem:
        with contextlib.suppress(*GONE):
            await crew.desk("stop", "interrupted", "a worker could not start")
        raise
    finally:
        watch.merge()


class Watch:
    """One stage while it is made elsewhere."""

    def __init__(self, crew: Crew, pipeline: Pipeline, stage: str, shards: list[Shard]) -> None:
        self._crew, self._pipeline, self._stage, self._shards = crew, pipeline, stage, shards
        self._gateway = pipeline.opened()
        self._before = Spent(**self._gateway.budget.state()["total"])
        self._each_before = {name: replace(endpoint.spent) for name, endpoint in self._gateway.endpoints.items()}
        self._copies = Copies(pipeline.folder.journal)
        self._told: Looked | None = None
        self._workers: dict[str, str] = {}
        self._stopped_for = 0.0
        self._is_told = False

    async def to_the_end(self) -> None:
        """Until every shard has ended, or the run is stopped and had its time."""
        crew = self._crew
        try:
            for shard in self._shards:
                await self._submit(shard)
            while any(shard.result is None for shard in self._shards):
                await asyncio.sleep(LOOK_S)
                await self._look()
                for shard in self._shards:
                    await self._settle(shard)
                if await self._has_waited_enough():
                    break
            await self._look()
        except asyncio.CancelledError:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(crew.desk("stop", "interrupted", "interrupted"), 2.0)
            raise
        except MachinesLost as reason:
            self._gateway.stop(reason)
        except OSError as error:
            self._gateway.stop(MachinesLost(f"the scheduler is gone ({type(error).__name__})"))
        self._stop_as_told()

    async def _look(self) -> None:
        told = self._told = Looked(**await asyncio.wait_for(self._crew.desk("look"), ANSWER_S))
        progress = self._pipeline.progress
        for line in told.lines:
            progress.say(line)
        self._gateway.budget.total = _added(self._before, told.spent)
        for name, spent in told.endpoints.items():
            self._gateway.endpoints[name].spent = _added(self._each_before[name], spent)
        self._gateway.budget.in_flight = told.in_flight
        progress.note = told.note
        progress.reach(told.done)
        await self._fetch(told.segments)

    async def _fetch(self, segments: Mapping[str, tuple[str, int]]) -> None:
        """What workers that do not see the run folder have written since."""
        for holder, (path, size) in segments.items():
            worker = self._workers.get(holder, "")
            while self._copies.fetched(path) < size and worker:
                asked = self._crew.client.run(
                    read_block, path, self._copies.fetched(path), workers=[worker], on_error="ignore"
                )
                try:
                    block = (await asyncio.wait_for(asked, FETCH_S)).get(worker)
                except TimeoutError:
                    break
                if not block:
                    break
                self._copies.add(path, block)

    async def _settle(self, shard: Shard) -> None:
        future = shard.future
        if shard.result is not None or future is None or future.status == "pending":
            return
        if future.status == "finished":
            result = cast("dict[str, str]", await future)
            if result["state"] == "problem":
                raise Problem(result["text"])
            if result["state"] != "again":
                shard.result = result
                return
        elif self._crew.client.status != "running":
            raise MachinesLost("the scheduler is gone")
        await self._replace(shard)

    async def _replace(self, shard: Shard) -> None:
        """The worker of a shard is lost: what it finished is kept, the rest goes on elsewhere."""
        if self._gateway.stopped is not None:
            shard.result = {"state": "stopped", "kind": "machines", "text": "a worker was lost while stopping"}
            return
        if shard.attempt >= MOST_ATTEMPTS:
            raise MachinesLost(f"shard {shard.share.index} was lost {shard.attempt} times")
        crew, before = self._crew, shard.worker
        self._workers = {holder: worker for holder, worker in self._workers.items() if worker != before}
        workers = await crew.workers(ANOTHER_WORKER_S)
        busy = {other.worker for other in self._shards if other.result is None and other is not shard}
        free = sorted(set(workers) - busy) or sorted(workers)
        shard.worker = free[shard.share.index % len(free)]
        if shard.worker not in crew.seen:
            await crew.look_around(self._pipeline, [shard.worker])
        self._pipeline.progress.say(
            f"{self._stage}: worker {before} was lost; its share goes on at {shard.worker}"
        )
        await self._submit(shard)

    async def _submit(self, shard: Shard) -> None:
        holder = await self._crew.submit(self._pipeline, self._stage, shard)
        self._workers[holder] = shard.worker

    async def _has_waited_enough(self) -> bool:
        """Tell the workers of a stop, once; they let calls in flight end, and no longer than that."""
        reason = self._gateway.stopped
        if reason is None:
            return False
        if not self._is_told:
            self._is_told = True
            await self._crew.desk("stop", kind_of(reason), str(reason))
        self._stopped_for += LOOK_S
        return self._stopped_for > LONGEST_STOP_S

    def _stop_as_told(self) -> None:
        """Stop the gateway for the reason for which shards stopped: the first that is not merely an interrupt."""
        reasons = [
            STOPS[cast("StopKind", shard.result["kind"])](shard.result["text"])
            for shard in self._shards
            if shard.result is not None and shard.result["state"] == "stopped"
        ]
        if self._told is not None and self._told.stop is not None:
            kind, text = self._told.stop
            reasons.insert(0, STOPS[kind](text))
        if self._gateway.stopped is None and reasons:
            self._gateway.stop(min(reasons, key=_rank))

    def merge(self) -> None:
        """What came, into the journal's index and the budget."""
        self._copies.close()
        budget = self._gateway.budget
        if self._told is not None and self._told.budget is not None:
            total = budget.total
            budget.restore(self._told.budget)
            budget.total.failed, budget.total.served = total.failed, total.served
        budget.in_flight = 0
        if self._gateway.journal is not None:
            self._gateway.journal.catch_up()


def _rank(reason: Stopped) -> int:
    return int(isinstance(reason, Interrupted)) + int(isinstance(reason, MachinesLost))


def _added(before: Spent, more: Sums) -> Spent:
    """What was spent before, and elsewhere since; answers out of journals count where they are used."""
    return Spent(
        **{name: value + (0 if name == "served" else more[name]) for name, value in asdict(before).items()}
    )
