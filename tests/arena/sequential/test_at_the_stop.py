"""What a table says whose matches a goal chose: limits that hold at the stop, and no others."""

from __future__ import annotations

import numpy as np
import pytest

from arena.ratings.battles import from_columns
from arena.ratings.leaderboard import build
from arena.ratings.result import Leaderboard
from arena.ratings.settings import Settings
from arena.sequential.goal import Goal
from arena.sequential.goals import account, next_matches, start
from arena.sequential.result import GoalAccount
from arena.sequential.stopped import METHOD, at_the_stop
from bench.sequential_errors import STOPPED, at_stop
from tests.arena.sequential.tournaments import a_field, scored


def stopped(
    goal: Goal, strengths: list[float], dialogues: int = 200, luck: int = 0, **settings: object
) -> tuple[Leaderboard, GoalAccount]:
    field = a_field(len(strengths), dialogues, 2)
    ask, state, asked, scores = scored(field, strengths, luck), start(goal, field), [], []
    while batch := next_matches(state):
        found = ask(batch)
        asked, scores, state = asked + batch, scores + found, state.absorb(found)
    told = account(goal, state, asked, scores)
    battles = from_columns(
        [field.names[one.i] for one in asked],
        [field.names[one.j] for one in asked],
        [("model_b", "tie", "model_a")[round(2 * score)] for score in scores],
        cluster=[f"d{one.subset // 2}" for one in asked],
    )
    return at_the_stop(build(battles, Settings(**settings)), goal, told), told


@pytest.mark.parametrize(("place", "name", "draws"), [(1, "decide, a gap of .3", 50), (3, "best of 4", 25)])
def test_limits_at_the_stop_hold_what_is_true(place, name, draws):
    assert STOPPED[place].name == name
    found = [at_stop(place, number) for number in range(draws)]
    each = [held for one in found for held in one.each]
    leads = [held for one in found for held in one.leads]
    assert np.mean(each) >= 0.95
    assert leads
    assert np.mean(leads) >= 0.95
    assert np.mean([one.ahead for one in found]) > 5, "ordinary ratings at a stop lie too far apart"


def test_two_endpoints_get_one_interval_for_gap_decision_ratings_and_places():
    board, told = stopped(Goal("decide"), [1.0, 0.0])
    (gap,), (pair,) = told.gaps, board.pairs
    assert told.gaps_hold == "together"
    assert told.result is not None
    assert told.result.winner == pair.a == "m0"
    assert gap.lower is not None and gap.upper is not None
    assert 0 <= gap.lower < gap.upper
    assert (pair.gap_lower, pair.gap_upper, pair.decision) == (gap.lower, gap.upper, "a")
    assert (pair.p_value, pair.p_holm, pair.smallest_p) == (None, None, None)
    first, second = board.models
    assert (first.lower, first.upper) == pytest.approx((1000 + gap.lower / 2, 1000 + gap.upper / 2), abs=1e-5)
    assert second.lower == pytest.approx(1000 - gap.upper / 2, abs=1e-5)
    assert [model.rank_range for model in board.models] == [(1, 1), (2, 2)]
    assert (board.intervals.method, board.level) == (METHOD, 0.95)
    assert board.stop is not None
    assert board.stop.reached


def test_an_anchor_has_no_width_and_the_level_is_the_goals():
    board, told = stopped(Goal("decide", error=0.1), [1.0, 0.0], anchor=("m1", 1200))
    assert board.model("m1").lower == board.model("m1").upper == 1200
    assert board.model("m0").lower == pytest.approx(1200 + told.gaps[0].lower)
    assert board.level == 0.9


def test_the_best_leads_the_ruled_out_and_nothing_else_is_told_apart():
    board, told = stopped(Goal("best"), [2.0, 0.8, 0.4, -1.0])
    assert told.result is not None
    assert told.result.winner == "m0"
    assert told.gaps_hold == "each"
    for pair in board.pairs:
        if "m0" in (pair.a, pair.b):
            assert pair.decision == ("a" if pair.a == "m0" else "b")
            lower = pair.gap_lower if pair.a == "m0" else -(pair.gap_upper or np.inf)
            assert lower is not None and lower >= 0
        else:
            assert pair.decision in ("not told apart", "not enough data")
    assert {model.lower for model in board.models} == {None}
    assert [board.model(f"m{n}").rank_range for n in range(4)] == [(1, 1), (2, 4), (2, 4), (2, 4)]
    behind = {one.name: one.behind for one in told.endpoints}
    assert (behind["m0"].lower, behind["m0"].upper) == (0, 0)
    assert all(one.behind.lower > 0 for one in told.endpoints if one.ruled_out_after is not None)


def test_matches_that_run_out_leave_the_best_open_and_bound_it():
    board, told = stopped(Goal("best"), [0.2, 0.1, -2.5], dialogues=30)
    assert told.result is None
    assert board.stop is not None and board.stop.reached is False
    still = set(told.candidates)
    assert len(still) > 1
    for one in told.endpoints:
        assert (one.behind.lower == 0) == (one.name in still)
    for pair in board.pairs:
        assert pair.decision in ("not told apart", "not enough data")


def test_a_ranking_holds_together_and_what_follows_is_above_0_too():
    board, told = stopped(Goal("ranking"), [3.0, 1.5, 0.0])
    assert told.result is not None
    assert told.gaps_hold == "together"
    for pair in board.pairs:
        assert pair.decision == "a"
        assert pair.gap_lower is not None and pair.gap_lower >= 0
    assert all(model.lower < model.rating < model.upper for model in board.models)


def test_a_place_ends_on_width_and_keeps_its_intervals():
    board, told = stopped(Goal("place", newcomer="m2", width_elo=80), [0.5, 0.0, 0.2])
    assert board.stop is not None and board.stop.goal == "place"
    assert board.intervals.method == "jackknife"
    assert all(model.lower is not None for model in board.models)
    assert told.gaps == ()


def test_judging_that_broke_off_and_other_ties_leave_no_limits():
    broken, told = stopped(Goal("best"), [2.0, 0.0])
    broken = at_the_stop(broken, Goal("best"), None)
    assert broken.stop is not None and broken.stop.reached is None
    assert {(pair.gap_lower, pair.gap_upper, pair.decision) for pair in broken.pairs} == {
        (None, None, "not enough data")
    }
    davidson, _ = stopped(Goal("best"), [2.0, 0.0], ties="davidson")
    assert davidson.pairs[0].decision == "a"
    assert davidson.pairs[0].gap_lower is None
    assert davidson.intervals.reason
    assert told.decided


def test_a_stopped_table_reads_its_own_file(tmp_path):
    from arena.ratings.result import read_leaderboard
    from runstore.publish import write_json

    board, _ = stopped(Goal("best"), [2.0, 0.8, 0.4])
    write_json(tmp_path / "a.json", board.to_json())
    again = read_leaderboard(tmp_path / "a.json")
    assert again.stop == board.stop
    write_json(tmp_path / "b.json", again.to_json())
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
