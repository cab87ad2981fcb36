"""The bank of school mathematics: its form, its students, and whether what its questions state is so."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import pytest

from personas import factors_file, fits, generate
from runstore.problems import Problem
from seed_questions import bank, bank_names, load, path_of_bank

YEARS = ("middle1", "middle2", "middle3", "high1", "high2", "high3")
BANK = path_of_bank("school-mathematics")


def test_there_are_two_banks_and_each_says_what_it_teaches_and_whom() -> None:
    assert bank_names() == ["computer-science", "school-mathematics"]
    assert (bank().domain, bank(language="ko").domain) == ("computer science", "컴퓨터공학")
    assert (bank(BANK).domain, bank(BANK, "ko").domain) == ("school mathematics", "중고등학교 수학")
    for name in bank_names():
        assert bank(path_of_bank(name)).factors in factors_file.shipped()
    with pytest.raises(Problem, match="expected one of computer-science, school-mathematics"):
        path_of_bank("school-maths")


def test_both_languages_have_the_same_questions_for_the_same_years() -> None:
    english, korean = load(BANK, "en"), load(BANK, "ko")
    assert len(english) >= 40
    key = [(each.id, each.subject, each.difficulty, each.levels, each.tags) for each in english]
    assert key == [(each.id, each.subject, each.difficulty, each.levels, each.tags) for each in korean]
    assert not any(re.search("[가-힣]", each.text) for each in english)
    assert all(len(re.findall("[가-힣]", each.text)) >= 20 for each in korean)
    numbers = re.compile(r"(?<![\d,.])\d+(?:[.,]\d+)*(?![\d,.]*\d)")
    for one, other in zip(english, korean, strict=True):
        said, again = ({n.replace(",", "") for n in numbers.findall(each.text)} for each in (one, other))
        assert one.id in WORDED_DIFFERENTLY or said - again <= {"0", "1", "3"}, (one.id, said ^ again)


WORDED_DIFFERENTLY = {"mean-or-median"}
"""Sums of money: thousand won in English, ten thousand in Korean."""


def test_every_year_and_subject_has_something_to_ask() -> None:
    questions = load(BANK)
    by_year = Counter(year for each in questions for year in each.levels["year"])
    assert all(by_year[year] >= 7 for year in YEARS)
    levels: dict[str, set[str]] = {}
    for each in questions:
        levels.setdefault(each.subject, set()).add(each.difficulty)
        years = [YEARS.index(year) for year in each.levels["year"]]
        assert years == list(range(years[0], years[0] + len(years)))
    assert len(levels) == 6
    assert all(found == {"middling", "hard"} for found in levels.values())


def test_its_students_are_of_these_years_and_each_finds_questions() -> None:
    people = generate("school-students")
    assert len(people) == 48
    assert {person.levels["year"] for person in people} == set(YEARS)
    assert [person.id for person in generate("school-students", "ko")] == [person.id for person in people]
    assert all(sum(fits(person, each) for each in load(BANK)) >= 7 for person in people)


def _six_in_four() -> Fraction:
    throws = list(product(range(6), repeat=4))
    return Fraction(sum(5 in throw for throw in throws), len(throws))


def _riemann(f: Callable[[float], float], low: float, high: float, n: int = 20_000) -> float:
    width = (high - low) / n
    return sum(f(low + (at + 0.5) * width) for at in range(n)) * width


def _doors() -> Fraction:
    """How often switching wins, over every prize, choice and empty door that the host may open."""
    wins = Fraction(0)
    for prize, chosen in product(range(3), repeat=2):
        opened = [door for door in range(3) if door not in (prize, chosen)]
        for door in opened:
            switched = next(each for each in range(3) if each not in (chosen, door))
            wins += Fraction(int(switched == prize), 9 * len(opened))
    return wins


CLAIMS: dict[str, bool] = {
    "minus-times-minus": 3 * -2 == -6 and -3 * -2 == 6,
    "decimals-that-stop": 10**3 * 7 % 40 == 0 and all(10**n * 7 % 30 for n in range(1, 50)),
    "nines-forever": Fraction(9, 9) == 1,
    "root-of-a-square": math.sqrt((-5) ** 2) == 5 and (-5) ** 2 == 25,
    "root-two-is-no-fraction": f"{math.sqrt(2):.8f}" == "1.41421356",
    "empty-set-as-subset": set[object]() <= {1, 2, 3} and frozenset[object]() not in set[object]({1, 2, 3}),
    "is-i-positive": (1j * 1j).real == -1,
    "moving-a-term": [x for x in range(-20, 20) if 2 * x + 3 == 11] == [4],
    "inequality-turns-around": all((-2 * x < 6) == (x > -3) for x in range(-20, 20)),
    "zero-equals-two": 2 * 4 - 6 == 2 and (2 * 1, 2 * 2) == (2, 4),
    "the-lost-root": [x for x in range(-20, 20) if x * x == 5 * x] == [0, 5],
    "remainder-at-one": 1**100 + 1 == 2,
    "power-of-zero": 5**0 == 1 and Fraction(5) ** -2 == Fraction(1, 25),
    "painters-and-hours": 4 * 6 == 2 * 12,
    "two-phone-plans": 100 * 140 + 5000 == 50 * 140 + 12000 and 100 * 141 + 5000 > 50 * 141 + 12000,
    "parabola-to-the-right": min(range(-20, 20), key=lambda x: (x - 3) ** 2) == 3,
    "fence-of-twenty-metres": max(range(11), key=lambda x: x * (10 - x)) == 5,
    "logarithms-of-large-numbers": (math.log10(1000), math.log10(1_000_000)) == (3, 6),
    "why-radians": math.isclose(math.degrees(1), 57.29577951308232),
    "a-third-of-a-cylinder": math.isclose(_riemann(lambda h: math.pi * h * h, 0, 1), math.pi / 3, rel_tol=1e-6),
    "the-larger-pizza": (2**2, 2**3) == (4, 8),
    "pythagoras-backwards": 5**2 + 12**2 == 13**2,
    "tangent-near-ninety": math.sin(1.57) < 1 and math.tan(1.57) > 1000,
    "line-and-circle": 4 / math.sqrt(2) > 2 and (-8) ** 2 - 4 * 2 * 12 < 0,
    "which-class-walks-more": Fraction(12, 20) > Fraction(15, 30),
    "two-coins": Counter(sum(coins) for coins in product((0, 1), repeat=2)) == {0: 1, 1: 2, 2: 1},
    "at-least-one-six": _six_in_four() == 1 - Fraction(5, 6) ** 4 != 4 * Fraction(1, 6),
    "mean-or-median": math.fsum((20, 20, 30, 30, 200)) / 5 == 60,
    "committee-or-offices": (math.comb(10, 3), math.perm(10, 3)) == (120, 720) and 720 == 6 * 120,
    "three-doors": _doors() == Fraction(2, 3),
    "positive-but-healthy": Fraction(99 * 1, 99 * 1 + 5 * 99) < Fraction(1, 2),
    "four-times-the-people": math.isclose(1 / math.sqrt(4 * 100), 1 / math.sqrt(100) / 2),
    "sum-to-one-hundred": sum(range(101)) * 2 == 100 * 101,
    "limit-at-a-hole": all(abs(((1 + h) ** 2 - 1) / h - 2) < 2 * abs(h) for h in (0.1, -0.01, 0.001)),
    "flat-but-no-peak": (-0.1) ** 3 < 0 < 0.1**3,
    "area-that-cancels": abs(_riemann(lambda x: x**3, -1, 1)) < 1e-9
    and math.isclose(_riemann(lambda x: abs(x**3), -1, 1), 0.5, rel_tol=1e-6),
    "terms-that-vanish": sum(Fraction(1, 2**n) for n in range(1, 60)) < 1
    and all(sum(1 / n for n in range(1, 2**k + 1)) >= 1 + k / 2 for k in range(12)),
    "its-own-derivative": math.isclose((2**1e-6 - 1) / 1e-6, math.log(2), rel_tol=1e-5)
    and f"{math.e:.3f}" == "2.718",
    "sine-over-x": math.isclose(math.sin(1e-6) / 1e-6, 1)
    and math.isclose(math.sin(math.radians(1e-6)) / 1e-6, math.pi / 180),
    "substituting-limits": math.isclose(
        _riemann(lambda x: 2 * x * math.cos(x * x), 0, 2), _riemann(math.cos, 0, 4), rel_tol=1e-6
    ),
}


@pytest.mark.parametrize("name", CLAIMS)
def test_what_a_question_states_is_so(name: str) -> None:
    assert name in {each.id for each in load(BANK)}
    assert CLAIMS[name]
