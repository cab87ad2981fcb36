"""The documentation: built strictly, fetched from nowhere, generated from the program, and its commands run."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType

import pytest

from frontdesk.cli import COMMANDS, PROGRAM, main, of_command
from frontdesk.cli.examples import EXAMPLES, lines
from frontdesk.web.chromium import find_chromium, flags
from tests.support.axe import serious_findings
from tests.support.small_runs import REPOSITORY

DOCS = REPOSITORY / "docs"


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(out)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


def test_the_site_fetches_nothing_and_can_be_searched(site: Path) -> None:
    fetched = re.compile(r'<(?:script|img|iframe)[^>]+src="(?:https?:)?//|<link[^>]+href="(?:https?:)?//')
    pages = list(site.rglob("*.html"))
    assert len(pages) > 40
    assert [page for page in pages if fetched.search(page.read_text(encoding="utf-8"))] == []
    words = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))["docs"]
    assert any("arena-hard" in each["text"] for each in words)
    notebook = (site / "notebooks" / "benchmark" / "index.html").read_text(encoding="utf-8")
    assert "judge: 144 of 144 rounds" in notebook
    assert "<table" in notebook
    leads = (each for page in pages for each in re.findall(r'href="#([^"]+)"', page.read_text(encoding="utf-8")))
    assert [lead for lead in leads if lead[0].isdigit()] == [], (
        "what follows the reader down a page looks for no such"
    )


@pytest.fixture
def served(site: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


@pytest.mark.browser
def test_a_search_finds_a_page_without_a_network_and_pages_can_be_read(served: str) -> None:
    if find_chromium() is None:
        pytest.skip("no Chromium on this machine")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=find_chromium(), args=flags())
        page = browser.new_page()
        asked: list[str] = []
        trouble: list[str] = []
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(served)
        page.locator("[data-bs-target='#mkdocs_search_modal']").first.click()
        query, found = page.locator("#mkdocs-search-query"), page.locator("#mkdocs-search-results a")
        for _ in range(30):  # what is typed before the index is read finds nothing
            query.fill("")
            query.press_sequentially("arena-hard")
            page.wait_for_timeout(1000)
            if found.filter(has_text="Neighbours").count():
                break
        assert found.filter(has_text="Neighbours").count()
        for place in ("", "commands/", "notebooks/benchmark/"):
            page.goto(f"{served}{place}")
            for width in (390, 800, 1400):
                page.set_viewport_size({"width": width, "height": 900})
                assert page.evaluate("document.documentElement.scrollWidth") <= width, (place, width)
            assert serious_findings(page) == [], place
            page.emulate_media(color_scheme="dark")
            page.wait_for_function("document.documentElement.dataset.bsTheme === 'dark'")
            page.wait_for_timeout(400)  # colours glide
            assert serious_findings(page, "color-contrast") == [], place
            page.emulate_media(color_scheme="light")
        browser.close()
    assert trouble == []
    assert [url for url in asked if not url.startswith((served, "data:", "blob:"))] == []


def test_every_page_is_in_the_navigation() -> None:
    listed = set(re.findall(r": ([\w/.-]+\.md)$", (REPOSITORY / "mkdocs.yml").read_text("utf-8"), re.MULTILINE))
    assert {path.name for path in DOCS.glob("*.md")} - listed == set()


def test_what_is_made_of_the_program_is_as_the_program_is() -> None:
    for name, text in script("reference").pages().items():
        assert (DOCS / name).read_text(encoding="utf-8") == text, f"{name} is old: make reference"
    commands = (DOCS / "commands.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+)$", commands, re.MULTILINE) == list(COMMANDS)


def test_every_command_that_is_written_can_be_read() -> None:
    written = [line for name in EXAMPLES if name != "completion" for line in lines(name, PROGRAM)]
    for page in [REPOSITORY / "README.md", *DOCS.rglob("*.md")]:
        for block in re.findall(r"```(?:sh|text)?\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            lines_of_block = block.replace("\\\n", " ").splitlines()
            written += [line for line in lines_of_block if line.startswith(f"{PROGRAM} ") and "[" not in line]
    assert len(written) > 100
    for line in written:
        words = shlex.split(line, comments=True)[1:]
        end = next((at for at, word in enumerate(words) if word in (">", "|", "&&")), len(words))
        of_command(words[0]).parse_args(words[1:end])  # raises Misused, having said why
    steps = {f"human {step}" for step in of_command("human").step_names()}
    assert set(EXAMPLES) == set(COMMANDS) - {"human"} | steps


def test_links_of_what_stands_outside_of_the_site_lead_somewhere() -> None:
    for page in (REPOSITORY / "README.md", REPOSITORY / "CHANGELOG.md"):
        targets = re.findall(r"\]\((?!https?:)([^)#\s]+)", page.read_text(encoding="utf-8"))
        assert [target for target in targets if not (page.parent / target).exists()] == []


def test_your_own_csv_becomes_a_verdict_as_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (DOCS / "from-your-own-csv.md").read_text(encoding="utf-8")
    given = re.findall(r"```(?:csv|jsonl)\n(.*?)```", text, re.DOTALL)
    for name, content in zip(("battles.csv", "ratings.csv", "subsets.jsonl", "replies.jsonl"), given, strict=True):
        Path(name).write_text(content, encoding="utf-8")
    Path("judge.jsonl").write_text('{"reply": "### (a)"}\n{"reply": "### (b)"}\n{"reply": "### (c)"}\n')
    Path("arena.toml").write_text(
        '[run]\nname = "own"\n[endpoints.judge]\nkind = "scripted"\nreplies = "judge.jsonl"\n'
        '[judge]\nendpoints = ["judge"]\n'
    )
    commands = [line for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    assert len(commands) == 6
    for line in commands:
        program, *words = shlex.split(line)
        assert program == "tutor-arena"
        assert main(words) == 0, (line, capsys.readouterr().err)
    assert Path("rated/leaderboard.md").is_file()
    assert Path("agreed/agreement.md").is_file()
    assert Path("judged/report.html").is_file()


def test_the_gallery_shows_every_picture_small() -> None:
    gallery = script("gallery")
    assert (DOCS / "gallery.md").read_text(encoding="utf-8") == gallery.page_text(), "old: make gallery"
    named = re.findall(r"\((gallery/[\w-]+\.webp)\)", gallery.page_text())
    assert sorted(named) == sorted(f"gallery/{path.name}" for path in (DOCS / "gallery").iterdir())
    sizes = [(DOCS / name).stat().st_size for name in named]
    assert max(sizes) < 120_000
    assert sum(sizes) < 1_500_000


def test_coverage_figures_are_those_of_the_tables_beside_them() -> None:
    for name, picture in script("coverage_figures").pictures().items():
        assert (DOCS / "coverage" / f"{name}.svg").read_text(encoding="utf-8") == picture, f"{name}: make figures"
        assert f"(coverage/{name}.svg)" in (DOCS / f"{name}.md").read_text(encoding="utf-8")
