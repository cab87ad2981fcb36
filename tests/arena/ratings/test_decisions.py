"""Who is better: the interval and the exact test agree, or nobody is named."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.ratings.battles import Battles, from_columns
from arena.ratings.categories import breakdown
from arena.ratings.leaderboard import build
from arena.ratings.result import Leaderboard
from arena.ratings.settings import Settings
from arena.ratings.support import FLOOR
from tests.support.battles import model

Table = list[tuple[str, str, str, str]]
SIDES = {"1": "model_a", "2": "model_b", "=": "tie"}


def _battles(table: Table) -> Battles:
    """Rows of (dialogue, a, b, outcomes as a word of 1, 2 and =)."""
    rows = [(dialogue, a, b, SIDES[side]) for dialogue, a, b, word in table for side in word]
    columns = [[row[k] for row in rows] for k in range(4)]
    return from_columns(*columns[1:], cluster=columns[0], cluster_name="dialogue")


def _board(table: Table, **chosen: object) -> Leaderboard:
    return build(_battles(table), Settings(**chosen))  # pyright: ignore[reportArgumentType]


def test_eight_dialogues_of_which_four_lean_are_not_told_apart():
    board = _board([(f"d{n}", "p", "q", "11" if n < 4 else "12") for n in range(8)])
    pair = board.pairs[0]

    assert pair.gap == pytest.approx(190.85, abs=0.01)
    assert (round(pair.gap_lower or 0), round(pair.gap_upper or 0)) == (-16, 398)
    assert (pair.p_value, pair.smallest_p, pair.clusters) == (0.125, 0.125, 4)
    assert pair.decision == "not told apart"
    assert [entry.rank_range for entry in board.models] == [(1, 2), (1, 2)]
    assert board.intervals.informative == 8 and board.intervals.reason is None


def test_the_interval_alone_names_no_winner():
    board = _board([(f"d{n}", "p", "q", "1112" if n else "111122") for n in range(5)])
    pair = board.pairs[0]

    assert pair.gap_lower is not None and pair.gap_lower > 0
    assert pair.p_value == pair.smallest_p == 2 / 2**5
    assert pair.decision == "not told apart"
    assert [entry.rank_range for entry in board.models] == [(1, 2), (1, 2)]


@pytest.mark.parametrize(
    ("table", "informative", "why"),
    [
        ([("d", "p", "q", "111222111")], 1, "1 dialogue; "),
        ([("d", "p", "q", "1112"), ("e", "p", "q", "1222")], 2, "2 dialogues; "),
        ([(f"d{n}", "p", "q", "1112") for n in range(3)], 1, "3 dialogues that all say the same; "),
        ([(f"d{n}", "p", "q", "1112") for n in range(12)], 1, "12 dialogues that all say the same; "),
        ([("d", "p", "q", "=")], 1, "1 dialogue; "),
        (
            [("d", "p", "q", "11"), ("e", "p", "q", "22"), *((f"f{n}", "p", "q", "12") for n in range(6))],
            2,
            "2 of 8 dialogues say something of their own; ",
        ),
    ],
    ids=["one dialogue", "two", "three alike", "twelve alike", "one tie", "two lean, the others are even"],
)
@pytest.mark.parametrize("method", ["jackknife", "bootstrap", "sandwich"])
def test_too_few_dialogues_that_differ_give_no_interval(table: Table, informative: int, why: str, method: str):
    board = _board(table, intervals=method)
    pair = board.pairs[0]

    assert pair.gap is not None and pair.decision == "not enough data"
    assert (pair.gap_lower, pair.gap_upper) == (None, None)
    assert all((entry.lower, entry.upper) == (None, None) for entry in board.models)
    assert all((entry.reason or "").startswith("no interval: ") for entry in board.models)
    assert board.intervals.informative == informative and board.intervals.needed == FLOOR - informative
    assert (board.intervals.reason or "").startswith(f"{why}an interval takes {FLOOR}")


def test_levels_of_one_dialogue_each_have_ratings_and_no_intervals():
    rows = [(f"s{n}", "p", "q", SIDES[side]) for n in range(6) for side in ("1112" if n % 2 else "1122")]
    columns = [[row[k] for row in rows] for k in range(4)]
    battles = from_columns(*columns[1:], cluster=columns[0], categories={"subject": columns[0]})

    for level in breakdown(battles, "subject", Settings()).table().levels:
        assert all(
            entry.rating is not None and entry.lower is None and entry.upper is None for entry in level.models
        )


def test_a_dialogue_with_most_of_the_information_is_named():
    table = [
        ("huge", "p", "q", "12" * 20 + "1"),
        *((f"d{n}", "p", "q", "12") for n in range(3)),
        ("e", "p", "q", "11"),
    ]
    how = _board([*table, ("f", "p", "q", "22")]).intervals

    assert how.dominant == "huge" and how.dominant_share == pytest.approx(41 / 51, abs=0.01)
    assert _board(table[1:]).intervals.dominant is None


def test_a_gap_that_hangs_on_one_dialogue_has_no_limits_and_the_others_have():
    table = [(f"d{n}", "p", "q", "1112" if n % 2 else "1122") for n in range(8)] + [("d0", "q", "r", "112")]
    board = _board(table)

    assert board.pair("p", "q").gap_lower is not None  # pyright: ignore[reportOptionalMemberAccess]
    across = board.pair("q", "r")
    assert across is not None and across.gap is not None
    assert (across.gap_lower, across.gap_upper, across.decision) == (None, None, "not enough data")
    assert "without one dialogue" in (model(board, "r").reason or "")


def test_one_way_results_over_enough_dialogues_name_a_winner_without_a_gap():
    won = _board([(f"d{n}", "p", "q", "11") for n in range(8)])
    few = _board([(f"d{n}", "p", "q", "11") for n in range(4)])

    assert (won.pairs[0].gap, won.pairs[0].decision) == (None, "a")
    assert (few.pairs[0].decision, few.pairs[0].smallest_p) == ("not enough data", 0.125)


def test_equal_models_are_not_told_apart_whatever_the_solver_left():
    table = [(f"d{n}", a, b, "12") for n in range(9) for a, b in combinations("pqr", 2)]
    board = _board([*table, ("x", "p", "q", "1"), ("y", "p", "q", "2")])

    assert {entry.rank for entry in board.models} == {1}
    assert all(pair.decision in ("not told apart", "not enough data") for pair in board.pairs)


@st.composite
def _tables(draw: st.DrawFn) -> Table:
    names = "pqrs"[: draw(st.integers(2, 4))]
    words = st.text(alphabet="111122=", min_size=0, max_size=5)
    return [
        (f"d{n}", a, b, draw(words)) for n in range(draw(st.integers(1, 14))) for a, b in combinations(names, 2)
    ] + [("d0", names[0], names[1], "1")]


@settings(max_examples=150, deadline=None)
@given(_tables())
def test_a_named_winner_is_never_contradicted_by_its_own_interval_or_test(table: Table):
    board = _board(table)
    for pair in board.pairs:
        if pair.decision not in ("a", "b"):
            continue
        ahead = pair.decision == "a"
        assert pair.p_holm is None or pair.p_holm <= 0.05 + 1e-9
        if pair.gap is not None:
            assert pair.gap_lower is not None and pair.gap_upper is not None
            assert pair.gap_lower > 0 if ahead else pair.gap_upper < 0
        else:
            assert (pair.wins_a > pair.wins_b) == ahead and pair.p_value is not None
        first, second = (model(board, name).rank_range for name in (pair.a, pair.b))
        if first is not None and second is not None and model(board, pair.a).group == model(board, pair.b).group:
            better, worse = (first, second) if ahead else (second, first)
            assert better[1] < len(board.models) and worse[0] > 1


def test_six_equal_models_get_places_of_their_own_in_few_tables():
    """Pair by pair some two would be told apart in some 40 of 100 such tables."""
    names, told = np.array(list("abcdef")), 0
    pairs = np.array(list(combinations(range(6), 2)))
    for number in range(100):
        generator = np.random.default_rng([3, number])
        strength = generator.normal(0, 0.5, (60, 6))
        lead = np.repeat(strength[:, pairs[:, 0]] - strength[:, pairs[:, 1]], 2, axis=0).ravel()
        word = np.where(generator.random(len(lead)) < 1 / (1 + np.exp(-lead)), "model_a", "model_b")
        dialogue = np.repeat(np.arange(120), 15) // 2
        a, b = np.tile(pairs, (120, 1)).T
        battles = from_columns(
            names[a].tolist(), names[b].tolist(), word.tolist(), cluster=dialogue.astype(str).tolist()
        )
        told += any(entry.rank_range != (1, 6) for entry in build(battles).models)
    assert told <= 8


@pytest.mark.parametrize("ties", ["davidson", "rao_kupper"])
def test_ties_alone_say_nothing_of_how_likely_a_tie_is_even_with_a_prior(ties: str) -> None:
    battles = from_columns(["a", "b", "c"] * 3, ["b", "c", "a"] * 3, ["tie"] * 9)
    board = build(battles, Settings(ties=ties, prior=2.0))
    assert not board.converged
    assert "tie parameter has no finite estimate" in (board.fit.reason or "")
