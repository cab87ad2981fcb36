"""Ratings and agreement from Python: a file, a data frame and rows say the same, and a notebook shows them."""

import asyncio
import json

import pandas
import pyarrow
import pytest

import tutor_arena as ta
from frontdesk.cli import main
from runstore.publish import to_json

BATTLES = [
    {"model_a": a, "model_b": b, "winner": winner}
    for a, b, winner in [("<b>x", "y", "model_a"), ("y", "<b>x", "tie"), ("<b>x", "y", "model_b")] * 4
]
RATINGS = [
    {"item": item, "rater": rater, "value": (item + (rater == "b" and item == 3)) % 5 + 1}
    for item in range(8)
    for rater in ("a", "b")
]


@pytest.mark.parametrize("dressed", [pandas.DataFrame, pyarrow.Table.from_pylist])
def test_a_frame_is_rated_as_its_rows_and_its_file_are(dressed, tmp_path):
    path = tmp_path / "battles.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in BATTLES), encoding="utf-8")
    boards = [ta.rate(source, resamples=50) for source in (dressed(BATTLES), BATTLES, path, str(path))]
    assert boards[0].counts.battles == 12
    assert all(board.to_json() == boards[0].to_json() for board in boards)


@pytest.mark.parametrize("dressed", [pandas.DataFrame, pyarrow.Table.from_pylist, list])
def test_agreement_of_a_frame(dressed):
    agreed = ta.agree(dressed(RATINGS), scale="1..5", resamples=50)
    assert (agreed.overall.units, agreed.overall.raters, agreed.overall.rated) == (8, ("a", "b"), 16)
    assert "<table>" in agreed._repr_html_()


def test_a_notebook_shows_names_literally():
    shown = ta.rate(BATTLES, resamples=50)._repr_html_()
    assert "&lt;b&gt;x" in shown
    assert "<b>x" not in shown
    assert "<html" not in shown


def test_inside_a_running_loop():
    async def cell() -> int:
        return ta.rate(BATTLES, resamples=50).counts.battles

    assert asyncio.run(cell()) == 12


@pytest.mark.parametrize("source", [7, [1, 2]])
def test_what_is_no_table_is_refused(source):
    with pytest.raises(ta.Problem, match="expected a path, a data frame or a list of dicts"):
        ta.rate(source)


def test_a_script_prints_one_line_and_problems_name_no_file_of_ours():
    assert repr(ta.rate(BATTLES, resamples=50)) == "<ranking by 12 battles: <b>x 1000, y 1000>"
    assert str(ta.rate(BATTLES)) == repr(ta.rate(BATTLES))
    assert repr(ta.agree(RATINGS)) == "<agreement of 2 raters on 8 items: 16 ratings>"
    with pytest.raises(ta.InputProblem, match=r"^list:2: winner: found x") as refused:
        ta.rate([BATTLES[0], {**BATTLES[1], "winner": "x"}])
    assert refused.value.file == "list"


def test_the_twins_say_what_they_do_and_what_they_take():
    for name in ("run", "simulate", "student", "score"):
        said = getattr(ta, name).__doc__
        assert getattr(ta, f"a{name}").__doc__.split("\n")[0] in said
        assert f"This is :func:`a{name}` without ``await``" in said


def test_ratings_are_those_of_the_command(tmp_path):
    path = tmp_path / "battles.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in BATTLES), encoding="utf-8")
    assert main(["rate", "--battles", str(path), "--out", str(tmp_path)]) == 0
    assert ta.rate(BATTLES).intervals.method == ta.rate(path).intervals.method == "jackknife"
    assert json.loads(to_json(ta.rate(path))) == json.loads((tmp_path / "leaderboard.json").read_text())
