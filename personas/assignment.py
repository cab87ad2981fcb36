"""Which persona opens which dialogue with which seed question.

Dialogue i takes persona i mod P and subject (i + i // lcm(P, S)) mod S. Going round like that, every prefix of
the list uses each persona, each subject and each persona-with-subject equally often within one; the extra step
after every lcm(P, S) dialogues keeps the two wheels from meeting in the same pairs when P and S share a factor.
A subject's questions go round in the same way against its personas. Drawn orders decide who comes first, so a
longer list begins with the shorter one of the same seed.

A student opens only with questions that fit (:func:`fits`): of the difficulty the persona opens with, and for the
persona's levels. Where that keeps a persona from some question, the question is the one used least of those that
fit, and where it keeps one from a whole subject, so is the subject. Who fits no question at all opens with any.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import lcm
from typing import NamedTuple

from runstore.ids import draw, shuffled
from runstore.problems import Problem
from runstore.records import Persona, SeedQuestion

_ARRANGED = 256
Banks = Mapping[str, Sequence[SeedQuestion]]
"""The questions of each subject, in the order in which they are taken."""


class Assignment(NamedTuple):
    """One dialogue to be held."""

    persona: Persona
    question: SeedQuestion


def fits(persona: Persona, question: SeedQuestion) -> bool:
    """Whether such a student opens with such a question: by difficulty, and by the levels it is marked for.

    A factor that the persona has no level of excludes nobody.
    """
    if persona.opens and question.difficulty not in persona.opens:
        return False
    levels = persona.levels
    return all(levels[factor] in allowed for factor, allowed in question.levels.items() if factor in levels)


def assign(
    personas: Iterable[Persona],
    questions: Iterable[SeedQuestion],
    n: int,
    seed: int = 0,
    *,
    match_level: bool = True,
) -> list[Assignment]:
    """``n`` dialogues' personas and questions.

    Equally often within one, as far as ``match_level`` (who opens with what) lets them: every persona, every
    subject, every persona with every subject, every question of a subject, and every question with every persona.
    The result depends on ids and seed, not on the order given.
    Raises Problem for n < 0, for ids that occur twice, and for n > 0 with no persona or no question.
    """
    return list(assigned(personas, questions, n, seed, match_level=match_level))


def assigned(
    personas: Iterable[Persona],
    questions: Iterable[SeedQuestion],
    n: int,
    seed: int = 0,
    *,
    match_level: bool = True,
) -> Iterator[Assignment]:
    """What :func:`assign` lists, one after the other: a million dialogues need not be held."""
    people, by_subject = _by_id(personas), _by_subject(questions)
    if n < 0:
        raise Problem(f"the number of dialogues must be 0 or more, found {n}")
    if n and not (people and by_subject):
        raise Problem(f"dialogues need at least one {'persona' if not people else 'seed question'}, found none")
    if n == 0:
        return
    subjects = shuffled(((name, name) for name in by_subject), seed, "subject order")
    order = _arranged(people, subjects, min(n, len(people)), seed)
    banks = {
        name: shuffled(((each.id, each) for each in bank), seed, "question order", name)
        for name, bank in by_subject.items()
    }
    wheel = _Wheel(len(people), subjects, banks)
    matching = _Matching(people, wheel) if match_level else None
    for i in range(n):
        person = order[i % len(people)]
        yield Assignment(person, wheel.question(i) if matching is None else matching.question(i, person))


class _Wheel:
    """Subjects, and the questions of each, in drawn orders, taken by going round."""

    def __init__(self, people: int, subjects: Sequence[str], banks: Banks) -> None:
        self.people, self.subjects, self.banks = people, subjects, banks
        self.used: Counter[str] = Counter()

    def subject(self, i: int) -> str:
        return self.subjects[(i + i // lcm(self.people, len(self.subjects))) % len(self.subjects)]

    def question(self, i: int) -> SeedQuestion:
        subject = self.subject(i)
        bank, turn = self.banks[subject], self.used[subject]
        self.used[subject] += 1
        return bank[(turn + turn // lcm(self.people, len(bank))) % len(bank)]


class _Matching:
    """The same, but each persona with what fits: where everybody fits everything it still goes round."""

    def __init__(self, people: Sequence[Persona], wheel: _Wheel) -> None:
        self.wheel, banks = wheel, wheel.banks
        self.fitting = {person.id: _fitting(person, banks) for person in people}
        self.every_subject = all(own.keys() == banks.keys() for own in self.fitting.values())
        self.open = {
            name
            for name, bank in banks.items()
            if all(len(own.get(name, ())) == len(bank) for own in self.fitting.values())
        }
        self.open_to = Counter(each.id for own in self.fitting.values() for bank in own.values() for each in bank)
        self.used: Counter[str | tuple[str, str]] = Counter()

    def question(self, i: int, person: Persona) -> SeedQuestion:
        own = self.fitting[person.id]
        subject = self.wheel.subject(i) if self.every_subject else self._least_of_subjects(own, person)
        if self.every_subject and subject in self.open:
            return self.wheel.question(i)
        self.used[subject] += 1
        self.used[person.id, subject] += 1
        chosen = min(own[subject], key=lambda each: self._cost(each.id, person))
        self.used[chosen.id] += 1
        self.used[person.id, chosen.id] += 1
        return chosen

    def _cost(self, question: str, person: Persona) -> tuple[int, int, int]:
        """Least used of all, then open to the fewest personas, then least used with this one."""
        return self.used[question], self.open_to[question], self.used[person.id, question]

    def _least_of_subjects(self, own: Iterable[str], person: Persona) -> str:
        """Least used with this persona, then least used of all, then the first in the drawn order."""
        at = {name: place for place, name in enumerate(self.wheel.subjects)}
        return min(own, key=lambda name: (self.used[person.id, name], self.used[name], at[name]))


def _fitting(person: Persona, banks: Banks) -> Banks:
    fitting = {name: [each for each in bank if fits(person, each)] for name, bank in banks.items()}
    return {name: bank for name, bank in fitting.items() if bank} or banks


def _by_id(personas: Iterable[Persona]) -> list[Persona]:
    people: dict[str, Persona] = {}
    for persona in personas:
        if persona.id in people:
            raise Problem(f"persona {persona.id!r} is there twice")
        people[persona.id] = persona
    return list(people.values())


def _by_subject(questions: Iterable[SeedQuestion]) -> dict[str, list[SeedQuestion]]:
    by_subject: defaultdict[str, list[SeedQuestion]] = defaultdict(list)
    seen: set[str] = set()
    for question in questions:
        if question.id in seen:
            raise Problem(f"seed question {question.id!r} is there twice")
        seen.add(question.id)
        by_subject[question.subject].append(question)
    return dict(by_subject)


def _arranged(people: Sequence[Persona], subjects: Sequence[str], needed: int, seed: int) -> list[Persona]:
    """The personas in drawn order, the first ones chosen so that short lists have each level equally often.

    Each next persona is the one whose levels have been used least, in all and with the subject whose turn it is:
    otherwise a level could always meet the same subject. Beyond the first 256 the drawn order stands.
    """
    waiting = shuffled(((persona.id, persona) for persona in people), seed, "persona order")
    if len(people) > _ARRANGED:
        return waiting
    used: Counter[tuple[str, ...]] = Counter()
    order: list[Persona] = []
    for i in range(needed):
        subject = subjects[i % len(subjects)]

        def cost(persona: Persona, subject: str = subject) -> tuple[int, int, float]:
            levels = persona.levels.items()
            alone = sum(used[level] for level in levels)
            together = sum(used[(*level, subject)] for level in levels)
            return alone, together, draw(seed, "persona order", persona.id)

        chosen = min(waiting, key=cost)
        waiting.remove(chosen)
        order.append(chosen)
        for level in chosen.levels.items():
            used[level] += 1
            used[(*level, subject)] += 1
    return order + waiting
