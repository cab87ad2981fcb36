"""The example folders run as their READMEs say, and leave the files that the READMEs point to."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from frontdesk.cli import main

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
NAMES = sorted(path.parent.name for path in EXAMPLES.glob("*/README.md"))


def commands(readme: str) -> list[tuple[list[str], int]]:
    """The commands of the README's one block, each with the exit code it is to have (``# exit N``)."""
    (block,) = re.findall(r"```sh\n(.*?)```", readme, re.DOTALL)
    found: list[tuple[list[str], int]] = []
    for line in block.splitlines():
        command, _, remark = line.partition("#")
        code = re.search(r"exit (\d+)", remark)
        program, *words = shlex.split(command)
        assert program == "tutor-arena"
        found.append((words, int(code[1]) if code else 0))
    return found


def pointed_to(readme: str) -> list[str]:
    return re.findall(r"`((?:[\w-]+/)+[\w.-]+\.\w+)`", readme.partition("Look at")[2])


@pytest.mark.parametrize("name", NAMES)
def test_an_example_runs_as_its_readme_says(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / name
    shutil.copytree(EXAMPLES / name, folder)
    monkeypatch.chdir(folder)
    readme = (folder / "README.md").read_text(encoding="utf-8")
    for words, code in commands(readme):
        assert main(words) == code, (words, capsys.readouterr().err)
    wanted = pointed_to(readme)
    assert wanted
    assert [path for path in wanted if not (folder / path).is_file()] == []


def test_every_example_is_listed() -> None:
    listed = re.findall(r"\[([\w-]+)\]\(\1/README\.md\)", (EXAMPLES / "README.md").read_text(encoding="utf-8"))
    assert sorted(listed) == NAMES
