"""One command's time with a run: the lock, the journal, the gateway, the interrupts, and the exit code."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any

from frontdesk.runner import before, held, outcome, prepare
from frontdesk.runner import leaderboard_history as history
from frontdesk.runner.config import Config
from frontdesk.runner.pipeline import Pipeline
from frontdesk.runner.progress import Progress
from frontdesk.runner.runfolder import RunFolder
from frontdesk.runner.signals import SIGNALS, handlers_kept
from frontdesk.runner.stagework import Stopping
from frontdesk.runner.told import told
from frontdesk.runner.writers import until_alone
from gateway.adapters.catalog import build
from gateway.budget import Budget
from gateway.engine import Gateway
from gateway.errors import FULL, Interrupted, JournalLost, Stopped
from gateway.events import EventLog
from gateway.secrets import words_of
from gateway.telemetry import from_environment
from runstore.journal import Journal
from runstore.problems import Problem
from runstore.records import Usage
from runstore.runlock import RunLock

DRAIN_S = 30.0
RESUME = "to go on: run the same command again (finished calls are not made again)"


@asynccontextmanager
async def opened(
    folder: RunFolder,
    config: Config,
    endpoints: Sequence[str],
    *,
    change: bool = False,
    durable: bool = False,
    progress: Progress | None = None,
    batch_poll_s: float | None = None,
    first: Callable[[RunFolder], object] = history.refuse,
) -> AsyncGenerator[Pipeline]:
    """A pipeline over a run folder, with its journal open for writing and these endpoints built.

    Raises Problem before anything is called: a folder in use, a configuration that differs, a missing key, a cap
    in dollars on calls whose price nobody knows. ``batch_poll_s`` is the pipeline's. ``first`` is done with the
    lock, before the configuration is written: a run with a refresh under way is refused to all but that refresh.
    """
    adapters = {name: build(name, config.endpoints[name]) for name in endpoints}
    progress = progress or Progress()
    prepare.check(config)
    budget = Budget(**config.budget.model_dump(include={"usd", "calls", "tokens", "trial_calls"}))
    gateway = Gateway(adapters, budget=budget, words=words_of(config.model_dump()))
    if (unpriced := prepare.check_prices(config, endpoints)) is not None:
        progress.say(unpriced)
    with RunLock(folder.path), contextlib.ExitStack() as closing:
        await until_alone(folder.journal, progress.say)
        journal = Journal(folder.journal, durable=durable, read_only=True)
        closing.callback(journal.close)
        held.check(folder, journal)
        first(folder)
        if change and history.pending(folder) is None and folder.other_configuration(config, gateway.redactor):
            before.begin_change(folder)
        folder.claim(config, gateway.redactor, change=change)
        gateway.events = EventLog(folder.file("log.jsonl"), gateway.redactor)
        closing.callback(gateway.events.close)
        journal.begin()
        gateway.journal = journal
        closing.callback(held.hold_at_last, folder.path, journal)
        gateway.telemetry = from_environment()
        if gateway.telemetry is not None:
            closing.callback(gateway.telemetry.close)
        gateway.notify = progress.say
        _greet(gateway, journal, progress)
        async with gateway, _pipeline(folder, config, gateway, progress, batch_poll_s) as pipeline:
            progress.status = lambda: outcome.status(pipeline)
            try:
                yield pipeline
                before.end_change(folder)
            finally:
                gateway.events.emit("session_ended", **asdict(budget.total))


@asynccontextmanager
async def _pipeline(
    folder: RunFolder, config: Config, gateway: Gateway, progress: Progress, batch_poll_s: float | None
) -> AsyncGenerator[Pipeline]:
    """The stages here, or where the configuration says that their calls are made. Raises Problem."""
    if config.run.on is None:
        yield Pipeline(folder, config, gateway, progress, batch_poll_s)
        return
    if batch_poll_s is not None:
        raise Problem(
            f"--on {config.run.on}: found --batch beside it, expected one: providers work batches off themselves"
        )
    from frontdesk.runner.cluster import addresses  # what it needs is an extra

    on = addresses.parse(config.run.on)
    from frontdesk.runner.cluster.crew import Crew
    from frontdesk.runner.cluster.pipeline import ClusterPipeline

    crew = Crew(on)
    try:
        yield ClusterPipeline(folder, config, gateway, progress, crew)
    finally:
        await crew.close()


def _greet(gateway: Gateway, journal: Journal, progress: Progress) -> None:
    for note in journal.notes:
        progress.say(f"journal: {note}")
        gateway.events.emit("journal_repaired", message=note)
    if journal.lost:
        progress.say(
            f"journal: {journal.lost} calls were sent but their answers were lost with an earlier process"
        )
    if gateway.budget.is_capped:
        count_rows(journal.rows(), lambda _: gateway.budget)
    gateway.events.emit(
        "session_started", finished=len(journal), lost=journal.lost, failed=journal.states["failed"]
    )


def spent_earlier(folder: RunFolder) -> Budget:
    """What a run has spent so far, of no cap: what it spends next comes on top under ``[budget]``."""
    budget = Budget()
    if folder.journal.is_dir():
        with contextlib.closing(Journal(folder.journal, read_only=True)) as journal:
            count_rows(journal.rows(), lambda _: budget)
    return budget


def count_rows(rows: Iterable[Mapping[str, Any]], budget_of: Callable[[str], Budget]) -> None:
    """Add what a journal's rows say was spent to the totals that caps are checked against, by endpoint.

    Attempts that were announced and never heard of count as spent: they may have been.
    """
    open_attempts: Counter[tuple[str, str]] = Counter()
    for row in rows:
        if row["state"] == "note":
            continue
        call = row["endpoint"], row["key"]
        if row["state"] == "sent":
            open_attempts[call] += 1
            continue
        ended, budget = len(row["faults"]) + (row["state"] == "ok"), budget_of(row["endpoint"])
        budget.recall(ended, lost=max(0, open_attempts.pop(call, 0) - ended))
        for fault in row["faults"]:
            if fault["usage"] is not None:
                budget.spend(Usage.of(fault["usage"]), fault["cost_usd"])
        if row["state"] == "ok":
            budget.spend(Usage.of(row["answer"]["usage"]), row["cost_usd"])
    for (endpoint, _), lost in open_attempts.items():
        budget_of(endpoint).recall(0, lost=lost)


def run_interruptibly(work: Callable[[], Awaitable[int]], gateway_of: Callable[[], Gateway | None]) -> int:
    """Run to an exit code. First Ctrl-C: no new calls, those in flight finish; second: at once."""
    with _patient_collector():
        try:
            import uvloop
        except ImportError:
            return asyncio.run(_guarded(work, gateway_of))
        return uvloop.run(_guarded(work, gateway_of))


@contextlib.contextmanager
def _patient_collector() -> Generator[None]:
    """Thousands of calls in flight are many young objects and no garbage: looking through them again and again
    takes a third of the time (see bench/gateway.py)."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 50, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


