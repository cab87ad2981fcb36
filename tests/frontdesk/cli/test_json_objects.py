"""``--json``: one object on standard output, everything else on standard error, for each command that has it."""

import json

import pytest

from frontdesk.cli import COMMANDS, main
from tests.support.fake_faults import Reply
from tests.support.small_runs import REPOSITORY, write_config


def said(capsys, code, *command):
    """The object that a command prints; nothing else is on stdout."""
    assert main([str(word) for word in command]) == code
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def config(provider, tmp_path):
    price = {"input": 1.0, "output": 2.0}
    return write_config(tmp_path / "c.toml", provider, dialogues=4, subsets=6, endpoint={"price": price})


def test_a_run_says_how_its_stages_ended_and_what_each_endpoint_took(config, provider, tmp_path, capsys):
    done = said(capsys, 0, "run", config, "--run", tmp_path / "run", "--json")
    assert (done["command"], done["state"], done["exit_code"], done["reason"]) == ("run", "done", 0, None)
    assert [(stage["stage"], stage["done"], stage["of"]) for stage in done["stages"]] == [
        ("simulate", 4, 4),
        ("cut", 6, 6),
        ("collect", 12, 12),
        ("judge", 6, 6),
    ]
    by_name = {each["endpoint"]: each for each in done["endpoints"]}
    assert sum(each["calls"] for each in by_name.values()) == sum(provider.stats.by_role.values())
    assert by_name["ureka"]["calls"] == 6
    assert by_name["gemini"]["usd"] == pytest.approx(
        (by_name["gemini"]["input"] + 2 * by_name["gemini"]["output"]) / 1e6
    )
    assert by_name["ureka"]["usd"] is None  # it says nothing of tokens
    assert by_name["ureka"]["unpriced"] == 6
    assert by_name["gemini"]["median_latency_s"] > 0
    assert done["leaderboard"] == json.loads((tmp_path / "run" / "leaderboard.json").read_text())
    again = said(capsys, 0, "run", config, "--run", tmp_path / "run", "--json")
    assert [each["calls"] for each in again["endpoints"]] == [0, 0]
    assert [each["median_latency_s"] for each in again["endpoints"]] == [None, None]
    assert {each["endpoint"]: each["served"] for each in again["endpoints"]} == {
        name: each["calls"] for name, each in by_name.items()
    }


def test_a_run_that_stopped_at_its_cap_says_so_in_its_object(provider, tmp_path, capsys):
    config = write_config(tmp_path / "c.toml", provider, dialogues=4, subsets=6, budget={"calls": 10})
    done = said(capsys, 3, "run", config, "--run", tmp_path / "run", "--json")
    assert (done["state"], done["exit_code"], done["leaderboard"]) == ("stopped", 3, None)
    assert "cap of 10 calls" in done["reason"]
    assert done["stages"][0]["done"] < 4


def test_what_a_judge_says_unreadably_is_counted_beside_its_calls(config, provider, tmp_path, capsys):
    said(capsys, 0, "simulate", config, "--run", tmp_path / "run", "--json")
    answer = {"candidates": [{"content": {"parts": [{"text": "who knows"}]}, "finishReason": "STOP"}]}
    provider.script = lambda asked, attempt: (
        Reply(json.dumps(answer).encode()) if asked.role == "judge" and attempt % 3 == 1 else None
    )
    done = said(capsys, 1, "run", config, "--run", tmp_path / "run", "--json")
    unreadable = {each["endpoint"]: each["unreadable"] for each in done["endpoints"]}
    assert unreadable["ureka"] == 0 < unreadable["gemini"]
    assert done["state"] == "incomplete"


def test_single_stages_and_what_is_made_of_a_run(config, tmp_path, capsys):
    run = tmp_path / "run"
    for command, stage, count in (("simulate", "simulate", 4), ("cut", "cut", 6), ("collect", "collect", 12)):
        done = said(capsys, 0, command, config, "--run", run, "--json")
        assert [(each["stage"], each["done"]) for each in done["stages"]] == [(stage, count)]
    assert said(capsys, 0, "judge", run, "--json")["command"] == "judge"
    board = said(capsys, 0, "rate", "--run", run, "--json")
    reported = said(capsys, 0, "report", run, "--json")
    assert reported["leaderboard"]["models"] == board["models"]
    assert [path.rsplit("/", 1)[1] for path in reported["files"]] == ["report.md", "report.html"]
    assert (reported["incomplete"], reported["lost"], reported["banner"]) == (False, 0.0, [])
    verified = said(capsys, 0, "verify", run, "--json")
    assert {row["same"] for row in verified["files"]} == {True}
    assert said(capsys, 0, "compare", run, run, "--json")["shared"] == 6
    assert said(capsys, 0, "runs", tmp_path, "--json")["state"] == "rated"
    repaired = {"run": str(run), "repairs": [], "answers_gone": 0}
    assert said(capsys, 0, "calls", "--repair", run, "--json") == repaired
    assert list(said(capsys, 0, "agent-runs", AGENT_RUNS, "--dry-run", "--json")) == ["tables"]
    assert said(capsys, 0, "run", config, "--dry-run", "--json") == said(capsys, 0, "estimate", config, "--json")
    given = ("--input", run / "dialogues.jsonl", "--output", tmp_path / "s.jsonl", "--subsets", 3)
    cut = said(capsys, 0, "cut", *given, "--json")
    assert (cut["run"], cut["stages"]) == (None, [{"stage": "cut", "done": 3, "failed": 0, "of": 3}])


