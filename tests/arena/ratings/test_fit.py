"""Point estimates: known values, other libraries, and what must not matter."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import choix
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.ratings.battles import from_columns
from arena.ratings.check import check
from arena.ratings.estimate import SCALE, estimate
from arena.ratings.leaderboard import build
from arena.ratings.models.davidson import Davidson
from arena.ratings.models.half import Half
from arena.ratings.settings import Settings
from tests.support.battles import Row, battles_of, random_rows, ratings, rows_of, swapped

PLAIN = Settings(intervals="none")
DATA = Path(__file__).parents[4] / "shared" / "data"


def test_strengths_in_ratio_four_two_one_are_found_exactly():
    board = build(
        battles_of(rows_of([("P", "Q", 20, 10, 0), ("Q", "R", 20, 10, 0), ("P", "R", 40, 10, 0)])), PLAIN
    )

    assert board.converged
    assert ratings(board) == pytest.approx({"P": 1120.4120, "Q": 1000.0, "R": 879.5880}, abs=1e-3)


def test_a_very_one_sided_pair_is_not_shrunk():
    found = ratings(build(battles_of(rows_of([("P", "Q", 999, 1, 0)])), PLAIN))

    assert found["P"] is not None and found["Q"] is not None
    assert found["P"] - found["Q"] == pytest.approx(SCALE * math.log(999), abs=1e-6)


def test_the_textbook_example_of_four_players():
    results = [("A", "B", 2, 3, 0), ("A", "D", 1, 4, 0), ("B", "C", 5, 3, 0), ("C", "D", 1, 3, 0)]
    found = estimate(battles_of(rows_of(results)), PLAIN)

    assert found.fitted is not None
    strength = np.exp(found.fitted.theta)
    assert strength == pytest.approx([0.640, 1.043, 0.660, 2.270], abs=1e-3)


@pytest.mark.parametrize(
    ("ties", "log_ratio", "parameter"),
    [("half", 0.405465, None), ("davidson", 0.693147, {"nu": 1.414214, "nu_where_ties_weigh_2nu": 0.707107})],
)
def test_ties_as_halves_and_by_davidson(ties: str, log_ratio: float, parameter: dict[str, float] | None):
    results = battles_of(rows_of([("a", "b", 40, 20, 40)]))
    board = build(results, Settings(intervals="none", ties=ties))  # pyright: ignore[reportArgumentType]

    gap = (ratings(board)["a"] or 0) - (ratings(board)["b"] or 0)
    assert gap / SCALE == pytest.approx(log_ratio, abs=1e-6)
    assert board.fit.tie_parameter == parameter


def test_rao_and_kupper_reproduce_the_shares_of_a_single_pair():
    found = estimate(battles_of(rows_of([("a", "b", 40, 20, 40)])), Settings(intervals="none", ties="rao_kupper"))

    assert found.fitted is not None and found.fitted.tie is not None
    kappa, ratio = math.exp(found.fitted.tie), math.exp(found.fitted.theta[0] - found.fitted.theta[1])
    assert ratio / (ratio + kappa) == pytest.approx(0.4, abs=1e-9)
    assert 1 / (1 + kappa * ratio) == pytest.approx(0.2, abs=1e-9)


@pytest.mark.parametrize("seed", range(200))
def test_random_tables_with_ties_agree_with_choix_and_evalica(seed: int):
    import evalica
    from evalica import Winner

    rows = random_rows(seed, models=3 + seed % 9, battles=40 + 3 * seed)
    found = estimate(battles_of(rows), PLAIN)

    assert found.fitted is not None and found.fitted.converged
    size = len(found.members)
    wins = np.zeros((size, size))
    for a, b, word in rows:
        share = {"model_a": 1.0, "model_b": 0.0, "tie": 0.5}[word]
        wins[int(a[1:]), int(b[1:])] += share
        wins[int(b[1:]), int(a[1:])] += 1 - share
    order = [int(name[1:]) for name in battles_of(rows).names]
    theirs = choix.ilsr_pairwise_dense(wins, tol=1e-12)[order]
    assert found.fitted.theta == pytest.approx(theirs - theirs.mean(), abs=1e-6)
    words = {"model_a": Winner.X, "model_b": Winner.Y, "tie": Winner.Draw}
    other = evalica.bradley_terry(
        [a for a, _, _ in rows],
        [b for _, b, _ in rows],
        [words[w] for _, _, w in rows],
        tolerance=1e-13,
        limit=100_000,
    )
    logs = np.log(other.scores.loc[list(battles_of(rows).names)].to_numpy())
    assert found.fitted.theta == pytest.approx(logs - logs.mean(), abs=1e-6)


def test_the_oracle_agrees_and_tells_a_wrong_fit(monkeypatch: pytest.MonkeyPatch):
    battles = battles_of(random_rows(5, 6, 300))
    told = check(battles, Settings(ties="davidson", prior=2.0))

    assert told.models == 6 and told.largest is not None and told.largest < 1e-3 and not told.is_refuted
    monkeypatch.setattr(Half, "scores", lambda self, eta, tie: Davidson().scores(eta, tie or -1.0))
    assert check(battles, Settings()).is_refuted


def test_the_oracle_has_nothing_to_compare_where_nothing_is_rated():
    told = check(battles_of([("a", "b", "model_a")]), Settings())

    assert told.largest is None and told.reason is not None and not told.is_refuted


@pytest.mark.parametrize("name", ["food", "simple"])
def test_real_battles_with_published_scores(name: str):
    if not (DATA / f"{name}.csv").is_file():
        pytest.skip("the public battle data is not here")
    words = {"left": "model_a", "right": "model_b", "tie": "tie"}
    with (DATA / f"{name}.csv").open() as lines:
        rows = [(row["left"], row["right"], words[row["winner"]]) for row in csv.DictReader(lines)]
    with (DATA / f"{name}-golden.csv").open() as lines:
        golden = {
            row["item"]: float(row["score"])
            for row in csv.DictReader(lines)
            if row["algorithm"] == "bradley_terry"
        }
    found = ratings(build(battles_of(rows), PLAIN))
    logs = {item: SCALE * math.log(score) for item, score in golden.items()}
    middle = sum(logs.values()) / len(logs)

    assert found == pytest.approx({item: 1000 + value - middle for item, value in logs.items()}, abs=0.01)


def test_real_votes_of_people():
    if not (DATA / "pandalm_votes.csv").is_file():
        pytest.skip("the public battle data is not here")
    words = {"1": "model_a", "2": "model_b", "0": "tie"}
    with (DATA / "pandalm_votes.csv").open() as lines:
        rows = [(row["model_a"], row["model_b"], words[row["majority"]]) for row in csv.DictReader(lines)]
    found = {name.split("-")[0]: rating for name, rating in ratings(build(battles_of(rows), PLAIN)).items()}

    expected = {"llama": 1125.8, "pythia": 1012.8, "bloom": 996.8, "opt": 957.8, "cerebras": 906.8}
    assert found == pytest.approx(expected, abs=0.05)


def _variants(rows: list[Row], seed: int) -> list[list[Row]]:
    shuffled = list(rows)
    np.random.default_rng(seed).shuffle(shuffled)  # pyright: ignore[reportArgumentType]
    order = [(str(a), str(b), str(w)) for a, b, w in shuffled]
    return [order, [swapped(row) for row in rows], [swapped(row) if n % 2 else row for n, row in enumerate(rows)]]


def test_names_sides_and_row_order_do_not_matter_with_decisive_pairs():
    rows = rows_of([("P", "Q", 4, 1, 0), ("Q", "R", 4, 1, 0), ("P", "R", 5, 0, 0)])
    plain = ratings(build(battles_of(rows), PLAIN))
    names = {"P": "m10", "Q": "m2", "R": "m00"}
    renamed = ratings(build(battles_of([(names[a], names[b], w) for a, b, w in rows]), PLAIN))

    assert plain == pytest.approx({"P": 1283.83, "Q": 1000, "R": 716.17}, abs=0.1)
    assert renamed == pytest.approx({names[name]: value for name, value in plain.items()}, abs=1e-6)
    for variant in _variants(rows, 3):
        assert ratings(build(battles_of(variant), PLAIN)) == pytest.approx(plain, abs=1e-6)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(3, 7), st.sampled_from(["half", "davidson", "rao_kupper"]))
def test_invariance_and_an_unrelated_model(seed: int, models: int, ties: str):
    rows = random_rows(seed, models, 60)
    chosen = Settings(intervals="none", ties=ties)  # pyright: ignore[reportArgumentType]
    plain = ratings(build(battles_of(rows), chosen))

    for variant in _variants(rows, seed):
        assert ratings(build(battles_of(variant), chosen)) == pytest.approx(plain, abs=1e-4)
    backwards = {f"m{k}": f"z{models - k}" for k in range(models)}
    renamed = ratings(build(battles_of([(backwards[a], backwards[b], w) for a, b, w in rows]), chosen))
    assert renamed == pytest.approx({backwards[name]: value for name, value in plain.items()}, abs=1e-4)
    beaten = [*rows, ("m0", "newcomer", "model_a"), ("m1", "newcomer", "model_a")]
    with_loser = ratings(build(battles_of(beaten), chosen))
    assert with_loser.pop("newcomer") is None
    assert with_loser == pytest.approx(plain, abs=1e-4)


def test_weights_count_like_repeated_battles():
    rows = random_rows(8, 5, 80)
    doubled = battles_of([*rows, *rows[:30]])
    weighted = from_columns(
        [a for a, _, _ in rows],
        [b for _, b, _ in rows],
        [w for _, _, w in rows],
        weight=[2.0] * 30 + [1.0] * (len(rows) - 30),
    )

    assert ratings(build(weighted, PLAIN)) == pytest.approx(ratings(build(doubled, PLAIN)), abs=1e-6)


def test_an_anchor_fixes_one_rating_and_a_prior_is_said():
    battles = battles_of(random_rows(4, 4, 80))
    plain = ratings(build(battles, PLAIN))
    anchored = build(battles, Settings(intervals="none", anchor=("m2", 1500.0)))
    pulled = build(battles, Settings(intervals="none", prior=5))

    shift = 1500 - (plain["m2"] or 0)
    assert ratings(anchored) == pytest.approx(
        {name: (value or 0) + shift for name, value in plain.items()}, abs=1e-5
    )
    assert "prior of 5" in pulled.method and any("prior" in note for note in pulled.notes)
    spread = [np.std([value for value in ratings(board).values() if value]) for board in (pulled, anchored)]
    assert spread[0] < spread[1]


def test_the_effect_of_being_shown_first_is_taken_out():
    generator = np.random.default_rng(2)
    strength = {"weak": -0.4, "middle": 0.0, "strong": 0.4}
    rows: list[tuple[str, str, str, str]] = []
    for _ in range(30_000):
        a, b = generator.choice(list(strength), 2, replace=False)
        first = "model_a" if (generator.random() < 0.8) == (strength[a] < strength[b]) else "model_b"
        eta = strength[a] - strength[b] + (0.5 if first == "model_a" else -0.5)
        rows.append((a, b, "model_a" if generator.random() < 1 / (1 + np.exp(-eta)) else "model_b", first))
    a, b, winner, first = (list(column) for column in zip(*rows, strict=True))
    battles = from_columns(a, b, winner, first=first)
    adjusted = build(battles, Settings(intervals="sandwich"))
    ignored = build(battles, Settings(intervals="sandwich", position="ignore"))

    truth = {name: 1000 + SCALE * value for name, value in strength.items()}
    assert ratings(adjusted) == pytest.approx(truth, abs=12)
    assert abs((ratings(ignored)["strong"] or 0) - truth["strong"]) > 20
    for board in (adjusted, ignored):
        assert board.position.lower < 0.5 < board.position.upper
        assert board.position.log_odds == pytest.approx(0.5, abs=0.05)


def test_position_that_decides_every_game_is_not_estimated():
    battles = from_columns(
        ["P", "Q", "P", "Q"],
        ["Q", "P", "Q", "P"],
        ["model_a", "model_a", "model_a", "model_a"],
        first=["model_a"] * 4,
    )
    board = build(battles, Settings(intervals="sandwich"))

    assert board.position.log_odds is None and "decides" in board.position.reason
    assert board.position.first_wins == 4
    assert ratings(board) == pytest.approx({"P": 1000.0, "Q": 1000.0})


def test_a_tie_parameter_without_a_finite_estimate_is_a_reason_not_a_number():
    board = build(battles_of(rows_of([("X", "Y", 0, 0, 5)])), Settings(ties="davidson"))

    assert not board.converged
    assert ratings(board) == {"X": None, "Y": None}
    assert any("davidson" in note for note in board.notes)
