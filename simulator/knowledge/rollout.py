"""One subset and one tutor: branches of a few turns, as a tree in which what begins alike is asked once.

A tutor's utterance is labelled; the labels, the student's state and the declared rules decide what the student
learns and does next; a model words it. Draws and the numbers of calls are keyed by subset and path, never by the
tutor, so that tutors who say the same have the same student, and the journal itself is the prefix tree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from gateway.crowd import each
from gateway.errors import CallFailed, as_failed
from gateway.prompt import Ask
from knowledge.rules import Learning
from knowledge.topic import Topic
from runstore.ids import content_id, hashed_number
from runstore.records import Failure, Persona, Subset, Utterance
from runstore.student_records import ROOT_ARM, MoveLabel, Node, OptionOrder, QuizRow, StateChange
from simulator.knowledge.acts import Directions, Intention, card
from simulator.knowledge.state import credit_of, first_states
from simulator.knowledge.step import Step, consider
from simulator.roles import Roles
from simulator.speech import read_speech

STAGE = "student"
Samples = tuple[int, ...]
"""Which sample was taken at each turn so far."""


@dataclass(frozen=True, slots=True)
class Said:
    """A tutor's utterance. ``finish`` other than ``stop``: it was cut off, and the branch is not judged by it."""

    text: str
    finish: str = "stop"


NO_REPLY = Said("", "missing")


class Tutor(Protocol):
    """Who answers. Raises CallFailed, Stopped."""

    async def __call__(self, history: Sequence[Utterance], states: Mapping[str, str], path: Samples) -> Said: ...


class Labeller(Protocol):
    """Who reads moves in a tutor's utterance. Raises CallFailed where nothing whole came, Stopped."""

    @property
    def name(self) -> str: ...

    async def __call__(
        self, ask: Ask, topic: Topic, before: str, said: str, *, node: str, repeat: int, stage: str = STAGE
    ) -> Sequence[MoveLabel]: ...


class Taker(Protocol):
    """A student who answers the quiz itself (``takes``), or says what it thinks of its tutor (``rates``).

    Raises CallFailed where an item could not be asked or read, Stopped. ``place``: what its draws belong to.
    """

    @property
    def takes(self) -> bool: ...

    @property
    def rates(self) -> bool: ...

    async def quiz(
        self,
        ask: Ask,
        topic: Topic,
        knew: Sequence[str],
        talk: Sequence[Utterance],
        *,
        leaf: str,
        place: tuple[str, ...],
        order: OptionOrder = "drawn",
    ) -> Sequence[QuizRow]: ...

    async def rate(
        self, ask: Ask, talk: Sequence[Utterance], *, leaf: str, place: tuple[str, ...]
    ) -> Sequence[QuizRow]: ...


@dataclass(frozen=True, slots=True)
class Rolling:
    """How branches grow. ``branches``: samples taken of each student utterance, turn by turn.

    ``student`` None: nothing is said aloud (controls), the student only learns and does. The first labeller
    decides; the others are recorded beside it. ``taker`` None: the quiz is scored from the state, without a call.
    """

    branches: tuple[int, ...]
    seed: int
    rules: Learning
    labellers: tuple[Labeller, ...]
    roles: Roles
    directions: Directions
    student: str | None = None
    taker: Taker | None = None

    @property
    def turns(self) -> int:
        return len(self.branches)


@dataclass(frozen=True, slots=True)
class Situation:
    """A subset as a branch begins: who the student is, and what it knows at the cut."""

    subset: Subset
    topic: Topic
    persona: Persona
    state: Mapping[str, str]
    who: str
    """What draws belong to: the subset's id, or the panel's student."""


@dataclass(slots=True)
class Grown:
    """All records of one branch tree; ``failures`` are why leaves are missing."""

    nodes: list[Node] = field(default_factory=list[Node])
    labels: list[MoveLabel] = field(default_factory=list[MoveLabel])
    changes: list[StateChange] = field(default_factory=list[StateChange])
    quiz: list[QuizRow] = field(default_factory=list[QuizRow])
    failures: list[Failure] = field(default_factory=list[Failure])

    def add(self, other: Grown) -> None:
        self.nodes += other.nodes
        self.labels += other.labels
        self.changes += other.changes
        self.quiz += other.quiz
        self.failures += other.failures


