"""Scoring through the providers' batch interfaces ends in the files of real time, whatever kills it on the way."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from frontdesk.runner.calls import summarise
from runstore.journal import read_rows
from runstore.publish import read_csv
from tests.support import fake_shapes
from tests.support.fake_faults import Reply
from tests.support.fake_provider import FakeProvider
from tests.support.scoring_command import JUDGES, prepared, said, started

RESULTS = ("scores.csv", "sheets.jsonl", "agreement.json", "summary.csv")


def by_batch(command: list[str], out: Path) -> "subprocess.Popen[bytes]":
    return started(command, out, "--batch", "--poll-s", "0.05")


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
        command = prepared(tmp_path, provider, sessions, timeout_s=20)
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
        seen = summarise(row for row in read_rows(out / "journal") if row["state"] != "note")
        assert [one["calls"] for one in seen["endpoints"].values()] == [{"ok": 4}] * 3
        assert seen["lost_in_flight"] == 0
        offline = subprocess.run([sys.executable, "-m", "frontdesk", "verify", "--run", str(out)], check=False)
        assert offline.returncode == 0


def test_a_judge_without_a_batch_interface_is_refused_before_anything_is_called(tmp_path: Path) -> None:
    with FakeProvider() as provider:
        command = prepared(tmp_path, provider, 1)
        with (tmp_path / "config.toml").open("a", encoding="utf-8") as config:
            config.write(f'[endpoints.tutor]\nkind = "ureka"\nbase_url = "{provider.url}"\n')
        command += ["--judge", "tutor"]
        running = by_batch(command, tmp_path / "out")
        assert running.wait(60) == 2
        assert "endpoints.tutor.kind: found 'ureka', which has no batch interface" in said(tmp_path / "out")
        assert provider.stats.calls == 0
        assert not provider.batches.log


def test_a_judge_that_cannot_be_read_is_found_before_a_batch_is_bought(tmp_path: Path) -> None:
    with FakeProvider() as provider:
        command = prepared(tmp_path, provider, 40, timeout_s=20)
        provider.script = lambda asked, attempt: Reply(fake_shapes.answer(asked, "I would rather not."))
        running = by_batch(command, tmp_path / "out")
        assert running.wait(60) == 3, said(tmp_path / "out")
        assert "first 4 sheets 0 could be read" in said(tmp_path / "out")
        assert not provider.batches.jobs and provider.stats.calls < 40 * len(JUDGES)