def test_a_check_and_an_estimate(config, tmp_path, capsys):
    checked = said(capsys, 0, "check", config, "--json")
    assert {(role["endpoint"], role["failed"]) for role in checked["roles"]} == {("gemini", None), ("ureka", None)}
    assert (checked["exit_code"], checked["refused"], checked["caps"]) == (0, [], [])
    assert said(capsys, 0, "check", config, "--offline", "--json")["roles"] == []
    estimated = said(capsys, 0, "estimate", config, "--json")
    assert estimated["calls"] == estimated["total"]["calls"] == sum(line["calls"] for line in estimated["stages"])
    assert said(capsys, 0, "run", config, "--dry-run", "--json") == estimated


AGENT_RUNS = REPOSITORY / "docs" / "examples" / "agent-runs" / "url_agent_sample.csv"
MISSING = "missing/x"
REFUSED = {
    "run": [MISSING], "demo": ["--turns", "x"], "init": [f"{MISSING}/y"], "check": [MISSING],
    "estimate": [MISSING],
    "personas": ["--input", MISSING], "questions": ["--input", MISSING], "simulate": [MISSING], "cut": [MISSING],
    "collect": [MISSING], "judge": [MISSING], "student": [MISSING], "sensitivity": [MISSING], "rate": [MISSING],
    "power": ["--run", MISSING], "agree": ["--ratings", MISSING, "--out", MISSING],
    "score": ["--input", MISSING, "--rubric", "qac", "--judge", "j", "--config", MISSING, "--out", "o"],
    "agent-runs": [MISSING, "--out", "o"], "human": ["plan", MISSING, "--out", "o"], "report": [MISSING],
    "export": [MISSING, "--as", "hf"], "quality": [MISSING], "verify": [MISSING],
    "refresh": [MISSING, "--drop", "a"],
    "calls": [MISSING], "compare": [MISSING, MISSING], "watch": [MISSING], "runs": [MISSING],
}  # fmt: skip
"""For every command but ``completion``, which prints a script: words that it refuses."""


@pytest.mark.parametrize("command", REFUSED)
def test_what_is_refused_says_so_in_an_object(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "missing").write_text("no folder")
    refused = said(capsys, 2, command, *REFUSED[command], "--json")
    assert (refused["command"], refused["state"], refused["exit_code"]) == (command, "refused", 2)
    assert refused["reason"]
    assert (refused["stages"], refused["leaderboard"]) == ([], None)


def test_every_command_has_an_object_also_for_words_that_it_does_not_know(capsys):
    assert set(REFUSED) == set(COMMANDS) - {"completion"}
    for command in REFUSED:
        refused = said(capsys, 2, command, "--json", "--no-such-option")
        assert "--no-such-option" in refused["reason"] or "required" in refused["reason"]
    assert said(capsys, 2, "reprot", "--json")["reason"] == "no command 'reprot'; did you mean 'report'?"


def test_a_refresh_that_stopped_says_so_and_one_that_was_dropped_too(provider, tmp_path, capsys):
    config = write_config(tmp_path / "c.toml", provider, dialogues=2, subsets=2)
    assert main(["run", str(config), "--run", str(tmp_path / "run")]) == 0
    write_config(tmp_path / "more.toml", provider, dialogues=2, subsets=2, budget={"calls": 1})
    capsys.readouterr()
    unknown = said(capsys, 2, "refresh", tmp_path / "run", "--add", "urek", "--config", config, "--json")
    assert unknown["reason"] == f"{config}: found no [endpoints.urek], expected one of its endpoints: ureka"
    command = ("refresh", tmp_path / "run", "--rejudge", "ureka", "--config", tmp_path / "more.toml", "--json")
    stopped = said(capsys, 3, *command)
    assert (stopped["command"], stopped["state"]) == ("refresh", "stopped")
    assert "cap of 1 calls" in stopped["reason"]
    dropped = said(capsys, 0, "refresh", tmp_path / "run", "--abandon", "--json")
    assert (dropped["state"], dropped["run"]) == ("done", str(tmp_path / "run"))


def test_a_study_tells_its_lines(tmp_path, capsys):
    made = said(capsys, 0, "human", "init", tmp_path / "study", "--json")
    assert any("human plan" in line for line in made["told"])
    planned = said(capsys, 0, "human", "plan", tmp_path / "study/study.toml", "--out", tmp_path / "plan",
                   "--language", "en", "--json")  # fmt: skip
    assert (planned["state"], planned["exit_code"]) == ("done", 0)
    assert any("items planned" in line for line in planned["told"])
    assert said(capsys, 0, "init", tmp_path / "c.toml", "--json")["told"][0].startswith("wrote ")
