from __future__ import annotations

import json
from pathlib import Path

import pytest

from frontdesk.cli import main
from personas import generate
from runstore import publish
from runstore.records import Persona, SeedQuestion
from seed_questions import load


def test_personas_as_json_are_one_object_a_line(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["personas", "--json", "--language", "ko"]) == 0
    out, err = capfdbinary.readouterr()
    rows = [json.loads(line) for line in out.decode().splitlines()]
    assert [Persona.model_validate(row) for row in rows] == generate(language="ko")
    assert err == b""


def test_the_table_has_every_persona_and_no_control_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["personas"]) == 0
    out = capsys.readouterr().out
    assert all(person.id in out for person in generate())
    assert "\x1b" not in out


def test_one_persona_is_shown_with_its_text(capsys: pytest.CaptureFixture[str]) -> None:
    person = generate()[3]
    assert main(["personas", person.id, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == person.model_dump(mode="json")
    assert main(["personas", "commit-low"]) == 2
    assert "no persona 'commit-low'" in capsys.readouterr().err


def test_a_balanced_fraction_and_its_size(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["personas", "--design", "balanced", "--size", "8", "--json"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 8
    assert main(["personas", "--design", "balanced"]) == 2
    assert main(["personas", "--size", "8"]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_own_factors_with_markup_and_control_codes_are_shown_literally(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "f.yaml"
    path.write_text(
        'factors:\n  - id: mood\n    name: "[bold]Mood[/x]"\n    levels:\n'
        '      - {id: up, text: "see [/red] \\e[31mred"}\n      - {id: down, text: no}\n'
    )
    assert main(["personas", "--factors", str(path)]) == 0
    assert "[bold]Mood[/x]" in capsys.readouterr().out
    assert main(["personas", "mood-up", "--factors", str(path)]) == 0
    out = capsys.readouterr().out
    assert "see [/red]" in out
    assert "\x1b" not in out
    path.write_text("factors:\n  - id: mood\n")
    assert main(["personas", "--factors", str(path)]) == 2
    assert f"{path}:2: factors.0.levels" in capsys.readouterr().err


def test_questions_can_be_listed_exported_and_read_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["questions", "--json", "--subject", "databases"]) == 0
    rows = [SeedQuestion.model_validate_json(line) for line in capsys.readouterr().out.splitlines()]
    assert rows == [question for question in load() if question.subject == "databases"]
    for name in ("q.jsonl", "q.csv"):
        assert main(["questions", "--language", "ko", "--output", str(tmp_path / name)]) == 0
        captured = capsys.readouterr()
        assert captured.out == ""
        assert "82개를 썼습니다" in captured.err
        assert load(tmp_path / name, "ko") == load(language="ko")
        assert main(["questions", "--input", str(tmp_path / name), "--language", "ko", "--json"]) == 0
        assert len(capsys.readouterr().out.splitlines()) == 82


def test_exported_personas_keep_levels_in_columns(tmp_path: Path) -> None:
    assert main(["personas", "--output", str(tmp_path / "p.csv")]) == 0
    header, rows = publish.read_csv(tmp_path / "p.csv")
    levels = ["goal_commitment", "motivation", "self_efficacy", "year"]
    assert header == ["id", *levels, "language", "opens", "leaves_early", "text"]
    assert [row["text"] for row in rows] == [person.text for person in generate()]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["questions", "--subject", "alchemy"], "no subject 'alchemy'"),
        (["questions", "--input", "none.csv"], "none.csv"),
        (["questions", "--output", "q.docx"], ".jsonl or .csv"),
        (["personas", "--language", "fr"], "invalid choice"),
    ],
)
def test_mistakes_end_with_two_and_a_message(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""
    assert list(tmp_path.iterdir()) == []
