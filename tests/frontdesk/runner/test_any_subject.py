"""Whatever is taught: with factors and questions of one's own no foreign subject is spoken of anywhere."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from frontdesk.cli import main
from runstore.publish import read_records
from runstore.records import Dialogue
from seed_questions import load, path_of_bank
from tests.support.fake_provider import FakeProvider
from tests.support.small_runs import write_config

SUBJECTS = {
    "nursing": (
        ("nursing", "간호학"),
        ("You are in your second year at a school of nursing.", "당신은 간호학과 2학년이다."),
    ),
    "school maths": (
        ("middle-school mathematics", "중학교 수학"),
        ("You go to middle school.", "당신은 중학생이다."),
    ),
    "welding": (
        ("welding", "용접"),
        ("You learn welding at a technical school.", "당신은 기술학교에서 용접을 배운다."),
    ),
    "literature": (("Korean literature", "국문학"), ("You read Korean literature.", "당신은 국문학을 공부한다.")),
}
FACTORS = """
intro: {en: INTRO_EN, ko: INTRO_KO}
factors:
  - id: confidence
    short: conf
    name: {en: Confidence, ko: 자신감}
    levels:
      - id: low
        text: {en: You doubt yourself., ko: 스스로를 의심한다.}
      - id: high
        text: {en: You are sure of yourself., ko: 자신이 있다.}
