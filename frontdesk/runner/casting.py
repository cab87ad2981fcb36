"""Who talks about what in each of any number of dialogues, in sixteen bytes a dialogue."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from personas import Assignment
from runstore.records import Persona, SeedQuestion
from runstore.stored import WhenAsked


class Casting(NamedTuple):
    """One dialogue to be held, and its ``place`` in its run's plan; ``copy`` tells apart those of the same two."""

    place: int
    persona: Persona
    question: SeedQuestion
    copy: int


class Castings(WhenAsked[Casting]):
    """The dialogues that are held, in the order of the plan; nobody is kept twice."""

    def __init__(self, people: Sequence[Persona], questions: Sequence[SeedQuestion]) -> None:
        self._people, self._questions = people, questions
        self._numbers = array("I")

    def take(self, given: Iterable[Assignment], wanted: Callable[[Casting], bool]) -> None:
        """Those of the plan's dialogues that are ``wanted``."""
        people, questions = _places(self._people), _places(self._questions)
        copies: Counter[tuple[int, int]] = Counter()
        for place, (person, question) in enumerate(given):
            two = people[person.id], questions[question.id]
            if wanted(Casting(place, person, question, copies[two])):
                self._numbers.extend((place, *two, copies[two]))
            copies[two] += 1

    def __len__(self) -> int:
        return len(self._numbers) // 4

    def at(self, place: int) -> Casting:
        in_plan, person, question, copy = self._numbers[4 * place : 4 * place + 4]
        return Casting(in_plan, self._people[person], self._questions[question], copy)


def _places(records: Sequence[Persona | SeedQuestion]) -> dict[str, int]:
    return {record.id: at for at, record in enumerate(records)}
