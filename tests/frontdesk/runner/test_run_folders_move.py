"""A run folder holds everything it was made of: it is verified and gone on with wherever it lies."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from frontdesk.cli import main
from tests.frontdesk.runner.test_own_files import CRITERIA, FACTORS
from tests.frontdesk.runner.test_verify_table import states
from tests.support.fake_provider import FakeProvider


def own_study(folder: Path, provider: FakeProvider) -> Path:
    """A configuration that names a file wherever it can, and replies that are read from one."""
    (folder / "prompts").mkdir(parents=True)
    (folder / "factors.yaml").write_text(FACTORS, encoding="utf-8")
    (folder / "criteria.yaml").write_text(CRITERIA, encoding="utf-8")
    (folder / "questions.csv").write_text("subject,text\nchemistry,Why is water polar?\nlaw,What is a tort?\n")
    (folder / "prompts" / "teacher.simple.en.md").write_text("You are a teacher of the old school.\n")
    rows = [{"role": "teacher", "match": "", "reply": f"What do you see? ({n})"} for n in range(3)]
    (folder / "replies.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    keys = "\n".join(f"{key} = {json.dumps(value)}" for key, value in provider.settings("openai").items())
    text = f"""
[run]
name = "own"
prompts = "prompts"
[endpoints.m]
{keys}
[endpoints.script]
kind = "scripted"
replies = "replies.jsonl"
[personas]
factors = "factors.yaml"
[questions]
file = "questions.csv"
[simulate]
dialogues = 4
turns = 2
student = "m"
teacher = "m"
[cut]
subsets = 6
[collect]
endpoints = ["m", "script"]
[judge]
endpoints = ["m"]
rounds = 1
criteria = "criteria.yaml"
"""
    (folder / "c.toml").write_text(text, encoding="utf-8")
    return folder / "c.toml"


@pytest.fixture
def moved(provider: FakeProvider, tmp_path: Path) -> Path:
    """A run whose configuration and inputs are gone, under another name in another place."""
    config = own_study(tmp_path / "study", provider)
    assert main(["run", str(config), "--run", str(tmp_path / "study" / "run")]) == 0
    (tmp_path / "elsewhere").mkdir()
    run = shutil.move(tmp_path / "study" / "run", tmp_path / "elsewhere" / "old study")
    shutil.rmtree(tmp_path / "study")
    return Path(run)


def test_it_is_verified_where_it_was_moved_and_every_input_is_named(
    moved: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    code, rows = states(moved, capsys)
    assert {file: row for file, row in rows.items() if row[0] not in ("same", "not made here")} == {}
    assert code == 0
    inputs = sorted(file.rpartition("/")[2] for file in rows if file.startswith("inputs/"))
    assert inputs == ["criteria.yaml", "factors.yaml", "prompts", "questions.csv", "replies.jsonl"]
    assert str(moved.parent.parent) not in (moved / "manifest.json").read_text()


def test_it_goes_on_where_it_was_moved(moved: Path, provider: FakeProvider) -> None:
    calls = provider.stats.calls
    assert main(["run", str(moved / "run.toml"), "--run", str(moved)]) == 0
    assert main(["simulate", "--run", str(moved)]) == 0
    assert provider.stats.calls == calls


def test_the_same_files_elsewhere_are_the_same_configuration_and_others_are_refused(
    moved: Path, provider: FakeProvider, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = own_study(tmp_path / "again", provider)
    calls = provider.stats.calls
    assert main(["run", str(config), "--run", str(moved)]) == 0
    assert provider.stats.calls == calls
    (config.parent / "questions.csv").write_text("subject,text\nlaw,What is equity?\n")
    assert main(["run", str(config), "--run", str(moved)]) == 2
    assert "questions.file: was 'inputs/" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["criteria.yaml", "factors.yaml", "prompts", "questions.csv", "replies.jsonl"])
def test_an_input_that_was_changed_or_lost_is_named(
    moved: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    [path] = moved.glob(f"inputs/*/{name}")
    file = path if path.is_file() else next(path.iterdir())
    file.write_text(file.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    code, rows = states(moved, capsys)
    assert (code, rows[str(path.relative_to(moved))][0]) == (1, "different")
    shutil.rmtree(path.parent)
    code, rows = states(moved, capsys)
    assert (code, rows[str(path.relative_to(moved))][0]) == (1, "missing")


def test_a_service_of_the_documents_is_verified_without_its_key(
    provider: FakeProvider, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    config = own_study(tmp_path / "study", provider)
    tutor = f"""[endpoints.tutor]
kind = "http"
url = "{provider.url}/reply"
headers = {{ Authorization = "Bearer ${{TUTOR_TOKEN}}" }}
body = {{ history = "{{messages}}", question = "{{last_student}}" }}
reply = "data.answer"
"""
    text = (
        config.read_text().replace("[personas]", f"{tutor}[personas]").replace('["m", "script"]', '["m", "tutor"]')
    )
    config.write_text(text)
    monkeypatch.setenv("TUTOR_TOKEN", "abcdefgh12345678")
    run = tmp_path / "run"
    assert main(["run", str(config), "--run", str(run)]) == 0
    monkeypatch.delenv("TUTOR_TOKEN")
    code, rows = states(run, capsys)
    assert {file: row for file, row in rows.items() if row[0] not in ("same", "not made here")} == {}
    assert code == 0
