"""Tables that can't be rated as a whole: nothing crashes, nothing is smoothed, everything is explained."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest

from arena.ratings.battles import from_columns
from arena.ratings.graph import reachable, solvable
from arena.ratings.leaderboard import build
from arena.ratings.settings import Settings
from frontdesk.report.sections.ratings.write import write_leaderboard
from runstore.problems import Problem
from runstore.publish import to_json
from tests.support.battles import battles_of, model, ratings, rows_of


def _strict(data: bytes) -> object:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    return json.loads(data, parse_constant=refuse)


def test_an_undefeated_model_is_first_without_a_number(tmp_path):
    battles = battles_of(rows_of([("X", "Y", 6, 0, 0), ("X", "Z", 6, 0, 0), ("Y", "Z", 3, 3, 0)]))
    board = build(battles)
    write_leaderboard(tmp_path, board, latex=True, svg=True)

    assert [entry.name for entry in board.models] == ["X", "Y", "Z"]
    first = model(board, "X")
    assert (first.rank, first.rating, first.lower, first.upper) == (1, None, None, None)
    assert first.flags == ("undefeated",)
    assert first.reason == "won every game: size of lead not estimable"
    assert model(board, "Y").rating == pytest.approx(model(board, "Z").rating, abs=1e-3)
    assert board.groups == (("X", "Y", "Z"),)
    _strict((tmp_path / "leaderboard.json").read_bytes())
    for path in tmp_path.iterdir():
        assert not {"nan", "inf"} & set(path.read_text().lower().replace(",", " ").replace("|", " ").split())
    assert build(battles).to_json() == board.to_json()


def test_a_pair_where_one_always_wins_has_an_order_only():
    board = build(battles_of(rows_of([("X", "Y", 5, 0, 0)])))

    assert [(entry.name, entry.rank, entry.rating) for entry in board.models] == [("X", 1, None), ("Y", 2, None)]
    assert [entry.flags for entry in board.models] == [("undefeated",), ("winless",)]
    assert not board.converged
    assert any("no gap can be estimated" in note for note in board.notes)


def test_a_prior_gives_numbers_and_says_so_but_no_interval():
    board = build(battles_of(rows_of([("X", "Y", 5, 0, 0)])), Settings(prior=1))

    first = model(board, "X")
    assert first.rating is not None and first.rating > 1000
    assert first.flags == ("undefeated",)
    assert (first.lower, first.upper) == (None, None)
    assert "prior" in (first.reason or "")
    assert "prior" in board.method


def test_a_chain_of_one_way_results_is_ordered():
    board = build(battles_of(rows_of([("X", "Y", 3, 0, 0), ("Y", "Z", 3, 0, 0)])))

    assert [(entry.name, entry.rank) for entry in board.models] == [("X", 1), ("Y", 2), ("Z", 3)]
    assert model(board, "Y").flags == ("one_way",)


DRAWN = Settings(intervals="bootstrap")
ISLANDS = [("P", "Q", 6, 2, 0), ("R", "S", 5, 3, 0)]


@pytest.mark.parametrize(
    ("bridge", "flag"), [([], "separate"), ([("Q", "R", 1, 0, 0)], "one_way_groups")], ids=["apart", "one way"]
)
def test_islands_are_rated_apart(bridge: list[tuple[str, str, int, int, int]], flag: str):
    board = build(battles_of(rows_of([*ISLANDS, *bridge])))

    assert board.groups == (("P", "Q"), ("R", "S"))
    found = ratings(board)
    assert (found["P"] or 0) - (found["Q"] or 0) == pytest.approx(190.85, abs=0.1)
    assert (found["R"] or 0) - (found["S"] or 0) == pytest.approx(88.74, abs=0.1)
    assert [(entry.name, entry.rank) for entry in board.models] == [("P", 1), ("Q", 2), ("R", 1), ("S", 2)]
    assert all(entry.flags == (flag,) and entry.reason for entry in board.models)
    assert any("2 groups" in note for note in board.notes)
    across = [pair for pair in board.pairs if {pair.a, pair.b} not in ({"P", "Q"}, {"R", "S"})]
    assert across and all(pair.gap is None and pair.decision == "not enough data" for pair in across)


def test_one_result_that_points_back_joins_the_islands():
    board = build(battles_of(rows_of([*ISLANDS, ("Q", "R", 1, 0, 0), ("S", "P", 1, 0, 0)])))

    assert len(board.groups) == 1
    assert all(entry.rating is not None and not entry.flags for entry in board.models)


def test_a_model_missing_from_resamples_has_no_interval_and_the_others_have():
    battles = battles_of(rows_of([("A", "B", 24, 16, 0), ("D", "A", 1, 0, 0)]))
    board = build(battles, Settings(intervals="bootstrap", resamples=200, seed=7))

    newcomer = model(board, "D")
    assert (newcomer.rating, newcomer.lower, newcomer.upper) == (None, None, None)
    assert newcomer.flags == ("undefeated",) and newcomer.usable_resamples == 0
    for name in ("A", "B"):
        entry = model(board, name)
        assert entry.lower is not None and entry.rating is not None and entry.upper is not None
        assert entry.lower < entry.rating < entry.upper
        assert entry.usable_resamples == 200
    assert newcomer.rank_range == (1, 3)
    _strict(to_json(board.to_json()))


def test_resamples_without_a_finite_rating_open_the_interval_and_are_counted():
    board = build(battles_of(rows_of([("P", "Q", 30, 1, 0), ("Q", "R", 6, 5, 0), ("R", "P", 0, 8, 0)])), DRAWN)

    leader = model(board, "P")
    assert leader.rating is not None and leader.usable_resamples is not None
    assert leader.usable_resamples < 1000
    assert leader.lower is not None and leader.upper is None
    assert f"{leader.usable_resamples} of 1000 resamples" in (leader.reason or "")
    assert "no upper limit" in (leader.reason or "")


def test_a_lone_pair_that_falls_apart_in_many_resamples_is_open_too():
    board = build(battles_of(rows_of([("P", "Q", 999, 1, 0)])), DRAWN)

    assert model(board, "P").upper is None and model(board, "Q").lower is None
    pair = board.pairs[0]
    assert pair.gap == pytest.approx(1199.83, abs=0.01)
    assert pair.gap_lower is not None and pair.gap_upper is None


def test_nothing_one_battle_and_games_against_oneself():
    nothing = build(from_columns([], [], []))
    assert nothing.models == () and any("no battles" in note for note in nothing.notes)

    one = build(battles_of([("X", "Y", "tie")]))
    assert ratings(one) == pytest.approx({"X": 1000.0, "Y": 1000.0})
    assert one.pairs[0].p_value is None and one.pairs[0].reason

    alone = build(battles_of([("X", "X", "model_a"), ("X", "Y", "tie")]))
    assert alone.counts.self_play == 1 and alone.counts.battles == 1
    assert any("against itself" in note for note in alone.notes)


def test_a_model_without_games_is_listed_unrated():
    board = build(from_columns(["X", "Y"], ["Y", "X"], ["model_a", "model_a"], names=["idle"]))

    idle = model(board, "idle")
    assert (idle.rank, idle.rating, idle.win_rate, idle.flags) == (None, None, None, ("no_games",))
    assert idle.reason == "no games"


def test_single_models_between_two_cores_join_neither():
    results = [*ISLANDS, ("T", "P", 2, 0, 0), ("T", "R", 2, 0, 0), ("S", "U", 1, 0, 0)]
    board = build(battles_of(rows_of(results)))

    assert [set(group) for group in board.groups] == [{"T"}, {"R", "S", "U"}, {"P", "Q"}]


def test_a_group_that_beat_another_stands_before_it_whatever_its_size():
    losers = [("A", "B", 2, 2, 0), ("B", "C", 2, 2, 0)]
    board = build(battles_of(rows_of([*losers, ("X", "Y", 1, 1, 0), ("X", "A", 3, 0, 0), ("Y", "C", 3, 0, 0)])))

    assert [set(group) for group in board.groups] == [{"X", "Y"}, {"A", "B", "C"}]
    assert [model.name for model in board.models][:2] == ["X", "Y"]


def test_tie_words_share_the_win_and_pairs_without_games_stay_blank():
    for word in ("tie", "tie (bothbad)", "both_bad"):
        board = build(battles_of([("M", "N", "model_a"), ("N", "M", word), ("K", "M", "model_a")]))
        rates = {(pair.a, pair.b): pair.win_rate_a for pair in board.pairs}
        both = {frozenset(key): value if key[0] != "N" else 1 - (value or 0) for key, value in rates.items()}
        assert both[frozenset("MN")] == 0.75
        blank = next(pair for pair in board.pairs if {pair.a, pair.b} == {"K", "N"})
        assert blank.win_rate_a is None and blank.reason == "no games"


def test_an_anchor_that_is_unknown_or_unrated_is_refused():
    battles = battles_of(rows_of([("X", "Y", 5, 0, 0), ("Y", "Z", 2, 1, 0)]))

    with pytest.raises(Problem, match="anchor: found 'W', expected one of 'X'"):
        build(battles, Settings(anchor=("W", 1000)))
    with pytest.raises(Problem, match="won every game"):
        build(battles, Settings(anchor=("X", 1000)))
    with pytest.raises(Problem, match="reference"):
        build(battles, Settings(reference="W"))


@pytest.mark.parametrize(
    "bad", [{"level": 1.0}, {"intervals": "bootstrap", "resamples": 1}, {"prior": -1.0}, {"prior": float("nan")}]
)
def test_settings_that_make_no_sense_are_refused(bad: dict[str, object]):
    with pytest.raises(Problem):
        Settings(**bad)  # pyright: ignore[reportArgumentType]


def test_reachability_and_the_feasible_cone():
    beats = np.zeros((4, 4), bool)
    for a, b in pairwise(range(4)):
        beats[a, b] = True
    assert reachable(beats)[0].tolist() == [False, True, True, True]
    i, j = np.array([0, 1]), np.array([1, 0])
    assert solvable(2, i, j, np.array([1.0, -1.0]))
    assert not solvable(2, i, j, np.array([1.0, -0.5]))
