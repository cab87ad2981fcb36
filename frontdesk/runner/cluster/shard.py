"""One worker's part of a stage: the ordinary stage functions over its share, a journal segment of its own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from arena.scoring.sheets import Form, score_all
from arena.trial import JudgeTrial
from frontdesk.runner import score_plan
from frontdesk.runner.cluster.desk import SILENCE_S, STOPS, MachinesLost, Seen, StopKind, Told, kind_of
from frontdesk.runner.cluster.kept import GIVEN, made
from frontdesk.runner.cluster.shares import Share
from frontdesk.runner.config import Config
from frontdesk.runner.intent import ask_all
from frontdesk.runner.pipeline import Pipeline
from frontdesk.runner.progress import Progress
from frontdesk.runner.runfolder import RunFolder
from frontdesk.runner.stagework import MOST_AT_ONCE, Stopping
from gateway.adapters.catalog import build
from gateway.budget import Budget, Most
from gateway.clocks import Term
from gateway.engine import Gateway
from gateway.errors import FULL, JournalLost, Stopped
from gateway.leases import Ended, LentBudget, LentPlaces, Place
from gateway.secrets import words_of
from runstore.journal import Journal
from runstore.problems import Problem
from runstore.records import Sheet

BEAT_S = 0.2
MOST_BEATS = 500
"""A second of all workers together: the scheduler answers a few thousand messages, and lends by them too."""
MOST_LATENCIES = 1_000
"""So many answers' times are told with a beat."""
DRAIN_S = 30.0
LAST_WORDS_S = 5.0
Desk = Callable[..., Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Order:
    """What a worker is sent: plain values, and the files of the run folder that it needs and may not see.

    ``sees``: whether it sees the folder. ``earlier``: finished calls of the share, for one that does not, and
    ``kept_as`` the name by which it keeps what it writes. ``environ``: keys, where the way is encrypted.
    """

    run: str
    stage: str
    share: Share
    attempt: int
    endpoints: tuple[str, ...]
    config: bytes
    inputs: Mapping[str, bytes]
    folder: str
    sees: bool
    kept_as: str = ""
    given: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    earlier: bytes = b""
    environ: Mapping[str, str] = field(default_factory=dict[str, str])
    limited: tuple[str, ...] = ()
    caps: Mapping[str, float | None] = field(default_factory=dict[str, "float | None"])

    @property
    def holder(self) -> str:
        """The name under which the shard borrows."""
        return f"{self.stage}-{self.share.index}-{self.attempt}"


def beat_s(workers: int) -> float:
    """Seconds between the beats of each of so many workers."""
    return max(BEAT_S, workers / MOST_BEATS)


def run_shard(order: Order) -> dict[str, str]:
    """Work one shard to its end, on a worker. ``state``: done, stopped (and why), again, or problem."""
    from distributed import get_worker

    from frontdesk.runner.cluster.service import Line

    worker = get_worker()
    return work(order, Line(worker, order.run), worker.address)


def work(order: Order, desk: Desk, address: str) -> dict[str, str]:
    """The same with the way to the desk given."""
    try:
        import uvloop
    except ImportError:
        return asyncio.run(_work(order, desk, address))
    return uvloop.run(_work(order, desk, address))


async def _work(order: Order, desk: Desk, address: str) -> dict[str, str]:
    try:
        if not await _asked(desk, "start", order.stage, order.holder, address):
            return {"state": "again"}
        async with _opened(order, desk) as shard:
            return await shard.whole()
    except Problem as problem:
        return {"state": "problem", "text": f"on worker {address}: {problem}"}
    except Stopped as reason:  # a journal that cannot be written, noticed while closing: no worker would do better
        return _stopped(reason)
    except (OSError, RuntimeError) as error:
        if isinstance(error, OSError) and error.errno in FULL:
            return _stopped(JournalLost.of(error, f" (worker {address})"))
        return {"state": "problem", "text": f"on worker {address}: {type(error).__name__}: {error}"}


@contextlib.asynccontextmanager
async def _opened(order: Order, desk: Desk) -> AsyncGenerator[_Shard]:
    with tempfile.TemporaryDirectory(prefix="tutor-arena-shard-") as name:
        scratch = Path(name)
        for path, data in {"run.toml": order.config, **order.inputs}.items():
            (scratch / path).parent.mkdir(parents=True, exist_ok=True)
            (scratch / path).write_bytes(data)
        config = RunFolder(scratch).config()
        environ = {**os.environ, **order.environ}
        adapters = {served: build(served, config.endpoints[served], environ=environ) for served in order.endpoints}
        budget = _budget(order, desk)
        budget.trial_calls = config.budget.trial_calls
        gateway = Gateway(adapters, budget=budget, environ=environ, words=words_of(config.model_dump()))
        for endpoint in order.limited:
            if endpoint in gateway.endpoints:
                gateway.endpoints[endpoint].lent = _places(order, desk, endpoint)
        with contextlib.closing(_journal(order)) as gateway.journal:
            pipeline = ShardPipeline(RunFolder(scratch), config, gateway, order.share)
            source = RunFolder(Path(order.folder)) if order.sees else _given(order, scratch)
            async with gateway:
                yield _Shard(order, desk, pipeline, source)


def _journal(order: Order) -> Journal:
    """The run's own where it is seen, of which only the share's calls are looked at; else a copy of these."""

    def is_mine(stage: str, item: str) -> bool:
        return stage == order.stage and order.share.has(item)

    if order.sees:
        return Journal(Path(order.folder) / "journal", only=is_mine)
    folder = made(order.kept_as, f"{order.run}-{order.holder}")
    if order.earlier:
        (folder / GIVEN).write_bytes(order.earlier)
    return Journal(folder)


PACKAGE = "tutor-arena"
OWN_DISK = "TUTOR_ARENA_OWN_DISK"
"""Where a worker's environment sets this, it writes to its own disk, even if it sees the run folder."""


def about(path: str) -> tuple[str, bool]:
    """On a worker: the version that is installed there, and whether it sees the run folder, by a file in it."""
    return version(PACKAGE), sees(path)


def sees(path: str) -> bool:
    """On a worker: whether the run folder is seen, by a file in it, and may be written to."""
    return os.access(path, os.R_OK) and os.access(Path(path).parent, os.W_OK) and not os.environ.get(OWN_DISK)


def _given(order: Order, scratch: Path) -> RunFolder:
    folder = scratch / "given"
    folder.mkdir()
    for name, data in order.given.items():
        (folder / name).write_bytes(data)
    return RunFolder(folder)


def _budget(order: Order, desk: Desk) -> Budget:
    if not any(order.caps.values()):
        return Budget()

    async def ask(
        wanted: list[Most | None], told: list[Ended], is_over: list[bool], back: list[Most | None]
    ) -> tuple[int, str | None]:
        plain = [(left, None if usage is None else usage.counts(), usd) for left, usage, usd in told]
        granted, refused = await _asked(desk, "permits", order.holder, wanted, plain, is_over, back)
        return granted, refused

    return LentBudget(**order.caps, ask=ask)  # pyright: ignore[reportArgumentType] - caps are by name


async def _asked(desk: Desk, *what: object) -> Any:
    """What the desk says. Raises MachinesLost: without it nothing may be asked of a model."""
    try:
        return await asyncio.wait_for(desk(*what), SILENCE_S)
    except TimeoutError as error:
        raise MachinesLost(f"the scheduler has said nothing for {SILENCE_S:g} s") from error
    except MachinesLost:
        raise
    except Exception as error:  # whatever the connection or the scheduler's side raises
        raise MachinesLost(f"the scheduler cannot be reached: {type(error).__name__}: {error}") from error


def _places(order: Order, desk: Desk, endpoint: str) -> LentPlaces:
    async def ask(tokens: list[int]) -> list[Place]:
        unused, more = list(lent.unused), lent.more_tokens
        lent.unused.clear()
        lent.more_tokens = 0
        places = await _asked(desk, "places", order.holder, endpoint, tokens, unused, more)
        return [Place(*place) for place in places]

    lent = LentPlaces(ask)
    return lent


class _Counting(JudgeTrial):
    """A trial that is decided elsewhere: counts, and keeps what the last unreadable reply said."""

    def __init__(self, told: dict[str, Seen]) -> None:
        super().__init__(0)
        self._told = told

    def saw(self, judge: str, raw: str, reason: str | None, *, is_readable: bool) -> None:
        seen = self._told.setdefault(judge, Seen())
        seen.judged += 1
        if not is_readable:
            seen.unreadable += 1
            seen.raw, seen.reason = raw[:400], reason


class ShardPipeline(Pipeline):
    """The stages over one share, in a folder of no importance; its trials are decided at the desk."""

    def __init__(self, folder: RunFolder, config: Config, gateway: Gateway, share: Share) -> None:
        self.counted = _Silent()
        super().__init__(folder, config, gateway, self.counted, share=share)
        self.seen: dict[str, Seen] = {}

    def trial(self, unit: str = "rounds") -> JudgeTrial:  # noqa: ARG002 - counted here, named at the desk
        return _Counting(self.seen)


class _Silent(Progress):
    """Counts; whoever watches is elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.done = self.of = 0

    def say(self, line: str) -> None:
        """What a worker has to say goes to the driver by other ways."""

    def start(self, stage: str, total: int) -> None:  # noqa: ARG002 - one stage a shard
        self.of = total

    def advance(self) -> None:
        self.done += 1


class _Shard:
    def __init__(self, order: Order, desk: Desk, pipeline: ShardPipeline, source: RunFolder) -> None:
        self._order, self._desk, self._pipeline, self._source = order, desk, pipeline, source
        self._gateway: Gateway = pipeline.opened()
        self._gateway.term = Term(SILENCE_S, self._gateway.clocks.ticks)
        self._lines: list[str] = []
        self._gateway.notify = self._lines.append

    async def whole(self) -> dict[str, str]:
        await self._say()
        beating = asyncio.create_task(self._beat_on())
        try:
            await self._stage()
        except Stopping as stopping:
            return _stopped(stopping.reason)
        except Stopped as reason:
            return _stopped(reason)
        finally:
            beating.cancel()
            await self._last_words()
        return {"state": "done"} if self._gateway.stopped is None else _stopped(self._gateway.stopped)

    async def _stage(self) -> None:
        source, pipeline, share = self._source, self._pipeline, self._order.share
        match self._order.stage:
            case "simulate":
                await pipeline.simulate()
            case "collect":
                await pipeline.collect([subset for subset in source.subsets() if share.has(subset.id)])
            case "judge":
                subsets = [subset for subset in source.subsets() if share.has(subset.id)]
                await pipeline.judge(subsets, [reply for reply in source.replies() if share.has(reply.subset)])
            case "intent":
                await ask_all(pipeline, source.path)
            case _:
                await self._score()

    async def _score(self) -> None:
        plan, material = score_plan.read_plan(self._source.path)
        pipeline, trial = self._pipeline, self._pipeline.trial()
        form = Form.load(material.rubric, pipeline.config.run.language, pipeline.prompts)
        sessions = [session for session in material.sessions if self._order.share.has(session.id)]
        pipeline.progress.start("score", len(sessions) * len(plan.judges) * plan.repeats)

        def saw(sheet: Sheet) -> None:
            trial.saw(sheet.judge, sheet.raw, sheet.reason, is_readable=sheet.readable)

        sheets = await score_all(
            self._gateway.ask,
            form,
            sessions,
            plan.judges,
            repeats=plan.repeats,
            reask=plan.reask,
            at_once=MOST_AT_ONCE,
            finished=pipeline.progress.advance,
            filled=saw,
        )
        if sheets.stopped is not None:
            raise sheets.stopped

    # -- the desk

    async def _beat_on(self) -> None:
        every = beat_s(self._order.share.of)
        while not isinstance(self._gateway.stopped, MachinesLost):
            await asyncio.sleep(every)
            await self._say()

    async def _say(self) -> None:
        """A beat: calls may start on for a while, or the reason to stop is heard."""
        asked_at, gateway = self._gateway.clocks.ticks(), self._gateway
        try:
            stop = await self._beat()
        except MachinesLost as reason:
            self._end(reason)
            return
        gateway.term.renew(asked_at)
        if stop is not None and gateway.stopped is None:
            self._end(STOPS[stop[0]](stop[1]))

    def _end(self, reason: Stopped) -> None:
        self._gateway.stop(reason)
        asyncio.get_running_loop().call_later(DRAIN_S, self._gateway.give_up)

    async def _beat(self) -> tuple[StopKind, str] | None:
        lines = list(self._lines)
        self._lines.clear()
        return await _asked(self._desk, "beat", self._order.holder, asdict(self._told()), lines)

    def _told(self) -> Told:
        counted, gateway = self._pipeline.counted, self._gateway
        told = Told(counted.done, counted.of, gateway.in_flight, asdict(gateway.budget.total))
        told.endpoints = {name: asdict(endpoint.spent) for name, endpoint in gateway.endpoints.items()}
        for name, endpoint in gateway.endpoints.items():
            told.latencies[name] = list(endpoint.latencies)[-MOST_LATENCIES:]
            endpoint.latencies.clear()
        told.judges = dict(self._pipeline.seen)
        if gateway.journal is not None and not self._order.sees:
            told.segment, told.size = str(gateway.journal.segment), gateway.journal.size
        return told

    async def _last_words(self) -> None:
        self._gateway.sync()
        with contextlib.suppress(Exception):  # a desk that is gone needs no word
            async with asyncio.timeout(LAST_WORDS_S):
                if isinstance(self._gateway.budget, LentBudget):
                    await self._gateway.budget.tell()
                for name, endpoint in self._gateway.endpoints.items():
                    if endpoint.lent is not None and (endpoint.lent.unused or endpoint.lent.more_tokens):
                        unused, more = endpoint.lent.unused, endpoint.lent.more_tokens
                        await self._desk("places", self._order.holder, name, [], unused, more)
                await self._beat()
                await self._desk("end", self._order.holder)


def _stopped(reason: Stopped) -> dict[str, str]:
    """Where only this worker lost sight of the scheduler, its share goes on."""
    if isinstance(reason, MachinesLost):
        return {"state": "again"}
    return {"state": "stopped", "kind": kind_of(reason), "text": str(reason)}
