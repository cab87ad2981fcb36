from __future__ import annotations

import random
from collections import Counter
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from personas import Assignment, assign, generate
from runstore.problems import Problem
from runstore.records import Persona, SeedQuestion


def _people(count: int) -> list[Persona]:
    return [Persona(id=f"p{at}", levels={"half": str(at % 2)}, text="t") for at in range(count)]


def _questions(bank: dict[str, int]) -> list[SeedQuestion]:
    return [
        SeedQuestion(id=f"{name}{at}", subject=name, text="?")
        for name, count in bank.items()
        for at in range(count)
    ]


def _within_one(counts: Counter[tuple[str, ...]], cells: list[tuple[str, ...]]) -> bool:
    values = [counts[cell] for cell in cells]
    return max(values) - min(values) <= 1


def _check_balance(pairs: list[Assignment], people: list[Persona], questions: list[SeedQuestion]) -> None:
    subjects = sorted({question.subject for question in questions})
    persons = [person.id for person in people]
    used = Counter((pair.persona.id,) for pair in pairs)
    assert _within_one(used, [(name,) for name in persons])
    assert _within_one(Counter((pair.question.subject,) for pair in pairs), [(name,) for name in subjects])
    crossed = Counter((pair.persona.id, pair.question.subject) for pair in pairs)
    assert _within_one(crossed, list(product(persons, subjects)))
    for subject in subjects:
        bank = [question.id for question in questions if question.subject == subject]
        own = [pair for pair in pairs if pair.question.subject == subject]
        assert _within_one(Counter((pair.question.id,) for pair in own), [(name,) for name in bank])


@settings(max_examples=60, deadline=None)
@given(
    people=st.integers(1, 12),
    bank=st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 5), min_size=1),
    n=st.integers(0, 300),
    seed=st.integers(0, 5),
)
def test_everything_is_used_equally_often_within_one(people: int, bank: dict[str, int], n: int, seed: int) -> None:
    persons, questions = _people(people), _questions(bank)
    pairs = assign(persons, questions, n, seed)
    assert len(pairs) == n
    _check_balance(pairs, persons, questions)


@pytest.mark.parametrize("n", [0, 1, 8, 100, 448, 10_000])
def test_the_shipped_students_and_subjects_at_every_size(n: int) -> None:
    people = generate()
    questions = _questions({f"subject{at}": 6 for at in range(14)})
    pairs = assign(people, questions, n, 7)
    assert len(pairs) == n
    _check_balance(pairs, people, questions)


def test_a_persona_meets_each_question_of_a_subject_before_any_comes_again() -> None:
    people, questions = _people(4), _questions({"a": 4, "b": 2})
    pairs = assign(people, questions, 4 * 2 * 4, 1)
    met = Counter((pair.persona.id, pair.question.id) for pair in pairs)
    assert all(met[person.id, f"a{at}"] == 1 for person in people for at in range(4))
    assert all(met[person.id, f"b{at}"] == 2 for person in people for at in range(2))


@pytest.mark.parametrize("subjects", [2, 3, 4, 8, 14])
@pytest.mark.parametrize("seed", range(4))
def test_a_few_dialogues_have_each_level_equally_often(subjects: int, seed: int) -> None:
    pairs = assign(generate(), _questions({f"s{at}": 2 for at in range(subjects)}), 8, seed)
    for factor in ("goal_commitment", "motivation", "self_efficacy", "year"):
        counts = Counter(pair.persona.levels[factor] for pair in pairs)
        assert set(counts.values()) == {2 if factor == "year" else 4}


@pytest.mark.parametrize("subjects", [2, 4, 8])
def test_no_subject_always_meets_the_same_level(subjects: int) -> None:
    pairs = assign(generate(), _questions({f"s{at}": 2 for at in range(subjects)}), 32, 0)
    for factor in ("goal_commitment", "motivation", "self_efficacy"):
        counts = Counter((pair.question.subject, pair.persona.levels[factor]) for pair in pairs)
        even = 32 / subjects / 2
        assert len(counts) == 2 * subjects
        assert all(abs(count - even) <= 1 for count in counts.values())


def test_the_order_of_the_input_does_not_matter_and_the_seed_does() -> None:
    people, questions = generate(), _questions({"a": 3, "b": 6, "c": 5})
    first = assign(people, questions, 50, 1)
    mixed_people, mixed_questions = people[:], questions[:]
    random.Random(4).shuffle(mixed_people)
    random.Random(5).shuffle(mixed_questions)
    assert assign(mixed_people, mixed_questions, 50, 1) == first
    assert assign(people, questions, 50, 2) != first


def test_a_longer_list_begins_with_the_shorter_one() -> None:
    people, questions = generate(), _questions({"a": 3, "b": 6, "c": 5})
    long = assign(people, questions, 500, 9)
    for n in (0, 1, 10, 31, 32, 33, 100):
        assert assign(people, questions, n, 9) == long[:n]


def test_many_personas_keep_the_balance() -> None:
    people, questions = _people(3000), _questions({"a": 3, "b": 2})
    _check_balance(assign(people, questions, 7000, 0), people, questions)


def test_what_cannot_be_assigned_is_said() -> None:
    people, questions = _people(2), _questions({"a": 1})
    assert assign([], [], 0, 0) == []
    with pytest.raises(Problem, match="at least one persona"):
        assign([], questions, 1, 0)
    with pytest.raises(Problem, match="at least one seed question"):
        assign(people, [], 1, 0)
    with pytest.raises(Problem, match="0 or more, found -1"):
        assign(people, questions, -1, 0)
    with pytest.raises(Problem, match="persona 'p0' is there twice"):
        assign([*people, people[0]], questions, 1, 0)
    with pytest.raises(Problem, match="seed question 'a0' is there twice"):
        assign(people, [*questions, *questions], 1, 0)
