"""What every stage is made with: its items asked for, shown, counted, stopped, and its end noted.

Of the items themselves nothing is known here; the stages stand in ``pipeline``.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from arena.asking import Asked, Overheard
from arena.trial import JudgeTrial
from frontdesk.runner import held, prepare, published
from frontdesk.runner.cluster.shares import EVERYTHING, Share
from frontdesk.runner.config import Config
from frontdesk.runner.outcome import StageDone, endpoints_of
from frontdesk.runner.progress import Progress
from frontdesk.runner.runfolder import RunFolder
from gateway.adapters.base import Adapter
from gateway.batches.catalog import has_batches
from gateway.crowd import Flow, Gathered, each, stream
from gateway.engine import Gateway
from gateway.errors import NotReadable, Stopped
from gateway.prompt import Ask
from runstore.problems import Problem, shown
from runstore.records import Failure

Item = TypeVar("Item")
Result = TypeVar("Result")
MOST_AT_ONCE = 4096
TELL_EVERY_S = 1.0
MOST_LETTERS = 2000
"""So much of an unreadable answer is told to the log; the journal has it whole."""


class Stopping(Exception):
    """A stage was stopped; what it finished has been published."""

    def __init__(self, reason: Stopped, stage: str, done: int, of: int) -> None:
        super().__init__(f"{stage} stopped: {reason}; {done} of {of} finished")
        self.reason, self.stage, self.done, self.of = reason, stage, done, of


@dataclass(slots=True)
class Heard(Generic[Result]):
    """Whoever is told of each result when it is there, and whether it can still decide what is asked.

    ``of``: None where no result is judged as a whole, but the answers inside of it, one by one as they come.
    ``ahead``: the places of items that are asked in real time before a batch, which cannot be stopped. Of these
    it is told again at the end, with what it heard before, as the batch may answer what failed.
    """

    of: Callable[[Result, bool, Result | None], None] | None = None
    ahead: Sequence[int] = ()


class InPlace(Generic[Result]):
    """What comes of a stage's items, in the order of their places, among what was kept of those not asked about.

    ``add`` is given each place with what came of it, None for a place that is passed over; ``keeps``: whether
    anything was kept of those.
    """

    def __init__(self, add: Callable[[int, Result | Exception | None], None], *, keeps: bool) -> None:
        self._add, self._keeps = add, keeps
        self._next = 0

    def take(self, place: int, outcome: Result | Exception) -> None:
        """What came of the item at ``place``, after what was kept of those before it."""
        self.pass_over(place)
        self._add(place, outcome)
        self._next = place + 1

    def pass_over(self, until: int) -> None:
        """The places before ``until`` about which nothing was asked, or nothing came."""
        for place in range(self._next, until) if self._keeps else ():
            self._add(place, None)


class StageWork:
    """The making of stages over one run folder and one gateway (None where no stage will call a model).

    ``batch_poll_s``: endpoints whose provider has a batch interface are asked through it, with at most so many
    seconds between looks at a job; the others in real time. ``share``: the dialogues that are held here, not
    elsewhere. ``unreadable``: answers of a judge that could not be read, by its name.
    """

    def __init__(
        self,
        folder: RunFolder,
        config: Config,
        gateway: Gateway | None,
        progress: Progress,
        batch_poll_s: float | None = None,
        *,
        share: Share = EVERYTHING,
    ) -> None:
        self.folder, self.config, self.gateway, self.progress = folder, config, gateway, progress
        self.batch_poll_s, self.share = batch_poll_s, share
        self.prompts = prepare.prompts_of(config)
        self.ended: list[StageDone] = []
        self.stopped: Stopped | None = None
        self._told_at = 0.0
        self.unreadable: Counter[str] = Counter()

    async def ask_each(
        self,
        stage: str,
        work: Sequence[Item],
        do: Callable[[Ask, Item], Awaitable[Result]],
        endpoints: Sequence[str],
        heard: Heard[Result] | None = None,
    ) -> Gathered[Item, Result]:
        """What ``do`` makes of every item of a stage, in their order."""
        async with self.elsewhere(stage, len(work)):
            self.start(stage, len(work))
            gathered = await self._work(work, do, endpoints, heard or Heard())
            self._ended(stage, gathered.flow(), len(work))
        return gathered

    async def _stream(
        self,
        stage: str,
        work: Sequence[Item],
        do: Callable[[Ask, Item], Awaitable[Result]],
        take: Callable[[Item, Result | Exception], None],
        endpoints: Sequence[str],
        heard: Heard[Result] | None = None,
    ) -> Flow:
        async with self.elsewhere(stage, len(work)):
            self.start(stage, len(work))
            flow = await self._flow(work, do, take, endpoints, heard or Heard())
            self._ended(stage, flow, len(work))
        return flow

    @asynccontextmanager
    async def elsewhere(self, stage: str, of: int) -> AsyncGenerator[None]:  # noqa: ARG002 - for whoever has others
        """Around a stage's work: whoever has other machines lets them make its calls first."""
        yield

    async def _work(
        self,
        work: Sequence[Item],
        do: Callable[[Ask, Item], Awaitable[Result]],
        endpoints: Sequence[str],
        heard: Heard[Result],
    ) -> Gathered[Item, Result]:
        if self.batch_poll_s is not None:
            placed = await self._by_batch(work, do, endpoints, self.batch_poll_s, heard)
            done = [(item, result) for (_, item), result in placed.done]
            return Gathered(done, [(item, error) for (_, item), error in placed.failed], placed.stopped)
        do_now = self._now(do, heard, self.overheard())
        return await each(work, do_now, at_once=self._at_once(endpoints), finished=self.advance)

    def _now(
        self, do: Callable[[Ask, Item], Awaitable[Result]], heard: Heard[Result], overheard: Ask
    ) -> Callable[[Item], Awaitable[Result]]:
        """An item asked in real time, and heard of: as a whole by ``heard``, or else answer by answer."""
        ask = overheard if heard.of is None else self.opened().ask

        async def one(item: Item) -> Result:
            result = await do(ask, item)
            if heard.of is not None:
                heard.of(result, True, None)
            return result

        return one

    async def _flow(
        self,
        work: Sequence[Item],
        do: Callable[[Ask, Item], Awaitable[Result]],
        take: Callable[[Item, Result | Exception], None],
        endpoints: Sequence[str],
        heard: Heard[Result],
    ) -> Flow:
        if self.batch_poll_s is None:
            do_now, at_once = self._now(do, heard, self.overheard()), self._at_once(endpoints)
            return await stream(work, do_now, take, at_once=at_once, finished=self.advance)
        gathered = await self._by_batch(work, do, endpoints, self.batch_poll_s, heard)
        outcomes: list[tuple[tuple[int, Item], Result | Exception]] = [*gathered.done, *gathered.failed]
        for (_, item), outcome in sorted(outcomes, key=lambda told: told[0][0]):
            take(item, outcome)
        return gathered.flow()

    def _at_once(self, endpoints: Sequence[str]) -> int:
        adapters = self._adapters(endpoints)
        return min(MOST_AT_ONCE, sum(adapter.settings.concurrency for adapter in adapters.values()))

    async def _by_batch(
        self,
        work: Sequence[Item],
        do: Callable[[Ask, Item], Awaitable[Result]],
        endpoints: Sequence[str],
        batch_poll_s: float,
        heard: Heard[Result],
    ) -> Gathered[tuple[int, Item], Result]:
        """The same work, its calls sent in jobs, wave after wave; what is heard of at its end was all bought.

        Answers heard one by one are on trial from wave to wave. Each item comes back with its place.
        """
        from gateway.batches.runner import BatchRunner  # the providers' batch code, where batches are asked for

        placed = list(enumerate(work))
        adapters = self._adapters(endpoints)
        batched = [name for name, adapter in adapters.items() if has_batches(adapter.settings)]
        for name in adapters.keys() - set(batched):
            self.progress.say(f"batch: {name} is asked in real time: its kind has no batch interface")

        trial = self.trial("answers")
        overheard = self._heard_in_waves(trial)

        async def wave(ask: Ask) -> Gathered[tuple[int, Item], Result]:
            ask = overheard(ask) if heard.of is None else ask
            return await each(placed, lambda at: do(ask, at[1]), at_once=self._at_once(endpoints))

        runner = BatchRunner(self.opened(), batched, poll_s=batch_poll_s)
        before: dict[int, Result] = {}
        if heard.ahead and batched and not runner.is_under_way:
            ahead, heard.ahead = [placed[at] for at in heard.ahead if at < len(placed)], ()
            now = self._now(do, heard, overheard(self.opened().ask))
            tried = await each(ahead, lambda at: now(at[1]), at_once=self._at_once(endpoints))
            if tried.stopped is not None:
                return tried
            before = {place: result for (place, _), result in tried.done}
            self.tried(trial, trial.so_far())
        gathered = await runner.whole(wave)
        if (of := heard.of) is not None:
            for (place, _), result in gathered.done:
                of(result, False, before.get(place))
        return gathered

    def advance(self) -> None:
        """An item of the stage is finished: shown, and told to the log once in a while."""
        self.progress.advance()
        if not self.progress.is_quiet:
            self.log_progress()

    def log_progress(self) -> None:
        """How far the stage is, told to the log once in a while."""
        if (now := time.monotonic()) - self._told_at >= TELL_EVERY_S:
            self._told_at = now
            stage, done, of = self.progress.place
            endpoints = [each.to_json() for each in endpoints_of(self)]
            self.opened().events.emit("progress", stage=stage, done=done, of=of, endpoints=endpoints)

    def start(self, stage: str, of: int) -> None:
        """A stage of so many items begins: shown, and told to the log."""
        self.progress.start(stage, of)
        self.opened().events.emit("stage_started", stage=stage, items=of)

    def secure(self) -> None:
        """All answers so far on the disk and counted, before a file is made of them. Raises JournalLost."""
        gateway = self.opened()
        gateway.sync()
        if gateway.journal is not None and gateway.journal.error is None:
            held.hold(self.folder.path, gateway.journal)

    def _ended(self, stage: str, ended: Flow, of: int) -> None:
        self.secure()
        counts = {"done": ended.done, "failed": ended.failed, "of": of}
        self.ended.append(StageDone(stage=stage, **counts))
        self.stopped = self.stopped or ended.stopped
        endpoints = [each.to_json() for each in endpoints_of(self)]
        self.opened().events.emit("stage_ended", stage=stage, **counts, endpoints=endpoints)

    def _adapters(self, names: Sequence[str]) -> Mapping[str, Adapter]:
        gateway = self.opened()
        return {name: gateway.endpoints[name].adapter for name in names}

    def opened(self) -> Gateway:
        """The gateway, which is needed now. Raises Problem where there is none."""
        if self.gateway is None:
            raise Problem("this stage calls models, but none were opened")
        return self.gateway

    def could_not_read(self, judge: str, item: str, raw: str, reason: str | None) -> None:
        """An answer of a judge that could not be read: counted, and told to whoever watches."""
        self.unreadable[judge] += 1
        self.opened().events.emit("unreadable", judge=judge, item=item, reason=reason, text=raw[:MOST_LETTERS])

    def trial(self, unit: str = "rounds") -> JudgeTrial:
        """A trial of the judges of one stage."""
        return JudgeTrial(self.config.budget.trial_rounds, unit)

    def overheard(self, unit: str = "answers") -> Overheard:
        """The gateway's ``ask``, with whoever is to be read (labels, quiz, guesses) on trial."""
        trial = self.trial(unit)
        return Overheard(self.opened().ask, partial(self._hear, trial))

    def _hear(self, trial: JudgeTrial, judge: str, item: str, asked: Asked[object]) -> None:
        is_readable = asked.state in ("answered", "missing values")
        if not is_readable:
            self.could_not_read(judge, item, asked.raw, asked.reason)
        self.tried(trial, trial.saw(judge, asked.raw, asked.reason, is_readable=is_readable))

    def _heard_in_waves(self, trial: JudgeTrial) -> Callable[[Ask], Overheard]:
        """The same of the ``ask`` of each wave, which meets the answers of all waves before it again."""
        told = Counter[int]()

        def overheard(ask: Ask) -> Overheard:
            met = Counter[int]()

            def hear(judge: str, item: str, asked: Asked[object]) -> None:
                answer = hash((judge, item, asked.state, asked.raw))
                met[answer] += 1
                if met[answer] > told[answer]:
                    told[answer] += 1
                    self._hear(trial, judge, item, asked)

            return Overheard(ask, hear)

        return overheard

    def tried(self, trial: JudgeTrial, failed: NotReadable | None) -> None:
        """Show how a trial goes, and start no new call where it has failed."""
        self.progress.note = trial.note
        if failed is not None:
            self.opened().stop(failed)

    def _published(self, stage: str, failures: Sequence[Failure], name: str) -> None:
        """A stage's file is written: its failures too, and both are noted."""
        self.folder.replace_failures(stage, failures)
        published.record(self.folder.path, name, "failures.jsonl")
        for kind, count in Counter(failure.kind for failure in failures).most_common():
            first = next(failure for failure in failures if failure.kind == kind)
            who = f"{first.endpoint}: " if first.endpoint else ""
            self.progress.say(f"{stage}: {count} x {kind}, such as: {shown(f'{who}{first.message}', 200)}")

    def warned(self, stage: str, warnings: Mapping[tuple[str, str], int]) -> None:
        """Say what came with answers as a warning: (who, what), and how often."""
        for (who, what), count in sorted(warnings.items()):
            self.progress.say(f"{stage}: {count} x {what}: {who}")

    def end(self, stage: str, ended: Flow, of: int, summary: str) -> None:
        """Note that a stage is whole, and say so. Raises Stopping where it was stopped."""
        if ended.stopped is not None:
            published.begin(self.folder.path, stage, f"{ended.done} of {of}")
            raise Stopping(ended.stopped, stage, ended.done, of)
        published.end(self.folder.path, stage)
        self.progress.finish(summary)
