"""A command speaks the language of what it works on, unless it is asked for another."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from frontdesk.cli import main
from frontdesk.runner.told import speak, told
from gateway.retry import ADVICE
from tests.support.fake_provider import FakeProvider
from tests.support.human_site import planned
from tests.support.korean import english
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


@pytest.mark.parametrize(
    "line",
    [
        "beta: stopped after its first 30 calls brought nothing: only blank replies in 3 tries; " + ADVICE,
        "stopped: the cap of 2,000 tokens is reached: 1,900 spent; to go on, raise budget.tokens",
        "budget.calls = 9: this would stop at the cap after stage a, in cut; 4 are planned, 1 of them before cut.",
        "To go through, raise budget.tokens.",
        "the batch gave two results for this request that differ",
        "the batch gave no result for this request",
        "the file holds 3 of 5 results",
        "12 verdicts find it with a chance of 80%; the smallest win rate they find with 80%: none",
        "12 matches find it with a chance of 80% (70% to 90%); the smallest win rate they find with 80%: 60.0%",
        "40 verdicts find this gap with a chance of 80%: 10 dialogues x 4 verdicts x 1 rounds",
        "40 matches find this gap with a chance of 80% (30 to no number): 10 dialogues x 4 subsets x 3 rounds",
        "40 verdicts x 3 rounds, majority (10 dialogues): power 80%",
        "40 subsets x 1 rounds, majority (10 dialogues): power 80% (70% to 90%)",
        "Verdicts are counted, not matches: a match has 3, one a criterion.",
        "How sure is not known: 2 of the 3 dialogues that a range takes.",
    ],
)
def test_keys_stay_as_they_are_typed_and_all_else_is_korean(line: str) -> None:
    speak("ko")
    try:
        said = told(line)
    finally:
        speak(None)
    assert english([said], "", {"beta"}) == []
    assert re.findall(r"budget\.[a-z_]+", said) == re.findall(r"budget\.[a-z_]+", line)
