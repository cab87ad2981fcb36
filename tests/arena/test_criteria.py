from __future__ import annotations

import re
from pathlib import Path

import pytest

from arena import criteria
from runstore.problems import InputProblem, Problem

FOUR = ["understanding", "explanation", "language", "readability"]


@pytest.mark.parametrize("language", ["en", "ko"])
def test_four_criteria_are_shipped_in_both_languages(language: str) -> None:
    found = criteria.load(language=language)
    assert [each.id for each in found] == FOUR
    korean = [bool(re.search("[가-힣]", each.name + each.description)) for each in found]
    assert korean == [language == "ko"] * 4


def test_names_choose_and_order() -> None:
    assert [each.id for each in criteria.load(["readability", "understanding"])] == [
        "readability",
        "understanding",
    ]
    assert [each.id for each in criteria.load("language")] == ["language"]


def test_criteria_are_read_one_a_line() -> None:
    chosen = criteria.load(["language", "readability"])
    lines = criteria.render(chosen).splitlines()
    assert lines == [f"- {each.name}: {each.description}" for each in chosen]


@pytest.mark.parametrize(
    ("names", "message"),
    [(["speling"], "'speling' is unknown"), (["language", "language"], "asked for twice"), ([], "at least one")],
)
def test_wrong_names_are_refused(names: list[str], message: str) -> None:
    with pytest.raises(Problem, match=message):
        criteria.load(names)


def test_an_own_file_is_taken_whole_and_texts_may_be_for_all_languages(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(
        "criteria:\n  - {id: warmth, description: 'Is it warm?'}\n"
        "  - {id: pace, name: Pace, description: {ko: 속도}}\n"
    )
    with pytest.raises(InputProblem, match=r"own.yaml:3: criteria.1.description.en: found only ko"):
        criteria.load(path)
    found = criteria.load(str(path), "ko")
    assert [(each.id, each.name, each.description) for each in found] == [
        ("warmth", "warmth", "Is it warm?"),
        ("pace", "Pace", "속도"),
    ]


def test_a_prompt_folder_may_replace_the_shipped_criteria(tmp_path: Path) -> None:
    assert [each.id for each in criteria.load(None, "en", tmp_path)] == FOUR
    (tmp_path / "criteria.yaml").write_text("criteria:\n  - {id: warmth, description: 'Is it warm?'}\n")
    assert [each.id for each in criteria.load(["warmth"], "en", tmp_path)] == ["warmth"]
    with pytest.raises(Problem, match="there are warmth"):
        criteria.load(["language"], "en", tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("criteria: []", "a list of at least one"),
        ("- id: a", "a mapping"),
        (
            "criteria:\n  - {id: a, description: x}\n  - {id: a, name: b, description: y}",
            "own.yaml:3: criteria.1.id",
        ),
        ("criteria:\n  - {id: overall, description: x}", "not 'overall'"),
        ("criteria:\n  - {id: a, descripton: x}", "'description'"),
        ("criteria:\n  - {id: a}", "criteria.0.description: found nothing"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(content)
    with pytest.raises(InputProblem, match=message):
        criteria.load(path)


@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_students_set_tells_the_judge_to_be_the_student(language: str) -> None:
    student = criteria.load("student", language)
    assert [each.id for each in student] == ["met_where_i_am", "can_go_on", "makes_me_think", "want_to_go_on"]
    told = criteria.render(student[1:2])
    assert told.startswith(student[0].role)
    assert student[0].role
    assert told.count(student[0].role) == 1
    assert all(not each.role for each in criteria.load(None, language))


def test_a_users_folder_replaces_a_set_too(tmp_path: Path) -> None:
    (tmp_path / "criteria.student.yaml").write_text("criteria: [{id: mine, name: Mine, description: d}]")
    assert [each.id for each in criteria.load("student", "en", tmp_path)] == ["mine"]
