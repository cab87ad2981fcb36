"""A refresh pays for what is new and for nothing else, and what was there stays as it was."""

import json

import pytest

from frontdesk.cli import main
from runstore.publish import read_json, read_records
from runstore.records import Judgment, Reply, Verdict
from tests.support.refreshing import NAMES, given, is_verified, lines, refresh, three, with_endpoint
from tests.support.small_runs import files_of, finished_twice, timeless


def test_a_fourth_endpoint_costs_its_replies_and_its_pairs_and_nothing_again(provider, tmp_path, capsys):
    _, run = three(tmp_path, provider)
    old = {name: lines(run / name) for name in ("replies.jsonl", "judgments.jsonl", "verdicts.jsonl")}
    before = read_json(run / "leaderboard.json")
    provider.reset()
    fourth = given(tmp_path, provider, "fourth")
    assert refresh(run, "--add", "fourth", *fourth) == 0
    assert provider.stats.by_role == {"teacher": 20, "judge": 20 * 3 * 3}
    assert provider.stats.by_model["model-fourth"] == 20
    for name, kept in old.items():
        now = lines(run / name)
        assert [line for line in now if line in set(kept)] == kept
    assert len(lines(run / "replies.jsonl")) == 80
    verdicts = read_records(run / "verdicts.jsonl", Verdict)
    assert len(verdicts) == 120 and sum("fourth" in one.endpoints for one in verdicts) == 60
    board = read_json(run / "leaderboard.json")
    assert {model["name"] for model in board["models"]} == {*NAMES, "fourth"}

    [line] = [json.loads(row) for row in lines(run / "history.jsonl")]
    assert line["change"] == {"add": ["fourth"]}
    assert line["verdicts"] == {"new": 60, "gone": 0, "changed": 0, "same": 60}
    assert [model["rating"] for model in line["before"]] == [model["rating"] for model in before["models"]]
    assert [model["rating"] for model in line["after"]] == [model["rating"] for model in board["models"]]
    moves = {move["name"]: move for move in line["moves"]}
    assert moves["fourth"]["why"] == ["added"]
    for name in NAMES:
        assert moves[name]["new_matches"] == 20 and "new_matches" in moves[name]["why"]
        assert moves[name]["moved"] == pytest.approx(moves[name]["scale"] + moves[name]["evidence"], abs=1e-5)
    assert sum(moves[name]["evidence"] for name in NAMES) == pytest.approx(0, abs=1e-4)
    report = (run / "report.md").read_text(encoding="utf-8")
    assert "What the last refresh changed" in report and "added fourth" in report

    files = files_of(run)
    provider.reset()
    assert refresh(run, "--add", "fourth", *fourth) == 0
    assert refresh(run, "--add", "fourth") == 0
    assert provider.stats.calls == 0
    assert files_of(run) == files
    assert is_verified(run, capsys)
    assert main(["run", str(run / "run.toml"), "--run", str(run)]) == 0
    assert main(["report", "--run", str(run)]) == 0
    assert provider.stats.calls == 0
    assert files_of(run) == files


def test_a_refreshed_run_has_the_files_of_one_that_had_four_from_the_start(provider, tmp_path):
    config, run = three(tmp_path, provider)
    assert refresh(run, "--add", "fourth", *given(tmp_path, provider, "fourth")) == 0
    text = config.read_text().replace("[simulate]", with_endpoint(provider, "fourth") + "[simulate]")
    config.write_text(text.replace('"gemini", "third"]', '"gemini", "third", "fourth"]'))
    whole = tmp_path / "whole"
    assert main(["run", str(config), "--run", str(whole)]) == 0
    one, other = timeless(files_of(run)), timeless(files_of(whole))
    for name in ("replies.jsonl", "judgments.jsonl", "verdicts.jsonl", "leaderboard.json", "manifest.json"):
        assert one[name] == other[name]


def test_a_dry_run_names_the_calls_and_makes_none(provider, tmp_path, capsys):
    _, run = three(tmp_path, provider)
    files = files_of(run) | {"run.toml": (run / "run.toml").read_bytes()}
    provider.reset()
    capsys.readouterr()
    fourth = given(tmp_path, provider, "fourth")
    assert refresh(run, "--add", "fourth", *fourth, "--dry-run", "--json") == 0
    stages = json.loads(capsys.readouterr().out)["stages"]
    assert [(row["stage"], row["endpoint"], row["calls"]) for row in stages] == [
        ("collect", "fourth", 20),
        ("judge", "gemini", 180),
    ]
    assert provider.stats.calls == 0
    assert files_of(run) | {"run.toml": (run / "run.toml").read_bytes()} == files


