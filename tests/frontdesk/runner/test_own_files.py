"""A user's own students, questions, prompts and criteria, and the Korean side, through the whole pipeline."""

import json
import shutil
from pathlib import Path

import pytest

from frontdesk.cli import main
from runstore.publish import read_records
from runstore.records import Dialogue, Judgment, Subset

FACTORS = """
factors:
  - id: patience
    short: pat
    levels:
      - id: low
        text: {en: You give up after one try., ko: 한 번 해 보고 포기한다.}
      - id: high
        text: {en: You keep trying., ko: 계속 시도한다.}
  - id: mood
    levels:
      - id: sunny
        text: {en: You joke., ko: 농담을 잘한다.}
      - id: grey
        text: {en: You are curt., ko: 말이 짧다.}
"""
CRITERIA = """
criteria:
  - id: warmth
    name: {en: Warmth, ko: 따뜻함}
    description: {en: Which reply is kinder., ko: 어느 답이 더 따뜻한가.}
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    folder = tmp_path / "study"
    (folder / "prompts").mkdir(parents=True)
    (folder / "factors.yaml").write_text(FACTORS, encoding="utf-8")
    (folder / "criteria.yaml").write_text(CRITERIA, encoding="utf-8")
    (folder / "questions.csv").write_text(
        "subject,text\nchemistry,Why is water polar?\nchemistry,Why do metals conduct?\nlaw,What is a tort?\n"
    )
    (folder / "prompts" / "teacher.simple.en.md").write_text("You are a teacher of the old school.\n")
    return folder


def configured(folder: Path, provider, language: str) -> Path:
    endpoint = "\n".join(f"{key} = {json.dumps(value)}" for key, value in provider.settings("openai").items())
    prompts = 'prompts = "prompts"' if language == "en" else ""
    text = f"""
[run]
name = "own"
language = "{language}"
{prompts}
[endpoints.m]
{endpoint}
[endpoints.n]
{endpoint}
style = "plain"
[personas]
factors = "factors.yaml"
[questions]
file = "questions.csv"
[simulate]
dialogues = 8
turns = 2
student = "m"
teacher = "m"
[cut]
subsets = 8
[collect]
endpoints = ["m", "n"]
[judge]
endpoints = ["m"]
criteria = "criteria.yaml"
one_by_one = true
[rate]
resamples = 50
"""
    path = folder / f"{language}.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_own_files_are_used_found_beside_the_configuration_and_verified_from_anywhere(
    provider, own, tmp_path, monkeypatch, capsys
):
    run = tmp_path / "run"
    assert main(["run", str(configured(own, provider, "en")), "--run", str(run)]) == 0
    dialogues = read_records(run / "dialogues.jsonl", Dialogue)
    assert {d.persona for d in dialogues} == {
        f"pat-{p}.mood-{m}" for p in ("low", "high") for m in ("sunny", "grey")
    }
    assert {d.subject for d in dialogues} == {"chemistry", "law"}
    assert {d.utterances[0].text for d in dialogues} == {
        "Why is water polar?",
        "Why do metals conduct?",
        "What is a tort?",
    }
    teachers = [asked for asked in provider.requests if asked.texts[0] == "You are a teacher of the old school."]
    assert teachers
    assert {one.criterion for one in read_records(run / "judgments.jsonl", Judgment)} == {"warmth"}
    manifest = json.loads((run / "manifest.json").read_text())
    assert manifest["inputs"]["personas"]["count"] == 4
    assert "teacher.simple.en" in manifest["prompts"]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    moved = tmp_path / "moved"
    shutil.copytree(run, moved)
    assert main(["verify", "--run", str(moved)]) == 0


def test_the_korean_side_speaks_korean(provider, own, tmp_path):
    run = tmp_path / "run"
    config = configured(own, provider, "ko")
    config.write_text(config.read_text(encoding="utf-8").replace('file = "questions.csv"', ""), encoding="utf-8")
    assert main(["run", str(config), "--run", str(run)]) == 0
    subsets = read_records(run / "subsets.jsonl", Subset)
    assert {subset.language for subset in subsets} == {"ko"}
    assert all(any("가" <= character <= "힣" for character in subset.history[0].text) for subset in subsets)
    judge = next(asked for asked in provider.requests if asked.role == "judge")
    assert "따뜻함" in judge.last
    assert "[학생]" in judge.last
    report = (run / "report.md").read_text(encoding="utf-8")
    assert any("가" <= character <= "힣" for character in report)
    assert 'lang="ko"' in (run / "report.html").read_text(encoding="utf-8")