def situation(
    subset: Subset, topic: Topic, persona: Persona, rules: Learning, seed: int, who: str | None = None
) -> Situation:
    """The state that the last utterance was spoken from, or else the first state of a student of these levels."""
    said = subset.history[-1].state
    is_known = who is None and said is not None and said.keys() == topic.component.keys()
    drawn = first_states(topic, rules, subset.levels, seed, subset.dialogue if who is None else who)
    return Situation(subset, topic, persona, said if is_known and said else drawn, who or subset.id)


async def root_of(ask: Ask, how: Rolling, at: Situation, *, is_panel: bool = False) -> Grown:
    """The node all tutors' branches share, and its quiz: what the student would get without any reply.

    A model student on the panel takes it in both orders of the options. Raises Stopped.
    """
    node = Node(
        id=_id(at, ROOT_ARM, (), "student"),
        subset=at.who,
        dialogue=at.subset.dialogue,
        arm=ROOT_ARM,
        path="",
        speaker="student",
        text=at.subset.history[-1].text,
        parent=None,
        state=dict(at.state),
    )
    grown = Grown(nodes=[node])
    orders: tuple[OptionOrder, ...] = ("drawn", "reversed") if is_panel and _takes(how) else ("drawn",)
    try:
        for order in orders:
            grown.quiz += await _quiz(ask, how, at, at.state, at.subset.history, node.id, (), order)
    except CallFailed as failed:
        grown.failures.append(failed.record(STAGE, node.id))
    return grown


async def grow(ask: Ask, how: Rolling, at: Situation, arm: str, first: Said | None, tutor: Tutor) -> Grown:
    """The whole tree under a tutor's first reply (None: ``tutor`` gives that too). Raises Stopped.

    What a model fails to give is a failure beside the records, and its leaves are missing.
    """
    tree = _Tree(ask, how, at, arm, tutor)
    await tree.turn((), at.subset.history, at.state, _id(at, ROOT_ARM, (), "student"), first)
    grown = tree.grown
    grown.nodes.sort(
        key=lambda node: (node.path.count(".") + bool(node.path), node.path, node.speaker != "student")
    )
    order = {node.id: place for place, node in enumerate(grown.nodes)}
    grown.labels.sort(key=lambda row: order[row.node])
    grown.changes.sort(key=lambda row: order[row.node])
    grown.quiz.sort(key=lambda row: order[row.leaf])
    grown.failures.sort(key=lambda row: (row.item, row.endpoint))
    return grown


