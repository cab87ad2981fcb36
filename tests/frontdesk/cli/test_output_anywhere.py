"""What a command prints never undoes what it did, whatever the terminal can show."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from runstore.publish import read_csv, write_csv

BATTLES = "model_a,model_b,winner\n가르침,ménage 🎓,model_a\nménage 🎓,가르침,tie\n가르침,ménage 🎓,model_b\n"


@pytest.mark.parametrize("encoding", ["cp949", "cp1252", "ascii", "utf-8"])
def test_a_pipe_without_the_letters_gets_others_and_the_command_ends_well(encoding: str, tmp_path: Path) -> None:
    battles = tmp_path / "b.csv"
    battles.write_text(BATTLES, encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, "-m", "frontdesk", "rate", "--battles", str(battles), "--out", str(tmp_path / "out")],
        env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"},
        capture_output=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert b"nage" in ended.stdout
    assert (tmp_path / "out" / "leaderboard.json").is_file()


def test_tables_hold_no_control_letters(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    write_csv(path, ["name"], [["a\x1b[31mred\x07\x00\x9b2J\x7f"], ["two\nlines\tand a tab"]])
    _, rows = read_csv(path)
    assert rows[0]["name"] == "a\ufffd[31mred\ufffd\ufffd\ufffd2J\ufffd"
    assert rows[1]["name"] == "two\nlines\tand a tab"
