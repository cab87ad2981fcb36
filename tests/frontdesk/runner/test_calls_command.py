"""``tutor-arena calls``: what the journal holds, counted and listed."""

import json

import pytest

from frontdesk.cli import main
from tests.support.small_runs import write_config


@pytest.fixture
def run(provider, tmp_path):
    provider.script = lambda asked, attempt: (
        "400"
        if asked.role == "judge" and asked.key[0] < 60
        else "503"
        if asked.role == "student" and attempt == 1
        else None
    )
    endpoint = {"price": {"input": 1.0, "output": 2.0}}
    config = write_config(tmp_path / "c.toml", provider, dialogues=4, subsets=8, endpoint=endpoint)
    assert main(["run", str(config), "--run", str(tmp_path / "run")]) == 1
    return tmp_path / "run"


def calls(run, capsys, *flags):
    capsys.readouterr()
    assert main(["calls", "--run", str(run), *flags]) == 0
    return capsys.readouterr().out


def test_the_summary_counts_states_faults_tokens_and_dollars(run, provider, capsys):
    summary = json.loads(calls(run, capsys, "--json", "--slowest", "3"))
    gemini = summary["endpoints"]["gemini"]
    refused = provider.stats.by_fault["400"]
    assert gemini["calls"] == {"ok": 12 + 16 + 8 + 24 - refused, "failed": refused}
    assert gemini["attempts_failed"] == {"server": 12, "bad_request": refused}
    assert gemini["latency_s"]["p50"] <= gemini["latency_s"]["p90"] <= gemini["latency_s"]["p99"]
    tokens = gemini["tokens"]
    cost = (tokens["input"] + 2 * (tokens["output"] + tokens["thinking"])) / 1e6
    assert gemini["usd"]["known"] == pytest.approx(cost, rel=0.3)
    assert gemini["usd"]["priced"] == gemini["usd"]["of"] == gemini["calls"]["ok"]
    assert summary["endpoints"]["ureka"]["usd"] == {"known": None, "priced": 0, "of": 8}
    assert summary["lost_in_flight"] == 0
    assert len(summary["slowest"]) == 3
    assert [row["latency_s"] for row in summary["slowest"]] == sorted(
        (row["latency_s"] for row in summary["slowest"]), reverse=True
    )


def test_calls_are_found_by_endpoint_stage_state_and_item(run, provider, capsys):
    def listed(*flags):
        return [json.loads(line) for line in calls(run, capsys, "--list", *flags).splitlines()]

    assert len(listed("--stage", "simulate")) == 28
    assert len(listed("--endpoint", "ureka")) == 8
    failed = listed("--state", "failed")
    assert len(failed) == provider.stats.by_fault["400"] > 0
    assert {row["stage"] for row in failed} == {"judge"}
    assert all(row["error"].startswith("bad_request: ") for row in failed)
    retried = listed("--stage", "simulate")
    assert {row["attempts"] for row in retried} == {1, 2}
    item = retried[0]["item"]
    assert len(listed("--item", item)) == 7
    assert all(row["request_id"] for row in listed("--endpoint", "gemini", "--state", "ok"))


def test_whole_records_are_one_json_object_a_line(run, capsys):
    rows = [json.loads(line) for line in calls(run, capsys, "--full", "--stage", "collect").splitlines()]
    assert len(rows) == 16
    assert all(row["request"] and row["response"] and row["answer"]["text"] for row in rows)


def test_the_summary_for_people_names_every_endpoint(run, capsys):
    shown = calls(run, capsys)
    assert "gemini" in shown and "ureka" in shown and "unknown" in shown and "slow: " in shown


def test_a_folder_without_a_journal_is_the_users_mistake(tmp_path, capsys):
    assert main(["calls", "--run", str(tmp_path)]) == 2
    assert "a run folder with a journal" in capsys.readouterr().err
