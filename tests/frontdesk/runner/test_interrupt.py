"""Ctrl-C: what is finished is kept and published, the message says how to go on, and the exit code tells."""

import json
import re
import signal
import time

import pytest

from frontdesk.cli import main
from frontdesk.runner.session import RESUME
from runstore.publish import read_records
from runstore.records import Dialogue
from runstore.runlock import hold
from tests.support.small_runs import counts, files_of, finished_twice, start, timeless, write_config


def wait_for(provider, calls: int) -> None:
    until = time.monotonic() + 60
    while provider.stats.calls < calls:
        assert time.monotonic() < until, f"{provider.stats.calls} of {calls} calls came"
        time.sleep(0.005)


def expected(provider, tmp_path, **options):
    config = write_config(tmp_path / "expected.toml", provider, **options)
    assert main(["run", str(config), "--run", str(tmp_path / "expected")]) == 0
    provider.reset()
    return config, files_of(tmp_path / "expected")


def test_the_first_lets_calls_finish_publishes_and_says_how_to_go_on(provider, tmp_path):
    config, files = expected(provider, tmp_path, dialogues=10, subsets=10, concurrency=3)
    provider.configure(latency_ms=40)
    run = tmp_path / "run"
    process = start("run", config, "--run", run)
    wait_for(provider, 40)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    said = err.decode()
    assert process.returncode == 130, said
    assert out == b""
    assert "Traceback" not in said
    assert "calls in flight may finish" in said
    stopped = re.search(r"simulate stopped: interrupted; (\d+) of 10 finished", said)
    assert stopped and "to go on: run the same command again" in said
    assert provider.stats.cancelled == 0
    saved = read_records(run / "dialogues.jsonl", Dialogue)
    assert len(saved) == int(stopped[1]) and 0 < len(saved) < 10
    assert all(one.complete for one in saved)
    kept, lost = counts(run)
    assert kept == provider.stats.answered and lost == 0

    provider.configure(latency_ms=0)
    assert main(["run", str(config), "--run", str(run)]) == 0
    assert timeless(files_of(run)) == timeless(files)
    assert finished_twice(run) == []
    assert provider.stats.answered == counts(run)[0]


def test_the_second_stops_at_once_and_files_stay_valid(provider, tmp_path):
    config, files = expected(provider, tmp_path, dialogues=6, subsets=6)
    run = tmp_path / "run"
    provider.script = lambda asked, attempt: "hang" if asked.role == "judge" else None
    process = start("run", config, "--run", run)
    wait_for(provider, 6 * 7 + 12 + 6)
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    _, err = process.communicate(timeout=60)
    assert time.monotonic() - began < 20
    assert process.returncode == 130
    assert b"Traceback" not in err
    assert re.search(rb"stopped at once; \d+ finished calls are kept\nto go on: run the same command again", err)
    assert len(read_records(run / "dialogues.jsonl", Dialogue)) == 6
    provider.script = None
    assert main(["run", str(config), "--run", str(run)]) == 0
    assert timeless(files_of(run)) == timeless(files)
    assert finished_twice(run) == []


def test_an_interrupt_is_heard_while_a_worker_of_an_earlier_command_is_waited_for(provider, tmp_path):
    config = write_config(tmp_path / "c.toml", provider, dialogues=2, subsets=2)
    run = tmp_path / "run"
    assert main(["run", str(config), "--run", str(run)]) == 0
    (segment,) = (run / "journal").glob("*.jsonl")
    with segment.open("ab") as file:
        hold(file.fileno())
        process = start("run", config, "--run", run)
        assert b"waits for calls in flight of 1 worker of an earlier command, 65 s" in process.stderr.readline()
        assert main(["verify", "--run", str(run)]) == 0, "who only reads waits for nobody"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert err.decode().splitlines() == ["stopped at once", RESUME]
        process = start("run", config, "--run", run)
        assert b"waits for" in process.stderr.readline()
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0 and b"did not end" not in err, "it goes on once the other has ended"


@pytest.mark.parametrize("cap", [{"calls": 30}, {"tokens": 15000}, {"usd": 15000.0}], ids=str)
def test_a_cap_ends_with_code_3_and_counts_earlier_sessions(provider, tmp_path, capsys, cap):
    endpoint = {"price": {"input": 1e6, "output": 1e6}}
    options = {"dialogues": 8, "subsets": 8, "concurrency": 4, "endpoint": endpoint}
    config = write_config(tmp_path / "c.toml", provider, **options, budget=cap)
    run = tmp_path / "run"
    assert main(["run", str(config), "--run", str(run)]) == 3
    said = capsys.readouterr()
    assert "the cap of" in said.err and "to go on: run the same command again" in said.err and said.out == ""
    spent = provider.stats.calls
    assert 10 < spent <= cap.get("calls", 1000)
    assert main(["run", str(config), "--run", str(run)]) == 3
    assert provider.stats.calls - spent <= 2
    write_config(tmp_path / "c.toml", provider, **options)
    assert main(["run", str(config), "--run", str(run)]) == 0
    assert finished_twice(run) == []
    assert provider.stats.answered == counts(run)[0]


def test_a_cap_in_dollars_on_calls_without_a_price_is_refused_before_any_call(provider, tmp_path, capsys):
    config = write_config(tmp_path / "c.toml", provider, budget={"usd": 5.0})
    assert main(["run", str(config), "--run", str(tmp_path / "run")]) == 2
    said = capsys.readouterr().err
    assert "the price of gemini, ureka is not known" in said and "endpoints.gemini.price" in said
    assert provider.stats.calls == 0
    write_config(tmp_path / "c.toml", provider, dialogues=2, subsets=2, budget={"usd": 5.0, "calls": 500})
    assert main(["run", str(config), "--run", str(tmp_path / "run")]) == 0
    assert "is not known" in capsys.readouterr().err


def test_the_log_is_json_and_names_stages_sessions_and_requests(provider, tmp_path):
    provider.script = lambda asked, attempt: "503" if attempt == 1 and asked.role == "judge" else None
    config = write_config(tmp_path / "c.toml", provider, dialogues=2, subsets=2)
    run = tmp_path / "run"
    assert main(["run", str(config), "--run", str(run)]) == 0
    events = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    names = [event["event"] for event in events]
    assert names[0] == "session_started" and names[-1] == "session_ended"
    assert [event["stage"] for event in events if event["event"] == "stage_ended"] == [
        "simulate",
        "collect",
        "judge",
    ]
    failed = next(event for event in events if event["event"] == "attempt_failed")
    assert (failed["endpoint"], failed["stage"], failed["status"]) == ("gemini", "judge", 503)
    assert {"request_id", "latency_s", "item", "kind", "message", "key"} <= failed.keys()
    assert events[-1]["calls"] == provider.stats.calls
