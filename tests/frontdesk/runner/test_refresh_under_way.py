"""A refresh that was stopped: nothing swallows it, it is verified as it is, and it can be dropped."""

from __future__ import annotations

from pathlib import Path

import pytest

from frontdesk.cli import main
from tests.frontdesk.runner.test_verify_table import replaced, states
from tests.support.fake_provider import FakeProvider
from tests.support.refreshing import given, is_verified, lines, refresh, three, with_endpoint
from tests.support.small_runs import files_of


@pytest.fixture(params=[10, 110], ids=["while collecting", "while judging"])
def stopped(
    provider: FakeProvider, tmp_path: Path, request: pytest.FixtureRequest
) -> tuple[Path, dict[str, bytes]]:
    """A run with a refresh that a cap stopped, and what it held before."""
    _, run = three(tmp_path, provider)
    before = files_of(run) | {"run.toml": (run / "run.toml").read_bytes()}
    cap = f"\n[budget]\ncalls = {provider.stats.calls + request.param}\n"
    (tmp_path / "fourth.toml").write_text(with_endpoint(provider, "fourth") + cap)
    assert refresh(run, "--add", "fourth", "--config", str(tmp_path / "fourth.toml")) == 3
    return run, before


def test_it_is_healthy_until_somebody_forges_it(
    stopped: tuple[Path, dict[str, bytes]], capsys: pytest.CaptureFixture[str]
) -> None:
    run, _ = stopped
    code, rows = states(run, capsys)
    assert {file: row for file, row in rows.items() if row[0] in ("different", "missing", "stale")} == {}
    assert code == 0
    assert rows["refresh.json"] == ("unfinished", "--add fourth is under way")
    assert rows["leaderboard.json"] == ("unfinished", "as before --add fourth, which is under way")
    replaced("leaderboard.json", "ureka", "eureka")(run)
    assert states(run, capsys)[1]["leaderboard.json"][0] == "different"
    replaced("leaderboard.json", "eureka", "ureka")(run)
    for name in ("leaderboard.json", "verdicts.jsonl"):
        replaced(f"refresh.before/{name}", "ureka", "eureka")(run)
    code, rows = states(run, capsys)
    assert code == 1
    assert rows["refresh.before/verdicts.jsonl"][0] == "different"


def test_another_judge_that_a_cap_stopped_among_kept_rounds_is_healthy_too(
    provider: FakeProvider, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rounds of the first judge stand behind matches that the second has not come to: these are not made again."""
    _, run = three(tmp_path, provider)
    cap = f"\n[budget]\ncalls = {provider.stats.calls + 40}\n"
    (tmp_path / "second.toml").write_text(with_endpoint(provider, "second") + cap)
    assert refresh(run, "--rejudge", "second", "--config", str(tmp_path / "second.toml")) == 3
    assert len(lines(run / "judgments.jsonl")) > len(lines(run / "refresh.before" / "judgments.jsonl"))
    code, rows = states(run, capsys)
    assert (code, rows["judgments.jsonl"][0]) == (0, "unfinished")
    replaced("judgments.jsonl", '"winner":"ureka"', '"winner":"gemini"')(run)
    assert states(run, capsys)[1]["judgments.jsonl"][0] == "different"


def test_nothing_swallows_it_and_dropped_it_leaves_no_trace(
    stopped: tuple[Path, dict[str, bytes]],
    provider: FakeProvider,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run, before = stopped
    held, calls = files_of(run), provider.stats.calls
    capsys.readouterr()
    for command in (
        ["refresh", "--drop", "third"],
        ["run", str(run / "run.toml"), "--change"],
        ["judge"],
        ["collect"],
        ["rate"],
        ["rate", "--out", str(tmp_path / "ratings")],
        ["report"],
        ["report", "--site", str(tmp_path / "site")],
        ["quality"],
        ["export", "--as", "preference"],
    ):
        assert main([*command, "--run", str(run)]) == 2
        assert "a refresh is under way (--add fourth)" in capsys.readouterr().err
    assert main(["compare", str(run), str(run)]) == 2
    assert main(["refresh", "--run", str(run), "--abandon", "--drop", "third"]) == 2
    assert (files_of(run), provider.stats.calls) == (held, calls)
    assert refresh(run, "--abandon") == 0
    after = files_of(run) | {"run.toml": (run / "run.toml").read_bytes()}
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    assert changed <= {"report.html", "report.md", "published.json"}  # the report counts every call
    assert not (run / "refresh.before").exists()
    assert is_verified(run, capsys)
    assert refresh(run, "--abandon") == 2
    assert "no refresh is under way" in capsys.readouterr().err
    assert refresh(run, "--drop", "third") == 0
    assert refresh(run, "--add", "fourth", *given(tmp_path, provider, "fourth")) == 0
    assert len(lines(run / "history.jsonl")) == 2
    assert is_verified(run, capsys)
