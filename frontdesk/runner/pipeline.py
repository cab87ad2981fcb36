"""The stages of a run, each from records to records, published as files as it ends.

A stage that is run again finds its finished calls in the journal; nothing of it is kept anywhere else.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from arena.judge import Judged, Judging, judge_match
from arena.kept import KeptRounds
from arena.matches import Answered
from arena.sequential.goal import Goal
from arena.trial import JudgeTrial
from frontdesk.runner import plan, prepare, published
from frontdesk.runner.cluster.shares import EVERYTHING, Share
from frontdesk.runner.config import Config
from frontdesk.runner.judged import Item as MatchItem
from frontdesk.runner.judged import Items, Records
from frontdesk.runner.judged import published as judged_files
from frontdesk.runner.outcome import StageDone, endpoints_of
from frontdesk.runner.plan import NOTHING_KEPT, Kept
from frontdesk.runner.progress import Progress
from frontdesk.runner.runfolder import RunFolder
from gateway.adapters.base import Adapter
from gateway.batches.catalog import has_batches
from gateway.crowd import Flow, Gathered, each, stream
from gateway.engine import Gateway
from gateway.errors import CallFailed, NotReadable, Stopped, as_failed
from gateway.prompt import Ask
from runstore.problems import Problem, shown
from runstore.publish import write_json, write_jsonl
from runstore.records import (
    Dialogue,
    Failure,
    Persona,
    Reply,
    SeedQuestion,
    Subset,
)
from runstore.stored import writing
from simulator import cutter
from simulator.collect import reply_to
from simulator.conversation import Held, converse, dialogue_id

if TYPE_CHECKING:
    from arena.learning.result import StudentSide
    from frontdesk.runner.goals import Table

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


class Pipeline:
    """The stages over one run folder and one gateway (None where no stage will call a model).

    ``batch_poll_s``: endpoints whose provider has a batch interface are asked through it, with at most so many
    seconds between looks at a job; the others in real time. ``share``: the dialogues that are held here, not
    elsewhere.
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
        self.unreadable: Counter[str] = Counter()  # answers of a judge, by its name

    async def whole(self) -> Records:
        """Every stage in order, from personas to ratings: the one place where that order stands.

        Of a configuration that compares no tutors, the dialogues alone. The report is made above, of the records.
        Raises Stopping as the stages do.
        """
        dialogues = await self.simulate()
        if self.config.is_data_set:
            return [], []
        subsets = self.cut(dialogues)
        replies = await self.collect(subsets)
        judged = await self.judge(subsets, replies)
        if self.config.student is not None:
            await self.student(subsets, replies)
        from frontdesk.runner.rating import rate_run  # scipy: what a stage alone can spare

        rate_run(self.folder, self.config, *judged)
        return judged

    async def simulate(self) -> Sequence[Dialogue]:
        """Personas and questions -> dialogues.jsonl."""
        how = self.config.require_simulate()
        cast = prepare.simulation(self.config)
        published.begin(self.folder.path, "simulate")
        self.folder.write_manifest(self.config, cast.hashes, cast.inputs)
        planned = [
            (place, one)
            for place, one in enumerate(cast.castings(how.dialogues, self.config.run.seed))
            if self.share.has(dialogue_id(one[0], one[1], cast.conversation, one[2]))
        ]
        for remark in cast.remarks:
            self.progress.say(f"simulate: {remark}")

        async def hold(ask: Ask, one: tuple[int, tuple[Persona, SeedQuestion, int]]) -> Held:
            place, (person, question, copy) = one
            return await converse(
                ask, person, question, cast.conversation, cast.roles,
                copy=copy, place=place, knowing=cast.knowing,
            )  # fmt: skip

        readers = [] if cast.knowing is None else [cast.knowing.labeller.name]
        readers += [] if how.act_reader is None else [how.act_reader]
        asked = [name for name in (how.student, how.teacher, *readers) if name in self.opened().endpoints]
        failures: list[Failure] = []
        complete = 0
        with writing(self.folder.file("dialogues.jsonl"), Dialogue) as out:

            def take(_: object, held: Held | Exception) -> None:
                nonlocal complete
                if isinstance(held, Exception):
                    failures.append(as_failed(how.teacher, held).record("simulate", "dialogue"))
                    return
                if held.failure is not None:
                    failures.append(held.failure)
                if held.dialogue.turns > 0:
                    complete += held.dialogue.complete
                    out.add(held.dialogue)

            flow = await self._stream("simulate", planned, hold, take, asked)
        self._published("simulate", failures, "dialogues.jsonl")
        self._end("simulate", flow, len(planned), f"{complete} of {len(planned)} dialogues")
        return self.folder.dialogues()

    def cut(self, dialogues: Sequence[Dialogue]) -> Sequence[Subset]:
        """Dialogues -> subsets.jsonl; only complete dialogues are cut."""
        how, seed = self.config.cut, self.config.run.seed
        depths = cutter.depths_of(dialogue for dialogue in dialogues if dialogue.complete)
        chosen = cutter.choose(depths, how.subsets, seed=seed, depth=how.depth)
        wanted = {name for name, _ in chosen}
        place = {dialogue.id: at for at, dialogue in enumerate(dialogues) if dialogue.id in wanted}
        failures: list[Failure] = []
        if (missing := how.subsets - len(chosen)) > 0:
            message = f"{missing} of {how.subsets} subsets could not be cut: {len(depths)} dialogues hold no more"
            failures = [Failure(stage="cut", item="subsets", endpoint="", kind="too_few", message=message)]
        published.begin(self.folder.path, "cut")
        self.folder.write_manifest(self.config, {}, {"subsets": None})
        subsets = (
            cutter.subset_at(dialogues[place[name]], depth, last_turns=how.last_turns) for name, depth in chosen
        )
        write_jsonl(self.folder.file("subsets.jsonl"), subsets)
        self._published("cut", failures, "subsets.jsonl")
        published.end(self.folder.path, "cut")
        self.ended.append(StageDone(stage="cut", done=len(chosen), failed=max(missing, 0), of=how.subsets))
        self.progress.say(f"cut: {len(chosen)} of {how.subsets} subsets")
        return self.folder.subsets()

    async def collect(self, subsets: Sequence[Subset], kept: Kept = NOTHING_KEPT) -> Sequence[Reply]:
        """Subsets -> replies.jsonl."""
        names = self.config.require_collect().endpoints
        roles, settings = prepare.teachers(self.config)
        published.begin(self.folder.path, "collect")
        self.folder.write_manifest(self.config, roles.hashes, {"replies": None})
        place = {subset.id: at for at, subset in enumerate(subsets)}
        wanted = plan.replies_asked(list(place), names)
        work = plan.replies_asked(list(place), names, kept)
        asked = names if len(work) == len(wanted) else tuple(dict.fromkeys(name for _, name in work))
        failures = list(kept.failures.values())
        left = iter(wanted)
        with writing(self.folder.file("replies.jsonl"), Reply) as out:

            def reply(ask: Ask, item: tuple[str, str]) -> Awaitable[Reply]:
                return reply_to(ask, subsets[place[item[0]]], item[1], roles, settings[item[1]])

            def take(item: tuple[str, str] | None, found: Reply | Exception | None) -> None:
                for before in left:  # what was kept stands where it was asked for
                    if before == item:
                        break
                    if before in kept.replies:
                        out.add(kept.replies[before])
                if isinstance(found, Reply):
                    out.add(found)
                elif found is not None and item is not None:
                    failures.append(as_failed(item[1], found).record("collect", item[0]))

            flow = await self._stream("collect", work, reply, take, asked)
            take(None, None)
        self._published("collect", failures, "replies.jsonl")
        self._end("collect", flow, len(work), f"{out.count} of {len(wanted)} replies")
        return self.folder.replies()

    async def judge(
        self, subsets: Sequence[Subset], replies: Sequence[Reply], kept: Kept = NOTHING_KEPT
    ) -> Records:
        """Replies -> judgments.jsonl and verdicts.jsonl."""
        how, earlier = self.judging(), kept.rounds
        answered = Answered(subsets, replies)
        pairs = prepare.pairs(self.config, answered.endpoints)
        panel = prepare.panel(self.config)
        published.begin(self.folder.path, "judge")
        self.folder.write_manifest(self.config, panel.hashes, {})
        played, missing = answered.matches(pairs)
        items = Items(played, how, earlier)
        work = items.open()
        trial = self.trial()

        async def one(ask: Ask, item: MatchItem) -> Judged:
            judged = await judge_match(ask, panel, item[0], item[1], earlier)
            if self.batch_poll_s is None:
                self._try(trial, judged, earlier)
            if judged.verdict is not None:
                self.opened().events.emit("judged", **judged.verdict.model_dump(exclude={"votes"}))
            return judged

        judges = [name for name in how.judges if name in self.opened().endpoints]
        goal: Goal | None = self.config.require_judge().wanted()
        load = plan.workload(self.config, subsets=len(subsets), replied=answered.endpoints)
        with judged_files(self.folder, items) as rounds:
            if goal is None:
                self.folder.file("goal.json").unlink(missing_ok=True)
                ended = await self._stream("judge", work, lambda ask, at: one(ask, items[at]), rounds.take, judges)
                rounds.pass_over(len(items))
            else:
                from frontdesk.runner.goals import Table  # scipy.stats: a second that runs without it can spare

                table = Table(goal, self.config.run.seed, subsets, pairs, items, missing)
                ended, chosen = await self._pursue(table, items, work, one, judges)
                load = load.narrowed(len(chosen))
                came = {(item[0].id, item[1]): found for item, found in (*ended.done, *ended.failed)}
                for at, (match, criterion) in enumerate(items):
                    if (match.id, criterion) in chosen:
                        rounds.add(at, came.get((match.id, criterion)))
        failures = [*earlier.failures.values(), *rounds.failures]
        failures += [_missing(subset, pair) for subset, pair in missing]
        self._published("judge", failures, "verdicts.jsonl")
        published.record(self.folder.path, "judgments.jsonl", "goal.json")
        summary = (
            f"{rounds.judgments.count} of {load.rounds} rounds, {rounds.unreadable} unreadable; "
            f"{rounds.verdicts.count} of {load.verdicts} verdicts"
        )
        self._end("judge", ended, len(work), summary)
        return self.folder.judgments(), self.folder.verdicts()

    async def _pursue(
        self,
        table: Table,
        items: Items,
        work: Sequence[int],
        do: Callable[[Ask, MatchItem], Awaitable[Judged]],
        judges: Sequence[str],
    ) -> tuple[Gathered[MatchItem, Judged], set[tuple[str, str]]]:
        """Judge what the goal asks for, and write goal.json; also the (match, criterion) that it asked for."""
        from frontdesk.runner.goals import pursue

        new = {(match.id, criterion) for match, criterion in map(items.__getitem__, work)}
        before = [items.before(at) for at in range(len(items))]
        file = self.folder.file("goal.json")
        file.unlink(missing_ok=True)
        self._start("judge", len(work))
        chosen: set[tuple[str, str]] = set()

        def judge(items: Sequence[MatchItem]) -> Awaitable[Gathered[MatchItem, Judged]]:
            chosen.update((match.id, criterion) for match, criterion in items)
            return self._work([one for one in items if (one[0].id, one[1]) in new], do, judges)

        pursued = await pursue(table, before, judge)
        self._ended("judge", pursued.gathered, len(work))
        if pursued.account is not None:
            write_json(file, pursued.account)
            used = pursued.account.matches
            self.progress.say(f"goal: {pursued.account.statement} {used.used} of {used.possible} matches.")
        return pursued.gathered, chosen

    def _try(self, trial: JudgeTrial, judged: Judged, earlier: KeptRounds) -> None:
        """New rounds count in the judge's trial; one that fails it is asked no more."""
        where = (judged.match.subset.id, *judged.match.endpoints, judged.criterion)
        new = [each for each in judged.judgments if (*where, each.judge, each.round) not in earlier.judgments]
        for one in new:
            is_readable = one.outcome != "unreadable"
            if not is_readable:
                self.could_not_read(one.judge, f"{judged.match.id} {judged.criterion}", one.raw, one.reason)
            self.tried(trial, trial.saw(one.judge, one.raw, one.reason, is_readable=is_readable))

    def could_not_read(self, judge: str, item: str, raw: str, reason: str | None) -> None:
        """An answer of a judge that could not be read: counted, and told to whoever watches."""
        self.unreadable[judge] += 1
        self.opened().events.emit("unreadable", judge=judge, item=item, reason=reason, text=raw[:MOST_LETTERS])

    def trial(self, unit: str = "rounds") -> JudgeTrial:
        """A trial of the judges of one stage."""
        return JudgeTrial(self.config.budget.trial_rounds, unit)

    def tried(self, trial: JudgeTrial, failed: NotReadable | None) -> None:
        """Show how a trial goes, and start no new call where it has failed."""
        self.progress.note = trial.note
        if failed is not None:
            self.opened().stop(failed)

    async def student(self, subsets: Sequence[Subset], replies: Sequence[Reply]) -> StudentSide:
        """Replies -> branches -> student.json, and the files behind it. Raises Stopping as the stages do."""
        from frontdesk.runner.student import StudentStage  # topics are read only where they are used

        stage = StudentStage.prepared(self.config, self.prompts)
        published.begin(self.folder.path, "student")
        self.folder.write_manifest(self.config, stage.hashes, stage.inputs)
        work = stage.work(subsets, replies)
        asked = [name for name in stage.endpoints if name in self.opened().endpoints]
        gathered = await self._each("student", work, stage.grow, asked)
        side = stage.publish(self.folder, subsets, gathered.done)
        failures = [failure for _, grown in gathered.done for failure in grown.failures]
        failures += [as_failed("", error).record("student", branch.name) for branch, error in gathered.failed]
        self.folder.replace_failures("student", failures)
        published.record(self.folder.path, "failures.jsonl")
        summary = f"{side.counts.branches} of {side.counts.branches_asked} branches"
        self._end("student", gathered, len(work), summary)
        return side

    def judging(self) -> Judging:
        return prepare.judging(self.config)

    async def _each(
        self,
        stage: str,
        work: Sequence[Item],
        do: Callable[[Ask, Item], Awaitable[Result]],
        endpoints: Sequence[str],
    ) -> Gathered[Item, Result]:
        async with self.elsewhere(stage, len(work)):
            self._start(stage, len(work))
            gathered = await self._work(work, do, endpoints)
            self._ended(stage, gathered, len(work))
        return gathered

    async def _stream(
        self,
        stage: str,
        work: Sequence[Item],
        do: Callable[[Ask, Item], Awaitable[Result]],
        take: Callable[[Item, Result | Exception], None],
        endpoints: Sequence[str],
    ) -> Flow:
        async with self.elsewhere(stage, len(work)):
            self._start(stage, len(work))
            flow = await self._flow(work, do, take, endpoints)
            self._ended(stage, flow, len(work))
        return flow

    @asynccontextmanager
    async def elsewhere(self, stage: str, of: int) -> AsyncGenerator[None]:  # noqa: ARG002 - for whoever has others
        """Around a stage's work: whoever has other machines lets them make its calls first."""
        yield

    async def _work(
        self, work: Sequence[Item], do: Callable[[Ask, Item], Awaitable[Result]], endpoints: Sequence[str]
    ) -> Gathered[Item, Result]:
        if self.batch_poll_s is not None:
            return await self._by_batch(work, do, endpoints, self.batch_poll_s)
        ask, at_once = self.opened().ask, self._at_once(endpoints)
        return await each(work, lambda item: do(ask, item), at_once=at_once, finished=self.advance)

    async def _flow(
        self,
        work: Sequence[Item],
        do: Callable[[Ask, Item], Awaitable[Result]],
        take: Callable[[Item, Result | Exception], None],
        endpoints: Sequence[str],
    ) -> Flow:
        if self.batch_poll_s is None:
            ask, at_once = self.opened().ask, self._at_once(endpoints)
            return await stream(work, lambda item: do(ask, item), take, at_once=at_once, finished=self.advance)
        numbered = list(enumerate(work))
        gathered = await self._by_batch(numbered, lambda ask, at: do(ask, at[1]), endpoints, self.batch_poll_s)
        outcomes: list[tuple[tuple[int, Item], Result | Exception]] = [*gathered.done, *gathered.failed]
        for (_, item), outcome in sorted(outcomes, key=lambda one: one[0][0]):
            take(item, outcome)
        return Flow(len(gathered.done), len(gathered.failed), gathered.stopped)

    def _at_once(self, endpoints: Sequence[str]) -> int:
        adapters = self._adapters(endpoints)
        return min(MOST_AT_ONCE, sum(adapter.settings.concurrency for adapter in adapters.values()))

    async def _by_batch(
        self,
        work: Sequence[Item],
        do: Callable[[Ask, Item], Awaitable[Result]],
        endpoints: Sequence[str],
        batch_poll_s: float,
    ) -> Gathered[Item, Result]:
        """The same work, its calls sent in jobs, wave after wave."""
        from gateway.batches.runner import BatchRunner  # the providers' batch code, where batches are asked for

        adapters = self._adapters(endpoints)
        batched = [name for name, adapter in adapters.items() if has_batches(adapter.settings)]
        for name in adapters.keys() - set(batched):
            self.progress.say(f"batch: {name} is asked in real time: its kind has no batch interface")

        async def wave(ask: Ask) -> Gathered[Item, Result]:
            return await each(work, lambda item: do(ask, item), at_once=self._at_once(endpoints))

        return await BatchRunner(self.opened(), batched, poll_s=batch_poll_s).whole(wave)

    def advance(self) -> None:
        """An item of the stage is finished: shown, and told to the log once in a while."""
        self.progress.advance()
        if (now := time.monotonic()) - self._told_at >= TELL_EVERY_S:
            self._told_at = now
            stage, done, of = self.progress.place
            endpoints = [each.to_json() for each in endpoints_of(self)]
            self.opened().events.emit("progress", stage=stage, done=done, of=of, endpoints=endpoints)

    def _start(self, stage: str, of: int) -> None:
        self.progress.start(stage, of)
        self.opened().events.emit("stage_started", stage=stage, items=of)

    def _ended(self, stage: str, ended: Gathered[Any, Any] | Flow, of: int) -> None:
        self.opened().sync()
        done, failed = _counted(ended)
        counts = {"done": done, "failed": failed, "of": of}
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

    def _published(self, stage: str, failures: Sequence[Failure], name: str) -> None:
        """A stage's file is written: its failures too, and both are noted."""
        self.folder.replace_failures(stage, failures)
        published.record(self.folder.path, name, "failures.jsonl")
        for kind, count in Counter(failure.kind for failure in failures).most_common():
            first = next(failure for failure in failures if failure.kind == kind)
            who = f"{first.endpoint}: " if first.endpoint else ""
            self.progress.say(f"{stage}: {count} x {kind}, such as: {shown(f'{who}{first.message}', 200)}")

    def _end(self, stage: str, ended: Gathered[Any, Any] | Flow, of: int, summary: str) -> None:
        if ended.stopped is not None:
            done, _ = _counted(ended)
            published.begin(self.folder.path, stage, f"{done} of {of}")
            raise Stopping(ended.stopped, stage, done, of)
        published.end(self.folder.path, stage)
        self.progress.finish(summary)


def _counted(ended: Gathered[Any, Any] | Flow) -> tuple[int, int]:
    """How many items were done, and how many failed."""
    if isinstance(ended, Flow):
        return ended.done, ended.failed
    return len(ended.done), len(ended.failed)


def _missing(subset: str, pair: tuple[str, str]) -> Failure:
    names = " and ".join(pair)
    failed = CallFailed("", "no_match", f"no match of {names}: a reply is missing", 0)
    return failed.record("judge", f"{subset}/{pair[0]}/{pair[1]}")
