"""``leaderboard.json`` is written and read by the same models, byte by byte."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from arena.ratings.battles import from_columns
from arena.ratings.categories import with_breakdowns
from arena.ratings.leaderboard import build
from arena.ratings.result import read_leaderboard
from arena.ratings.settings import Settings
from arena.ratings.style import style_control
from runstore.problems import InputProblem
from runstore.publish import read_json, write_json
from tests.support.battles import battles_of, random_rows


def whole_board(*, weighted: bool = False, settings: Settings | None = None):
    """A leaderboard with every part that one can have."""
    rows = random_rows(4, 4, 60)
    battles = from_columns(
        [a for a, _, _ in rows],
        [b for _, b, _ in rows],
        [w for _, _, w in rows],
        first=["model_a", "model_b"] * (len(rows) // 2),
        weight=[1.5] * len(rows) if weighted else None,
        categories={"subject": ["수학" if k % 3 else "physics" for k in range(len(rows))]},
        covariates={"length": np.arange(len(rows)) * 7 % 11 / 11},
        names=["nobody"],
    )
    settings = settings or Settings(resamples=40, anchor=("m0", 1200), reference="m1", ties="davidson")
    board = with_breakdowns(build(battles, settings), battles, ["subject"])
    return board.model_copy(update={"style": style_control(battles, settings)})


@pytest.mark.parametrize("weighted", [False, True])
def test_what_was_written_is_read_and_written_again_byte_by_byte(tmp_path: Path, weighted: bool):
    board = whole_board(weighted=weighted)
    write_json(tmp_path / "leaderboard.json", board.to_json())

    again = read_leaderboard(tmp_path / "leaderboard.json")

    write_json(tmp_path / "again.json", again.to_json())
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "leaderboard.json").read_bytes()
    assert again.settings == board.settings and again.models == board.models
    assert again.by[0].levels[0].models[0].shrunken == board.by[0].levels[0].models[0].shrunken


def test_a_part_that_was_not_asked_for_is_not_in_the_file():
    plain = build(battles_of([("a", "b", "model_a")])).to_json()

    assert "by" not in plain and "style" not in plain
    assert plain["fit"] == {
        "solver": "newton",
        "reason": "no set of models whose wins go round: no gap can be estimated",
    }


def test_keys_of_a_later_version_are_kept(tmp_path: Path):
    row = whole_board().to_json()
    row["verdict"] = {"best": "m0"}
    row["models"][0]["simultaneous"] = [1, 2]
    write_json(tmp_path / "later.json", row)

    again = read_leaderboard(tmp_path / "later.json").to_json()

    assert again["verdict"] == {"best": "m0"} and again["models"][0]["simultaneous"] == [1, 2]


def test_a_setting_of_a_later_version_is_refused_by_name(tmp_path: Path):
    row = whole_board().to_json()
    row["settings"]["simultaneous"] = True
    write_json(tmp_path / "later.json", row)

    with pytest.raises(InputProblem, match=r"settings.*later version: simultaneous"):
        read_leaderboard(tmp_path / "later.json")


def test_a_wrong_field_is_named(tmp_path: Path):
    path = tmp_path / "leaderboard.json"
    write_json(path, whole_board().to_json())
    row = read_json(path)
    row["models"][2]["rating"] = "high"
    write_json(path, row)

    with pytest.raises(InputProblem, match=r"models\.2\.rating.*high") as problem:
        read_leaderboard(path)
    assert "leaderboard.json" in str(problem.value)


def test_a_row_and_a_pair_are_found_by_name():
    board = whole_board()

    pair = board.pair("m2", "m0")

    assert pair is not None and pair == board.pair("m0", "m2") and {pair.a, pair.b} == {"m0", "m2"}
    assert board.model("nobody") is not None and board.model("somebody") is None
