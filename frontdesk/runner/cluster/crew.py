"""The driver's side: workers found, shards placed, progress watched, lost shards placed anew, segments merged."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from distributed import Client, Future, LocalCluster

from frontdesk.runner.cluster import addresses, keys
from frontdesk.runner.cluster.addresses import On
from frontdesk.runner.cluster.desk import STOPS, MachinesLost, kind_of
from frontdesk.runner.cluster.segments import Copies, lines_of, read_block, share_of_rows
from frontdesk.runner.cluster.service import OPERATION, DeskPlugin
from frontdesk.runner.cluster.shard import Order, kept_folder, run_shard, sees
from frontdesk.runner.cluster.shares import Share
from frontdesk.runner.pipeline import Pipeline
from frontdesk.runner.score_plan import PEOPLE, PLAN, RUBRIC, SUBJECTS
from gateway.budget import Spent
from gateway.endpoint import Endpoint
from gateway.engine import Gateway
from gateway.errors import Interrupted, Stopped
from runstore.problems import Problem
from runstore.publish import read_json

LOOK_S = 0.2
FIRST_WORKER_S = 600.0
"""How long to wait for a first worker: a queue of a cluster may take its time."""
ANOTHER_WORKER_S = 60.0
LONGEST_STOP_S = 45.0
MOST_ATTEMPTS = 8
RESOURCE = "tutor-arena"
"""Where any worker declares this resource, only those that do are given shards."""
NEEDED: Mapping[str, Mapping[str, str | None]] = {
    "simulate": {},
    "collect": {"subsets.jsonl": "id"},
    "judge": {"subsets.jsonl": "id", "replies.jsonl": "subset"},
    "score": {PLAN: None, RUBRIC: None, SUBJECTS: "id", PEOPLE: ""},
}
"""The files that each stage reads, with the field that says whose a row is; None: whole; empty: kept here."""
_GONE = (OSError, asyncio.TimeoutError, asyncio.CancelledError)


@dataclass(slots=True)
class _Shard:
    share: Share
    worker: str
    attempt: int = 0
    future: Future | None = None
    result: dict[str, str] | None = None


class Crew:
    """The workers of one command's time with a run; asked for when the first stage needs them."""

    def __init__(self, on: On) -> None:
        self.on, self.run = on, uuid.uuid4().hex[:12]
        self._closing = contextlib.AsyncExitStack()
        self.client: Any = None
        self.seen: dict[str, bool] = {}

    async def close(self) -> None:
        """Let the workers go: those that were started for the run end, the others forget it."""
        if self.client is not None:
            with contextlib.suppress(*_GONE, Exception):
                await asyncio.wait_for(self.desk("leave"), 2.0)
                unseen = [worker for worker, seen in self.seen.items() if not seen]
                if unseen:
                    await self.client.run(_forget, self.run, workers=unseen, on_error="ignore")
        with contextlib.suppress(*_GONE, Exception):
            await self._closing.aclose()

    # -- the cluster

    async def _ready(self, say: Any) -> Any:
        """The client, connected. Raises Problem where there is no such cluster."""
        if self.client is not None:
            return self.client
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        try:
            target = await self._target(say)
            client = Client(target, asynchronous=True, timeout="30s", set_as_default=False)
            self.client = await self._closing.enter_async_context(client)
        except (TimeoutError, OSError, ValueError) as error:
            raise Problem(f"--on {self.on.text}: no scheduler answers there ({error})") from error
        await self.client.register_plugin(DeskPlugin())
        await self.desk("drive", self.client.id)
        return self.client

    async def _target(self, say: Any) -> Any:
        on = self.on
        if on.address:
            return on.address
        if on.file is not None and on.file.suffix == ".json":
            return str(read_json(on.file)["address"])
        if on.file is not None:
            plan = addresses.described(on.file)
            say(f"asks for {plan.workers} workers ({plan.kind})")
            cluster = plan.made()
            self._closing.callback(cluster.close)
            cluster.scale(plan.workers)
            return cluster.scheduler_address
        cluster = LocalCluster(
            n_workers=on.workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
            memory_limit=0,
            asynchronous=True,
        )
        return await self._closing.enter_async_context(cluster)

    async def desk(self, op: str, *args: object) -> Any:
        return await getattr(self.client.scheduler, OPERATION)(run=self.run, what=op, args=list(args))

    async def workers(self, limit_s: float) -> dict[str, dict[str, Any]]:
        """The workers there are, by address; waits for a first one. Raises MachinesLost."""
        waited = 0.0
        while True:
            known = await self.client.scheduler.identity(n_workers=-1)
            found: dict[str, dict[str, Any]] = known["workers"]
            if any(RESOURCE in info.get("resources", {}) for info in found.values()):
                found = {name: info for name, info in found.items() if RESOURCE in info.get("resources", {})}
            if found and len(found) >= self.on.workers:
                return found
            if waited >= limit_s:
                raise MachinesLost(f"no worker has come within {limit_s:g} s")
            await asyncio.sleep(LOOK_S)
            waited += LOOK_S

    async def _placed(self, gateway: Gateway) -> list[str]:
        """The workers that get a shard each: all; one a machine where a model runs inside of them."""
        found = await self.workers(FIRST_WORKER_S)
        names = sorted(found)
        if any(endpoint.adapter.settings.kind == "local" for endpoint in gateway.endpoints.values()):
            one_each = {found[name].get("host", name): name for name in reversed(names)}
            names = sorted(one_each.values())
        return names

    async def look_around(self, pipeline: Pipeline, workers: Sequence[str]) -> None:
        """Which workers see the run folder; whether all have their keys. Raises Problem."""
        mark = pipeline.folder.journal / f".seen-by-{self.run}"
        mark.touch()
        try:
            seen = await self.client.run(sees, str(mark.resolve()), workers=list(workers))
        finally:
            mark.unlink(missing_ok=True)
        self.seen.update(seen)
        if self.on.is_private:
            return
        names = list(keys.variables(pipeline.config, list(pipeline.opened().endpoints)))
        lacking = await self.client.run(keys.missing, names, workers=list(workers)) if names else {}
        for worker, missing in lacking.items():
            if missing:
                raise Problem(
                    f"--on {self.on.text}: worker {worker} has no {missing[0]} in its environment, and a key is "
                    "never sent over plain TCP; set it where the workers start, or connect by tls://"
                )

    # -- a stage

    async def ahead(self, pipeline: Pipeline, stage: str, of: int, unit: str) -> None:
        """Let the workers make the calls of a stage; afterwards the gateway's journal has them.

        Where it ends early, the gateway is stopped for the reason. Raises Problem.
        """
        gateway, progress = pipeline.opened(), pipeline.progress
        if of == 0 or gateway.stopped is not None:
            return
        await self._ready(progress.say)
        names = await self._placed(gateway)
        await self.look_around(pipeline, names)
        shards = [_Shard(Share(index, len(names)), name) for index, name in enumerate(names)]
        gateway.sync()
        progress.start(stage, of)
        watch = _Watch(self, pipeline, stage, shards)
        limits = {name: endpoint.limits for name, endpoint in gateway.endpoints.items()}
        trial = (pipeline.config.budget.trial_rounds, unit)
        await self.desk("open", stage, limits, watch.caps, gateway.budget.state(), trial)
        try:
            await watch.to_the_end()
        except Problem:
            with contextlib.suppress(*_GONE):
                await self.desk("stop", "interrupted", "a worker could not start")
            raise
        finally:
            watch.merge()

    async def submit(self, pipeline: Pipeline, stage: str, shard: _Shard) -> str:
        """Place a shard, anew where it has been lost; returns the name under which it borrows."""
        shard.attempt += 1
        order = self._order(pipeline, stage, shard)
        shard.future = self.client.submit(
            run_shard,
            order,
            workers=[shard.worker],
            allow_other_workers=True,
            pure=False,
            retries=0,
            key=f"tutor-arena-{self.run}-{order.holder}",
        )
        return order.holder

    def _order(self, pipeline: Pipeline, stage: str, shard: _Shard) -> Order:
        folder, gateway = pipeline.folder, pipeline.opened()
        is_seen = self.seen.get(shard.worker, False)
        given: dict[str, bytes] = {}
        for name, field in NEEDED[stage].items() if not is_seen else ():
            path = folder.file(name)
            given[name] = path.read_bytes() if field is None else _rows(path, shard.share, field)
        inputs = {
            path.relative_to(folder.path).as_posix(): path.read_bytes()
            for path in (folder.path / "inputs").rglob("*")
            if path.is_file()
        }
        budget = gateway.budget
        endpoints = tuple(gateway.endpoints)
        return Order(
            run=self.run,
            stage=stage,
            share=shard.share,
            attempt=shard.attempt,
            endpoints=endpoints,
            config=folder.file("run.toml").read_bytes(),
            inputs=inputs,
            folder=str(folder.path.resolve()),
            sees=is_seen,
            given=given,
            earlier=b"" if is_seen else lines_of(folder.journal, stage, shard.share),
            environ=keys.variables(pipeline.config, endpoints) if self.on.is_private else {},
            limited=tuple(name for name, one in gateway.endpoints.items() if any(one.limits)),
            caps={"usd": budget.usd, "calls": budget.calls, "tokens": budget.tokens},
        )


