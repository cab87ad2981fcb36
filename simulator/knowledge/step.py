"""One step of a student: from a tutor's labelled utterance to what it does next and what it knows afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from knowledge.rules import Learning
from knowledge.topic import Topic
from runstore.ids import draw
from runstore.student_records import MoveLabel
from simulator.knowledge.acts import Intention, intention, is_kept
from simulator.knowledge.state import Chance, chances, engaged


@dataclass(frozen=True, slots=True)
class Step:
    """What may be learned (``possible``, by the draw ``u``), and what the student means to do.

    ``hoped`` are the states it speaks from, as if it tried what it is asked; what it says shows whether it did.
    """

    topic: Topic
    states: Mapping[str, str]
    possible: tuple[Chance, ...]
    u: float
    meant: Intention
    hoped: Mapping[str, str]

    def spoken(self, text: str | None) -> tuple[bool | None, dict[str, str]]:
        """Whether the component was tried (None: it was not meant to be), and the states after it.

        ``text`` is None where nothing is said aloud: then what is meant is done.
        """
        tried = self.meant.is_attempt and (text is None or is_kept(self.topic, self.hoped, self.meant, text))
        after = _after(self.states, self.possible, self.u, self.meant.component if tried else None)
        return (tried if self.meant.is_attempt else None), after


def consider(
    topic: Topic,
    rules: Learning,
    states: Mapping[str, str],
    labels: Sequence[MoveLabel],
    levels: Mapping[str, str],
    seed: int,
    place: tuple[str, ...],
) -> Step:
    """The step at a place (subset and path, or dialogue and turn), which all draws belong to."""
    u = draw(seed, "learn", *place)
    is_engaged = draw(seed, "engaged", *place) < engaged(rules, levels)
    possible = tuple(chances(topic, rules, states, labels))

    def meant_in(hoped: Mapping[str, str]) -> Intention:
        return intention(topic, hoped, labels, is_engaged=is_engaged, seed=seed, at=place)

    first = meant_in(states)
    hoped = _after(states, possible, u, first.component if first.is_attempt else None)
    return Step(topic, states, possible, u, meant_in(hoped), hoped)


def _after(
    states: Mapping[str, str], possible: Sequence[Chance], u: float, attempted: str | None
) -> dict[str, str]:
    """The states after a draw, where ``attempted`` was tried (None: nothing was)."""
    moved = {
        chance.component: chance.after(u)
        for chance in possible
        if not chance.needs_attempt or chance.component == attempted
    }
    return {**states, **moved}
