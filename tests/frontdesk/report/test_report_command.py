"""The report as a run leaves it and as the command makes it again."""

from __future__ import annotations

from pathlib import Path

import pytest

from frontdesk.cli import main
from tests.support.fake_provider import FakeProvider

CONFIG = """
[run]
name = "small"
seed = 3
[endpoints.ureka]
{openai}
identity = "a"
[endpoints.gemini]
{gemini}
identity = "b"
[simulate]
dialogues = 4
turns = 2
student = "gemini"
teacher = "gemini"
[cut]
subsets = 6
[collect]
endpoints = ["ureka", "gemini"]
[judge]
endpoints = ["gemini"]
[rate]
resamples = 20
"""


@pytest.fixture
def run(provider: FakeProvider, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    config, folder = tmp_path / "c.toml", tmp_path / "r"
    tables = {
        kind: "\n".join(f"{k} = {v!r}" for k, v in provider.settings(kind).items())
        for kind in ("openai", "gemini")
    }
    config.write_text(CONFIG.format(**tables))
    assert main(["run", str(config), "--run", str(folder)]) == 0
    assert "Reliability of the verdicts" in capsys.readouterr().out
    return folder


def test_a_run_ends_in_a_report_that_verify_makes_again(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (run / "report.md").read_text("utf-8")
    assert "| simulate | gemini | 12 | 0 | 0 |" in text
    assert "| judge | gemini | 18 | 0 | 0 |" in text
    assert main(["verify", "--run", str(run)]) == 0
    out = capsys.readouterr().out
    assert "same       report.html" in out
    assert "same       report.md" in out


def test_a_site_says_what_it_holds_and_what_was_not_written_again(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (run / "report.md").write_text("earlier")
    assert main(["report", str(run), "--site", str(tmp_path / "site")]) == 0
    said = capsys.readouterr().err
    assert f"site: {tmp_path / 'site' / 'index.html'}" in said
    assert f"report.md and report.html in {run} are not written again: tutor-arena report {run}" in said
    assert (run / "report.md").read_text() == "earlier"


def test_the_command_writes_the_same_files_and_another_language_beside(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (run / "report.html").read_bytes()
    assert main(["report", "--run", str(run), "--quiet"]) == 0
    assert (run / "report.html").read_bytes() == before
    assert main(["report", "--run", str(run), "--language", "ko"]) == 0
    assert "판결 신뢰도" in capsys.readouterr().out
    assert (run / "report.ko.html").is_file()
    assert (run / "report.html").read_bytes() == before


def test_a_folder_without_a_run_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "--run", str(tmp_path)]) == 2
    assert "run.toml" in capsys.readouterr().err