class _Tree:
    def __init__(self, ask: Ask, how: Rolling, at: Situation, arm: str, tutor: Tutor) -> None:
        self.ask, self.how, self.at, self.arm, self.tutor = ask, how, at, arm, tutor
        self.grown = Grown()

    async def turn(
        self,
        path: Samples,
        history: tuple[Utterance, ...],
        states: Mapping[str, str],
        parent: str,
        said: Said | None,
    ) -> None:
        """A tutor's utterance at ``path`` and all that follows from it."""
        node = _id(self.at, self.arm, path, "teacher")
        try:
            said = said or await self.tutor(history, states, path)
            _whole(self.arm, said.finish)
            self._speak(path, said.text, parent, "teacher")
            labels = await self._labels(history[-1].text, said.text, node, path)
        except CallFailed as failed:
            self.grown.failures.append(failed.record(STAGE, node))
            return
        follows = (*history, Utterance(role="teacher", text=said.text))
        children = [(*path, sample) for sample in range(self.how.branches[len(path)])]
        outcome = await each(
            children, lambda child: self._child(child, follows, states, node, labels), at_once=len(children)
        )
        if outcome.stopped is not None:
            raise outcome.stopped
        self.grown.failures += [
            as_failed(self.how.student or self.arm, error).record(STAGE, _id(self.at, self.arm, child, "student"))
            for child, error in outcome.failed
        ]

    async def _labels(self, before: str, said: str, node: str, path: Samples) -> Sequence[MoveLabel]:
        """Every labeller's labels are recorded; the first one's decide."""
        repeat = hashed_number(self.at.who, *path)
        deciding: Sequence[MoveLabel] | None = None
        for labeller in self.how.labellers:
            labels = await labeller(self.ask, self.at.topic, before, said, node=node, repeat=repeat)
            self.grown.labels += labels or [
                MoveLabel(node=node, component=None, move="none", labeller=labeller.name)
            ]
            deciding = labels if deciding is None else deciding
        return deciding or ()

    async def _child(
        self,
        path: Samples,
        history: tuple[Utterance, ...],
        states: Mapping[str, str],
        parent: str,
        labels: Sequence[MoveLabel],
    ) -> None:
        how, at = self.how, self.at
        place = (at.who, *map(str, path))
        step = consider(at.topic, how.rules, states, labels, at.subset.levels, how.seed, place)
        text = await self._utter(path, history, step)
        attempted, after = step.spoken(text)
        node = self._speak(path, text, parent, "student", step.meant, attempted=attempted, states=after)
        self.grown.changes += [
            StateChange(
                node=node,
                component=chance.component,
                before=chance.before,
                after=after[chance.component],
                p=round(chance.p, 6),
                draw=round(step.u, 6),
            )
            for chance in step.possible
        ]
        said = (*history, Utterance(role="student", text=text or ""))
        if len(path) < how.turns:
            await self.turn(path, said, after, node, None)
            return
        self.grown.quiz += await _quiz(self.ask, how, at, after, said, node, path)
        if how.taker is not None and how.taker.rates and how.student is not None:
            place = (at.who, *map(str, path))
            self.grown.quiz += await how.taker.rate(self.ask, said, leaf=node, place=place)

    async def _utter(self, path: Samples, history: tuple[Utterance, ...], step: Step) -> str | None:
        how, at = self.how, self.at
        if how.student is None:
            return None
        direction = how.directions.direction(at.topic, step.hoped, step.meant)
        fields = {"dialogue_id": at.subset.dialogue, "topic": at.subset.subject}
        prompt = how.roles.student_prompt(at.persona, history, step.meant.act, fields, direction)
        item = _id(at, ROOT_ARM, path, "student")
        answer = await self.ask(how.student, prompt, repeat=hashed_number(at.who, *path), stage=STAGE, item=item)
        speech = read_speech(answer.text, "student")
        _whole(how.student, answer.finish)
        if speech.is_blank:
            raise CallFailed(how.student, "empty", "the utterance has no visible character", 1, answer.text)
        return speech.text

    def _speak(
        self,
        path: Samples,
        text: str | None,
        parent: str,
        speaker: str,
        meant: Intention | None = None,
        *,
        attempted: bool | None = None,
        states: Mapping[str, str] | None = None,
    ) -> str:
        node = Node(
            id=_id(self.at, self.arm, path, speaker),
            subset=self.at.who,
            dialogue=self.at.subset.dialogue,
            arm=self.arm,
            path=".".join(map(str, path)),
            speaker="student" if speaker == "student" else "teacher",
            text=text,
            act=meant.act if meant is not None else None,
            parent=parent,
            component=meant.component if meant is not None else None,
            attempted=attempted,
            state=dict(states) if states is not None else None,
        )
        self.grown.nodes.append(node)
        return node.id


def _whole(endpoint: str, finish: str) -> None:
    """Raises CallFailed for an utterance that was cut off."""
    if finish == NO_REPLY.finish:
        raise CallFailed(endpoint, "empty", "there is no reply to begin with", 0)
    if finish != "stop":
        raise CallFailed(endpoint, "truncated", f"the utterance was cut off ({finish})", 1)


def _takes(how: Rolling) -> bool:
    return how.taker is not None and how.taker.takes


async def _quiz(
    ask: Ask,
    how: Rolling,
    at: Situation,
    states: Mapping[str, str],
    talk: Sequence[Utterance],
    leaf: str,
    path: Samples,
    order: OptionOrder = "drawn",
) -> Sequence[QuizRow]:
    """Scored from ``states``; or asked of a model student, who is told only what it knew at the cut."""
    if how.taker is not None and how.taker.takes:
        place = (at.who, *map(str, path))
        return await how.taker.quiz(
            ask, at.topic, card(at.topic, at.state), talk, leaf=leaf, place=place, order=order
        )
    return [QuizRow(leaf=leaf, item=item, p=p) for item, p in credit_of(at.topic, how.rules, states).items()]


def _id(at: Situation, arm: str, path: Samples, speaker: str) -> str:
    return content_id("n", at.who, arm, list(path), speaker)
