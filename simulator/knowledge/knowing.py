"""A student with a state in a plain dialogue: its wrong answers have a reason, and stay until it learns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gateway.prompt import Ask
from knowledge.rules import Learning
from knowledge.topic import Topic
from runstore.ids import hashed_number
from runstore.records import Utterance
from runstore.student_records import MoveLabel
from simulator.knowledge.acts import Directions
from simulator.knowledge.rollout import Labeller
from simulator.knowledge.state import first_states
from simulator.knowledge.step import Step, consider


@dataclass(frozen=True, slots=True)
class Knowing:
    """What dialogues need for it: topics by question, rules, who reads the tutor's moves, and the directions."""

    topics: Mapping[str, Topic]
    rules: Learning
    labeller: Labeller
    directions: Directions

    def first(self, question: str, levels: Mapping[str, str], seed: int, dialogue: str) -> dict[str, str]:
        """The state that the seed question is asked from."""
        return first_states(self.topics[question], self.rules, levels, seed, dialogue)

    async def next(
        self,
        ask: Ask,
        question: str,
        said: Sequence[Utterance],
        levels: Mapping[str, str],
        seed: int,
        dialogue: str,
    ) -> tuple[Step, str]:
        """The step after the tutor's last utterance, and the direction for whoever words it.

        Raises CallFailed where the labeller gave nothing whole, Stopped.
        """
        topic, before = self.topics[question], said[-2]
        turn = str(len(said))
        labels: Sequence[MoveLabel] = await self.labeller(
            ask,
            topic,
            before.text,
            said[-1].text,
            node=dialogue,
            repeat=hashed_number(dialogue, turn),
            stage="simulate",
        )
        step = consider(topic, self.rules, before.state or {}, labels, levels, seed, (dialogue, turn))
        return step, self.directions.direction(topic, step.hoped, step.meant)
