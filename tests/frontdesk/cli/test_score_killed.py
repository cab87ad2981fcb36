"""A scoring run that is killed twice ends in the same files as one that was not, and pays for nothing twice."""

import time
from pathlib import Path

from runstore.publish import read_csv
from tests.support.fake_provider import FakeProvider
from tests.support.scoring_command import JUDGES, prepared, started

SESSIONS, AT_ONCE = 90, 8


def killed_after(command: list[str], out: Path, provider: FakeProvider, calls: int) -> None:
    """Start the command and kill it without warning once the provider has had so many calls."""
    running = started(command, out)
    limit = time.monotonic() + 60
    while provider.stats.calls < calls and running.poll() is None and time.monotonic() < limit:
        time.sleep(0.01)
    running.kill()
    assert running.wait() == -9


def test_two_kills_change_no_score_and_pay_for_no_sheet_twice(tmp_path: Path) -> None:
    with FakeProvider(latency_ms=20) as provider:
        command = prepared(tmp_path, provider, SESSIONS, concurrency=AT_ONCE)
        assert started(command, tmp_path / "whole").wait(120) == 0
        whole = provider.stats.calls
        assert whole == SESSIONS * len(JUDGES)
        provider.reset()
        out = tmp_path / "killed"
        killed_after(command, out, provider, 70)
        killed_after(command, out, provider, 160)
        assert started(command, out).wait(120) == 0
        most_lost = 2 * AT_ONCE * len(JUDGES)
        assert whole <= provider.stats.calls <= whole + most_lost
        assert max(provider.received.values()) <= 3
    for name in ("scores.csv", "sheets.jsonl", "agreement.json", "comparison.json", "summary.csv"):
        assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    _, rows = read_csv(out / "scores.csv")
    assert len(rows) == SESSIONS * len(JUDGES)
    assert all(row["total"] for row in rows)
