"""What a student does next, which follows from its state; how a model is told to word it; whether it did.

The direction holds what the student knows and believes, and never what is true of what it lacks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gateway import prompts
from knowledge.topic import ABSENT, TOLD, UNDERSTOOD, Topic, misconception_of
from knowledge.wording import stem
from runstore.ids import pick_weighted
from runstore.records import Act, Language
from runstore.student_records import MoveLabel
from simulator.knowledge.state import STRONGEST_FIRST, States, kind_of, strongest

_PROMPTING = ("contrast", "hint", "ask")
_IDLE: tuple[tuple[Act, float], ...] = (("follow_up", 0.7), ("new_question", 0.25), ("irrelevant_question", 0.05))
_STEM = re.compile(r"[a-z]{4,}|[가-힣]{2,}|[a-z]+-\d|\d+")


@dataclass(frozen=True, slots=True)
class Intention:
    """The act, what it is about, and whether it tries to say what is true there."""

    act: Act
    component: str | None = None
    is_attempt: bool = False


def addressed(topic: Topic, labels: Iterable[MoveLabel]) -> tuple[str, str] | None:
    """The component that the student would take up, and the move made on it: questions before statements."""
    moved = strongest(labels)
    order = (*_PROMPTING, *(move for move in STRONGEST_FIRST if move not in _PROMPTING))
    ranked = sorted(
        (order.index(moved[component.id].move), at, component.id)
        for at, component in enumerate(topic.components)
        if component.id in moved
    )
    return (ranked[0][2], moved[ranked[0][2]].move) if ranked else None


def intention(
    topic: Topic, states: States, labels: Iterable[MoveLabel], *, is_engaged: bool, seed: int, at: tuple[str, ...]
) -> Intention:
    """What the student does in these states (those after learning). ``at`` names the place of the draw."""
    taken_up = addressed(topic, labels)
    if taken_up is None:
        return Intention(pick_weighted(_IDLE, seed, "act", *at))
    component, move = taken_up
    if move not in _PROMPTING or not is_engaged:
        return Intention("follow_up", component if move not in _PROMPTING else None)
    state = states[component]
    if state == ABSENT:
        return Intention("clarification", component, is_attempt=True)
    return Intention("wrong_answer" if misconception_of(state) else "right_answer", component, is_attempt=True)


@dataclass(frozen=True, slots=True)
class Directions:
    """The stage directions of one language."""

    texts: Mapping[str, str]
    hashes: Mapping[str, str]

    @classmethod
    def load(cls, language: Language = "en", folder: Path | None = None) -> Directions:
        table = prompts.load_table("simulator", "student_knowledge", language, folder)
        return cls(table.texts, {f"{table.name}.{table.language}": table.hash})

    def direction(self, topic: Topic, states: States, meant: Intention) -> str:
        """What the model is told to say."""
        key: str = meant.act
        if meant.component is None and meant.act == "follow_up":
            key = "passing"
        elif meant.component is not None and meant.act == "right_answer" and states[meant.component] == TOLD:
            key = "by_rote"
        about = topic.component[meant.component].about if meant.component else ""
        holds = held(topic, states, meant.component) if meant.component else ""
        known = "; ".join(card(topic, states))
        fields = {"about": about, "holds": holds, "card": known or self.texts["nothing_known"]}
        parts = [self.texts[key], self.texts["card"]]
        return " ".join(
            prompts.fill(part, **{name: fields[name] for name in prompts.fields_of(part)}) for part in parts
        )


def held(topic: Topic, states: States, component: str) -> str:
    """What a student would say of a component: what is true, or what it believes instead; nothing where absent."""
    state = states[component]
    if name := misconception_of(state):
        return topic.misconception[name].says
    return topic.component[component].states if kind_of(state) in (TOLD, UNDERSTOOD) else ""


def card(topic: Topic, states: States) -> list[str]:
    """All that a student knows or believes, component by component; nothing of what is true of what it lacks."""
    return [said for component in topic.components if (said := held(topic, states, component.id))]


def is_kept(topic: Topic, states: States, meant: Intention, text: str) -> bool:
    """Whether an utterance that was to try a component speaks of it at all: it shares a word with it."""
    if not meant.is_attempt or meant.component is None:
        return True
    component = topic.component[meant.component]
    sources = (held(topic, states, meant.component), component.about, *component.key_phrases)
    return bool(_stems(text) & _stems(" ".join(sources)))


def _stems(text: str) -> set[str]:
    return {stem(word) for word in _STEM.findall(text.casefold())}
