"""What the tables of sources.md name is there: commands, tests, examples."""

from __future__ import annotations

import ast
import re
import shlex
from functools import lru_cache
from pathlib import Path

import pytest

from frontdesk.cli import main

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in TEXT.splitlines()
    if line.startswith("| ") and not line.startswith(("| ---", "| asked for"))
]


@lru_cache
def functions_of(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(
        node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


@pytest.mark.parametrize("row", ROWS, ids=[row[0][:60] for row in ROWS])
def test_a_row_names_a_verdict_and_a_test_that_exists(row: list[str]) -> None:
    asked, shown, verdict, test = row
    assert asked
    assert verdict
    assert re.fullmatch(r"`tutor-arena [a-z -]+`", shown), shown
    path, _, name = test.strip("`").partition("::")
    assert (ROOT / path).is_file(), path
    assert name in functions_of(ROOT / path), name


@pytest.mark.parametrize("command", sorted(set(re.findall(r"`(tutor-arena [a-z -]+)`", TEXT))))
def test_a_command_that_is_named_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, *words = shlex.split(command)
    assert main([*words, "--help"]) == 0
    assert "usage: tutor-arena" in capsys.readouterr().out


def test_every_document_has_its_example() -> None:
    linked = set(re.findall(r"\(examples/([\w-]+)/README\.md\)", TEXT))
    assert linked == {path.parent.name for path in (ROOT / "docs" / "examples").glob("*/README.md")}
    assert len(ROWS) > 50


LEARNING = re.compile(
    r"\b(?:people|pupils|students?|learners?)\b[^.|]{0,40}\b(?:learn(?:s|ed|t)?|improve[sd]?)\b"
    r"|(?:학생|사람|학습자)[^.|]{0,30}(?:배웁니다|배웠|배운다|실력이 늘|나아졌)|학습 효과[가를]",
    re.IGNORECASE,
)


def test_no_sentence_says_that_people_learn() -> None:
    """Of documents, reports and pages, in both languages; to say that it is not so is no claim."""
    words = [file for room in ("arena", "frontdesk", "personas") for file in (ROOT / room).glob("**/words/*.yaml")]
    files = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.toml"), *words]
    texts = {file: " ".join(file.read_text("utf-8").split()) for file in files}
    assert len(words) > 40
    claims = [
        (file.name, said[0])
        for file, text in texts.items()
        for said in LEARNING.finditer(text)
        if not re.search(r"\b(?:not|no|never|if)\b", text[max(0, said.start() - 40) : said.end()])
    ]
    assert claims == []
