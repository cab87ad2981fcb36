"""The desk as a part of the scheduler, and how it is asked: one small message for many calls."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Any

from distributed import Worker
from distributed.diagnostics.plugin import SchedulerPlugin

from frontdesk.runner.cluster.desk import Desk, Looked

OPERATION = "tutor_arena_desk"
MOST_LEFT = 16
"""Desks that are kept of runs whose driver is gone: their workers have still to hear of it."""


class DeskPlugin(SchedulerPlugin):
    """Keeps a desk for each run that uses the cluster; knows when a worker, or a run's driver, is gone."""

    name = OPERATION
    idempotent = True

    async def start(self, scheduler: Any) -> None:
        self._desks: dict[str, Desk] = {}
        self._drivers: dict[str, str] = {}
        self._scheduler = scheduler
        scheduler.handlers[OPERATION] = self._ask

    async def _ask(self, run: str, what: str, args: list[Any]) -> Any:
        if what == "drive":
            self._drivers[args[0]] = run
            self._desks[run] = Desk()
            left = [desk for desk in self._desks if desk not in self._drivers.values()]
            for client_run in left[:-MOST_LEFT]:
                del self._desks[client_run]
            return None
        if what == "leave":
            self._drivers = {
                client: client_run for client, client_run in self._drivers.items() if client_run != run
            }
            self._desks.pop(run, None)
            return None
        if what == "absent":
            return [worker for worker in args[0] if worker not in self._scheduler.workers]
        answer = getattr(self._desks[run], what)(*args)
        return asdict(answer) if isinstance(answer, Looked) else answer

    def remove_worker(self, scheduler: Any, worker: str, **_: Any) -> None:  # noqa: ARG002 - as it is called
        for desk in self._desks.values():
            desk.lose(worker)

    def remove_client(self, scheduler: Any, client: str) -> None:  # noqa: ARG002 - as it is called
        if (run := self._drivers.pop(client, None)) is not None:
            self._desks[run].stop("machines", "the process that drives the run is gone")


class Line:
    """A worker's way to its run's desk, from the event loop of a shard's own thread."""

    def __init__(self, worker: Worker, run: str) -> None:
        self._worker, self._run = worker, run

    async def __call__(self, op: str, *args: object) -> Any:
        """Raises OSError, or what the desk raised."""
        loop: Any = self._worker.loop  # tornado's, which has no types
        asked = asyncio.run_coroutine_threadsafe(self._send(op, args), loop.asyncio_loop)
        return await asyncio.wrap_future(asked)

    async def _send(self, op: str, args: tuple[object, ...]) -> Any:
        return await getattr(self._worker.scheduler, OPERATION)(run=self._run, what=op, args=list(args))
