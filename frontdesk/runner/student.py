"""The student's side of a run: what is to be grown, growing it, and the files that come of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from arena.learning.assess import Evidence, assess
from arena.learning.leaves import Forest
from arena.learning.panel import Known
from arena.learning.result import Made, StudentSide, read_student
from frontdesk.runner import plan, prepare, published
from frontdesk.runner.config import RULES, Config, StudentSection
from frontdesk.runner.families import family_of
from frontdesk.runner.knowing import Knowledge, hashes_of, labellers_of, taker_of
from frontdesk.runner.rating import settings_of as rating_settings
from frontdesk.runner.runfolder import RunFolder
from gateway.adapters.base import EndpointSettings
from gateway.adapters.catalog import settings_of
from gateway.prompt import Ask
from knowledge import Outcomes
from runstore.ids import hashed_number, shuffled
from runstore.languages import words
from runstore.problems import Problem
from runstore.publish import write_json, write_jsonl
from runstore.records import Persona, Reply, Subset, Utterance
from runstore.student_records import CONTROL_ARM, CONTROLS, Node
from simulator.collect import styles_of
from simulator.knowledge.acts import Directions
from simulator.knowledge.controls import Scripted
from simulator.knowledge.rollout import (
    NO_REPLY,
    STAGE,
    Grown,
    Rolling,
    Said,
    Samples,
    Situation,
    grow,
    root_of,
    situation,
)
from simulator.roles import SIMPLE, Roles

FILES = ("rollouts.jsonl", "labels.jsonl", "states.jsonl", "quiz.jsonl", "student_verdicts.jsonl", "student.json")


@dataclass(frozen=True, slots=True)
class Branch:
    """One tree to grow: an endpoint's, a control's, or (``arm`` None) only the root."""

    at: Situation
    arm: str | None
    first: Said | None = None
    script: Scripted | None = None
    is_panel: bool = False

    @property
    def name(self) -> str:
        return f"{self.at.who}/{self.arm or 'root'}"


@dataclass(frozen=True, slots=True)
class StudentStage:
    """Everything the stage needs before its first call."""

    config: Config
    knowledge: Knowledge
    rolling: Rolling
    silent: Rolling
    people: Mapping[str, Persona]
    settings: Mapping[str, EndpointSettings]
    hashes: Mapping[str, str]

    @classmethod
    def prepared(cls, config: Config, prompts: Path | None) -> StudentStage:
        """Raises Problem, InputProblem for whatever would go wrong without asking anybody."""
        how, knowledge = config.require_student(), Knowledge.load(config)
        student, baseline = plan.speakers(config)
        if student is None:
            raise Problem("student.student: found none, expected an endpoint that words the student's utterances")
        if how.continued == "baseline" and baseline is None:
            raise Problem('student.continue: found "baseline", expected [simulate] teacher to be that tutor')
        names = tuple(config.collect.endpoints) if config.collect is not None else ()
        asked = (*names, *([baseline] if baseline is not None else []))
        settings = {name: settings_of(name, config.endpoints[name]) for name in asked}
        styles = [*styles_of(settings), *([config.simulate.style] if config.simulate is not None else [])]
        roles = Roles.load(config.run.language, prompts, list(dict.fromkeys(styles)))
        directions = Directions.load(config.run.language, prompts)
        labellers = labellers_of(config, prompts)
        taker = taker_of(config, student, prompts)
        hashes = {**roles.hashes, **directions.hashes, **hashes_of(labellers), **(taker.hashes if taker else {})}
        rolling = Rolling(
            how.branches, config.run.seed, knowledge.learning, labellers, roles, directions, student, taker
        )
        silent = replace(rolling, student=None)
        people = {person.id: person for person in prepare.students(config)[0]}
        return cls(config, knowledge, rolling, silent, people, settings, hashes)

    @property
    def inputs(self) -> dict[str, object]:
        """What the manifest says of the topics and rules."""
        known = self.knowledge
        return {
            "student": {
                "topics": {"count": len(known.bank.topics), "hash": known.bank.hash},
                "learning": {"name": known.learning.name, "hash": known.learning.hash},
                "outcomes": {"hash": known.outcomes.hash},
            }
        }

    @property
    def endpoints(self) -> list[str]:
        """Everybody who is asked."""
        how = self.config.require_student()
        student, baseline = plan.speakers(self.config)
        tutors = self.settings if how.continued == "own" else {baseline: None}
        named = [student, *tutors, *self.config.readers, None if how.quiz == RULES else how.quiz]
        return list(dict.fromkeys(name for name in named if name is not None))

    def work(self, subsets: Sequence[Subset], replies: Sequence[Reply]) -> list[Branch]:
        """Every tree: roots, each endpoint's replies, and the panel's controls."""
        there = {(reply.subset, reply.endpoint): reply for reply in replies}
        names = sorted({reply.endpoint for reply in replies})
        branches: list[Branch] = []
        for subset in self.on_topics(subsets):
            at = self._situation(subset)
            branches.append(Branch(at, None))
            for name in names:
                reply = there.get((subset.id, name))
                branches.append(Branch(at, name, NO_REPLY if reply is None else Said(reply.text, reply.finish)))
        for at in self._students(subsets):
            branches.append(Branch(at, None, is_panel=True))
            branches += [
                Branch(at, f"{CONTROL_ARM}{name}", script=Scripted(name, at.topic, at.state)) for name in CONTROLS
            ]
        return branches

    def on_topics(self, subsets: Sequence[Subset]) -> list[Subset]:
        """The subsets whose question has a topic that counts."""
        return [subset for subset in subsets if subset.question in self.knowledge.bank.topics]

    def _situation(self, subset: Subset, who: str | None = None) -> Situation:
        topic = self.knowledge.bank.topics[subset.question]
        somebody = words("simulator", "knowledge", topic.language)("somebody")
        nobody = Persona(id=subset.persona, levels=subset.levels, language=topic.language, text=somebody)
        person = self.people.get(subset.persona, nobody)
        return situation(subset, topic, person, self.knowledge.learning, self.config.run.seed, who)

    def _students(self, subsets: Sequence[Subset]) -> list[Situation]:
        """The panel's students: subsets in drawn order, again with other first states until there are enough."""
        drawn = shuffled(
            [(subset.id, subset) for subset in self.on_topics(subsets)], self.config.run.seed, "panel"
        )
        wanted = self.config.require_student().panel if drawn else 0
        return [
            self._situation(drawn[at % len(drawn)], f"{drawn[at % len(drawn)].id}#{at // len(drawn)}")
            for at in range(wanted)
        ]

    async def grow(self, ask: Ask, branch: Branch) -> Grown:
        """One tree. Raises Stopped."""
        if branch.arm is None:
            return await root_of(ask, self.rolling, branch.at, is_panel=branch.is_panel)
        if branch.script is not None:
            return await grow(ask, self.silent, branch.at, branch.arm, None, branch.script)
        return await grow(ask, self.rolling, branch.at, branch.arm, branch.first, self._tutor(ask, branch))

    def _tutor(self, ask: Ask, branch: Branch) -> Callable[..., Any]:
        how, arm, simulated = self.config.require_student(), branch.arm or "", self.config.simulate
        endpoint, style = arm, None
        if how.continued == "baseline" and simulated is not None:
            endpoint, style = simulated.teacher, simulated.style
        given = self.settings[endpoint]
        style = style or given.style or SIMPLE
        subset = branch.at.subset
        fields = {"dialogue_id": subset.dialogue, "subset_id": subset.id, "topic": subset.subject}

        async def reply(history: Sequence[Utterance], states: Mapping[str, str], path: Samples) -> Said:  # noqa: ARG001 - no ``states``
            prompt = self.rolling.roles.teacher_prompt(history, style, fields, given.system)
            repeat = hashed_number(branch.at.who, *path)
            answer = await ask(endpoint, prompt, repeat=repeat, stage=STAGE, item=branch.name)
            return Said(answer.text, answer.finish)

        return reply

    def publish(
        self, folder: RunFolder, subsets: Sequence[Subset], grown: Sequence[tuple[Branch, Grown]]
    ) -> StudentSide:
        """Write every file of the stage; returns what ``student.json`` holds."""
        whole = Grown()
        for _, tree in grown:
            whole.add(tree)
        own = self.on_topics(subsets)
        panel = [branch for branch, _ in grown if branch.is_panel or branch.script is not None]
        outcomes, how = self.knowledge.outcomes, self.config.require_student()
        forest = Forest(
            whole.nodes,
            whole.labels,
            whole.quiz,
            self.knowledge.bank.topics,
            {subset.id: subset for subset in own},
            {branch.at.who: branch.at.subset.id for branch in panel},
        )
        names = sorted({branch.arm for branch, _ in grown if branch.arm is not None and branch.script is None})
        evidence = Evidence(
            forest=forest,
            subsets=own,
            endpoints=names,
            students=list(dict.fromkeys(branch.at.who for branch in panel)),
            known=known_moves(panel, whole.nodes),
            leaves_each=plan.tree_of(how.branches).leaves,
            outcomes=outcomes,
            judged=folder.verdicts() if folder.file("verdicts.jsonl").is_file() else (),
            same_family=self._same_family(),
        )
        drafts = sum(subset.question in self.knowledge.bank.drafts for subset in subsets)
        side, decided = assess(
            evidence,
            self._made(outcomes),
            rating_settings(self.config),
            all_subsets=len(subsets),
            drafts=drafts,
            questions=len({subset.question for subset in own}),
        )
        rows: list[tuple[str, Sequence[object]]] = [
            ("rollouts.jsonl", whole.nodes),
            ("labels.jsonl", whole.labels),
            ("states.jsonl", whole.changes),
            ("quiz.jsonl", whole.quiz),
            ("student_verdicts.jsonl", decided),
        ]
        for name, records in rows:
            write_jsonl(folder.file(name), records)
        write_json(folder.file("student.json"), side.to_json())
        published.record(folder.path, *FILES)
        return side

    def _made(self, outcomes: Outcomes) -> Made:
        how, known = self.config.require_student(), self.knowledge
        return Made(
            learning=known.learning.name,
            learning_hash=known.learning.hash,
            outcomes_hash=outcomes.hash,
            topics_hash=known.bank.hash,
            turns=len(how.branches),
            branches=how.branches,
            continued=how.continued,
            labellers=self.config.labellers,
            student=self.rolling.student or "",
            quiz=how.quiz,
            margin=outcomes.margin,
            leak=outcomes.leak,
            level=outcomes.level,
        )

    def _same_family(self) -> bool:
        """Whether a labeller and a judge are models of one family, which inflates how far they agree."""
        judges = self.config.judge.endpoints if self.config.judge is not None else ()
        families = [
            {family_of(settings_of(name, self.config.endpoints[name])) for name in names}
            for names in (judges, self.config.readers)
        ]
        return bool(families[0] & families[1])


def known_moves(panel: Sequence[Branch], nodes: Sequence[Node]) -> dict[str, Known]:
    """What each scripted utterance does, by node."""
    scripts = {(branch.at.who, branch.arm): branch.script for branch in panel if branch.script is not None}
    return {
        node.id: script.line(node.path.count(".") + 1 if node.path else 0)[1]
        for node in nodes
        if node.speaker == "teacher" and (script := scripts.get((node.subset, node.arm))) is not None
    }


def with_section(config: Config) -> Config:
    """The configuration with a ``[student]`` section: its own, or the default one."""
    return config if config.student is not None else config.model_copy(update={"student": StudentSection()})


def is_refused(folder: RunFolder) -> bool:
    """Whether the run has a student's side that decides nothing, or not everything."""
    file = folder.file("student.json")
    if not file.is_file():
        return False
    side = read_student(file)
    return not side.panel.passed or side.counts.invalid > 0
