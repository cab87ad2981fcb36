"""The stages of a run, each from records to records, published as files as it ends.

A stage that is run again finds its finished calls in the journal; nothing of it is kept anywhere else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from arena.judge import Judged, Judging, judge_match
from arena.kept import KeptRounds
from arena.matches import Answered
from arena.sequential.goal import Goal
from arena.trial import JudgeTrial
from frontdesk.runner import plan, prepare, published
from frontdesk.runner.casting import Casting
from frontdesk.runner.judged import Item as MatchItem
from frontdesk.runner.judged import Items, Records
from frontdesk.runner.judged import published as judged_files
from frontdesk.runner.noticed import noticed, noticed_in
from frontdesk.runner.outcome import StageDone
from frontdesk.runner.plan import NOTHING_KEPT, Kept
from frontdesk.runner.shortfall import NO_MATCH
from frontdesk.runner.stagework import Heard, InPlace, StageWork
from gateway.crowd import Gathered
from gateway.errors import CallFailed, as_failed
from gateway.prompt import Ask
from runstore.publish import write_json, write_jsonl
from runstore.records import (
    Dialogue,
    Failure,
    Reply,
    Subset,
)
from runstore.stored import writing
from simulator import cutter
from simulator.collect import reply_to
from simulator.conversation import Held, converse

if TYPE_CHECKING:
    from arena.learning.result import StudentSide
    from frontdesk.runner.goals import Table
    from simulator.knowledge.rollout import Grown


class Pipeline(StageWork):
    """The stages, in their order."""

    async def whole(self) -> Records:
        """Every stage in order, from personas to ratings: the one place where that order stands.

        Of a configuration that compares no tutors, the dialogues alone. The report is made above, of the records.
        Raises Stopping as the stages do.
        """
        self.folder.is_made_anew = published.CHANGE in published.read(self.folder.path).under_way
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
        planned = cast.castings(how.dialogues, self.config.run.seed, self.share)
        for remark in cast.remarks:
            self.progress.say(f"simulate: {remark}")

        async def hold(ask: Ask, casting: Casting) -> Held:
            return await converse(
                ask, casting.persona, casting.question, cast.conversation, cast.roles,
                copy=casting.copy, place=casting.place, knowing=cast.knowing,
            )  # fmt: skip

        asked = [name for name in self.config.simulating() if name in self.opened().endpoints]
        failures: list[Failure] = []
        warned = Counter[tuple[str, str]]()
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
                    warned.update(("dialogues", kind) for kind in noticed_in(held.dialogue))
                    out.add(held.dialogue)

            heard: Heard[Held] = Heard(ahead=range(plan.ahead_of_batch(self.config, "simulate", len(planned))))
            flow = await self._stream("simulate", planned, hold, take, asked, heard)
        self._published("simulate", failures, "dialogues.jsonl")
        self.warned("simulate", warned)
        self.end("simulate", flow, len(planned), f"{complete} of {len(planned)} dialogues")
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
        ids = [] if kept.is_empty else [subset.id for subset in subsets]
        wanted = len(subsets) * len(names)
        work = range(wanted) if kept.is_empty else plan.replies_asked(ids, names, kept)
        asked = names if len(work) == wanted else tuple(dict.fromkeys(names[at % len(names)] for at in work))
        failures = list(kept.failures.values())
        warned = Counter[tuple[str, str]]()
        with writing(self.folder.file("replies.jsonl"), Reply) as out:

            def asked_at(place: int) -> tuple[int, str]:
                at, name = divmod(place, len(names))
                return at, names[name]

            def reply(ask: Ask, place: int) -> Awaitable[Reply]:
                at, name = asked_at(place)
                return reply_to(ask, subsets[at], name, roles, settings[name])

            def put(place: int, outcome: Reply | Exception | None) -> None:
                at, name = asked_at(place)
                if outcome is None:
                    outcome = kept.replies.get((ids[at], name))
                if isinstance(outcome, Exception):
                    failures.append(as_failed(name, outcome).record("collect", subsets[at].id))
                elif outcome is not None:
                    warned.update((name, kind) for kind in noticed(outcome.warnings))
                    out.add(outcome)

            in_place = InPlace(put, keeps=not kept.is_empty)
            flow = await self._stream("collect", work, reply, in_place.take, asked)
            in_place.pass_over(wanted)
        self._published("collect", failures, "replies.jsonl")
        self.warned("collect", warned)
        self.end("collect", flow, len(work), f"{out.count} of {wanted} replies")
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
        self.folder.write_manifest(self.config, panel.hashes, {}, instead_of="judge")
        played, missing = answered.matches(pairs)
        items = Items(played, how, earlier)
        work = items.open()
        heard = self._on_trial(how, len(work), earlier)

        def one(ask: Ask, item: MatchItem) -> Awaitable[Judged]:
            return judge_match(ask, panel, item[0], item[1], earlier)

        judges = [name for name in how.judges if name in self.opened().endpoints]
        goal: Goal | None = self.config.require_judge().wanted()
        load = plan.workload(self.config, subsets=len(subsets), replied=answered.endpoints)
        with judged_files(self.folder, items) as rounds:
            if goal is None:
                self.folder.file("goal.json").unlink(missing_ok=True)
                flow = await self._stream(
                    "judge", work, lambda ask, at: one(ask, items[at]), rounds.in_place.take, judges, heard
                )
                rounds.in_place.pass_over(len(items))
            else:
                from frontdesk.runner.goals import Table  # scipy.stats: a second that runs without it can spare

                table = Table(goal, self.config.run.seed, subsets, pairs, items, missing)
                gathered, chosen = await self._pursue(table, items, work, one, judges, heard)
                flow, load = gathered.flow(), load.narrowed(len(chosen))
                came = {(item[0].id, item[1]): outcome for item, outcome in (*gathered.done, *gathered.failed)}
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
        self.end("judge", flow, len(work), summary)
        return self.folder.judgments(), self.folder.verdicts()

    async def _pursue(
        self,
        table: Table,
        items: Items,
        work: Sequence[int],
        do: Callable[[Ask, MatchItem], Awaitable[Judged]],
        judges: Sequence[str],
        heard: Heard[Judged],
    ) -> tuple[Gathered[MatchItem, Judged], set[tuple[str, str]]]:
        """Judge what the goal asks for, and write goal.json; also the (match, criterion) that it asked for."""
        from frontdesk.runner.goals import pursue

        new = {(match.id, criterion) for match, criterion in map(items.__getitem__, work)}
        before = [items.before(at) for at in range(len(items))]
        file = self.folder.file("goal.json")
        file.unlink(missing_ok=True)
        self.start("judge", len(work))
        chosen: set[tuple[str, str]] = set()

        def judge(items: Sequence[MatchItem]) -> Awaitable[Gathered[MatchItem, Judged]]:
            chosen.update((match.id, criterion) for match, criterion in items)
            return self._work([item for item in items if (item[0].id, item[1]) in new], do, judges, heard)

        pursued = await pursue(table, before, judge)
        self._ended("judge", pursued.gathered.flow(), len(work))
        if pursued.account is not None:
            write_json(file, pursued.account)
            used = pursued.account.matches
            self.progress.say(f"goal: {pursued.account.statement} {used.used} of {used.possible} matches.")
        return pursued.gathered, chosen

    def _on_trial(self, how: Judging, asked: int, earlier: KeptRounds) -> Heard[Judged]:
        """The judges' trial, before a batch on as many items as it takes; whoever watches is told of verdicts."""
        trial = self.trial()

        def hear(judged: Judged, decides: bool, before: Judged | None) -> None:
            self._try(trial if decides else None, judged, before, earlier)
            if judged.verdict is not None and (before is None or before.verdict != judged.verdict):
                self.opened().events.emit("judged", **judged.verdict.model_dump(exclude={"votes"}))

        if self.batch_poll_s is None:
            return Heard(hear)
        ahead = plan.ahead_of_batch(self.config, "judge", asked)
        trial.rounds = min(trial.rounds, ahead * (how.needed // len(how.judges)))
        return Heard(hear, range(ahead))

    def _try(self, trial: JudgeTrial | None, judged: Judged, before: Judged | None, earlier: KeptRounds) -> None:
        """New rounds count in the judge's trial, where it goes on; a judge that fails it is asked no more."""
        where = (judged.match.subset.id, *judged.match.endpoints, judged.criterion)
        heard = {(each.judge, each.round) for each in (before.judgments if before is not None else ())}
        new = [
            each
            for each in judged.judgments
            if (*where, each.judge, each.round) not in earlier.judgments and (each.judge, each.round) not in heard
        ]
        for judgment in new:
            is_readable = judgment.outcome != "unreadable"
            if not is_readable:
                self.could_not_read(
                    judgment.judge, f"{judged.match.id} {judged.criterion}", judgment.raw, judgment.reason
                )
            if trial is not None:
                self.tried(
                    trial, trial.saw(judgment.judge, judgment.raw, judgment.reason, is_readable=is_readable)
                )

    async def student(self, subsets: Sequence[Subset], replies: Sequence[Reply]) -> StudentSide:
        """Replies -> branches -> student.json, and the files behind it. Raises Stopping as the stages do."""
        from frontdesk.runner.student import StudentStage  # topics are read only where they are used

        stage = StudentStage.prepared(self.config, self.prompts)
        published.begin(self.folder.path, "student")
        self.folder.write_manifest(self.config, stage.hashes, stage.inputs)
        work = stage.work(subsets, replies)
        asked = [name for name in stage.endpoints if name in self.opened().endpoints]
        heard: Heard[Grown] = Heard(ahead=range(plan.ahead_of_batch(self.config, "student", len(work))))
        gathered = await self.ask_each("student", work, stage.grow, asked, heard)
        side = stage.publish(self.folder, subsets, gathered.done)
        failures = [failure for _, grown in gathered.done for failure in grown.failures]
        failures += [as_failed("", error).record("student", branch.name) for branch, error in gathered.failed]
        self.folder.replace_failures("student", failures)
        published.record(self.folder.path, "failures.jsonl")
        summary = f"{side.counts.branches} of {side.counts.branches_asked} branches"
        self.end("student", gathered.flow(), len(work), summary)
        return side

    def judging(self) -> Judging:
        return prepare.judging(self.config)


def _missing(subset: str, pair: tuple[str, str]) -> Failure:
    names = " and ".join(pair)
    failed = CallFailed("", NO_MATCH, f"no match of {names}: a reply is missing", 0)
    return failed.record("judge", f"{subset}/{pair[0]}/{pair[1]}")
