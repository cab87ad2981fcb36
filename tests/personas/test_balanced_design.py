from __future__ import annotations

from collections import Counter
from itertools import combinations, product
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from personas import generate
from personas.balance import balanced_rows, pair_cost

STUDENT = {"a": ["low", "high"], "b": ["low", "high"], "c": ["low", "high"], "d": ["1", "2", "3", "4"]}


def _spread(counts: list[int]) -> int:
    return max(counts) - min(counts)


def _pair_counts(rows: list[dict[str, str]], levels: dict[str, list[str]], one: str, other: str) -> list[int]:
    counts = Counter((row[one], row[other]) for row in rows)
    return [counts[pair] for pair in product(levels[one], levels[other])]


@settings(max_examples=40, deadline=None)
@given(sizes=st.lists(st.integers(2, 5), min_size=1, max_size=5), data=st.data(), seed=st.integers(0, 9))
def test_rows_differ_and_every_level_is_used_equally_within_one(
    sizes: list[int], data: st.DataObject, seed: int
) -> None:
    levels = {f"f{at}": [f"l{level}" for level in range(size)] for at, size in enumerate(sizes)}
    size = data.draw(st.integers(1, min(prod(sizes), 100)))
    rows = balanced_rows(levels, size, seed)
    assert len({tuple(sorted(row.items())) for row in rows}) == size
    for factor, names in levels.items():
        assert _spread([sum(row[factor] == name for row in rows) for name in names]) <= 1


@pytest.mark.parametrize("size", [8, 16, 24, 32])
@pytest.mark.parametrize("seed", range(5))
def test_students_in_multiples_of_eight_have_all_pairs_equally_often(size: int, seed: int) -> None:
    rows = balanced_rows(STUDENT, size, seed)
    for one, other in combinations(STUDENT, 2):
        counts = _pair_counts(rows, STUDENT, one, other)
        assert counts == [size // len(counts)] * len(counts)


@pytest.mark.parametrize("size", range(1, 33))
def test_students_of_any_size_have_pairs_within_one(size: int) -> None:
    rows = balanced_rows(STUDENT, size, 3)
    assert all(_spread(_pair_counts(rows, STUDENT, *pair)) <= 1 for pair in combinations(STUDENT, 2))


def test_nine_runs_of_four_three_level_factors_are_the_orthogonal_array() -> None:
    levels = {name: ["x", "y", "z"] for name in "abcd"}
    rows = balanced_rows(levels, 9, 0)
    assert all(_pair_counts(rows, levels, *pair) == [1] * 9 for pair in combinations(levels, 2))


def test_a_large_fraction_is_near_even_too() -> None:
    levels = {f"f{at}": [str(level) for level in range(5)] for at in range(6)}
    rows = balanced_rows(levels, 500, 0)
    coded = [[int(row[name]) for name in levels] for row in rows]
    even = 15 * 25 * 20**2
    assert pair_cost(coded) <= 1.02 * even


def test_the_seed_decides_and_the_order_of_factors_and_levels_does_not() -> None:
    turned = {name: list(reversed(names)) for name, names in reversed(STUDENT.items())}
    as_set = {seed: {tuple(sorted(row.items())) for row in balanced_rows(STUDENT, 8, seed)} for seed in range(6)}
    assert as_set[0] == {tuple(sorted(row.items())) for row in balanced_rows(turned, 8, 0)}
    assert len({frozenset(rows) for rows in as_set.values()}) > 1


def test_a_balanced_fraction_is_part_of_the_crossing_in_its_order() -> None:
    ids = [person.id for person in generate()]
    chosen = [person.id for person in generate(design="balanced", size=12, seed=7)]
    assert chosen == [name for name in ids if name in chosen]
    assert len(chosen) == 12
