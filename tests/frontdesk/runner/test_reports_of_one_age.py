"""A report is never made of files of different ages: older ratings are made again, and it says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena.ratings.result import read_leaderboard
from frontdesk.cli import main
from frontdesk.runner import published
from tests.support.fake_provider import FakeProvider
from tests.support.small_runs import write_config


def test_older_ratings_are_made_again_before_a_report(
    provider: FakeProvider, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = write_config(tmp_path / "c.toml", provider, dialogues=4, subsets=6)
    run = tmp_path / "run"
    for stage in ("simulate", "cut", "collect"):
        assert main([stage, "--config", str(config), "--run", str(run)]) == 0
    whole = config.read_text()
    spent = provider.stats.calls
    config.write_text(whole.replace("[budget]", f"[budget]\ncalls = {spent + 6}"))
    assert main(["judge", "--config", str(config), "--run", str(run)]) == 3
    main(["rate", "--run", str(run)])
    before = sum(model.matches for model in read_leaderboard(run / "leaderboard.json").models)
    config.write_text(whole)
    assert main(["judge", "--config", str(config), "--run", str(run)]) == 0
    assert published.newer_inputs(run, "leaderboard.json") == ["judgments.jsonl", "verdicts.jsonl"]
    capsys.readouterr()
    main(["verify", "--run", str(run), "--json"])
    rows = {row["file"]: row for row in json.loads(capsys.readouterr().out)["files"]}
    assert rows["leaderboard.json"]["state"] == "stale"
    assert "verdicts.jsonl" in rows["leaderboard.json"]["why"]

    assert main(["report", "--run", str(run)]) == 0
    assert "leaderboard.json was older than judgments.jsonl, verdicts.jsonl" in capsys.readouterr().err
    after = sum(model.matches for model in read_leaderboard(run / "leaderboard.json").models)
    assert before < after == 12
    assert main(["verify", "--run", str(run)]) == 0


def test_a_run_whose_judge_always_failed_is_rated_and_reported_without_a_traceback(
    provider: FakeProvider, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    provider.script = lambda asked, attempt: "401" if asked.role == "judge" else None
    config = write_config(tmp_path / "c.toml", provider, dialogues=2, subsets=2)
    run = tmp_path / "run"
    assert main(["run", str(config), "--run", str(run)]) == 1
    for command in (["rate"], ["report"], ["report", "--language", "ko"], ["verify"]):
        assert main([*command, "--run", str(run)]) in (0, 1)
    assert "Traceback" not in capsys.readouterr().err
