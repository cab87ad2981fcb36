"""One command's time with a run: the lock, the journal, the gateway, the interrupts, and the exit code."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from frontdesk.config import Config
from frontdesk.pipeline import Pipeline, Stopping
from frontdesk.progress import Progress
from frontdesk.runfolder import RunFolder
from gateway.adapters.catalog import build
from gateway.budget import Budget, Spent
from gateway.engine import Gateway
from gateway.errors import Interrupted
from gateway.events import EventLog
from runstore.journal import Journal, RunLock

DRAIN_S = 30.0


@asynccontextmanager
async def opened(
    folder: RunFolder,
    config: Config,
    endpoints: Sequence[str],
    *,
    change: bool = False,
    durable: bool = False,
    progress: Progress | None = None,
) -> AsyncGenerator[Pipeline]:
    """A pipeline over a run folder, with its journal open for writing and these endpoints built.

    Raises Problem before anything is called: a folder in use, a configuration that differs, a missing key.
    """
    adapters = {name: build(name, config.endpoints[name]) for name in endpoints}
    with RunLock(folder.path):
        budget = Budget(config.budget.usd, config.budget.calls, config.budget.tokens)
        events = EventLog(folder.file("log.jsonl"))
        gateway = Gateway(adapters, budget=budget, events=events)
        folder.claim(config, gateway.redactor, change=change)
        journal = Journal(folder.journal, durable=durable)
        gateway.journal = journal
        if budget.is_capped:
            count_earlier(journal, budget.total)
        progress = progress or Progress()
        progress.status = lambda: _status(gateway)
        for note in journal.notes:
            progress.say(f"journal: {note}")
        if journal.lost:
            progress.say(
                f"journal: {journal.lost} calls were sent but their answers were lost with an earlier process"
            )
        try:
            async with gateway:
                yield Pipeline(folder, config, gateway, progress)
        finally:
            journal.close()
            events.close()


def count_earlier(journal: Journal, total: Spent) -> None:
    """Add what earlier processes of this run spent to the totals that caps are checked against."""
    from gateway.adapters.base import Tokens

    for row in journal.rows():
        if row["state"] == "sent":
            total.calls += 1
        elif row["state"] == "ok":
            total.calls += len(row["faults"])
            total.add(Tokens(*row["answer"]["usage"]), row["cost_usd"])


def run_interruptibly(work: Callable[[], Awaitable[int]], gateway_of: Callable[[], Gateway | None]) -> int:
    """Run to an exit code. First Ctrl-C: no new calls, those in flight finish; second: at once."""
    with contextlib.suppress(ImportError):
        import uvloop

        return uvloop.run(_guarded(work, gateway_of))
    return asyncio.run(_guarded(work, gateway_of))


async def _guarded(work: Callable[[], Awaitable[int]], gateway_of: Callable[[], Gateway | None]) -> int:
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(work())
    presses = 0

    def pressed() -> None:
        nonlocal presses
        presses += 1
        gateway = gateway_of()
        if presses > 1 or gateway is None:
            task.cancel()
            return
        _say(
            f"\nstopping: {gateway.in_flight} calls in flight may finish (up to {DRAIN_S:g} s); "
            "press Ctrl-C again to stop at once"
        )
        gateway.stop(Interrupted("interrupted"))
        loop.call_later(DRAIN_S, task.cancel)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, pressed)
    try:
        return await task
    except asyncio.CancelledError:
        _say("stopped at once; finished calls are kept in the journal")
        return 130
    except Stopping as stopping:
        _say(f"{stopping}\nto go on: run the same command again")
        return stopping.reason.exit_code


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def _status(gateway: Gateway) -> str:
    total = gateway.budget.total
    served = sum(endpoint.spent.served for endpoint in gateway.endpoints.values())
    parts = [f"{total.calls} calls", f"{total.tokens:,} tokens"]
    if served:
        parts.append(f"{served} from the journal")
    if total.priced:
        parts.append(f"${total.usd:.4f}")
    if total.calls - total.failed > total.priced:
        parts.append("some prices unknown")
    if total.failed:
        parts.append(f"{total.failed} failed")
    return ", ".join(parts)


def default_folder(config: Config, given: str | None) -> RunFolder:
    """The run folder: as given, or ``runs/<name>``."""
    from runstore.publish import safe_name

    return RunFolder(Path(given) if given else Path("runs") / safe_name(config.run.name))
