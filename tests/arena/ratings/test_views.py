"""Levels, style, Elo and the run's own records."""

from __future__ import annotations

import numpy as np
import pytest

from arena.ratings.battles import from_columns
from arena.ratings.categories import breakdown, with_breakdowns
from arena.ratings.estimate import SCALE
from arena.ratings.leaderboard import build
from arena.ratings.settings import Settings
from arena.ratings.style import features, relative, style_control
from arena.ratings.verdicts import from_judgments, from_verdicts, reply_styles, subset_labels
from runstore.problems import Problem
from runstore.records import Judgment, Reply, Subset, Usage, Utterance, Verdict, Vote
from tests.support.battles import model, random_rows


def _levels(seed: int, models: int = 8, levels: int = 6, games: int = 150):
    generator = np.random.default_rng(seed)
    strength = generator.normal(0, 0.8, models) + generator.normal(0, 0.3, (levels, models))
    strength -= strength.mean(1, keepdims=True)
    rows: list[tuple[str, str, str, str]] = []
    for level in range(levels):
        for _ in range(games):
            a, b = generator.choice(models, 2, replace=False)
            won = generator.random() < 1 / (1 + np.exp(strength[level, b] - strength[level, a]))
            rows.append((f"m{a}", f"m{b}", "model_a" if won else "model_b", str(level)))
    columns = [[row[k] for row in rows] for k in range(4)]
    return from_columns(*columns[:3], categories={"grade": columns[3]}), 1000 + SCALE * strength


def test_shrunken_ratings_are_closer_to_the_truth_than_either_extreme():
    errors: dict[str, list[float]] = {"own": [], "pooled": [], "shrunken": []}
    covered: list[bool] = []
    for seed in range(6):
        battles, truth = _levels(seed)
        pooled = build(battles, Settings(intervals="none"))
        parts = breakdown(battles, "grade", Settings(intervals="sandwich"))
        assert [level.name for level in parts.levels] == [str(n) for n in range(6)]
        assert parts.deviation is not None and 5 < parts.deviation < 150
        for number, level in enumerate(parts.levels):
            for entry in level.own.models:
                true = truth[number, int(entry.name[1:])]
                near, lower, upper = level.shrunken[entry.name]
                errors["own"] += [] if entry.rating is None else [entry.rating - true]
                errors["pooled"].append((model(pooled, entry.name).rating or 0) - true)
                errors["shrunken"].append(near - true)
                covered.append(lower <= true <= upper)
    spread = {kind: float(np.sqrt(np.mean(np.square(values)))) for kind, values in errors.items()}

    assert spread["shrunken"] < 0.9 * spread["own"]
    assert spread["shrunken"] < spread["pooled"]
    assert 0.88 < np.mean(covered) <= 1.0


def test_a_level_in_which_somebody_is_undefeated_still_has_a_shrunken_rating():
    battles, _ = _levels(1, models=4, levels=3, games=60)
    rows = [("m0", "m1", "model_a", "rare"), ("m2", "m3", "tie", "rare")]
    assert battles.rows is not None
    old = [battles.names[battles.i[c]] for c in battles.rows.cell]
    other = [battles.names[battles.j[c]] for c in battles.rows.cell]
    words = [("model_b", "tie", "model_a")[battles.outcome[c]] for c in battles.rows.cell]
    codes, names = battles.rows.levels["grade"]
    joined = from_columns(
        old + [row[0] for row in rows],
        other + [row[1] for row in rows],
        words + [row[2] for row in rows],
        categories={"grade": [names[code] for code in codes] + [row[3] for row in rows]},
    )
    board = with_breakdowns(build(joined, Settings()), joined, ["grade"])
    rare = board.to_json()["by"][0]["levels"][-1]

    assert rare["level"] == "rare" and rare["battles"] == 2
    lone = next(entry for entry in rare["models"] if entry["name"] == "m0")
    assert lone["rating"] is None and lone["shrunken"]["rating"] is not None
    assert lone["shrunken"]["lower"] < lone["shrunken"]["rating"] < lone["shrunken"]["upper"]


def test_an_unknown_category_is_refused_with_the_known_ones():
    battles, _ = _levels(2, games=20)

    with pytest.raises(Problem, match="found 'subject', expected one of: grade"):
        breakdown(battles, "subject", Settings())


def test_features_of_style():
    text = "# Title\n\n- one?\n- **two**\n\n```python\nx = 1\n```\nReally?"

    assert features(text) == {"length": float(len(text)), "questions": 2.0, "code": 1.0, "markdown": 4.0}
    assert relative(np.array([3.0, 0.0]), np.array([1.0, 0.0])).tolist() == [0.5, 0.0]


def test_style_control_takes_length_out_and_keeps_the_plain_table():
    generator = np.random.default_rng(0)
    wordy = {"brief": 0.8, "long": 1.2, "middling": 1.0}
    a, b, words, lean = [], [], [], []
    for _ in range(4000):
        x, y = generator.choice(list(wordy), 2, replace=False)
        lengths = [wordy[name] * generator.lognormal(0, 0.4) for name in (x, y)]
        difference = (lengths[0] - lengths[1]) / sum(lengths)
        won = generator.random() < 1 / (1 + np.exp(-4.0 * difference))
        a.append(x), b.append(y), words.append("model_a" if won else "model_b"), lean.append(difference)
    battles = from_columns(a, b, words, covariates={"length": np.array(lean)})
    found = style_control(battles, Settings(intervals="sandwich"))

    plain = {row.name: row.raw for row in found.models}
    freed = {row.name: row.rating for row in found.models}
    assert plain["long"] - plain["brief"] > 80
    assert abs(freed["long"] - freed["brief"]) < 30
    effect = found.covariates[0]
    assert effect.name == "length" and effect.lower < 4.0 * np.std(lean) < effect.upper
    with pytest.raises(Problem, match="--style"):
        style_control(from_columns(a, b, words), Settings())


