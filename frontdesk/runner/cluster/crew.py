"""The driver's side: workers found, shards placed, progress watched, lost shards placed anew, segments merged."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar, cast

from dask import config as dask_config
from distributed import Client, LocalCluster

from frontdesk.runner.cluster import addresses, kept, keys
from frontdesk.runner.cluster.addresses import On
from frontdesk.runner.cluster.desk import MachinesLost
from frontdesk.runner.cluster.quiet import quiet
from frontdesk.runner.cluster.segments import Copies, Parts, calls_by_share, rows_by_share
from frontdesk.runner.cluster.service import OPERATION, DeskPlugin
from frontdesk.runner.cluster.shard import PACKAGE, Order, about, run_shard
from frontdesk.runner.cluster.shares import Share
from frontdesk.runner.intent import HOW, QUESTIONS
from frontdesk.runner.pipeline import Pipeline
from frontdesk.runner.score_plan import PEOPLE, PLAN, RUBRIC, SUBJECTS
from gateway.engine import Gateway
from gateway.errors import JournalLost
from gateway.leases import REST_S
from runstore.problems import InputProblem, Problem
from runstore.publish import read_json
from runstore.segments import header

LOOK_S = 0.2
FIRST_WORKER_S = 600.0
"""How long to wait for a first worker: a queue of a cluster may take its time."""
TOLD_AFTER_S = 2.0
"""After so long a wait for a worker is told."""
RESTART_S = 10.0
"""How long a worker of this machine may take to be there again before its share goes to one that has another."""
ANOTHER_WORKER_S = 60.0
GONE_S = 5.0
"""How long a scheduler may not be reached before it is gone: only connecting takes so long, never an answer."""
ANSWER_S = 40.0
"""How long a scheduler that is there may take to answer, and a worker at first: it imports the program."""
STOP_S = 2.0
"""How long a desk is waited for that has only to hear of the end."""
FETCH_S = 10.0
"""How long a worker may take to send a block, or to say anything: it is asked again later, or gets no share."""
RESOURCE = "tutor-arena"
"""Where any worker declares this resource, only those that do are given shards."""
NEEDED: Mapping[str, Mapping[str, str | None]] = {
    "simulate": {},
    "collect": {"subsets.jsonl": "id"},
    "judge": {"subsets.jsonl": "id", "replies.jsonl": "subset"},
    "score": {PLAN: None, RUBRIC: None, SUBJECTS: "id", PEOPLE: ""},
    "intent": {HOW: None, QUESTIONS: "id"},
}
"""The files that each stage reads, with the field that says whose a row is; None: whole; empty: kept here."""
_Said = TypeVar("_Said")
GONE = (OSError, asyncio.TimeoutError, asyncio.CancelledError)


@dataclass(slots=True)
class Shard:
    share: Share
    worker: str
    attempt: int = 0
    holder: str = ""
    future: Any = None
    result: dict[str, str] | None = None


class Crew:
    """The workers of one command's time with a run; asked for when the first stage needs them."""

    def __init__(self, on: On) -> None:
        self.on, self.run = on, uuid.uuid4().hex[:12]
        self._closing = contextlib.AsyncExitStack()
        self.client: Any = None
        self.seen: dict[str, bool] = {}
        self.kept_as = ""
        self.copies: Copies | None = None
        self._asked: dict[str, int] = {}
        self._parts: dict[Path, Parts] = {}
        self._say: Callable[[str], None] = lambda _: None

    async def close(self) -> None:
        """Let the workers go: those that were started for the run end, the others let go what was fetched."""
        if self.client is not None:
            with contextlib.suppress(*GONE, Exception):
                await self.desk("leave", within_s=STOP_S)
                known = await self._known(STOP_S)
                if self.copies is not None:
                    self.copies.sync()
                    asked = (self.kept_as, self.copies.fetched)
                    await self.answers(kept.let_go, *asked, workers=self.unseen(known))
        with contextlib.suppress(*GONE, Exception):
            await self._closing.aclose()

    def unseen(self, workers: Iterable[str]) -> list[str]:
        """Those of the workers that were looked at and do not see the run folder."""
        return [worker for worker in workers if not self.seen.get(worker, True)]

    # -- the cluster

    async def ready(self, say: Callable[[str], None] = lambda _: None) -> Any:
        """The client, connected. Raises Problem where there is no such cluster, and OSError."""
        if self.client is not None:
            return self.client
        self._say = say
        self._closing.enter_context(quiet())
        self._closing.enter_context(dask_config.set({"distributed.comm.timeouts.connect": f"{GONE_S:g}s"}))
        try:
            target = await self._target(say)
            if isinstance(target, str) and target.startswith("tls:"):
                _check_certificates(self.on)
            await self._connect(target)
        except (MemoryError, OSError, ValueError) as error:  # what is no scheduler may say that it sends exabytes
            reason = str(error) or f"nothing was said for {ANSWER_S:g} s"
            raise Problem(f"--on {self.on.text}: no scheduler answers there ({reason})") from error
        return self.client

    async def _connect(self, target: Any) -> None:
        """Raises OSError, also where something listens and says nothing: the library would wait on."""
        client: Any = Client(target, asynchronous=True, timeout=f"{2 * GONE_S:g}s", set_as_default=False)
        try:
            async with asyncio.timeout(ANSWER_S):
                await client
                await client.register_plugin(DeskPlugin())
        except BaseException:
            with contextlib.suppress(*GONE, Exception):
                await asyncio.wait_for(client.close(timeout=STOP_S), STOP_S)
            raise
        self.client = await self._closing.enter_async_context(client)
        await self.desk("drive", client.id)

    async def _target(self, say: Callable[[str], None]) -> Any:
        on = self.on
        if on.address:
            return on.address
        if on.file is not None and on.file.suffix == ".json":
            return _scheduler_of(on.file)
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
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
            memory_limit=0,
            asynchronous=True,
        )
        return await self._closing.enter_async_context(cluster)

    async def desk(self, op: str, *args: object, within_s: float = ANSWER_S) -> Any:
        """Raises OSError, also where nothing is said for so long."""
        asked = getattr(self.client.scheduler, OPERATION)(run=self.run, what=op, args=list(args))
        return await asyncio.wait_for(asked, within_s)

    async def _known(self, within_s: float = ANSWER_S) -> dict[str, dict[str, Any]]:
        """The workers that the scheduler knows, by address. Raises OSError."""
        told = await asyncio.wait_for(self.client.scheduler.identity(n_workers=-1), within_s)
        return told["workers"]

    async def answers(
        self, ask: Callable[..., _Said], *args: object, workers: Sequence[str], limit_s: float = FETCH_S
    ) -> dict[str, _Said | Exception]:
        """What a function says on each of the workers, or what it raised there.

        One that says nothing for ``limit_s`` holds nobody else up: its answer is a TimeoutError. Raises OSError.
        """
        if not workers:
            return {}

        async def asked(some: Sequence[str], within_s: float = FETCH_S) -> dict[str, _Said | Exception]:
            return await asyncio.wait_for(
                self.client.run(ask, *args, workers=list(some), on_error="return"), within_s
            )

        with contextlib.suppress(TimeoutError):
            return await asked(workers, limit_s)
        each = await asyncio.gather(*(asked([worker]) for worker in workers), return_exceptions=True)
        told: dict[str, _Said | Exception] = {}
        for worker, answer in zip(workers, each, strict=True):
            if isinstance(answer, dict):
                told.update(answer)
            elif isinstance(answer, TimeoutError):
                told[worker] = answer
            else:
                raise answer
        return told

    async def open(self, gateway: Gateway, stage: str, trial: tuple[int, str]) -> None:
        """A stage begins at the desk. Raises OSError."""
        self._parts.clear()
        endpoints, budget = gateway.endpoints, gateway.budget
        limits = {name: endpoint.limits for name, endpoint in endpoints.items()}
        asked = [name for name, one in endpoints.items() if one.spent.calls > self._asked.get(name, 0)]
        await self.desk("open", stage, limits, budget.caps, budget.state(), trial, asked)

    def ended(self, gateway: Gateway) -> None:
        """A stage has ended: what its workers asked just now counts in the minute of who asks next."""
        for name, endpoint in gateway.endpoints.items():
            if endpoint.spent.calls > self._asked.get(name, 0):
                endpoint.rest(REST_S)
            self._asked[name] = endpoint.spent.calls

    async def workers(
        self, limit_s: float, is_over: Callable[[], bool], but: Collection[str] = ()
    ) -> dict[str, dict[str, Any]]:
        """The workers there are ``but`` those, by address; waits for a first one, unless it ``is_over``.

        Of as many as were asked for, those are waited for that are not there, not those that are there and hang.
        Raises MachinesLost, OSError.
        """
        waited = 0.0
        while True:
            known = await self._known()
            workers = {name: info for name, info in known.items() if name not in but}
            if any(RESOURCE in info.get("resources", {}) for info in workers.values()):
                workers = {name: info for name, info in workers.items() if RESOURCE in info.get("resources", {})}
            if is_over() or (workers and (len(known) >= self.on.workers or waited >= RESTART_S)):
                return workers
            if waited >= limit_s:
                raise MachinesLost(f"no worker has come within {limit_s:g} s")
            if waited < TOLD_AFTER_S <= waited + LOOK_S:
                self._say(f"waits for a worker, {limit_s:g} s at most")
            await asyncio.sleep(LOOK_S)
            waited += LOOK_S

    async def placed(self, gateway: Gateway) -> list[str]:
        """The workers that get a shard each: all; one a machine where a model runs inside of them."""
        workers = await self.workers(FIRST_WORKER_S, lambda: gateway.stopped is not None)
        names = sorted(workers)
        if any(endpoint.adapter.settings.kind == "local" for endpoint in gateway.endpoints.values()):
            one_each = {workers[name].get("host", name): name for name in reversed(names)}
            names = sorted(one_each.values())
        return names

    async def look_around(self, pipeline: Pipeline, workers: Sequence[str]) -> list[str]:
        """The workers that answer; whether they have this version, and their keys, and see the run folder.

        Raises Problem, JournalLost.
        """
        mark = pipeline.folder.journal / f".seen-by-{self.run}"
        try:
            mark.touch()
        except OSError as error:
            raise JournalLost.of(error) from error
        try:
            limit_s = ANSWER_S if any(worker not in self.seen for worker in workers) else FETCH_S
            told = await self.answers(about, str(mark.resolve()), workers=workers, limit_s=limit_s)
        finally:
            mark.unlink(missing_ok=True)
        own = version(PACKAGE)
        for worker, answer in told.items():
            if isinstance(answer, OSError):
                pipeline.progress.say(f"worker {worker} does not answer: it gets no share")
                continue
            if isinstance(answer, Exception):
                reason = f"{type(answer).__name__}: {answer}"
                raise Problem(
                    f"--on {self.on.text}: worker {worker} cannot run {PACKAGE} ({reason}); install {own} there"
                )
            if answer[0] != own:
                raise Problem(
                    f"--on {self.on.text}: worker {worker} has {PACKAGE} {answer[0]}; install {own} there"
                )
            self.seen[worker] = answer[1]
        there = [worker for worker in workers if not isinstance(told.get(worker), OSError)]
        if self.unseen(there) and not self.kept_as:
            try:
                self.kept_as = kept.id_of(pipeline.folder.journal)
            except OSError as error:
                raise JournalLost.of(error) from error
        await self._check_keys(pipeline, [worker for worker in there if not self.on.is_private_to(worker)])
        return there

    async def _check_keys(self, pipeline: Pipeline, workers: Sequence[str]) -> None:
        """Of workers that are sent none. Raises Problem for one whose environment lacks a key."""
        names = list(keys.variables(pipeline.config, list(pipeline.opened().endpoints))) if workers else []
        lacking = await self.answers(keys.missing, names, workers=workers if names else [])
        for worker, missing in lacking.items():
            if not isinstance(missing, Exception) and missing:
                raise Problem(
                    f"--on {self.on.text}: worker {worker} has no {missing[0]} in its environment, and a key is "
                    "never sent over plain TCP; set it where the workers start, or connect by tls://"
                )

    def submit(self, pipeline: Pipeline, stage: str, shard: Shard) -> None:
        """Place a shard at its worker, and nowhere else."""
        shard.attempt += 1
        order = self._order(pipeline, stage, shard)
        shard.holder = order.holder
        shard.future = self.client.submit(
            run_shard,
            order,
            workers=[shard.worker],
            pure=False,
            retries=0,
            key=f"tutor-arena-{self.run}-{order.holder}",
        )

    def _order(self, pipeline: Pipeline, stage: str, shard: Shard) -> Order:
        folder, gateway = pipeline.folder, pipeline.opened()
        is_seen = self.seen.get(shard.worker, False)
        given: dict[str, bytes] = {}
        for name, field in NEEDED[stage].items() if not is_seen else ():
            path = folder.file(name)
            given[name] = path.read_bytes() if field is None else self._rows_of(path, shard, field)
        inputs = {
            path.relative_to(folder.path).as_posix(): path.read_bytes()
            for path in (folder.path / "inputs").rglob("*")
            if path.is_file()
        }
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
            kept_as=self.kept_as,
            given=given,
            earlier=b"" if is_seen else self._calls_of(folder.journal, stage, shard),
            environ=keys.variables(pipeline.config, endpoints) if self.on.is_private_to(shard.worker) else {},
            limited=tuple(name for name, endpoint in gateway.endpoints.items() if any(endpoint.limits)),
            caps=gateway.budget.caps,
        )

    def _rows_of(self, path: Path, shard: Shard, field: str) -> bytes:
        if not field:
            return b""
        if path not in self._parts:
            self._parts[path] = rows_by_share(path, shard.share.of, field)
        return self._parts[path].of(shard.share)

    def _calls_of(self, journal: Path, stage: str, shard: Shard) -> bytes:
        """A segment with the share's finished calls, those that a lost worker made among them; or nothing."""
        if journal not in self._parts or shard.attempt > 1:
            self._parts[journal] = calls_by_share(journal, stage, shard.share.of)
        lines = self._parts[journal].of(shard.share)
        return header(copied=True) + lines if lines else b""


def _check_certificates(on: On) -> None:
    """Raises Problem where Dask's configuration names none."""
    set_up = ("distributed.comm.tls.ca-file", "distributed.client.security-loader")
    if not any(dask_config.get(name, None) for name in set_up):  # pyright: ignore[reportUnknownMemberType] - untyped
        lacking = "needs certificates: set distributed.comm.tls (ca-file, client cert and key) for Dask"
        raise Problem(f"--on {on.text}: {lacking}")


def _scheduler_of(file: Path) -> str:
    """The address in a file that a scheduler wrote. Raises InputProblem."""
    told: object = read_json(file)
    address = cast("dict[str, object]", told).get("address") if isinstance(told, dict) else None
    if not isinstance(address, str):
        raise InputProblem(file, "the scheduler's address", found=address, field="address")
    return address
