"""A refresh that is stopped, capped, refused, or asked with names that are markup, formulas and paths."""

import json
import signal
import time
from pathlib import Path

from frontdesk.cli import main
from runstore.publish import read_json, read_records
from runstore.records import Verdict
from tests.support.refreshing import given, is_verified, lines, refresh, three, with_endpoint
from tests.support.small_runs import files_of, finished_twice, start

REFUSED = [
    ([], "--add NAME"),
    (["--add", "fourth"], "'fourth' is not in the run"),
    (["--drop", "nobody"], "found 'nobody', expected one of 'gemini'"),
    (["--drop", "ureka", "--drop", "third"], "1 endpoint would be left"),
    (["--add", "third", "--drop", "third"], "both to be added and to be dropped"),
    (["--add", "third", "--add", "third"], "named twice"),
    (["--add", "third", "--against", "ureka"], "meets everybody"),
    (["--rejudge", "gemini", "--instead-of", "gemini"], "no judge would be left"),
    (["--instead-of", "gemini", "--drop", "third"], "goes with --rejudge"),
    (["--against", "gemini", "--drop", "third"], "goes with --add"),
    (["--add", "ureka", "--set", "model=other"], "other settings"),
    (["--add", "x", "--set", "kind=openia"], "did you mean 'openai'"),
    (["--add", "x", "--set", "kind=openai", "--set", "modle=x"], "did you mean 'model'"),
    (["--add", "x", "--set", "model"], "expected KEY=VALUE"),
    (["--add", "x", "--config", "nowhere.toml"], "nowhere.toml"),
    (
        ["--add", "x", "--set", "kind=openai", "--set", "model=m", "--set", "api_key_env=NO_SUCH_VARIABLE"],
        "NO_SUCH_VARIABLE",
    ),
]
HOSTILE = "</script><img src=x onerror=alert(1)>|=1+1#overall#1/../../x"


def test_an_interrupted_refresh_goes_on_and_pays_nothing_twice(provider, tmp_path, capsys):
    _, run = three(tmp_path, provider)
    old = lines(run / "verdicts.jsonl"), lines(run / "judgments.jsonl")
    board = (run / "leaderboard.json").read_bytes()
    provider.reset()
    provider.configure(latency_ms=50)
    fourth = given(tmp_path, provider, "fourth", concurrency=2)
    text = (run / "run.toml").read_text()
    (run / "run.toml").write_text(text.replace("concurrency = 64", "concurrency = 3"))
    process = start("refresh", "--run", run, "--add", "fourth", *fourth)
    until = time.monotonic() + 60
    while provider.stats.calls < 60:
        assert time.monotonic() < until
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err.decode()
    assert out == b"" and b"to go on: run the same command again" in err
    for kept, name in zip(old, ("verdicts.jsonl", "judgments.jsonl"), strict=True):
        assert [line for line in lines(run / name) if line in set(kept)] == kept
    assert (run / "leaderboard.json").read_bytes() == board
    assert not (run / "history.jsonl").exists()
    provider.configure(latency_ms=0)
    assert refresh(run, "--add", "fourth", *fourth) == 0
    assert finished_twice(run) == []
    assert provider.stats.answered == 20 + 180
    [line] = [json.loads(row) for row in lines(run / "history.jsonl")]
    assert line["verdicts"] == {"new": 60, "gone": 0, "changed": 0, "same": 60}
    assert not (run / "refresh.json").exists()
    assert is_verified(run, capsys)


def test_a_cap_stops_it_and_a_new_budget_lets_it_go_on(provider, tmp_path, capsys):
    _, run = three(tmp_path, provider)
    made = provider.stats.calls
    provider.reset()
    path = tmp_path / "fourth.toml"
    path.write_text(f"{with_endpoint(provider, 'fourth')}\n[budget]\ncalls = {made + 50}\n")
    assert refresh(run, "--add", "fourth", "--config", str(path)) == 3
    assert provider.stats.calls == 50
    path.write_text(f"{with_endpoint(provider, 'fourth')}\n[budget]\ncalls = {made + 200}\n")
    assert refresh(run, "--add", "fourth", "--config", str(path)) == 0
    assert provider.stats.calls == 200
    assert is_verified(run, capsys)


def test_names_that_are_markup_and_paths_stay_names(provider, tmp_path, capsys):
    _, run = three(tmp_path, provider)
    provider.reset()
    assert refresh(run, "--add", HOSTILE, *given(tmp_path, provider, HOSTILE, model="hostile")) == 0
    assert provider.stats.calls == 200
    assert HOSTILE in json.loads(lines(run / "history.jsonl")[0])["change"]["add"]
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "<img src=x" not in page and "</script><img" not in page
    assert sum(HOSTILE in one.endpoints for one in read_records(run / "verdicts.jsonl", Verdict)) == 60
    assert is_verified(run, capsys)
    assert refresh(run, "--drop", HOSTILE) == 0
    assert provider.stats.calls == 200
    assert is_verified(run, capsys)


def test_an_endpoint_described_by_a_file_or_by_its_keys(provider, tmp_path):
    _, run = three(tmp_path, provider)
    provider.reset()
    url = provider.settings("openai")["base_url"]
    table = tmp_path / "table.toml"
    table.write_text(f'kind = "openai"\nmodel = "from-file"\nbase_url = "{url}"\n')
    assert refresh(run, "--add", "fourth", "--endpoint-file", str(table), "--set", "price.input=1.5") == 0
    assert provider.stats.by_model["from-file"] == 20
    keys = ["--set=kind=openai", "--set=model=from-keys", f"--set=base_url={url}", "--set=concurrency=7"]
    assert refresh(run, "--add", "fifth", "--against", "fourth", *keys) == 0
    assert provider.stats.by_model["from-keys"] == 20
    assert "concurrency = 7" in (run / "run.toml").read_text()


def test_what_cannot_be_done_is_refused_before_anything_changes(provider, tmp_path, capsys):
    _, run = three(tmp_path, provider)
    files = files_of(run) | {"run.toml": (run / "run.toml").read_bytes()}
    provider.reset()
    capsys.readouterr()
    for arguments, message in REFUSED:
        assert refresh(run, *arguments) == 2, arguments
        shown = capsys.readouterr()
        assert message in shown.err and "Traceback" not in shown.err and shown.out == ""
    assert provider.stats.calls == 0
    assert files_of(run) | {"run.toml": (run / "run.toml").read_bytes()} == files


def test_only_a_finished_run_is_refreshed(tmp_path, capsys):
    assert main(["refresh", "--run", str(tmp_path), "--drop", "x"]) == 2
    assert "a run folder" in capsys.readouterr().err


def test_an_anchor_cannot_be_dropped(provider, tmp_path, capsys):
    config, run = three(tmp_path, provider)
    config.write_text(config.read_text().replace("[rate]", '[rate]\nreference = "ureka"'))
    assert main(["run", str(config), "--run", str(run), "--change"]) == 0
    assert refresh(run, "--drop", "ureka") == 2
    assert "rate.reference" in capsys.readouterr().err
    assert {model["name"] for model in read_json(Path(run) / "leaderboard.json")["models"]} >= {"ureka"}
