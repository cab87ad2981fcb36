"""One stage while it is made elsewhere: progress, what came, what was lost, why it ends."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, cast

from frontdesk.runner.cluster.crew import (
    ANOTHER_WORKER_S,
    FETCH_S,
    GONE,
    LOOK_S,
    STOP_S,
    Crew,
    Shard,
)
from frontdesk.runner.cluster.desk import STOPS, Looked, MachinesLost, StopKind, Sums, kind_of, sum_of
from frontdesk.runner.cluster.kept import kept
from frontdesk.runner.cluster.segments import Copies, read_block
from frontdesk.runner.cluster.shares import Share
from frontdesk.runner.pipeline import Pipeline
from frontdesk.runner.session import count_rows
from frontdesk.runner.writers import until_none
from gateway.budget import Budget, Spent
from gateway.errors import Interrupted, JournalLost, Stopped
from runstore.journal import read_rows
from runstore.problems import Problem
from runstore.segments import segments

LONGEST_STOP_S = 45.0
MOST_ATTEMPTS = 8


async def ahead(crew: Crew, pipeline: Pipeline, stage: str, of: int, unit: str) -> None:
    """Let the workers make the calls of a stage; afterwards the gateway's journal has them.

    Where it ends early, the gateway is stopped for the reason. ``unit``: what judges are tried by. Raises Problem.
    """
    gateway = pipeline.opened()
    if of == 0 or gateway.stopped is not None:
        return
    try:
        await crew.ready(pipeline.progress.say)
        workers = await crew.look_around(pipeline, await crew.placed(gateway))
        if gateway.stopped is not None:
            return
        if not workers:
            raise MachinesLost("no worker answers")
        watch = Watch(crew, pipeline, stage, workers)
        await watch.begin(of, unit)
    except Stopped as reason:
        gateway.stop(reason)
        return
    except OSError as error:
        gateway.stop(MachinesLost(f"the scheduler is gone ({type(error).__name__})"))
        return
    try:
        await watch.to_the_end()
    except Problem:
        with contextlib.suppress(*GONE):
            await crew.desk("stop", "interrupted", "a worker could not start", within_s=STOP_S)
        raise
    finally:
        watch.merge()


class Watch:
    """One stage while it is made elsewhere."""

    def __init__(self, crew: Crew, pipeline: Pipeline, stage: str, workers: Sequence[str]) -> None:
        self._crew, self._pipeline, self._stage = crew, pipeline, stage
        self._shards = [Shard(Share(at, len(workers)), worker) for at, worker in enumerate(workers)]
        self._gateway = pipeline.opened()
        self._copies = crew.copies = crew.copies or Copies(pipeline.folder.journal)
        self._before = Spent()
        self._each_before: dict[str, Spent] = {}
        self._written: dict[Path, int] = {}
        self._told: Looked | None = None
        self._stop_by: float | None = None

    async def begin(self, of: int, unit: str) -> None:
        """Before anything is asked: what earlier commands left on workers' disks; then the desk opens.

        Raises Stopped, OSError.
        """
        gateway, progress = self._gateway, self._pipeline.progress
        before = dict(self._copies.fetched)
        await until_none(self._fetch_left, progress.say, self._is_stopped)
        if gateway.journal is not None and gateway.budget.is_capped and self._copies.fetched != before:
            whole = Budget()
            count_rows(gateway.journal.rows(), lambda _: whole)
            _go_on(gateway.budget, whole.state())
        gateway.sync()
        self._written = {path: path.stat().st_size for path in segments(self._pipeline.folder.journal)}
        self._pipeline.start(self._stage, of)
        self._before = replace(gateway.budget.total)
        self._each_before = {name: replace(endpoint.spent) for name, endpoint in gateway.endpoints.items()}
        await self._crew.open(gateway, self._stage, (self._pipeline.config.budget.trial_rounds, unit))

    def _is_stopped(self) -> bool:
        return self._gateway.stopped is not None

    async def to_the_end(self) -> None:
        """Until every shard has ended, or the run is stopped and had its time."""
        try:
            for shard in self._shards:
                self._crew.submit(self._pipeline, self._stage, shard)
            while any(shard.result is None for shard in self._shards):
                await asyncio.sleep(LOOK_S)
                lost = await self._look()
                for shard in self._shards:
                    await self._settle(shard, lost)
                if await self._has_waited_enough():
                    break
            await self._look()
        except asyncio.CancelledError:
            with contextlib.suppress(Exception):
                await self._crew.desk("stop", "interrupted", "interrupted", within_s=STOP_S)
            raise
        except Stopped as reason:
            self._gateway.stop(reason)
        except OSError as error:
            self._gateway.stop(MachinesLost(f"the scheduler is gone ({type(error).__name__})"))
        self._stop_as_told()

    async def _look(self) -> set[str]:
        """How far it is; the workers that are gone, or have said nothing for so long that they count as gone."""
        told = self._told = Looked(**await self._crew.desk("look"))
        progress, endpoints = self._pipeline.progress, self._gateway.endpoints
        for line in told.lines:
            progress.say(line)
        self._gateway.budget.total = _added(self._before, told.spent)
        for name, spent in told.endpoints.items():
            endpoints[name].spent = _added(self._each_before[name], spent)
        for name, latencies in told.latencies.items():
            endpoints[name].latencies.extend(latencies)
        self._gateway.budget.in_flight = told.in_flight
        progress.note = told.note
        progress.reach(told.done)
        self._pipeline.log_progress()
        workers = {shard.holder: shard.worker for shard in self._shards}
        there = {holder: told.segments[holder] for holder in workers if holder in told.segments}
        await asyncio.gather(*(self._fetch(workers[holder], *file) for holder, file in there.items()))
        working = [shard.worker for shard in self._shards if shard.result is None]
        absent: list[str] = await self._crew.desk("absent", working)
        return {*absent, *(workers[holder] for holder in told.silent if holder in workers)}

    # -- segments of workers that do not see the run folder

    async def _fetch(self, worker: str, path: str, size: int) -> None:
        """As much of a worker's file as is written. Raises JournalLost."""
        while (have := self._copies.fetched.get(path, 0)) < size:
            asked = self._crew.client.run(read_block, path, have, workers=[worker], on_error="ignore")
            try:
                block = (await asyncio.wait_for(asked, FETCH_S)).get(worker)
            except TimeoutError:
                return
            if not block:
                return
            try:
                self._copies.add(path, block)
            except OSError as error:
                raise JournalLost.of(error) from error

    async def _fetch_left(self) -> int:
        """What is kept on the machines and nobody writes any more; how many segments are still to come.

        An earlier command's worker writes them, or their machine took too long.
        """
        to_come = set[str]()
        told = await self._crew.answers(kept, self._crew.kept_as, workers=self._crew.unseen(self._crew.seen))
        for worker, found in told.items():
            for path, size, is_written in () if isinstance(found, Exception) else found:
                if not is_written:
                    await self._fetch(worker, path, size)
                is_whole = self._copies.fetched.get(path, 0) >= size
                if (is_written and self._crew.run not in path) or not (is_written or is_whole):
                    to_come.add(path)
        return len(to_come)

    # -- shards

    async def _settle(self, shard: Shard, lost: Collection[str]) -> None:
        future = shard.future
        if shard.result is not None or future is None:
            return
        if future.status == "pending":
            if shard.worker in lost:
                await self._replace(shard, lost)
            return
        if future.status == "finished":
            try:
                result = cast("dict[str, str]", await asyncio.wait_for(future, FETCH_S))
            except TimeoutError:  # its worker is gone with it, as the next look tells, or hangs
                return
            if result["state"] == "problem":
                raise Problem(result["text"])
            if result["state"] != "again":
                shard.result = result
                return
        elif self._crew.client.status != "running":
            raise MachinesLost("the scheduler is gone")
        await self._replace(shard, lost)

    async def _replace(self, shard: Shard, lost: Collection[str]) -> None:
        """The worker of a shard is lost: what it finished is kept, the rest goes on elsewhere."""
        before = shard.worker
        shard.future.release()
        if before in lost:
            self._crew.seen.pop(before, None)
        await self._crew.desk("withdraw", shard.holder)
        if shard.attempt >= MOST_ATTEMPTS:
            raise MachinesLost(f"shard {shard.share.index} was lost {shard.attempt} times")
        other = await self._another(shard, set(lost))
        if other is None:
            shard.result = {"state": "stopped", "kind": "machines", "text": "a worker was lost while stopping"}
            return
        shard.worker = other
        await self._fetch_left()
        how = f"was lost; its share goes on at {other}"
        if other == before:
            how = "lost sight of the scheduler; its share goes on there"
        self._pipeline.progress.say(f"{self._stage}: worker {before} {how}")
        self._crew.submit(self._pipeline, self._stage, shard)

    async def _another(self, shard: Shard, lost: set[str]) -> str | None:
        """A worker that answers, a free one if there is one; none once the run is stopped. Raises MachinesLost."""
        crew = self._crew
        while not self._is_stopped():
            workers = await crew.workers(ANOTHER_WORKER_S, self._is_stopped, lost)
            busy = {other.worker for other in self._shards if other.result is None and other is not shard}
            free = sorted(set(workers) - busy) or sorted(workers)
            name = free[shard.share.index % len(free)] if free else ""
            if name and await crew.look_around(self._pipeline, [name]):
                return name
            lost.add(name)
        return None

    # -- the end

    async def _has_waited_enough(self) -> bool:
        """Tell the workers of a stop, once; they let calls in flight end, and no longer than that."""
        reason = self._gateway.stopped
        if reason is None:
            return False
        if self._stop_by is None:
            self._stop_by = time.monotonic() + LONGEST_STOP_S
            await self._crew.desk("stop", kind_of(reason), str(reason))
        return time.monotonic() > self._stop_by

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
        self._copies.sync()
        budget = self._gateway.budget
        if self._told is not None and self._told.budget is not None:
            _go_on(budget, self._told.budget)
        if isinstance(self._gateway.stopped, MachinesLost):
            self._count_journal()
        budget.in_flight = 0
        self._crew.ended(self._gateway)
        if self._gateway.journal is not None:
            self._gateway.journal.catch_up()

    def _count_journal(self) -> None:
        """What the stage has spent by what is written, or was told of last: nobody is left to tell the rest."""
        written: dict[str, Budget] = defaultdict(Budget)
        count_rows(self._rows(), written.__getitem__)
        for row in self._rows():
            if row["state"] in ("failed", "truncated") and row["failure"]["kind"] != "interrupted":
                written[row["endpoint"]].total.failed += 1
        told = {} if self._told is None else self._told.endpoints
        stage: dict[str, Sums] = {}
        for name, endpoint in self._gateway.endpoints.items():
            known: list[Sums] = [asdict(written[name].total), told.get(name, sum_of([]))]
            stage[name] = max(known, key=lambda sums: sums["calls"])
            endpoint.spent = _added(self._each_before[name], stage[name])
        self._gateway.budget.total = _added(self._before, sum_of(stage.values()))

    def _rows(self) -> Iterator[Mapping[str, Any]]:
        """The calls of this stage that are written."""
        return read_rows(self._pipeline.folder.journal, self._written)


def _rank(reason: Stopped) -> int:
    return int(isinstance(reason, Interrupted)) + int(isinstance(reason, MachinesLost))


def _go_on(budget: Budget, state: Mapping[str, Any]) -> None:
    """With what is spent by that state, which knows neither failures nor what was served."""
    failed, served = budget.total.failed, budget.total.served
    budget.restore(state)
    budget.total.failed, budget.total.served = failed, served


def _added(before: Spent, more: Sums) -> Spent:
    """What was spent before, and elsewhere since; answers out of journals count where they are used."""
    return Spent(
        **{name: value + (0 if name == "served" else more[name]) for name, value in asdict(before).items()}
    )
