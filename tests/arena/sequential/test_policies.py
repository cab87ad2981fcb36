"""What policies ask and decide: deterministic, the same after any stop, never a match twice, rarely wrong."""

from dataclasses import replace

import numpy as np
import pytest

from arena.ratings.design import Design
from arena.ratings.fitting import fit
from arena.sequential.best import Best
from arena.sequential.field import Meeting, field_of
from arena.sequential.goal import Goal
from arena.sequential.goals import account, next_matches, play, start
from arena.sequential.place import Place, placed
from arena.sequential.ranking import Ranking
from arena.sequential.result import Matches, Outcome, WinRate, read_goal
from runstore.problems import InputProblem, Problem
from runstore.publish import write_json
from tests.arena.sequential.tournaments import a_field, scored

GOALS = [Goal("best"), Goal("ranking"), Goal("place", newcomer="m1", width_elo=80), Goal("best", batch=1)]


def history(goal, field, ask, most=1 << 62):
    """(batch, scores) of each step, and the last state."""
    state, steps = start(goal, field), []
    while len(steps) < most and (batch := next_matches(state)):
        scores = ask(batch)
        steps.append((batch, scores))
        state = state.absorb(scores)
    return steps, state


@pytest.mark.parametrize("goal", GOALS, ids=lambda goal: f"{goal.name}-{goal.batch}")
def test_no_match_is_asked_twice_or_without_a_reply_and_a_replay_asks_the_same(goal):
    lacking = [("s3-0", ("m0", "m1")), ("s4-1", ("m2", "m1"))]
    field = a_field(4, 40, 2, missing=lacking)
    steps, state = history(goal, field, scored(field, [0.0, 0.3, 0.8, 1.2]))
    asked = [meeting for batch, _ in steps for meeting in batch]
    assert len(set(asked)) == len(asked) <= field.possible
    assert not {("s3-0", 0, 1), ("s4-1", 1, 2)} & {(field.subsets[m.subset], m.i, m.j) for m in asked}
    assert all(meeting.i < meeting.j for meeting in asked)
    again, last = history(goal, field, scored(field, [0.0, 0.3, 0.8, 1.2]))
    assert again == steps
    assert last.found() == state.found()
    whole = account(goal, state, asked, [score for _, scores in steps for score in scores])
    assert whole.matches == Matches(used=len(asked), valid=len(asked), possible=field.possible)


