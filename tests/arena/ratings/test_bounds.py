"""Ratings if what is missing went one way: those of the table in which it did."""

import pytest

from arena.ratings.battles import from_columns
from arena.ratings.bounds import rating_bounds
from arena.ratings.leaderboard import build
from arena.ratings.settings import Settings

PLAIN = Settings(intervals="none")
PLAYED = [
    ("a", "b", "model_a"),
    ("b", "a", "model_a"),
    ("b", "c", "tie"),
    ("a", "c", "model_b"),
    ("c", "a", "model_b"),
]


def board(rows):
    return build(from_columns(*zip(*rows, strict=True)), PLAIN)


def test_the_bounds_are_the_ratings_of_tables_in_which_it_happened():
    missing = {("b", "a"): 2, ("b", "c"): 1, ("a", "c"): 3}
    found = rating_bounds(from_columns(*zip(*PLAYED, strict=True)), missing, PLAIN)
    for outcome, bound in (("model_b", 0), ("model_a", 1)):
        rows = [*PLAYED, *2 * [("b", "a", outcome)], ("b", "c", outcome)]
        assert found["b"][bound] == pytest.approx(board(rows).model("b").rating)
    low, high = found["b"]
    assert low < board(PLAYED).model("b").rating < high


def test_who_would_then_have_won_everything_has_no_bound_above():
    rows = [("a", "b", "model_a"), ("a", "b", "tie")]
    low, high = rating_bounds(from_columns(*zip(*rows, strict=True)), {("a", "b"): 1}, PLAIN)["a"]
    assert low is not None and high is not None
    lost = [("a", "b", "model_a"), ("b", "c", "model_a"), ("c", "b", "model_a")]
    assert rating_bounds(from_columns(*zip(*lost, strict=True)), {("a", "c"): 1}, PLAIN)["a"][1] is None


def test_nothing_missing_leaves_the_rating():
    battles = from_columns(*zip(*PLAYED, strict=True))
    rating = build(battles, PLAIN).model("a").rating
    assert rating_bounds(battles, {}, PLAIN)["a"] == (rating, rating)


def test_bounds_hold_the_rating_also_where_an_unbeaten_model_would_join_the_scale():
    unbeaten = [("top", "b", "model_a"), ("top", "c", "model_a")]
    rows = [("b", "c", "model_a"), ("b", "c", "model_a"), ("c", "b", "model_a"), *unbeaten]
    found = rating_bounds(from_columns(*zip(*rows, strict=True)), {("top", "b"): 1}, PLAIN)
    now = board(rows).model("b").rating
    assert board(rows).model("top").rating is None
    assert found["b"][0] == pytest.approx(now) and found["b"][1] > now
    assert found["top"][1] is None
