"""The site's files, without a browser."""

from __future__ import annotations

import re
from pathlib import Path

import orjson
import pytest

from frontdesk.report.sections.run.data import RunData, load
from frontdesk.report.site.write import write_site
from runstore.languages import words
from runstore.problems import Problem
from tests.support.run_folders import RunBuilder

STATIC = Path(__file__).resolve().parents[3] / "frontdesk" / "report" / "site" / "static"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> RunData:
    run = RunBuilder(["../../up", "CON"], language="ko", per_dialogue=1)
    run.play(["aaa", "abt", "bbx"] * 40)
    return load(run.write(tmp_path_factory.mktemp("site")))


def value(path: Path) -> object:
    """What a data file hands to the page; its name must be the file's."""
    found = re.fullmatch(r'"use strict";Arena\.take\("([\w-]+)",(.*)\);\n', path.read_text("utf-8"), re.DOTALL)
    assert found is not None
    assert found[1] == path.stem
    return orjson.loads(found[2])


def test_every_file_is_inside_and_named_by_the_program(data: RunData, tmp_path: Path) -> None:
    out = tmp_path / "a b" / "site"
    first = write_site(data, out)
    assert first == out / "index.html"
    names = sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())
    assert [name for name in names if name.startswith("data/")] == [
        f"data/{name}.js"
        for name in ("index", "prose-0", "prose-1", "summary", "texts-0", "texts-1", "votes-0", "votes-1")
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a b"]
    index = value(out / "data" / "index.js")
    assert isinstance(index, dict)
    assert len(index["outcome"]) == 120
    assert '<html lang="ko">' in first.read_text("utf-8")
    assert "판결 신뢰도" in first.read_text("utf-8")


def test_the_same_run_gives_the_same_site_and_old_pieces_go(data: RunData, tmp_path: Path) -> None:
    write_site(data, tmp_path / "s")
    before = {path.name: path.read_bytes() for path in (tmp_path / "s").rglob("*") if path.is_file()}
    (tmp_path / "s" / "data" / "texts-9.js").write_text("old")
    write_site(data, tmp_path / "s")
    after = {path.name: path.read_bytes() for path in (tmp_path / "s").rglob("*") if path.is_file()}
    assert after == before


def test_a_folder_with_other_files_is_refused(data: RunData, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(Problem, match="other files"):
        write_site(data, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_the_scripts_use_known_words_and_never_markup_or_the_network() -> None:
    text = "".join(path.read_text("utf-8") for path in STATIC.glob("*.js"))
    for key in re.findall(r'Arena\.say\("(\w+)"', text):
        assert key in words("frontdesk.report", "site", "en").texts
    for forbidden in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "fetch(",
        "http://",
    ):
        assert forbidden not in re.sub(r"http://www\.w3\.org/(2000/svg|1999/xhtml|1998/Math/MathML)", "", text)
