"""Whatever is taught: with factors and questions of one's own no foreign subject is spoken of anywhere."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from frontdesk.cli import main
from tests.support.fake_provider import FakeProvider
from tests.support.small_runs import write_config

FACTORS = """
intro: {en: You are in your second year at a school of nursing., ko: 당신은 간호학과 2학년이다.}
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
QUESTIONS = """
subject: nursing
questions:
  - id: insulin
    text:
      en: Why must cloudy insulin be drawn up after the clear one?
      ko: 왜 혼탁한 인슐린을 맑은 것보다 나중에 뽑아야 하나요?
  - id: fall
    text:
      en: Which patients fall most often in the first night?
      ko: 첫날 밤에 가장 잘 넘어지는 환자는 누구인가요?
"""
FOREIGN = re.compile(r"comput|컴퓨터|programm|프로그래밍|algorithm|알고리즘", re.IGNORECASE)


@pytest.mark.parametrize(("language", "domain"), [("en", "nursing"), ("ko", "간호학")])
def test_own_students_and_questions_bring_their_subject_from_the_prompts_to_the_card(
    language: str, domain: str, provider: FakeProvider, tmp_path: Path
) -> None:
    (tmp_path / "factors.yaml").write_text(FACTORS, encoding="utf-8")
    (tmp_path / "questions.yaml").write_text(QUESTIONS, encoding="utf-8")
    config = write_config(tmp_path / "c.toml", provider, dialogues=4, subsets=4)
    text = config.read_text().replace("[run]\n", f'[run]\nlanguage = "{language}"\ndomain = "{domain}"\n')
    own = '[personas]\nfactors = "factors.yaml"\n[questions]\nfile = "questions.yaml"\n'
    config.write_text(f"{text}\n{own}", encoding="utf-8")
    run = tmp_path / "run"
    assert main(["run", str(config), "--run", str(run)]) == 0
    asked = [request for request in provider.requests if request.role in {"student", "teacher", "judge"}]
    prompts = [_instructions(request.body) for request in asked]
    assert [found[0] for text in prompts if (found := FOREIGN.search(text))] == []
    assert main(["export", "--run", str(run), "--as", "openai", "--out", str(tmp_path / "out")]) == 0
    card = next((tmp_path / "out").glob("*.md")).read_text("utf-8")
    assert f"Synthetic tutoring dialogues ({domain})" in card
    assert not FOREIGN.search(card)


def _instructions(body: object) -> str:
    """What the product wrote: all but what the provider said itself in earlier turns."""
    text = json.dumps(body, ensure_ascii=False)
    return text.split('"contents"')[0] if '"systemInstruction"' in text.split('"contents"')[0] else text[:1500]
