"""Every kind of page in a real browser: no serious finding of axe-core, and no page wider than its screen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from frontdesk.cli import main
from frontdesk.runner.watching import watched
from frontdesk.web.chromium import find_chromium, flags
from frontdesk.web.watch import watching
from tests.support.axe import serious_findings
from tests.support.gallery import written
from tests.support.human_site import links, planned, running
from tests.support.small_runs import REPOSITORY

pytestmark = pytest.mark.browser
playwright_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("axe_playwright_python", reason="axe-core is not installed")
CHROMIUM = find_chromium()
SCHEMES: dict[str, tuple[str, ...]] = {"light": (), "dark": ("color-contrast",)}
"""The rules to look at: of the dark page those that the light one does not decide."""
KOREAN = {
    "light": ("color-contrast", "html-has-lang", "html-lang-valid", "valid-lang"),
    "dark": ("html-has-lang",),
}
"""What the Korean report can have otherwise than the English one."""
WIDTHS = (390, 800, 1400)
SPLIT = """() => {
  const found = [];
  for (const cell of document.querySelectorAll("th, td.n")) {
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const words = walker.currentNode.data;
      for (const { 0: word, index } of words.matchAll(/(?<![^\\s-])[\\p{L}\\d]{2,12}(?![^\\s-])/gu)) {
        const range = document.createRange();
        range.setStart(walker.currentNode, index);
        range.setEnd(walker.currentNode, index + word.length);
        const tops = [...range.getClientRects()].map(({ top }) => Math.round(top));
        if (tops.some((top) => Math.abs(top - tops[0]) > 8)) found.push(word);
      }
    }
  }
  return found;
}"""
"""The short words in headings and numbers of tables that stand on two lines, letter by letter."""
NOTEBOOKS = REPOSITORY / "docs" / "notebooks"
KINDS = ("report", "report-ko", "site", "match", "endpoint", "comparison", "agreement", "agent-runs", "score")


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Addresses by kind; of what is watched its folder."""
    found = {kind: path.as_uri() for kind, path in written(tmp_path_factory.mktemp("gallery"), subsets=12).items()}
    site, run = found["site"], unreadable_in_part(tmp_path_factory.mktemp("watched"))
    found |= {"match": f"{site}#match-3", "endpoint": site.replace("index", "endpoint-explainer")}
    return found | {"watched": str(run)}


def unreadable_in_part(folder: Path) -> Path:
    """A scripted run whose judge cannot always be read."""
    for name in ("student", "asks", "tells", "judge"):
        text = (NOTEBOOKS / f"{name}.jsonl").read_text("utf-8")
        (folder / f"{name}.jsonl").write_text(text.replace("### (a)", "who <b>knows</b>?", 1), "utf-8")
    config = (NOTEBOOKS / "arena.toml").read_text().replace("dialogues = 24", "dialogues = 8")
    (folder / "arena.toml").write_text(config.replace("subsets = 48", "subsets = 8"))
    assert main(["run", str(folder / "arena.toml"), "--run", str(folder / "run")]) == 1
    return folder / "run"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    with playwright_api.sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=CHROMIUM, args=flags())
        yield browser
        browser.close()


def look(page: Any, schemes: Mapping[str, tuple[str, ...]] = SCHEMES) -> None:
    """The checks that every page passes at three widths: axe-core, light on a broad screen and dark on a phone."""
    for scheme, rules in schemes.items():
        page.emulate_media(color_scheme=scheme)
        for width in WIDTHS if scheme == "light" else reversed(WIDTHS):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (page.url, width)
            assert page.evaluate(SPLIT) == [], (page.url, width)
        page.evaluate(
            "window.scrollTo({ top: document.body.scrollHeight, behavior: 'instant' })"
        )  # bars lie on nothing
        assert serious_findings(page, *rules) == [], (page.url, scheme)


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_has_no_serious_finding_and_fits(gallery: dict[str, str], browser: Any, kind: str) -> None:
    page = browser.new_page()
    page.goto(gallery[kind])
    if kind in ("site", "match"):
        page.wait_for_selector("#list li")
    if kind == "match":
        page.wait_for_selector("#match .beside")
    look(page, KOREAN if kind == "report-ko" else SCHEMES)
    page.close()


def test_the_pages_of_a_study_have_no_serious_finding_and_fit(tmp_path: Path, browser: Any) -> None:
    with running(planned(tmp_path)) as (root, store):
        page = browser.new_page()
        link = links(store, root)["lay-01"]
        page.goto(f"{link}/consent")
        look(page)
        page.click("button[value=yes]")  # without the tick: the page complains
        look(page)
        page.check("input[name=agree]")
        page.click("button[value=yes]")
        page.wait_for_url("**/training/1")
        look(page)
        while "/training/" in page.url:
            fill(page)
        page.wait_for_url("**/item/1")
        look(page)
        text_stays_while_keys_answer(page)
        page.goto(f"{root}/o/{store.persons.secret('organiser')}")
        look(page)
        page.goto(f"{root}/o/{store.persons.secret('organiser')}?language=ko")
        look(page)
        page.goto(f"{root}/r/nobody")
        look(page)
        page.goto(f"{link}/item/1")
        fill(page)  # one item, finished: there are results to look at
        for language, schemes in (("en", SCHEMES), ("ko", KOREAN)):
            page.goto(f"{root}/o/{store.persons.secret('organiser')}/results?language={language}")
            assert page.locator("table").count()
            look(page, schemes)
        page.close()


def test_the_page_of_a_run_as_it_goes_has_no_serious_finding_and_fits(
    gallery: dict[str, str], browser: Any
) -> None:
    with watching(watched(Path(gallery["watched"]))) as address:
        page = browser.new_page()
        page.goto(address)
        assert page.get_by_text("who <b>knows</b>?").count()
        look(page)
        page.close()


def text_stays_while_keys_answer(page: Any) -> None:
    """Side by side on a broad screen, stuck to the top on a phone; number keys choose and go on."""
    for size in ({"width": 1400, "height": 500}, {"width": 390, "height": 700}):
        page.set_viewport_size(size)
        page.locator("main form fieldset").last.scroll_into_view_if_needed()
        seen = page.locator(".pane .seen").bounding_box()
        assert 0 <= seen["y"] < size["height"] / 2, (size, seen)
        status = page.locator("#status").bounding_box()
        assert status["y"] < size["height"], "what is saved is told on the screen"
    page.reload()
    page.keyboard.press("2")
    page.keyboard.press("4")
    page.locator("#status", has_text="저장됨").wait_for()
    chosen = page.locator("main form input[type=radio]:checked")
    assert [chosen.nth(at).input_value() for at in range(2)] == ["2", "4"]
    page.locator("textarea").first.fill("")
    page.locator("textarea").first.type("3")
    assert chosen.count() == 2, "a number that is typed into a text answers nothing"


def fill(page: Any) -> None:
    """Answer what is visible, and go on."""
    before = page.url
    for box in page.locator("main fieldset:visible").all():
        if box.locator("input[type=radio]").count():
            box.locator("input[type=radio]").first.check()
        else:
            box.locator("textarea, input").first.fill("7")
    page.click("main form button[type=submit]")
    page.wait_for_url(lambda url: url != before)
