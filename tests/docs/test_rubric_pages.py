"""What the pages on rubrics say runs as it stands there."""

import re
from pathlib import Path
from typing import Any

import pytest

from arena.rubrics.rubric import load_rubric
from tests.support.fake_provider import FakeProvider

DOCS = Path(__file__).parents[2] / "docs"


def block(page: str, language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)
    assert found
    return found[1]


def test_the_example_of_a_new_rubric_loads_and_scores(tmp_path: Path) -> None:
    path = tmp_path / "feedback.yaml"
    path.write_text(block("add-a-rubric.md", "yaml"), encoding="utf-8")
    assert load_rubric(path).bounds == (1 + 0 + 1, 3 + 5 + 5)
    values = {
        "F1_use": {"names_the_error": 1, "next_step": 0},
        "F2_cover": {"spelling": 1},
        "F3_tone": {"score": 4},
    }
    names: dict[str, Any] = {"values": values}
    exec(block("add-a-rubric.md", "python").replace("feedback.yaml", str(path)), names)
    assert names["scores"].after.total == 2 + 5 + 4


def test_the_example_in_code_prints_a_row_a_judge(
    provider: FakeProvider, capsys: pytest.CaptureFixture[str]
) -> None:
    names: dict[str, Any] = {"endpoints": {"one": provider.settings("openai"), "two": provider.settings("gemini")}}
    names["endpoints"]["two"]["api_key_env"] = "NO_KEY_NEEDED_HERE"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_KEY_NEEDED_HERE", "k-123456789")
        exec(block("rubrics.md", "python"), names)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["one", "two"]
    assert all(line.endswith("3 of 3 readable") for line in lines)
