"""A topic: what is to be understood about a seed question, what is believed instead, and items that tell which.

A component's state is ``absent``, ``misconceived:<id>``, ``told`` or ``understood``. A tutor's move on it is one
of MOVES. ``scripts`` are tutors whose words are fixed, so that what they do is known.
"""

from __future__ import annotations

from functools import cached_property
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict

from knowledge.wording import Wording
from runstore.languages import SOURCE
from runstore.records import Language

Level = Literal["recall", "why", "untouched"]
Kind = Literal["recall", "diagnostic", "transfer", "control"]
Move = Literal["mention", "ask", "hint", "contrast", "tell", "wrong"]
KINDS: tuple[Kind, ...] = get_args(Kind)
MOVES: tuple[Move, ...] = get_args(Move)
ABSENT, TOLD, UNDERSTOOD, MISCONCEIVED = "absent", "told", "understood", "misconceived"


class Part(BaseModel):
    """Base of a topic's parts: frozen, and unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Component(Part):
    """One thing to understand. ``about`` names it without saying what is true of it; ``states`` says that."""

    id: str
    level: Level
    needs: tuple[str, ...] = ()
    about: str
    states: str
    key_phrases: tuple[str, ...] = ()


class Misconception(Part):
    """What is believed instead of component ``of``. ``cues`` are phrases by which it is known in a text."""

    id: str
    of: str
    says: str
    cues: tuple[str, ...] = ()


class Script(Part):
    """Fixed words of a tutor and what they do: component -> move, or ``move:misconception``."""

    text: str
    labels: dict[str, str] = {}

    def moves(self) -> dict[str, tuple[str, str | None]]:
        """Component -> (move, misconception it is aimed at or None)."""
        parted = {component: label.partition(":") for component, label in self.labels.items()}
        return {component: (move, target or None) for component, (move, _, target) in parted.items()}


class Scripts(Part):
    """``contrast``: by misconception, and by taught component for those who know nothing of it."""

    contrast: dict[str, str]
    misaligned: Script
    wrong: dict[str, str]
    leak: Script


class Option(Part):
    """One option of a tier: the key, what a misconception leads to, or neither."""

    text: str
    key: bool = False
    misconception: str | None = None


class Item(Part):
    """A question of the quiz. With ``reasons`` it has two tiers: credit takes both keys, answer and reason."""

    id: str
    kind: Kind
    components: tuple[str, ...]
    ask: str
    options: tuple[Option, ...]
    reasons: tuple[Option, ...] = ()

    @property
    def tiers(self) -> tuple[tuple[Option, ...], ...]:
        return (self.options, self.reasons) if self.reasons else (self.options,)


class Topic(Part):
    """All of one question's file, in one language."""

    question: str
    status: Literal["draft", "reviewed"]
    language: Language = SOURCE
    components: tuple[Component, ...]
    misconceptions: tuple[Misconception, ...]
    scripts: Scripts
    items: tuple[Item, ...]
    hash: str = ""

    @cached_property
    def component(self) -> dict[str, Component]:
        return {component.id: component for component in self.components}

    @cached_property
    def misconception(self) -> dict[str, Misconception]:
        return {misconception.id: misconception for misconception in self.misconceptions}

    @cached_property
    def taught(self) -> tuple[Component, ...]:
        """The components that the question is about."""
        return tuple(component for component in self.components if component.level != "untouched")

    @cached_property
    def answer(self) -> tuple[str, ...]:
        """The components that the seed question's answer consists of: those the leak states."""
        return tuple(name for name, (move, _) in self.scripts.leak.moves().items() if move == "tell")

    @cached_property
    def transfer(self) -> tuple[str, ...]:
        """The components behind the transfer items, in order."""
        wanted = {name for item in self.items if item.kind == "transfer" for name in item.components}
        return tuple(component.id for component in self.components if component.id in wanted)

    @cached_property
    def wording(self) -> Wording[Component | Misconception]:
        """The words of each taught component and each misconception, in what is written about it."""
        wordings: dict[Component | Misconception, str] = {}
        items = [item for item in self.items if item.kind != "transfer"]
        for component in self.taught:
            own = [item for item in items if component.id in item.components]
            keys = [option.text for item in own for tier in item.tiers for option in tier if option.key]
            wordings[component] = " ".join([component.states, component.about, *component.key_phrases, *keys])
        for other in self.misconceptions:
            options = [option for item in items for tier in item.tiers for option in tier]
            led_to = [option.text for option in options if option.misconception == other.id]
            wordings[other] = " ".join([other.says, *other.cues, self.scripts.wrong.get(other.id, ""), *led_to])
        return Wording(wordings)

    def held_by(self, component: str) -> list[str]:
        """The misconceptions of a component."""
        return [misconception.id for misconception in self.misconceptions if misconception.of == component]


def misconception_of(state: str) -> str | None:
    """The misconception that a state is, or None."""
    head, _, name = state.partition(":")
    return name if head == MISCONCEIVED else None
