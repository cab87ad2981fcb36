"""Paragraphs that say the opposite of each other to one persona are found; the shipped ones say no such thing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from frontdesk.cli import main
from personas import factors_file
from personas.contradictions import in_factors

OPPOSED = """
factors:
  - id: motivation
    levels:
      - id: low
        text: {en: You rarely ask anything yourself., ko: 먼저 묻는 일은 드물다.}
      - id: high
        text: {en: You ask about everything., ko: 계속 묻는다.}
  - id: year
    levels:
      - id: "1"
        text: {en: You have just begun., ko: 막 시작했다.}
      - id: "4"
        text: {en: "You skip the basics, ask about trade-offs.", ko: 기초는 건너뛰고 예외를 묻는다.}
"""


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("name", ["students", "school-students"])
def test_the_shipped_students_are_told_nothing_contradictory(name: str, language: str) -> None:
    assert in_factors(factors_file.load(name, language)) == []


@pytest.mark.parametrize("language", ["en", "ko"])
def test_two_levels_that_meet_are_found_and_two_of_one_factor_are_not(language: str, tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_text(OPPOSED, encoding="utf-8")
    found = in_factors(factors_file.load(path, language))
    assert [(each.first, each.second) for each in found] == [("year-4", "motivation-low")]


def test_a_condition_asks_for_nothing(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_text(
        OPPOSED.replace("You skip the basics, ask about", "When you ask, you ask about"), encoding="utf-8"
    )
    assert in_factors(factors_file.load(path)) == []


def test_an_interaction_meets_only_the_levels_it_is_for(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    calm = OPPOSED.replace("You skip the basics, ask about trade-offs.", "You skip the basics.")
    for level, meets in (("low", True), ("high", False)):
        added = (
            f'interactions:\n  - when: {{motivation: {level}, year: "4"}}\n    text: You ask why at every step.\n'
        )
        path.write_text(calm + added, encoding="utf-8")
        assert bool(in_factors(factors_file.load(path))) is meets


def test_the_command_names_both_texts_and_exits_with_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["personas", "--check", "--language", "ko"]) == 0
    capsys.readouterr()
    listed = tmp_path / "p.jsonl"
    rows = [{"id": "a", "text": "You never ask.\nYou ask why at every step."}, {"id": "b", "text": "You ask why."}]
    listed.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert main(["personas", "--input", str(listed), "--check", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["first"], found["second"]) == ("a, paragraph 2", "a, paragraph 1")
    factors = tmp_path / "f.yaml"
    factors.write_text(OPPOSED, encoding="utf-8")
    for option in ("--factors", "--input"):
        assert main(["personas", option, str(factors), "--check"]) == 1
        assert "year-4 says 'ask about'\n  motivation-low says 'rarely ask'" in capsys.readouterr().out
