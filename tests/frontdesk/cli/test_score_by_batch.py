"""Scoring through the providers' batch interfaces ends in the files of real time, whatever kills it on the way."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from runstore.publish import read_csv
from tests.support.fake_provider import FakeProvider

JUDGES = {"gemini": "gemini", "gpt": "openai", "claude": "anthropic"}
RESULTS = ("scores.csv", "sheets.jsonl", "agreement.json", "summary.csv")


def prepared(folder: Path, provider: FakeProvider, sessions: int) -> list[str]:
    rows = [
        {
            "id": f"s{number}",
            "mode": "agent" if number % 2 else "freepass",
            "messages": [
                {"role": "user", "content": f"How do I factor x^2 - {number}?"},
                {"role": "assistant", "content": "Which two numbers multiply to that?"},
            ],
        }
        for number in range(sessions)
    ]
    (folder / "in.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    lines = ["[run]", 'name = "by-batch"', "seed = 3"]
    for name, kind in JUDGES.items():
        settings = provider.settings(kind, api_key_env="A_KEY", timeout_s=20)
        lines += [f"[endpoints.{name}]", *(f"{key} = {json.dumps(value)}" for key, value in settings.items())]
        lines += ["price = { input = 2.0, output = 4.0 }"]
    (folder / "config.toml").write_text("\n".join(lines), encoding="utf-8")
    judges = [word for name in JUDGES for word in ("--judge", name)]
    fixed = ["--rubric", "qac", "--repeats", "1", "--resamples", "0", "--compare", "mode"]
    files = ["--input", str(folder / "in.jsonl"), "--config", str(folder / "config.toml")]
    return [sys.executable, "-m", "frontdesk", "score", *files, *judges, *fixed]


def started(command: list[str], out: Path, *more: str) -> "subprocess.Popen[bytes]":
    environment = {**os.environ, "A_KEY": "k-123456789"}
    with (out.parent / f"{out.name}.err").open("ab") as log:
        return subprocess.Popen(
            [*command, "--out", str(out), *more], env=environment, stdout=subprocess.DEVNULL, stderr=log
        )


def by_batch(command: list[str], out: Path) -> "subprocess.Popen[bytes]":
    return started(command, out, "--batch", "--poll-s", "0.05")


def said(out: Path) -> str:
    return (out.parent / f"{out.name}.err").read_text(encoding="utf-8")


def ended_well(running: "subprocess.Popen[bytes]", out: Path) -> None:
    assert running.wait(120) == 0, said(out)


def stopped_when(running: "subprocess.Popen[bytes]", ready: Callable[[], bool], number: int) -> int:
    limit = time.monotonic() + 60
    while not ready() and running.poll() is None and time.monotonic() < limit:
        time.sleep(0.005)
    running.send_signal(number)
    return running.wait(60)


def killed_when(command: list[str], out: Path, ready: Callable[[], bool]) -> None:
    assert stopped_when(by_batch(command, out), ready, signal.SIGKILL) == -signal.SIGKILL, said(out)


def same_results(out: Path, whole: Path) -> None:
    for name in RESULTS:
        assert (out / name).read_bytes() == (whole / name).read_bytes(), name


def test_two_kills_change_no_score_and_no_sheet_is_paid_for_twice(tmp_path: Path) -> None:
    sessions = 284
    with FakeProvider() as provider:
        command = prepared(tmp_path, provider, sessions)
        ended_well(started(command, tmp_path / "whole"), tmp_path / "whole")
        provider.reset()
        out, batches = tmp_path / "batch", provider.batches
        batches.polls, batches.hang = 4, {"create"}
        killed_when(command, out, lambda: batches.count("create") >= 3)
        batches.hang = set()
        killed_when(command, out, lambda: batches.count("look") >= 5)
        ended_well(by_batch(command, out), out)
        assert len(batches.jobs) == 3
        assert len(provider.received) == sessions * len(JUDGES)
        assert set(provider.delivered.values()) == {1}
    same_results(out, tmp_path / "whole")
    _, rows = read_csv(out / "scores.csv")
    assert len(rows) == sessions * len(JUDGES)
    assert all(row["total"] for row in rows)


@pytest.mark.parametrize(
    ("hang", "event", "times"),
    [
        ("upload", "upload", 1),
        ("before create", "before create", 3),
        ("create", "create", 3),
        ("list", "create", 3),
        ("look", "look", 3),
        ("results", "results", 2),
    ],
)
def test_a_kill_anywhere_costs_nothing(tmp_path: Path, hang: str, event: str, times: int) -> None:
    with FakeProvider() as provider:
        command = prepared(tmp_path, provider, 6)
        ended_well(started(command, tmp_path / "whole"), tmp_path / "whole")
        provider.reset()
        out, batches = tmp_path / "batch", provider.batches
        batches.hang = {hang}
        killed_when(command, out, lambda: batches.count(event) >= times)
        batches.hang = set()
        ended_well(by_batch(command, out), out)
        assert len(batches.jobs) == 3
        assert set(provider.delivered.values()) == {1}
        assert len(provider.delivered) == 6 * len(JUDGES)
    same_results(out, tmp_path / "whole")


def test_an_interrupt_while_waiting_leaves_a_job_that_the_next_run_reads(tmp_path: Path) -> None:
    with FakeProvider() as provider:
        command = prepared(tmp_path, provider, 4)
        out, batches = tmp_path / "batch", provider.batches
        batches.polls = 1 << 30
        assert stopped_when(by_batch(command, out), lambda: batches.count("look") >= 6, signal.SIGINT) == 130
        assert "run the same command again" in said(out)
        batches.polls = 1
        ended_well(by_batch(command, out), out)
        assert len(batches.jobs) == 3
        assert "k-123456789" not in "".join(path.read_text() for path in (out / "journal").glob("*.jsonl"))
        offline = subprocess.run([sys.executable, "-m", "frontdesk", "verify", "--run", str(out)], check=False)
        assert offline.returncode == 0


def test_a_judge_without_a_batch_interface_is_refused_before_anything_is_called(tmp_path: Path) -> None:
    with FakeProvider() as provider:
        command = prepared(tmp_path, provider, 1)
        text = (tmp_path / "config.toml").read_text(encoding="utf-8")
        (tmp_path / "config.toml").write_text(
            text.replace('kind = "anthropic"', 'kind = "ureka"'), encoding="utf-8"
        )
        (tmp_path / "config.toml").write_text(
            text.replace('kind = "anthropic"', 'kind = "http"').replace('model = "fake-1"\n', ""), encoding="utf-8"
        )
        running = by_batch(command, tmp_path / "out")
        assert running.wait(60) == 2
        assert provider.stats.calls == 0 and not provider.batches.log
