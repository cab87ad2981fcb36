"""A rubric filled in from Python says what the command says, and a notebook shows it."""

import json

import pytest

import tutor_arena as ta
from tests.support.scoring_command import JUDGES, prepared, started


def test_rows_are_scored_as_the_command_scores_their_file(tmp_path, provider, monkeypatch, capsys):
    monkeypatch.setenv("A_KEY", "k-123456789")
    command = prepared(tmp_path, provider, 4)
    assert started(command, tmp_path / "command").wait(60) == 0
    rows = [json.loads(line) for line in (tmp_path / "in.jsonl").read_text(encoding="utf-8").splitlines()]
    scores = ta.score(rows, "qac", list(JUDGES), tmp_path / "config.toml", tmp_path / "python", repeats=1)
    assert (len(scores.rows), scores.gaps) == (4 * len(JUDGES), [])
    for name in ("scores.csv", "sheets.jsonl"):
        assert (tmp_path / "python" / name).read_bytes() == (tmp_path / "command" / name).read_bytes()
    assert "<table>" in scores._repr_html_()
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(("judges", "said"), [(["nobody"], "nobody"), (["gpt", "gpt"], "twice")])
def test_judges_are_checked_before_anything_is_called(judges, said, tmp_path, provider, monkeypatch):
    monkeypatch.setenv("A_KEY", "k-123456789")
    prepared(tmp_path, provider, 1)
    with pytest.raises(ta.Problem, match=said):
        ta.score(tmp_path / "in.jsonl", "qac", judges, tmp_path / "config.toml", tmp_path / "out")
    assert not provider.received