async def _guarded(work: Callable[[], Awaitable[int]], gateway_of: Callable[[], Gateway | None]) -> int:
    task = asyncio.ensure_future(work())
    with _signals(_Stopper(task, gateway_of)):
        try:
            return await task
        except asyncio.CancelledError:
            gateway = gateway_of()
            journal = None if gateway is None else gateway.journal
            kept = f"; {len(journal)} finished calls are kept" if journal is not None else ""
            _say(f"stopped at once{kept}\n{RESUME}")
            return 130
        except Stopping as stopping:
            _say(f"{stopping}\n{RESUME}")
            return stopping.reason.exit_code
        except Stopped as stopped:
            _say(f"stopped: {stopped}\n{RESUME}")
            return stopped.exit_code
        except OSError as error:  # a full disk, which may hold neither the journal nor what is published of it
            if error.errno not in FULL:
                raise
            gateway = gateway_of()
            reason = gateway.stopped if gateway is not None else None
            _say(f"stopped: {reason if isinstance(reason, JournalLost) else error.strerror}\n{RESUME}")
            return JournalLost.exit_code


class _Stopper:
    """First signal: no new calls, those in flight may finish. Second: at once, even out of a long computation."""

    def __init__(self, task: asyncio.Future[int], gateway_of: Callable[[], Gateway | None]) -> None:
        self._task, self._gateway_of = task, gateway_of
        self._loop = asyncio.get_running_loop()
        self._presses = 0
        self._is_heard = False

    def pressed(self, *_: object) -> None:
        """Between any two instructions of the main thread: only counts, and asks the loop to act."""
        self._presses += 1
        if self._presses > 1 and (self._presses > 2 or not self._is_heard):
            raise KeyboardInterrupt
        self._loop.call_soon_threadsafe(self._act, self._presses)

    def _act(self, presses: int) -> None:
        self._is_heard = True
        gateway = self._gateway_of()
        if presses > 1 or gateway is None:
            self._task.cancel()
            return
        _say(
            f"\nstopping: {gateway.in_flight} calls in flight may finish (up to {DRAIN_S:g} s); "
            "press Ctrl-C again to stop at once"
        )
        gateway.stop(Interrupted("interrupted"))
        self._loop.call_later(DRAIN_S, gateway.give_up)


@contextlib.contextmanager
def _signals(stopper: _Stopper) -> Generator[None]:
    """The stopper hears Ctrl-C and a polite kill, where signals can be heard at all."""
    with handlers_kept() as can_hear:
        for number in SIGNALS if can_hear else ():
            signal.signal(number, stopper.pressed)
        yield


def _say(line: str) -> None:
    sys.stderr.write(f"{told(line)}\n")
    sys.stderr.flush()