def _rows(path: Path, share: Share, field: str) -> bytes:
    return share_of_rows(path, share, lambda row: row[field]) if field else b""


class _Watch:
    """One stage while it is made elsewhere."""

    def __init__(self, crew: Crew, pipeline: Pipeline, stage: str, shards: list[_Shard]) -> None:
        self._crew, self._pipeline, self._stage, self._shards = crew, pipeline, stage, shards
        self._gateway = pipeline.opened()
        budget = self._gateway.budget
        self.caps = {"usd": budget.usd, "calls": budget.calls, "tokens": budget.tokens}
        self._before = Spent(**budget.state()["total"])
        self._copies = Copies(pipeline.folder.journal)
        self._told: dict[str, Any] = {}
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
        told = self._told = await asyncio.wait_for(self._crew.desk("look"), 30.0)
        progress = self._pipeline.progress
        for line in told["lines"]:
            progress.say(line)
        spent = {name: value + told["spent"][name] for name, value in _fields(self._before).items()}
        self._gateway.budget.total = Spent(**spent)
        self._gateway.budget.in_flight = told["in_flight"]
        progress.note = told["note"]
        progress.reach(told["done"])
        await self._fetch(told["segments"])

    async def _fetch(self, segments: Mapping[str, tuple[str, int]]) -> None:
        """What workers that do not see the run folder have written since."""
        for holder, (path, size) in segments.items():
            worker = self._workers.get(holder, "")
            while self._copies.fetched(path) < size and worker:
                asked = self._crew.client.run(
                    read_block, path, self._copies.fetched(path), workers=[worker], on_error="ignore"
                )
                block = (await asked).get(worker)
                if not block:
                    break
                self._copies.add(path, block)

    async def _settle(self, shard: _Shard) -> None:
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

    async def _replace(self, shard: _Shard) -> None:
        """The worker of a shard is lost: what it finished is kept, the rest goes on elsewhere."""
        if self._gateway.stopped is not None:
            shard.result = {"state": "stopped", "kind": "machines", "text": "a worker was lost while stopping"}
            return
        if shard.attempt >= MOST_ATTEMPTS:
            raise MachinesLost(f"shard {shard.share.index} was lost {shard.attempt} times")
        crew, before = self._crew, shard.worker
        found = await crew.workers(ANOTHER_WORKER_S)
        busy = {one.worker for one in self._shards if one.result is None and one is not shard}
        free = sorted(set(found) - busy) or sorted(found)
        shard.worker = free[shard.share.index % len(free)]
        if shard.worker not in crew.seen:
            await crew.look_around(self._pipeline, [shard.worker])
        self._pipeline.progress.say(
            f"{self._stage}: worker {before} was lost; its share goes on at {shard.worker}"
        )
        self._copies.close()
        await self._submit(shard)

    async def _submit(self, shard: _Shard) -> None:
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
            STOPS[cast("Any", one.result["kind"])](one.result["text"])
            for one in self._shards
            if one.result is not None and one.result["state"] == "stopped"
        ]
        if told := self._told.get("stop"):
            reasons.insert(0, STOPS[told[0]](told[1]))
        if self._gateway.stopped is None and reasons:
            self._gateway.stop(min(reasons, key=_rank))

    def merge(self) -> None:
        """What came, into the journal's index and the budget."""
        self._copies.close()
        budget = self._gateway.budget
        if self._told.get("budget") is not None:
            total = budget.total
            budget.restore(self._told["budget"])
            budget.total.failed, budget.total.served = total.failed, total.served
        budget.in_flight = 0
        if self._gateway.journal is not None:
            self._gateway.journal.catch_up()


def _rank(reason: Stopped) -> int:
    return int(isinstance(reason, Interrupted)) + int(isinstance(reason, MachinesLost))


def _fields(spent: Spent) -> dict[str, Any]:
    return {name: getattr(spent, name) for name in Spent.__slots__}


def _forget(run: str) -> None:
    import shutil

    shutil.rmtree(kept_folder(run), ignore_errors=True)


def served_of(endpoints: Mapping[str, Endpoint]) -> dict[str, int]:
    """Answers out of the journal so far, by endpoint."""
    return {name: endpoint.spent.served for name, endpoint in endpoints.items()}
