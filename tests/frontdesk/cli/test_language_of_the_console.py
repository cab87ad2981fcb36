"""A command speaks the language of what it works on, unless it is asked for another."""

from __future__ import annotations

from pathlib import Path

import pytest

from frontdesk.cli import main
from tests.support.fake_provider import FakeProvider
from tests.support.human_site import planned
from tests.support.small_runs import write_config


@pytest.fixture
def korean(provider: FakeProvider, tmp_path: Path) -> Path:
    config = write_config(tmp_path / "c.toml", provider, dialogues=2, subsets=2)
    config.write_text(config.read_text().replace("[run]\n", '[run]\nlanguage = "ko"\n'))
    return config


def printed(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    capsys.readouterr()
    main(list(command))
    said = capsys.readouterr()
    return said.out + said.err


def test_a_korean_run_is_told_in_korean_from_its_first_line_to_its_summary(
    korean: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = str(tmp_path / "run")
    said = printed(capsys, "run", str(korean), "--run", run)
    assert f"보고서: {run}/report.html" in said
    assert "순위표" in said
    assert "report:" not in said
    for command in (["report", run], ["rate", run], ["verify", run], ["compare", run, run], ["judge", run]):
        assert any("가" <= letter <= "힣" for letter in printed(capsys, *command)), command
    said = printed(capsys, "report", run, "--language", "en")
    assert "report: " in said and "Leaderboard" in said
    assert not any("가" <= letter <= "힣" for letter in said)


@pytest.mark.parametrize("command", ["check", "estimate", "run"])
def test_a_configuration_is_refused_in_its_own_language(
    command: str, korean: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    korean.write_text(korean.read_text().replace("[judge]\n", "[judge]\nroundz = 3\n"))
    assert "필요한 것" in printed(capsys, command, str(korean))
    assert "expected" in printed(capsys, command, str(korean), "--language", "en")


def test_a_study_is_told_in_its_first_language(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = planned(tmp_path)
    assert folder.study().languages[0] == "ko"
    assert "필요한 것" in printed(capsys, "human", "analyze", str(folder.path))
    assert "expected" in printed(capsys, "human", "analyze", str(folder.path), "--language", "en")


@pytest.mark.parametrize("text", ["[run", "\x00", '[run]\nlanguage = "xx"\n', '[run]\nlanguage = ["ko"]\n'])
def test_what_cannot_be_read_is_refused_in_english(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "c.toml").write_text(text)
    assert main(["estimate", str(tmp_path / "c.toml")]) == 2
    assert "expected" in capsys.readouterr().err