"""
QUESTIONS = {
    "nursing": (
        (
            "Why must cloudy insulin be drawn up after the clear one?",
            "왜 혼탁한 인슐린을 맑은 것보다 나중에 뽑아야 하나요?",
        ),
        ("Which patients fall most often in the first night?", "첫날 밤에 가장 잘 넘어지는 환자는 누구인가요?"),
    ),
    "school maths": (
        ("Why does dividing by a half make a number larger?", "2분의 1로 나누면 왜 수가 더 커지나요?"),
        ("Why is the sum of two odd numbers even?", "홀수 두 개를 더하면 왜 짝수가 되나요?"),
    ),
    "welding": (
        ("Why does a fillet weld crack when it cools too fast?", "모살 용접부는 너무 빨리 식으면 왜 갈라지나요?"),
        ("Why is the electrode baked before use?", "용접봉은 왜 쓰기 전에 말려야 하나요?"),
    ),
    "literature": (
        ("Why does the speaker of a sijo turn in the last line?", "시조는 왜 종장에서 시상을 바꾸나요?"),
        ("Who tells the story of Chunhyang in a pansori?", "판소리에서 춘향의 이야기를 들려주는 이는 누구인가요?"),
    ),
}
FOREIGN = re.compile(r"comput|컴퓨터|programm|프로그래밍|algorithm|알고리즘|software|소프트웨어", re.IGNORECASE)


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("subject", SUBJECTS)
def test_own_students_and_questions_bring_their_subject_from_the_prompts_to_the_card(
    subject: str, language: str, provider: FakeProvider, tmp_path: Path
) -> None:
    (english, korean), (intro_en, intro_ko) = SUBJECTS[subject]
    factors = FACTORS.replace("INTRO_EN", intro_en).replace("INTRO_KO", intro_ko)
    (tmp_path / "factors.yaml").write_text(factors, encoding="utf-8")
    rows = [f"  - text: {{en: {json.dumps(en)}, ko: {json.dumps(ko)}}}" for en, ko in QUESTIONS[subject]]
    top = f"domain: {{en: {english}, ko: {korean}}}\nsubject: own\nquestions:\n"
    (tmp_path / "questions.yaml").write_text(top + "\n".join(rows), encoding="utf-8")
    own = '[personas]\nfactors = "factors.yaml"\n[questions]\nfile = "questions.yaml"\n'
    run = _run(tmp_path, provider, language, own)
    domain = english if language == "en" else korean
    _speaks_only_of(domain, run, provider, tmp_path)


def test_the_domain_of_the_configuration_goes_before_that_of_the_questions(
    provider: FakeProvider, tmp_path: Path
) -> None:
    (tmp_path / "q.yaml").write_text("domain: law\nquestions:\n  - What is a tort?\n", encoding="utf-8")
    (tmp_path / "p.csv").write_text("id,mood,text\nann,calm,You study law.\nbea,tense,You fear exams.\n")
    own = '[personas]\nfile = "p.csv"\n[questions]\nfile = "q.yaml"\n'
    run = _run(tmp_path, provider, "en", own, 'domain = "private law"\n')
    _speaks_only_of("private law", run, provider, tmp_path)
    dialogues = read_records(run / "dialogues.jsonl", Dialogue)
    assert {each.persona for each in dialogues} == {"ann", "bea"}
    assert {tuple(each.levels.items()) for each in dialogues} == {(("mood", "calm"),), (("mood", "tense"),)}


def test_shipped_students_with_questions_of_another_subject_are_remarked_upon(
    provider: FakeProvider, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "q.yaml").write_text("difficulty: hard\nquestions:\n  - What is a tort?\n", encoding="utf-8")
    config = write_config(tmp_path / "c.toml", provider, dialogues=2, subsets=2)
    config.write_text(config.read_text() + '\n[questions]\nfile = "q.yaml"\n', encoding="utf-8")
    assert main(["simulate", "--config", str(config), "--run", str(tmp_path / "run")]) == 0
    said = capsys.readouterr().err
    assert "the students are still the shipped ones, of computer science" in said
    assert "no question fits the level of 8 of 32 personas" in said


def test_the_bank_of_school_mathematics_end_to_end_in_korean(provider: FakeProvider, tmp_path: Path) -> None:
    own = '[questions]\nbank = "school-mathematics"\n'
    run = _run(tmp_path, provider, "ko", own, dialogues=12, subsets=12)
    _speaks_only_of("중고등학교 수학", run, provider, tmp_path)
    dialogues = read_records(run / "dialogues.jsonl", Dialogue)
    questions = {each.id: each for each in load(path_of_bank("school-mathematics"), "ko")}
    assert len(dialogues) == 12
    for dialogue in dialogues:
        question = questions[dialogue.question]
        assert dialogue.utterances[0].text == question.text
        assert dialogue.levels["year"] in question.levels["year"]
    assert {each.levels["year"] for each in dialogues} == set(YEARS)
    report = (run / "report.md").read_text("utf-8")
    assert not FOREIGN.search(report)
    assert main(["verify", "--run", str(run)]) == 0


YEARS = ("middle1", "middle2", "middle3", "high1", "high2", "high3")


def _run(
    folder: Path,
    provider: FakeProvider,
    language: str,
    own: str,
    more: str = "",
    dialogues: int = 4,
    subsets: int = 4,
) -> Path:
    config = write_config(folder / "c.toml", provider, dialogues=dialogues, subsets=subsets)
    text = config.read_text().replace("[run]\n", f'[run]\nlanguage = "{language}"\n{more}')
    config.write_text(f"{text}\n{own}", encoding="utf-8")
    assert main(["run", str(config), "--run", str(folder / "run")]) == 0
    return folder / "run"


def _speaks_only_of(domain: str, run: Path, provider: FakeProvider, folder: Path) -> None:
    """Student, teacher, judge and card are told the domain, and no word of another."""
    told: dict[str, list[str]] = {}
    for request in provider.requests:
        if request.shape == "gemini":
            told.setdefault(request.role, []).append(_instructions(request.body))
    for role in ("student", "teacher", "judge"):
        assert all(domain in text for text in told[role]), role
        assert [found[0] for text in told[role] if (found := FOREIGN.search(text))] == []
    assert main(["export", "--run", str(run), "--as", "openai", "--out", str(folder / "out")]) == 0
    card = next((folder / "out").glob("*.md")).read_text("utf-8")
    assert f"Synthetic tutoring dialogues ({domain})" in card
    assert not FOREIGN.search(card)


def _instructions(body: object) -> str:
    """What the product wrote: all but what the provider said itself in earlier turns."""
    text = json.dumps(body, ensure_ascii=False)
    return text.split('"contents"')[0] if '"systemInstruction"' in text.split('"contents"')[0] else text[:1500]
