"""A scoring run that is killed twice ends in the same files as one that was not, and pays for nothing twice."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from runstore.publish import read_csv
from tests.support.fake_provider import FakeProvider

SESSIONS, JUDGES, AT_ONCE = 284, {"gemini": "gemini", "gpt": "openai", "claude": "anthropic"}, 16


def prepared(folder: Path, provider: FakeProvider) -> list[str]:
    rows = [
        {
            "id": f"s{number}",
            "mode": "agent" if number % 2 else "freepass",
            "messages": [
                {"role": "user", "content": f"How do I factor x^2 - {number}?"},
                {"role": "assistant", "content": "Which two numbers multiply to that?"},
            ],
        }
        for number in range(SESSIONS)
    ]
    (folder / "in.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    lines = ["[run]", 'name = "killed"', "seed = 3"]
    for name, kind in JUDGES.items():
        settings = provider.settings(kind, api_key_env="A_KEY", concurrency=AT_ONCE)
        lines += [f"[endpoints.{name}]", *(f"{key} = {json.dumps(value)}" for key, value in settings.items())]
    (folder / "config.toml").write_text("\n".join(lines), encoding="utf-8")
    judges = [word for name in JUDGES for word in ("--judge", name)]
    fixed = ["--rubric", "qac", "--repeats", "1", "--resamples", "0", "--compare", "mode"]
    files = ["--input", str(folder / "in.jsonl"), "--config", str(folder / "config.toml")]
    return [sys.executable, "-m", "frontdesk", "score", *files, *judges, *fixed]


def started(command: list[str], out: Path) -> "subprocess.Popen[bytes]":
    environment = {**os.environ, "A_KEY": "k-123456789"}
    return subprocess.Popen(
        [*command, "--out", str(out)], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


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
        command = prepared(tmp_path, provider)
        assert started(command, tmp_path / "whole").wait(120) == 0
        whole = provider.stats.calls
        assert whole == SESSIONS * len(JUDGES)
        provider.reset()
        out = tmp_path / "killed"
        killed_after(command, out, provider, 200)
        killed_after(command, out, provider, 500)
        assert started(command, out).wait(120) == 0
        most_lost = 2 * AT_ONCE * len(JUDGES)
        assert whole <= provider.stats.calls <= whole + most_lost
        assert max(provider.received.values()) <= 3
    for name in ("scores.csv", "sheets.jsonl", "agreement.json", "comparison.json", "summary.csv"):
        assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    _, rows = read_csv(out / "scores.csv")
    assert len(rows) == SESSIONS * len(JUDGES)
    assert all(row["total"] for row in rows)
