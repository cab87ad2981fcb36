"""What replies took and cost stands beside the rating: in leaderboard.json, the report, and on the console."""

from __future__ import annotations

import pytest

from frontdesk.cli import main
from frontdesk.report.run import write_report
from frontdesk.runner.runfolder import RunFolder
from runstore.publish import read_json
from tests.support.run_folders import RunBuilder


@pytest.fixture
def folder(tmp_path) -> RunFolder:
    """Replies of ureka take 1.01 to 1.20 s and cost 3 dollars a thousand; gemini's are slower, one has a price."""
    run = RunBuilder(["ureka", "gemini"])
    run.play(["aaa", "abb", "aab", "aaa"] * 5)
    at = dict.fromkeys(run.names, 0)
    for number, reply in enumerate(run.replies):
        at[reply.endpoint] += 1
        slow, first = reply.endpoint == "gemini", at[reply.endpoint] == 1
        took = {"latency_s": 1 + slow + at[reply.endpoint] / 100, "cost_usd": (0.012 if first else None)}
        run.replies[number] = reply.model_copy(update=took if slow else took | {"cost_usd": 0.003})
    return run.write(tmp_path / "run")


def test_median_percentile_and_dollars_are_fields_of_the_rating(folder):
    models = {model["name"]: model for model in read_json(folder.file("leaderboard.json"))["models"]}
    ureka, gemini = models["ureka"], models["gemini"]

    assert (ureka["replies"], ureka["timed"], ureka["priced"], ureka["usd_per_1000"]) == (20, 20, 20, 3.0)
    assert (ureka["latency_s"], ureka["latency_p95_s"]) == (pytest.approx(1.105), pytest.approx(1.1905))
    assert (gemini["latency_s"], gemini["priced"], gemini["usd_per_1000"]) == (pytest.approx(2.105), 1, 12.0)
    assert ureka["rating"] is not None and ureka["rating"] > gemini["rating"]


def _rows(text: str) -> dict[str, str]:
    """The first row of a table that holds an endpoint and the 95th percentile of its seconds."""
    wanted = {"ureka": "(1.19)", "gemini": "(2.19)"}
    return {
        name: next(line for line in text.splitlines() if name in line and seconds in line)
        for name, seconds in wanted.items()
    }


def test_they_stand_in_the_same_row_of_the_report_and_of_leaderboard_md(folder):
    write_report(folder)
    for file in ("report.md", "leaderboard.md"):
        rows = _rows(folder.file(file).read_text(encoding="utf-8"))
        assert "1.1 (1.19)" in rows["ureka"] and "3.00" in rows["ureka"]
        assert "2.1 (2.19)" in rows["gemini"] and "12.00 (1/20)" in rows["gemini"], file


def test_they_stand_in_the_same_row_on_the_console(folder, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    assert main(["rate", "--run", str(folder.path)]) == 0
    rows = _rows(capsys.readouterr().out)

    assert "1.1 (1.19)" in rows["ureka"] and "3.00" in rows["ureka"]
    assert "2.1 (2.19)" in rows["gemini"] and "12.00 (1/20)" in rows["gemini"]
