"""Tutors with fixed words. What they do is known from the topic, so they measure the student and the labeller.

null        says nothing of the subject
misaligned  asks a good question about something that the transfer items do not need
wrong       teaches a misconception
leak        states the answer
lecture     states what the transfer items need: being told it must not count as understanding it
contrast    puts a question to what this student holds, on what the transfer items need first
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from knowledge.topic import ABSENT, UNDERSTOOD, Topic, misconception_of
from runstore.languages import words
from runstore.records import Utterance
from simulator.knowledge.rollout import Said, Samples
from simulator.knowledge.state import kind_of

Known = Mapping[str, tuple[str, str | None]]
"""Component -> (move, misconception aimed at): what an utterance does."""


@dataclass(frozen=True, slots=True)
class Scripted:
    """One control for one student: its lines follow from the state at the cut, so all samples hear the same."""

    control: str
    topic: Topic
    state: Mapping[str, str]

    async def __call__(self, history: Sequence[Utterance], states: Mapping[str, str], path: Samples) -> Said:  # noqa: ARG002 - lines are set
        return Said(self.line(len(path))[0])

    def line(self, turn: int) -> tuple[str, Known]:
        """The words of a turn (from 0) and what they do."""
        scripts, say = self.topic.scripts, words("simulator", "knowledge", self.topic.language)
        nothing: tuple[str, Known] = (say("null"), {})
        if self.control == "contrast":
            return self._contrast(turn)
        if self.control == "wrong":
            return self._wrong(turn)
        if self.control == "misaligned":
            return scripts.misaligned.text, scripts.misaligned.moves()
        if self.control == "leak" and turn == 0:
            return scripts.leak.text, scripts.leak.moves()
        if self.control == "lecture" and turn == 0:
            return self._lecture()
        return nothing

    def _lecture(self) -> tuple[str, Known]:
        parts = [self.topic.component[name] for name in self.topic.transfer]
        text = " ".join(f"{part.states[0].upper()}{part.states[1:]}: {part.key_phrases[0]}." for part in parts)
        return text, {part.id: ("tell", None) for part in parts}

    def _contrast(self, turn: int) -> tuple[str, Known]:
        """First what the transfer items need, then the rest; what is understood already is left alone."""
        names = [
            *self.topic.transfer,
            *(taught.id for taught in self.topic.taught if taught.id not in self.topic.transfer),
        ]
        wanted = [name for name in names if self.state[name] != UNDERSTOOD] or names
        hard = [name for name in wanted if name in self.topic.transfer]
        component = hard[turn % len(hard)] if hard else wanted[turn % len(wanted)]
        held = misconception_of(self.state[component])
        text = self.topic.scripts.contrast[held or component]
        return text, {component: ("contrast" if held else "hint", held)}

    def _wrong(self, turn: int) -> tuple[str, Known]:
        """A misconception about something of which the student knows nothing, where there is one."""
        texts = self.topic.scripts.wrong
        order = sorted(texts, key=lambda name: kind_of(self.state[self.topic.misconception[name].of]) != ABSENT)
        name = order[turn % len(order)]
        return texts[name], {self.topic.misconception[name].of: ("wrong", name)}