def test_against_some_only(provider, tmp_path, capsys):
    _, run = three(tmp_path, provider, seed=8)
    provider.reset()
    fourth = given(tmp_path, provider, "fourth")
    assert refresh(run, "--add", "fourth", "--against", "ureka", "--against", "gemini", *fourth) == 0
    assert provider.stats.by_role == {"teacher": 20, "judge": 2 * 60}
    line = json.loads(lines(run / "history.jsonl")[0])
    moves = {move["name"]: move for move in line["moves"]}
    assert "new_matches" in moves["ureka"]["why"] and moves["ureka"]["new_matches"] == 20
    assert "others" in moves["third"]["why"] and moves["third"]["new_matches"] == 0
    assert is_verified(run, capsys)
    provider.reset()
    assert refresh(run, "--add", "fourth", "--against", "ureka", "--against", "gemini") == 0
    assert provider.stats.calls == 0
    assert refresh(run, "--add", "fifth", *given(tmp_path, provider, "fifth")) == 0
    assert provider.stats.by_role == {"teacher": 20, "judge": 4 * 60}


def test_who_meets_one_opponent_only_moves_nobody_against_another(provider, tmp_path):
    _, run = three(tmp_path, provider)
    assert refresh(run, "--add", "fourth", "--against", "ureka", *given(tmp_path, provider, "fourth")) == 0
    moves = json.loads(lines(run / "history.jsonl")[0])["moves"]
    assert {tuple(move["why"]) for move in moves} == {("added",), ("scale",)}


def test_dropping_calls_nothing_keeps_the_journal_and_can_be_taken_back(provider, tmp_path, capsys):
    _, run = three(tmp_path, provider)
    before = files_of(run)
    provider.reset()
    assert refresh(run, "--drop", "third") == 0
    assert {one.endpoint for one in read_records(run / "replies.jsonl", Reply)} == {"ureka", "gemini"}
    assert all("third" not in one.endpoints for one in read_records(run / "verdicts.jsonl", Verdict))
    assert all("third" not in (one.slot_a, one.slot_b) for one in read_records(run / "judgments.jsonl", Judgment))
    assert {model["name"] for model in read_json(run / "leaderboard.json")["models"]} == {"ureka", "gemini"}
    assert is_verified(run, capsys)
    assert refresh(run, "--add", "third") == 0
    assert provider.stats.calls == 0
    after = files_of(run)
    for name in ("replies.jsonl", "judgments.jsonl", "verdicts.jsonl", "leaderboard.json"):
        assert after[name] == before[name]
    assert [json.loads(row)["number"] for row in lines(run / "history.jsonl")] == [1, 2]


def test_replacing_one_endpoint_by_another_in_one_go(provider, tmp_path, capsys):
    _, run = three(tmp_path, provider)
    provider.reset()
    assert refresh(run, "--add", "fourth", "--drop", "third", *given(tmp_path, provider, "fourth")) == 0
    assert provider.stats.by_role == {"teacher": 20, "judge": 2 * 60}
    assert {m["name"] for m in read_json(run / "leaderboard.json")["models"]} == {"ureka", "gemini", "fourth"}
    assert is_verified(run, capsys)


def test_judging_anew_with_another_judge_keeps_what_the_others_said(provider, tmp_path, capsys):
    _, run = three(tmp_path, provider)
    old = lines(run / "judgments.jsonl")
    provider.reset()
    judge = given(tmp_path, provider, "second-judge")
    assert refresh(run, "--rejudge", "second-judge", *judge) == 0
    assert provider.stats.by_role == {"judge": 180}
    assert provider.stats.by_model["model-second-judge"] == 180
    now = lines(run / "judgments.jsonl")
    assert len(now) == 360 and [line for line in now if line in set(old)] == old
    assert all(len(one.votes) == 6 for one in read_records(run / "verdicts.jsonl", Verdict))
    line = json.loads(lines(run / "history.jsonl")[0])
    assert line["verdicts"]["new"] == 0 and line["verdicts"]["changed"] > 0
    assert is_verified(run, capsys)
    provider.reset()
    assert refresh(run, "--rejudge", "second-judge") == 0
    assert refresh(run, "--rejudge", "second-judge", "--instead-of", "gemini") == 0
    assert provider.stats.calls == 0
    assert {one.judge for one in read_records(run / "judgments.jsonl", Judgment)} == {"second-judge"}
    assert is_verified(run, capsys)


