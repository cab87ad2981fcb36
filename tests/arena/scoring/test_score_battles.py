from pathlib import Path

import pytest

from arena.ratings.reading import read_battles
from arena.scoring.battles import Score, battles_from_scores, read_scores
from runstore.problems import InputProblem, Problem
from runstore.publish import write_jsonl


def scores(*rows: tuple[str, str, float | None], judge: str = "j") -> list[Score]:
    return [Score(model, item, judge, value) for model, item, value in rows]


@pytest.mark.parametrize(
    ("a", "b", "margin", "winner"),
    [
        (30, 28, 0, "model_a"),
        (28, 30, 0, "model_b"),
        (30, 30, 0, "tie"),
        (30, 29, 1, "tie"),
        (29, 31, 1, "model_b"),
        (0.3, 0.1 + 0.2, 0, "tie"),
    ],
)
def test_the_higher_score_wins_by_more_than_the_margin(a: float, b: float, margin: float, winner: str) -> None:
    found = battles_from_scores(scores(("X", "q", a), ("Y", "q", b)), margin)
    assert [row["winner"] for row in found.rows] == [winner]


def test_sides_do_not_depend_on_the_order_of_rows() -> None:
    rows = scores(("X", "q", 3), ("Y", "q", 4), ("Z", "q", 4))
    one, other = battles_from_scores(rows, 0), battles_from_scores(rows[::-1], 0)
    assert sorted(map(str, one.rows)) == sorted(map(str, other.rows))
    assert len(one.rows) == 3


def test_a_missing_score_is_no_battle_and_counted() -> None:
    found = battles_from_scores(scores(("X", "q", 3), ("Y", "q", None), ("X", "r", 3)), 0)
    assert (found.rows, found.without_score) == ([], {("X", "Y"): 1})


def test_judges_do_not_mix_and_items_are_clusters(tmp_path: Path) -> None:
    rows = scores(("X", "q", 3), ("Y", "q", 2)) + scores(("X", "q", 1), ("Y", "q", 2), judge="k")
    found = battles_from_scores(rows, 0)
    assert [(row["judge"], row["winner"], row["cluster"]) for row in found.rows] == [
        ("j", "model_a", "q"),
        ("k", "model_b", "q"),
    ]
    file = tmp_path / "battles.jsonl"
    write_jsonl(file, found.rows)
    assert read_battles(file).names == ("X", "Y")


def test_a_model_scored_twice_and_a_negative_margin_are_refused() -> None:
    with pytest.raises(Problem, match="scored twice"):
        battles_from_scores(scores(("X", "q", 3), ("X", "q", 3)), 0)
    with pytest.raises(Problem, match="margin"):
        battles_from_scores([], -1)


def test_a_score_table_is_read_with_its_gaps(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("subject,judge,total,mode,q\ns1,j,30,agent,1\ns2,j,,free,1\n", encoding="utf-8")
    assert read_scores(path, model="mode", item="q") == [
        Score("agent", "1", "j", 30),
        Score("free", "1", "j", None),
    ]
    with pytest.raises(InputProblem, match="a column 'tutor'"):
        read_scores(path, model="tutor", item="q")
    for endless in ("nan", "inf", "-inf"):
        path.write_text(f"subject,total,mode,q\n\ns1,{endless},agent,1\n", encoding="utf-8")
        with pytest.raises(InputProblem, match=f"scores.csv:3: total: found {endless}, expected a number"):
            read_scores(path, model="mode", item="q")
    path.write_text("subject,total,mode,q\ns1,high,agent,1\n", encoding="utf-8")
    with pytest.raises(InputProblem, match="found high, expected a number"):
        read_scores(path, model="mode", item="q")


def test_the_scores_of_mt_bench_meet_turn_by_turn_and_minus_one_is_none(tmp_path: Path) -> None:
    file = tmp_path / "gpt-4_single.jsonl"
    rows = [
        {"question_id": question, "model": model, "judge": ["gpt-4", judge], "user_prompt": "p", "judgment": "j",
         "score": score, "turn": turn, "tstamp": 1.5}
        for question in (81, 82)
        for turn, judge in ((1, "single-v1"), (2, "single-v1-multi-turn"))
        for model, score in (("X", 8 - 3 * turn), ("Y", -1 if (question, turn) == (82, 2) else 4))
    ]  # fmt: skip
    write_jsonl(file, rows)
    found = battles_from_scores(read_scores(file, model="model", item="question_id", measure="score"), 0)
    assert [(row["cluster"], row["judge"], row["turn"], row["winner"]) for row in found.rows] == [
        ("81", "gpt-4", "1", "model_a"),
        ("81", "gpt-4", "2", "model_b"),
        ("82", "gpt-4", "1", "model_a"),
    ]
    assert found.without_score == {("X", "Y"): 1}


def test_a_judge_that_is_written_like_a_list_and_is_none_is_a_name(tmp_path: Path) -> None:
    file = tmp_path / "scores.csv"
    file.write_text(
        'question_id,model,judge,judgment,score,turn\n81,X,"[""gpt-4",j,8,1\n81,Y,"[""gpt-4",j,5,1\n',
        encoding="utf-8",
    )
    found = battles_from_scores(read_scores(file, model="model", item="question_id", measure="score"), 0)
    assert [(row["judge"], row["winner"]) for row in found.rows] == [('["gpt-4', "model_a")]
