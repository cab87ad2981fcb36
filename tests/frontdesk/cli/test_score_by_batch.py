"""Scoring through the providers' batch interfaces ends in the files of real time, whatever kills it on the way."""

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from frontdesk.cli import main
from frontdesk.runner.calls import summarise
from runstore.journal import read_rows
from runstore.publish import read_csv
from tests.support import fake_shapes
from tests.support.fake_faults import Reply
from tests.support.fake_provider import FakeProvider
from tests.support.scoring_command import JUDGES, prepared, said, started
from tests.support.started import Started

RESULTS = ("scores.csv", "sheets.jsonl", "agreement.json", "summary.csv")


def by_batch(command: list[str], out: Path) -> Started:
    return started(command, out, "--batch", "--poll-s", "0.05")


def ended_well(running: Started, out: Path) -> None:
    assert running.wait(120) == 0, said(out)


def stopped_when(running: Started, ready: Callable[[], bool], number: int) -> int:
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
    sessions = 90
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
        assert main(["verify", "--run", str(out)]) == 0


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


def estimated(command: list[str], capsys: pytest.CaptureFixture[str], *more: str) -> dict[str, Any]:
    assert main([*command[3:], *more, "--dry-run", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_what_sheets_would_take_is_said_and_nothing_is_called(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY", "k-123456789")
    with FakeProvider() as provider:
        command = [*prepared(tmp_path, provider, 40), "--out", str(tmp_path / "out")]
        config = tmp_path / "config.toml"
        text = config.read_text(encoding="utf-8")
        for judge in JUDGES:
            priced = f"[endpoints.{judge}]\nprice = {{ input = 1.0, output = 2.0 }}\n"
            text = text.replace(f"[endpoints.{judge}]\n", priced)
        config.write_text(text + "[budget]\ncalls = 100\n", encoding="utf-8")
        real, batch = estimated(command, capsys), estimated(command, capsys, "--batch")
        assert provider.stats.calls == 0
    assert [(line["endpoint"], line["calls"], line["by_batch"]) for line in real["stages"]] == [
        (judge, 40, False) for judge in JUDGES
    ]
    assert [(line["endpoint"], line["calls"], line["by_batch"]) for line in batch["stages"]] == [
        (judge, calls, by_batch) for judge in JUDGES for calls, by_batch in ((4, False), (36, True))
    ]
    whole = real["total"]["usd"]
    assert batch["total"]["usd"] == pytest.approx(whole * (0.1 + 0.9 / 2), rel=0.01)
    assert real["stages"][0]["input"] > 40 * 1000, "the rubric itself is counted"
    assert [(cap["name"], cap["planned"]) for cap in batch["caps"]] == [("calls", 120)]
    assert not (tmp_path / "out").exists()
