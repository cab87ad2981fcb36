"""Which persona opens which dialogue with which seed question.

Dialogue i takes persona i mod P and subject (i + i // lcm(P, S)) mod S. Going round like that, every prefix of
the list uses each persona, each subject and each persona-with-subject equally often within one; the extra step
after every lcm(P, S) dialogues keeps the two wheels from meeting in the same pairs when P and S share a factor.
A subject's questions go round in the same way against its personas. Drawn orders decide who comes first, so a
longer list begins with the shorter one of the same seed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from math import lcm
from typing import NamedTuple

from runstore.ids import draw, shuffled
from runstore.problems import Problem
from runstore.records import Persona, SeedQuestion

_ARRANGED = 256


class Assignment(NamedTuple):
    """One dialogue to be held."""

    persona: Persona
    question: SeedQuestion


def assign(
    personas: Iterable[Persona], questions: Iterable[SeedQuestion], n: int, seed: int = 0
) -> list[Assignment]:
    """``n`` dialogues' personas and questions.

    Equally often within one: every persona, every subject, every persona with every subject, every question of a
    subject, and every question with every persona. The result depends on ids and seed, not on the order given.
    Raises Problem for n < 0, for ids that occur twice, and for n > 0 with no persona or no question.
    """
    people, by_subject = _by_id(personas), _by_subject(questions)
    if n < 0:
        raise Problem(f"the number of dialogues must be 0 or more, found {n}")
    if n and not (people and by_subject):
        raise Problem(f"dialogues need at least one {'persona' if not people else 'seed question'}, found none")
    if n == 0:
        return []
    subjects = shuffled(((name, name) for name in by_subject), seed, "subject order")
    order = _arranged(people, subjects, min(n, len(people)), seed)
    banks = {
        name: shuffled(((each.id, each) for each in bank), seed, "question order", name)
        for name, bank in by_subject.items()
    }
    used: Counter[str] = Counter()
    assignments: list[Assignment] = []
    for i in range(n):
        subject = subjects[(i + i // lcm(len(people), len(subjects))) % len(subjects)]
        bank, turn = banks[subject], used[subject]
        used[subject] += 1
        question = bank[(turn + turn // lcm(len(people), len(bank))) % len(bank)]
        assignments.append(Assignment(order[i % len(people)], question))
    return assignments


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
