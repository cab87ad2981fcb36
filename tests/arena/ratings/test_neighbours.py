"""Judgment files of MT-bench and arena-hard, and Inspect logs with scores of their own, as battles."""

import json
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from arena.ratings.leaderboard import build
from arena.ratings.reading import Columns, read_battles
from arena.ratings.settings import Settings
from runstore.problems import InputProblem


def lines(path, rows):
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")
    return path


def mt(question, one, other, first, second, turn=1):
    return {
        "question_id": question,
        "model_1": one,
        "model_2": other,
        "g1_winner": first,
        "g2_winner": second,
        "judge": ["gpt-4", "pair-v2"],
        "g1_user_prompt": "…",
        "g1_judgment": "[[A]]",
        "g2_user_prompt": "…",
        "g2_judgment": "[[B]]",
        "turn": turn,
        "tstamp": 1.0,
    }


def hard(question, model, *scores, **more):
    games = [None if score == "lost" else {"judgment": "…", "score": score} for score in scores]
    return {"question_id": question, "model": model, "judge": "gpt-4-1106-preview", "games": games, **more}


def board(battles):
    return {model.name: model for model in build(battles, Settings(intervals="none", position="ignore")).models}


def test_each_game_of_mt_bench_is_a_battle_with_who_was_shown_first(tmp_path):
    path = lines(
        tmp_path / "gpt-4_pair.jsonl",
        [
            mt(81, "alpaca", "claude", "model_2", "model_2"),
            mt(81, "alpaca", "claude", "model_1", "model_2", turn=2),
            mt(82, "alpaca", "claude", "tie", "error"),
        ],
    )
    battles = read_battles(path, Columns(categories=("turn", "judge")))
    models = board(battles)
    assert (models["claude"].wins, models["claude"].losses, models["claude"].ties) == (3, 1, 1)
    assert battles.invalid == {("alpaca", "claude"): 1}
    # alpaca is shown first in both games whose first place won, and claude once.
    won_first = battles.first[battles.outcome == 2].tolist() + (-battles.first[battles.outcome == 0]).tolist()
    assert sorted(won_first) == [-1, 1, 1]
    assert battles.cluster_name == "cluster"


def test_arena_hard_counts_a_much_better_answer_three_times(tmp_path):
    folder = tmp_path / "gpt-4-1106-preview"
    folder.mkdir()
    lines(folder / "a.jsonl", [hard("q1", "a", "A>>B", "B>A"), hard("q2", "a", "A=B", "lost")])
    lines(folder / "b.jsonl", [hard("q1", "b", "B>>A", "A>>B"), hard("q2", "b", "B>A", None)])
    battles = read_battles(folder, Columns(), baseline="gpt-4-0314")
    models = board(battles)
    assert (models["a"].losses, models["a"].ties, models["a"].wins) == (4, 1, 0)
    assert models["b"].wins == 7
    assert battles.invalid == {("a", "gpt-4-0314"): 1, ("b", "gpt-4-0314"): 1}
    with pytest.raises(InputProblem, match=r"a\.jsonl:1: baseline: .*--baseline"):
        read_battles(folder, Columns())


def test_the_second_version_of_arena_hard_names_its_baseline(tmp_path):
    rows = [{**hard("", "a", "A>B", "A>B"), "uid": "u1", "category": "hard_prompt", "baseline": "o3-mini"}]
    del rows[0]["question_id"]
    battles = read_battles(lines(tmp_path / "a.jsonl", rows), Columns(categories=("category",)))
    assert {name: (model.wins, model.losses) for name, model in board(battles).items()} == {
        "a": (1, 1),
        "o3-mini": (1, 1),
    }


@pytest.mark.parametrize(
    ("row", "what"),
    [
        (mt(1, "a", "b", "model_3", "tie"), "g1_winner.*model_3"),
        (mt(1, "", "b", "tie", "tie"), "model_1"),
        (hard("q", "a", "A>>>B", "A=B", baseline="c"), "games.score.*A>>>B"),
        ({**hard("q", "a", baseline="c"), "games": "none"}, "games.*list"),
        ({**hard("q", "a", baseline="c"), "games": ["A>B"]}, "games.*A>B"),
        ({**hard("q", "a", baseline="c"), "games": [{"score": ["A>B"]}]}, "games.score.*A>B"),
        (mt(1, "a", "b", ["model_1"], "tie"), "g1_winner.*model_1"),
    ],
)
def test_what_such_a_file_cannot_hold_is_named(tmp_path, row, what):
    good = mt(1, "a", "b", "tie", "tie") if "model_1" in row else hard("q", "a", "A=B", "A=B", baseline="c")
    with pytest.raises(InputProblem, match=what) as told:
        read_battles(lines(tmp_path / "x.jsonl", [good, row]))
    assert "x.jsonl:2: " in str(told.value)


def log(model, values, scorer="choice"):
    samples = [
        {"id": at, "epoch": 1, "input": "q", "target": "a", "scores": {scorer: {"value": value}}}
        for at, value in enumerate(values)
    ]
    head = {"version": 2, "status": "success", "eval": {"task": "t", "model": model, "created": "2026-01-01"}}
    return {**head, "samples": samples}


def test_models_that_answered_the_same_samples_meet_on_them(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(log("a", ["C", "C", "I", 0.5])))
    (tmp_path / "b.json").write_text(json.dumps(log("b", ["I", "C", "P", float("nan")])))
    battles = read_battles(tmp_path, Columns(categories=("criterion",)))
    models = board(battles)
    assert (models["a"].wins, models["a"].losses, models["a"].ties) == (1, 1, 1)
    assert battles.invalid == {("a", "b"): 1}


def test_a_packed_log_and_what_is_none(tmp_path):
    for name, values in (("a", [1, 0, 1]), ("b", [0, 0, 1])):
        whole = log(name, values)
        with ZipFile(tmp_path / f"{name}.eval", "w", ZIP_DEFLATED) as archive:
            for sample in whole.pop("samples"):
                archive.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
            archive.writestr("header.json", json.dumps(whole))
    assert board(read_battles(tmp_path))["a"].wins == 1
    (tmp_path / "c.eval").write_bytes(b"no zip")
    with pytest.raises(InputProblem, match=r"c\.eval.*Inspect log"):
        read_battles(tmp_path)
    with pytest.raises(InputProblem, match="two models"):
        read_battles(tmp_path / "a.eval")
