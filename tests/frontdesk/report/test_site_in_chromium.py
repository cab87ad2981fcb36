"""The site in a real browser, opened from disk, with ten thousand matches and hostile names and texts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from frontdesk.cli import main
from frontdesk.report.untrusted import visible
from frontdesk.web.chromium import find_chromium, flags
from runstore.ids import draw, pick
from tests.support.run_folders import RunBuilder

pytestmark = pytest.mark.browser

CHROMIUM = find_chromium()
HOSTILE = '<img src=x onerror=alert(1)><b>hi</b> & "q" [x](javascript:alert(1)) </script>'
UNSEEN = "a\u200bb \u202ec\u3164 \ufeff👨\u200d👩\u200d👧 می\u200cخواهم x\u200dy \x1b[31m"
NAMES = ["__proto__", "constructor", HOSTILE]
PAIRS = [("__proto__", "constructor"), (HOSTILE, "__proto__"), (HOSTILE, "constructor")]
SUBSETS = 3334
MATCHES = SUBSETS * len(PAIRS)
NEEDLE = "s-003210 of constructor"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = RunBuilder(NAMES, judges=["j<i>"], utterance=f"{HOSTILE} $& why? {UNSEEN}", resamples=5)
    for number in range(SUBSETS):
        subset = run.subset()
        for pair in PAIRS:
            word = pick(["aaa", "aab", "bbb", "abt", "ttb", "axx"], 1, number, *pair)
            run.match(subset, pair, word if draw(2, number) < 0.9 else "aaa")
    folder = tmp_path_factory.mktemp("my results \ud55c\uae00")
    run.write(folder / "run")
    assert main(["report", "--run", str(folder / "run"), "--site", str(folder / "site")]) == 1
    return folder / "site"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=CHROMIUM, args=flags())
        yield browser
        browser.close()


@pytest.fixture
def page(site: Path, chromium: Any) -> Iterator[Any]:
    """A page on the site; anything logged, thrown, asked of a network, or popped up fails the test."""
    trouble: list[str] = []
    page = chromium.new_page(viewport={"width": 1400, "height": 1000})
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("dialog", lambda dialog: (trouble.append("a dialog"), dialog.dismiss()))
    page.on(
        "request",
        lambda request: request.url.startswith(("file:", "data:")) or trouble.append(f"request: {request.url}"),
    )
    page.goto((site / "index.html").as_uri())
    page.wait_for_selector("#list li")
    yield page
    page.close()
    assert trouble == []


def column(page: Any, place: int) -> list[str]:
    return page.locator(f"#board tbody tr > :nth-child({place})").all_inner_texts()


def test_the_whole_is_shown(page: Any) -> None:
    assert page.locator("#showing").inner_text() == f"Matches: {MATCHES} of {MATCHES}"
    assert page.locator("#board tbody tr").count() == 3
    assert page.locator("#rating-chart .broad circle").count() == 3
    assert page.locator("#grid td.heat").count() == 9
    assert page.locator("#judging figure").count() == 2
    assert page.locator("[role=alert] strong").inner_text().startswith("Incomplete:")
    assert page.locator("#trouble").is_hidden()


def test_the_table_sorts_by_mouse_and_keyboard(page: Any) -> None:
    rating = page.locator('.sorter[data-key="rating"]')
    falling = [float(text) for text in column(page, 2)]
    assert falling == sorted(falling, reverse=True)
    rating.click()
    assert [float(text) for text in column(page, 2)] == falling[::-1]
    assert page.locator("#board th[aria-sort=ascending]").inner_text().startswith("Rating")
    page.locator('.sorter[data-key="name"]').focus()
    page.keyboard.press("Enter")
    names = column(page, 1)
    assert names[0] != names[-1]
    assert set(names) == set(NAMES)
    assert page.evaluate("document.activeElement.dataset.key") == "name"
    page.keyboard.press("Enter")
    assert column(page, 1) == names[::-1]


def test_filters_count_again_and_bring_the_levels_own_ratings(page: Any) -> None:
    whole = column(page, 2)
    page.locator("form").get_by_label("Subject").select_option(label="databases")
    shown = int(page.locator("#showing").inner_text().split()[1])
    assert 0 < shown < MATCHES / 2
    assert sum(int(text) for text in column(page, 8)) == 2 * (shown - invalid(page))
    assert column(page, 2) != whole
    assert "Pulled to the whole" in page.locator("#board thead").inner_text()
    page.locator("form").get_by_label("Persona: motivation").select_option(label="high")
    assert column(page, 2) == ["–"] * 3
    assert page.locator("#rating-chart circle").count() == 0
    page.locator("#reset").click()
    assert column(page, 2) == whole


def invalid(page: Any) -> int:
    return int(page.locator("#reliability tbody tr:last-child td").first.inner_text())


def test_win_rates_and_intervals_equal_the_reports(page: Any, site: Path) -> None:
    main(["report", "--run", str(site.parent / "run"), "--quiet"])
    report = (site.parent / "run" / "report.md").read_text("utf-8")
    page.locator("form").get_by_label("Subject").select_option(label="databases")
    row = next(line for line in report.splitlines() if line.startswith("| databases |"))
    for name, rate, limits in zip(column(page, 1), column(page, 9), column(page, 10), strict=True):
        assert f"{rate.strip()} [{limits}]" in row, name


def wait_for(page: Any, found: str) -> None:
    page.locator("#found").get_by_text(found, exact=True).wait_for()


def test_a_match_is_found_by_its_whole_text_and_read(page: Any) -> None:
    page.locator("#query").fill(NEEDLE)
    wait_for(page, f"Matches: 3 of {MATCHES}")
    page.locator("form").get_by_label("Pair").select_option(index=1)
    wait_for(page, f"Matches: 1 of {MATCHES}")
    page.locator("#list a").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#match .beside")
    assert page.evaluate("document.activeElement.closest('#match') !== null")
    assert NEEDLE in page.locator("#match .beside").first.inner_text()
    assert page.locator("#match tbody tr").count() == 3
    assert "### (" in page.locator("#match .judges").inner_text()
    page.locator("#query").fill("no such words anywhere")
    wait_for(page, "No match fits.")


def test_pages_and_links_lead_through_all_matches(page: Any, site: Path) -> None:
    first = page.locator("#list li").first.inner_html()
    page.get_by_role("button", name="Next").click()
    assert page.locator("#list li").first.inner_html() != first
    page.locator("form").get_by_label("Agreement").select_option(label="Split")
    assert all("Split" in text for text in page.locator("#list .facts").all_inner_texts())
    page.goto((site / "index.html").as_uri() + f"#match-{MATCHES - 1}")
    page.wait_for_selector("#match .beside")
    assert f"s-{SUBSETS - 1:06d}" in page.locator("#match").inner_text()


def test_the_address_keeps_filters_and_search_and_names_a_match_for_good(page: Any) -> None:
    page.locator("form").get_by_label("Subject").select_option(label="databases")
    page.locator("form").get_by_label("Agreement").select_option(label="Majority")
    page.locator("#query").fill("s-0000")
    page.wait_for_url(lambda url: "q=s-0000" in url)
    page.locator("#list a").nth(1).click()
    page.wait_for_selector("#match .beside")
    page.wait_for_timeout(1000)  # texts that are still searched may add to the list
    found = page.locator("#found").inner_text()
    listed, opened = page.locator("#list").inner_text(), page.locator("#match h3").inner_text()
    address = page.url
    assert "#match/s-0000" in address
    assert "subject=databases" in address
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector("#match .beside")
    assert page.locator("#match h3").inner_text() == opened
    wait_for(page, found)
    assert page.locator("#list").inner_text() == listed
    assert page.locator("form").get_by_label("Subject").input_value() != "-1"
    assert page.locator("#trouble").is_hidden()


@pytest.mark.parametrize(
    "wrong", ["#match/s-9/a/b/overall", "#match-99999999", "#nowhere", "?depth=77", "#match/%E0%A4%A"]
)
def test_a_link_that_leads_nowhere_says_so(page: Any, site: Path, wrong: str) -> None:
    page.goto("about:blank")
    page.goto((site / "index.html").as_uri() + wrong)
    page.locator("#trouble").wait_for()
    assert page.locator("#trouble").inner_text().startswith("This link leads nowhere here:")
    assert page.locator("#showing").inner_text() == f"Matches: {MATCHES} of {MATCHES}"


def test_downloads_say_what_the_site_says(site: Path) -> None:
    lines = (site / "downloads" / "matches.csv").read_text("utf-8-sig").splitlines()
    assert len(lines) == MATCHES + 1
    assert lines[0].startswith("subset,dialogue,endpoint_1,endpoint_2,criterion,outcome,winner,agreement")
    told = json.loads((site / "downloads" / "site.json").read_text("utf-8"))
    assert told["title"] == "built"
    assert told["judges"] == "j<i>"
    board = json.loads((site / "downloads" / "leaderboard.json").read_text("utf-8"))
    assert {model["name"] for model in board["models"]} == set(NAMES)


def test_an_endpoint_has_a_page_whose_examples_land(page: Any, site: Path) -> None:
    page.get_by_role("link", name="constructor", exact=True).first.click()
    page.wait_for_selector("#record")
    assert page.locator("h1").inner_text() == "constructor"
    assert sum(int(text) for text in page.locator("#record tbody tr td:nth-child(5)").all_inner_texts()[:-1]) > 0
    link = page.locator("#examples a").first
    subset = link.inner_text()
    link.click()
    page.wait_for_selector("#match .beside")
    assert subset in page.locator("#match").inner_text()
    assert page.locator("#trouble").is_hidden()


def test_hostile_names_and_texts_stay_text(page: Any) -> None:
    page.goto(page.url.partition("#")[0] + "#match-1")
    page.wait_for_selector("#match .beside")
    for detail in page.locator("#match summary").all():
        detail.click()
    assert HOSTILE in page.locator("#match").inner_text()
    assert visible(UNSEEN) in page.locator("#match").inner_text()
    assert UNSEEN[:3] not in page.locator("body").inner_text()
    assert page.locator("main img, main b, main i, main script, header img").count() == 0
    links = page.eval_on_selector_all(
        "a[href], [src]", "all => all.map((e) => e.getAttribute('href') || e.getAttribute('src'))"
    )
    ours = re.compile(r"#.*|[\w/-]+\.js|endpoint-[\w.-]+\.html|downloads/[\w.]+")
    assert all(ours.fullmatch(link) for link in links), links
    handlers = "all => all.flatMap((e) => [...e.attributes]).filter((a) => a.name.startsWith('on')).length"
    assert page.eval_on_selector_all("*", handlers) == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_in_both_schemes(site: Path, chromium: Any, scheme: str) -> None:
    phone = chromium.new_page(viewport={"width": 390, "height": 800}, color_scheme=scheme)
    phone.goto((site / "index.html").as_uri() + "#match-5")
    phone.wait_for_selector("#match .beside")
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    box = phone.locator("#match").bounding_box()
    assert 0 <= box["y"] < 800, "the match that the address names is on the screen"
    ground = phone.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(int(part) for part in ground[4:-1].split(",")) > 380) == (scheme == "light")
    phone.close()


def test_what_is_unseen_shows_on_the_site_as_in_reports(page: Any) -> None:
    letters = "a\n\r\t\x1b\x85\xad\u0301\u0600\u0645\u0915\u094d\u115f\u200b\u200c\u200d\u2028\u202e\u2066\u2800"
    letters += "\u3164\ufe0f\ufeff\uffa0가\U000110bd\U0001d159\U0001f3fd👨👩\U000e0041"
    texts = ["".join(pick(letters, 5, at, place) for place in range(12)) for at in range(1000)]
    assert page.evaluate("texts => texts.map((text) => Arena.shown(text))", texts) == [
        visible(one) for one in texts
    ]