def _verdict(n: int, outcome: str, winner: str | None, endpoints: tuple[str, str] = ("B", "A")) -> Verdict:
    votes = (Vote(judge="j", round=1, outcome="tie", winner=None),)
    return Verdict(
        subset=f"s{n}",
        dialogue=f"d{n // 2}",
        endpoints=endpoints,
        criterion="overall",
        outcome=outcome,  # pyright: ignore[reportArgumentType]
        winner=winner,
        agreement="majority",
        votes=votes,
    )


def _judgment(n: int, first: str, second: str, winner: str | None, outcome: str = "win") -> Judgment:
    return Judgment(
        subset=f"s{n}",
        dialogue=f"d{n // 2}",
        judge="j",
        criterion="overall",
        round=1,
        slot_a=first,
        slot_b=second,
        letter=None,
        outcome=outcome,  # pyright: ignore[reportArgumentType]
        winner=winner,
        reason=None,
        raw="",
    )


def test_verdicts_become_battles_by_name_and_invalid_ones_are_counted():
    verdicts = [
        _verdict(0, "win", "B"),
        _verdict(1, "win", "A"),
        _verdict(2, "win", "B"),
        _verdict(3, "tie", None),
        _verdict(4, "invalid", None),
    ]
    judgments = [
        _judgment(0, "B", "A", "B"),
        _judgment(1, "B", "A", "A"),
        _judgment(2, "A", "B", "B"),
        _judgment(3, "A", "B", "A"),
        _judgment(4, "A", "B", None, "unreadable"),
        _judgment(4, "A", "B", None, "tie"),
    ]
    board = build(from_verdicts(verdicts, judgments))

    assert (model(board, "B").wins, model(board, "B").losses, model(board, "B").ties) == (2, 1, 1)
    assert board.pairs[0].invalid == 1 and board.counts.invalid == 1
    assert board.agreement == {"unanimous": 0, "majority": 4, "split": 0, "invalid": 1}
    assert board.intervals.cluster == "dialogue"
    shown = board.position
    assert (shown.first_wins, shown.second_wins, shown.ties, shown.of) == (2, 2, 1, "rounds")
    assert model(board, "A").rating_rounds is not None


def test_endpoints_named_like_outcomes_win_by_name():
    board = build(from_verdicts([_verdict(n, "win", "tie", ("tie", "C")) for n in range(3)]))

    assert model(board, "tie").wins == 3 and board.models[0].name == "tie"


def test_a_verdict_twice_or_with_a_stranger_as_winner_is_refused():
    with pytest.raises(Problem, match="found twice"):
        from_verdicts([_verdict(0, "win", "B"), _verdict(0, "win", "A")])
    with pytest.raises(Problem, match="winner 'Z'"):
        from_verdicts([_verdict(0, "win", "Z")])


def test_only_invalid_verdicts_leave_models_unrated():
    board = build(from_verdicts([_verdict(0, "invalid", None)]))

    assert [entry.flags for entry in board.models] == [("no_games",), ("no_games",)]
    assert board.pairs[0].invalid == 1


def test_labels_and_styles_of_a_run():
    subsets = [
        Subset(
            id=f"s{n}",
            dialogue=f"d{n // 2}",
            persona="p",
            levels={"year": str(1 + n % 2)},
            question="q",
            subject="maths",
            cut=1,
            depth=1,
            history=(Utterance(role="student", text="hi"),),
        )
        for n in range(4)
    ]
    replies = [
        Reply(
            subset=f"s{n}",
            dialogue=f"d{n // 2}",
            endpoint=name,
            text="word " * (n + size),
            finish="stop",
            usage=Usage(),
            latency_s=None,
            cost_usd=None,
        )
        for n in range(4)
        for name, size in (("A", 1), ("B", 4))
    ]
    verdicts = [_verdict(n, "win", "AB"[n % 2]) for n in range(4)]
    battles = from_verdicts(verdicts, (), subset_labels(subsets), reply_styles(replies))

    assert battles.rows is not None
    assert {"criterion", "persona.year", "subject", "depth"} <= set(battles.rows.levels)
    assert battles.rows.covariates["length"][0] == pytest.approx((5 - 20) / 25)
    year = breakdown(battles, "persona.year", Settings())
    assert [(level.name, level.battles) for level in year.levels] == [("1", 2), ("2", 2)]
    with pytest.raises(Problem, match="no reply of 'B'"):
        from_verdicts(verdicts, (), None, reply_styles(replies[:-1]))


def test_rounds_alone_can_be_rated_with_their_order():
    judgments = [_judgment(n, *("AB" if n % 2 else "BA"), "A" if n % 3 else "B") for n in range(12)]  # pyright: ignore[reportArgumentType]
    battles = from_judgments(judgments)

    assert battles.shown_first_known and battles.total == 12
    assert battles.rows is not None and "judge" in battles.rows.levels


def test_levels_of_rows_follow_the_rows():
    rows = random_rows(1, 3, 20)
    battles = from_columns(
        *([row[k] for row in rows] for k in range(3)), categories={"odd": [str(n % 2) for n in range(len(rows))]}
    )
    assert battles.rows is not None
    half = battles.select(battles.rows.levels["odd"][0] == 1)

    assert half.total == len(rows) // 2
    assert half.weight.sum() == half.total