def test_decisive_rounds_stay_decided(provider, tmp_path, capsys):
    _, run = three(tmp_path, provider, rounds_mode="decisive")
    old = lines(run / "judgments.jsonl")
    assert len(old) < 180
    provider.reset()
    assert refresh(run, "--add", "fourth", *given(tmp_path, provider, "fourth")) == 0
    assert provider.stats.by_role["judge"] == len(lines(run / "judgments.jsonl")) - len(old)
    assert [line for line in lines(run / "judgments.jsonl") if line in set(old)] == old
    assert is_verified(run, capsys)


def test_every_criterion_of_the_new_pairs(provider, tmp_path, capsys):
    _, run = three(tmp_path, provider, one_by_one=True)
    provider.reset()
    assert refresh(run, "--add", "fourth", *given(tmp_path, provider, "fourth")) == 0
    assert provider.stats.by_role == {"teacher": 20, "judge": 20 * 3 * 3 * 4}
    assert is_verified(run, capsys)


def test_a_goal_is_pursued_anew_and_no_match_is_paid_twice(provider, tmp_path, capsys):
    _, run = three(tmp_path, provider, goal="best", error=0.4, batch=4)
    provider.reset()
    assert refresh(run, "--add", "fourth", *given(tmp_path, provider, "fourth")) == 0
    assert finished_twice(run) == []
    goal = read_json(run / "goal.json")
    assert len(lines(run / "verdicts.jsonl")) == goal["matches"]["used"]
    assert is_verified(run, capsys)
    provider.reset()
    assert refresh(run, "--add", "fourth") == 0
    assert provider.stats.calls == 0


def test_what_failed_before_is_neither_lost_nor_asked_again(provider, tmp_path, capsys):
    provider.script = lambda asked, attempt: (
        "blocked" if asked.model == "model-third" and int(asked.key.hex()[:2], 16) < 64 else None
    )
    provider.configure(unreadable=0.1)
    _, run = three(tmp_path, provider)
    failed = [json.loads(row) for row in lines(run / "failures.jsonl")]
    assert {row["stage"] for row in failed} == {"collect", "judge"}
    lost = sum(row["stage"] == "collect" for row in failed)
    provider.script = None
    provider.reset()
    assert refresh(run, "--add", "fourth", *given(tmp_path, provider, "fourth")) == 1
    assert provider.stats.by_model["model-third"] == 0
    assert provider.stats.by_role == {"teacher": 20, "judge": 180 - 3 * lost}
    now = [json.loads(row) for row in lines(run / "failures.jsonl")]
    assert [row for row in now if row in failed] == failed
    assert is_verified(run, capsys)
    provider.reset()
    assert main(["run", str(run / "run.toml"), "--run", str(run)]) == 1
    assert provider.stats.by_model["model-third"] == lost


def test_replies_that_were_brought_are_kept_and_the_run_stays_verifiable(provider, tmp_path, capsys):
    config, first = three(tmp_path, provider)
    run = tmp_path / "brought"
    brought = ["--subsets", str(first / "subsets.jsonl"), "--input", str(first / "replies.jsonl")]
    assert main(["judge", "--config", str(config), "--run", str(run), *brought]) == 0
    assert main(["rate", "--run", str(run)]) == 0
    assert main(["report", "--run", str(run)]) == 0
    old = lines(run / "replies.jsonl")
    provider.reset()
    assert refresh(run, "--add", "fourth", *given(tmp_path, provider, "fourth")) == 0
    assert provider.stats.by_role == {"teacher": 20, "judge": 180}
    assert [line for line in lines(run / "replies.jsonl") if line in set(old)] == old
    assert is_verified(run, capsys)
    assert refresh(run, "--drop", "third") == 0
    assert is_verified(run, capsys)
    assert provider.stats.calls == 200