@pytest.mark.parametrize("goal", GOALS, ids=lambda goal: f"{goal.name}-{goal.batch}")
def test_going_on_from_any_batch_ends_where_an_uninterrupted_tournament_ends(goal):
    field = a_field(4, 30)
    ask = scored(field, [0.0, 0.2, 0.5, 2.0], luck=3)
    steps, state = history(goal, field, ask)
    for stop in range(0, len(steps), max(1, len(steps) // 5)):
        resumed = start(goal, field)
        for batch, scores in steps[:stop]:
            assert next_matches(resumed) == batch
            resumed = resumed.absorb(scores)
        resumed = play(resumed, ask)
        assert resumed.found() == state.found()
        assert resumed.decide() == state.decide()


@pytest.mark.parametrize("goal", GOALS[:3], ids=lambda goal: goal.name)
def test_the_order_in_which_subsets_and_names_are_given_changes_nothing(goal):
    subsets = [(f"s{d}-{k}", f"d{d}") for d in range(25) for k in range(2)]
    names = ["m0", "m1", "m2", "m3"]
    found = []
    for rows, given in ((subsets, names), (subsets[::-1], names[::-1])):
        field = field_of(given, rows, 4)
        steps, state = history(goal, field, scored(field, [0.0, 0.4, 0.8, 1.6]))
        found.append((state.found(), [[field.subsets[m.subset] for m in batch] for batch, _ in steps]))
    assert found[0] == found[1]


def test_another_seed_asks_other_matches():
    ask = [start(Goal("best"), a_field(6, 50, seed=seed)).next_matches() for seed in (0, 1)]
    assert ask[0] != ask[1]


def test_a_clear_best_is_found_from_a_fraction_and_weak_ones_leave_first():
    field = a_field(6, 200)
    state = play(Best.start(field), scored(field, [-3, 0, 0.2, 0.4, 0.6, 3]))
    decision = state.decide()
    assert decision is not None
    assert decision.result == Outcome(winner="m5")
    assert state.used < field.possible / 10
    assert min(range(6), key=lambda one: (state.out_after[one] < 0, state.out_after[one])) == 0


def test_equal_endpoints_are_rarely_told_apart_whatever_their_dialogues_share():
    """Four subsets of a dialogue end alike in half of the dialogues; two of three are equally good."""
    generator = np.random.default_rng(8)
    wrong = 0
    field = a_field(3, 40, 4)
    for trial in range(60):
        luck = generator.random((40, 2))

        def ask(batch, luck=luck, trial=trial):
            single = scored(field, [0.0, 0.0, -1.0], luck=trial, ties=0.0)(batch)
            return [
                float(luck[m.subset // 4, 0] < 0.5)
                if (m.i, m.j) == (0, 1) and luck[m.subset // 4, 1] < 0.5
                else own
                for m, own in zip(batch, single, strict=True)
            ]

        wrong += play(Best.start(replace(field, seed=trial)), ask).decide() is not None
    assert wrong <= 0.05 * 60


def test_a_circle_of_winners_is_said_and_not_ranked():
    field = a_field(3, 60)

    def circle(batch):
        return [0.0 if (m.i, m.j) == (0, 2) else 1.0 for m in batch]

    state = play(Ranking.start(field), circle)
    assert state.is_circular
    told = account(Goal("ranking"), state, [], [])
    assert not told.decided
    assert told.stopped == "reached"
    assert "circle" in told.statement


def test_an_order_is_certified_with_what_follows_from_it():
    field = a_field(5, 400)
    state = play(Ranking.start(field), scored(field, [4.0, 3.0, 2.0, 1.0, 0.0]))
    decision = state.decide()
    assert decision is not None
    assert decision.result == Outcome(order=("m0", "m1", "m2", "m3", "m4"))
    assert state.used < field.possible / 2
    assert all(pair.better == pair.a for pair in state.found().pairs)


def test_matches_without_a_verdict_move_nothing():
    field = a_field(2, 50)
    nothing = play(Best.start(field), lambda batch: [None] * len(batch))
    assert nothing.decide() is None
    assert nothing.used == 50
    assert nothing.largest.tolist() == [0, 0]
    told = account(Goal("decide"), nothing, [Meeting(0, 0, 1)], [None])
    assert told.stopped == "matches ran out"
    assert told.win_rate == WinRate(of="m0", reason="no match has a verdict")
    lost = play(Place.start(field, "m1"), lambda batch: [None] * len(batch))
    assert lost.half_width is None
    assert lost.found().reason


def test_a_newcomer_is_placed_among_its_nearest_and_the_interval_is_as_narrow_as_wanted():
    strengths = [-2.0, -1.0, 0.0, 1.0, 2.0, 0.9]
    field = a_field(6, 500)
    ask = scored(field, strengths, ties=0.0)
    state = play(Place.start(field, "m5", board=np.array([*strengths[:5], 0.0]), width_elo=50), ask)
    told = state.found()
    assert told.half_width <= 50
    assert abs(state.estimate.theta - 0.9) < 0.6
    met = np.bincount([row[1] for row in state.log], minlength=6)
    assert met[[2, 3, 4]].sum() > 0.9 * len(state.log) - 10
    assert set(told.certainly_above) <= {"m0", "m1", "m2"}
    assert set(told.certainly_below) <= {"m3", "m4"}
    assert told.rank_range == (1 + len(told.certainly_below), 6 - len(told.certainly_above))
    near = play(Place.start(field, "m5"), ask, 3000)
    assert near.used == 500 * 10 + len(near.log)


def test_one_strength_against_known_ones_is_the_rating_engines_own():
    generator = np.random.default_rng(2)
    board = np.array([-1.0, 0.0, 1.0])
    opponents = generator.integers(0, 3, 300)
    scores = (generator.random(300) < 1 / (1 + np.exp(board[opponents] - 0.5))).astype(float)
    found = placed(board[opponents], scores, np.arange(300))
    i = np.zeros(3, np.int64)
    wins = np.bincount(opponents, scores, 3)
    counts = np.stack([np.bincount(opponents, minlength=3) - wins, np.zeros(3), wins], axis=1)
    # Against opponents held at their strengths, one free rating is a logistic regression with an offset.
    design = Design(i, i + 1, np.ones((3, 1)), ("newcomer",), np.zeros(2, np.int64), i[:0], i[:0], offset=-board)
    held = fit(design, counts, prior=1e9, covariance=False)
    assert found.theta == pytest.approx(held.shared[0], abs=0.01)
    assert found.error == pytest.approx(1 / np.sqrt(300 * 0.22), rel=0.15)


@pytest.mark.parametrize(
    ("goal", "names"),
    [
        (Goal("best"), ["a"]),
        (Goal("decide"), ["a", "b", "c"]),
        (Goal("place"), ["a", "b"]),
        (Goal("place", newcomer="z"), ["a", "b"]),
        (Goal("best", newcomer="a"), ["a", "b"]),
    ],
)
def test_goals_that_do_not_fit_are_refused(goal, names):
    with pytest.raises(Problem):
        start(goal, field_of(names, [("s", "d")], 0))


@pytest.mark.parametrize("goal", [*GOALS, Goal("decide")], ids=lambda goal: f"{goal.name}-{goal.batch}")
@pytest.mark.parametrize("batches", [1, 1 << 62])
def test_an_account_reads_its_own_file_and_writes_it_again(tmp_path, goal, batches):
    field = a_field(2 if goal.name == "decide" else 3, 30)
    steps, state = history(goal, field, scored(field, [0.0, 0.9, 3.0][: len(field.names)]), batches)
    pairs = [(meeting, score) for batch, scores in steps for meeting, score in zip(batch, scores, strict=True)]
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    write_json(first, account(goal, state, [meeting for meeting, _ in pairs], [score for _, score in pairs]))
    write_json(second, read_goal(first))
    assert second.read_bytes() == first.read_bytes()


@pytest.mark.parametrize("row", [{"goal": "fame"}, ["best"]])
def test_a_goal_nobody_knows_is_refused_by_name(tmp_path, row):
    write_json(tmp_path / "goal.json", row)
    with pytest.raises(InputProblem, match="best, place, ranking, decide"):
        read_goal(tmp_path / "goal.json")
