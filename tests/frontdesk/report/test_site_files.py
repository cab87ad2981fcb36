"""The site's files, without a browser."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from datetime import date
from pathlib import Path

import orjson
import pytest

from frontdesk.report.sections.run.data import RunData, load
from frontdesk.report.site.write import write_site
from frontdesk.runner.config import SiteSection
from frontdesk.runner.config_file import parse, settled, to_toml
from runstore.languages import words
from runstore.problems import InputProblem, Problem
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


def test_a_site_says_of_itself_what_the_configuration_says(data: RunData, tmp_path: Path) -> None:
    said = SiteSection(
        title="Tutors <b>2026</b>", description="Of a & b.", date=date(2026, 8, 14), licence="CC BY 4.0"
    )
    told = replace(data, config=data.config.model_copy(update={"site": said}))
    page = write_site(told, tmp_path / "site", "en").read_text("utf-8")
    assert "<h1>Tutors &lt;b&gt;2026&lt;/b&gt;</h1>" in page
    for text in ("Of a &amp; b.", "2026-08-14", "CC BY 4.0", "Bradley-Terry"):
        assert text in page
    stored = orjson.loads((tmp_path / "site" / "downloads" / "site.json").read_bytes())
    assert (stored["title"], stored["licence"], stored["date"]) == (
        "Tutors <b>2026</b>",
        "CC BY 4.0",
        "2026-08-14",
    )


def test_what_a_site_says_of_itself_changes_no_run() -> None:
    plain = {"run": {"name": "n"}}
    with_site = {**plain, "site": {"title": "t", "date": date(2026, 1, 2)}}
    assert settled(parse(with_site)) == settled(parse(plain))
    assert parse(tomllib.loads(to_toml(parse(with_site)))).site == parse(with_site).site
    with pytest.raises(InputProblem, match="licence"):
        parse({"site": {"license": "CC0"}})


def test_pages_of_endpoints_that_are_gone_go_and_others_stay(data: RunData, tmp_path: Path) -> None:
    out = tmp_path / "site"
    write_site(data, out)
    pages = {path.name for path in out.glob("endpoint-*.html")}
    assert len(pages) == len(data.names)
    (out / "endpoint-old.html").write_text("old")
    write_site(data, out)
    assert {path.name for path in out.glob("endpoint-*.html")} == pages


def test_texts_of_a_megabyte_do_not_swell_what_a_page_loads(tmp_path: Path) -> None:
    run = RunBuilder(["x", "y"], utterance="so " * 350_000)
    run.play(["aaa", "abt"])
    run.replies = [reply.model_copy(update={"text": "1" * 1_000_000}) for reply in run.replies]
    run.judgments = [judgment.model_copy(update={"raw": "r" * 1_000_000}) for judgment in run.judgments]
    write_site(load(run.write(tmp_path / "run")), tmp_path / "site")
    assert max(path.stat().st_size for path in (tmp_path / "site").rglob("*")) < 1_000_000
    texts = value(tmp_path / "site" / "data" / "texts-0.js")
    assert isinstance(texts, list)
    assert texts[0]["replies"][0][1] == "1" * 20_000 + " […980000]"
