"""Three raters in a real Chromium, from consent to thanks; one reloads, double-clicks, goes back, is cut off."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from pathlib import Path
from urllib.parse import parse_qsl

import pytest

from frontdesk.web.chromium import find_chromium, flags
from tests.support.human_site import NAMES, links, planned, running

playwright_api = pytest.importorskip("playwright.async_api", reason="playwright is not installed")
CHROMIUM = find_chromium()
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
]
SUBMIT = "main form button[type=submit]"


async def fill(page, choice: int) -> None:
    """Answer everything that is visible, as a person would: click and type."""
    for box in await page.locator("main fieldset:visible").all():
        radios = box.locator("input[type=radio]")
        if count := await radios.count():
            await radios.nth(choice % count).check()
        for field in await box.locator("textarea, input[type=text]").all():
            if not count:
                await field.fill(f"7 {choice}" if await field.get_attribute("inputmode") else f"말 {choice} <b>&")


async def stored(page, saves: list[str]) -> None:
    """Wait until the last save that was answered had all that stands in the form; the status may be that of
    an earlier one."""
    form = await page.evaluate("`${new URLSearchParams(new FormData(document.querySelector('form[data-save]')))}`")
    while not saves or values(saves[-1]) != values(form):
        await asyncio.sleep(0.05)
    await page.locator("#status", has_text="저장됨").wait_for()


def values(form: str) -> list[tuple[str, str]]:
    """Of a form as it is sent, but for what the page had seen by then."""
    return [pair for pair in parse_qsl(form, keep_blank_values=True) if pair[0] != "_seen"]


async def consent(page, link: str) -> None:
    await page.goto(link)
    await page.check("input[name=agree]")
    await page.click("button[value=yes]")
    await page.wait_for_url("**/training/1")


async def onward(page) -> None:
    before = page.url
    await page.click(SUBMIT)
    await page.wait_for_url(lambda url: url != before)


async def steady(page, link: str) -> None:
    """A rater without accidents."""
    await consent(page, link)
    while "thanks" not in page.url:
        await fill(page, 1)
        await onward(page)


async def unlucky(page, link: str) -> None:
    """Reloads, double-clicks, goes back, loses the connection."""
    saves: list[str] = []
    page.on("requestfinished", lambda sent: "/save/" in sent.url and saves.append(sent.post_data))
    await consent(page, link)
    await fill(page, 2)
    await onward(page)
    await fill(page, 2)
    await stored(page, saves)
    await page.reload()
    assert await page.locator("[name=U1][value='3']").is_checked()
    await page.dblclick(SUBMIT)
    await page.wait_for_url("**/item/2")
    await page.go_back()
    await page.wait_for_url("**/item/1")
    assert await page.locator("[name=U1][value='3']").is_checked()
    await page.locator("[name=U1][value='5']").check()
    await onward(page)
    await page.context.set_offline(True)
    await fill(page, 2)
    await page.locator("#status.bad").wait_for()
    await page.click(SUBMIT)
    await page.wait_for_timeout(300)
    assert page.url.endswith("/item/2")
    assert await page.locator("[name=U4][value='3']").is_checked()
    await page.context.set_offline(False)
    await page.locator("#status", has_text="저장됨").wait_for()
    await onward(page)
    while "thanks" not in page.url:
        await fill(page, 2)
        await page.dblclick(SUBMIT)
        await page.wait_for_load_state()
        await page.wait_for_timeout(200)


async def without_scripts(page, link: str) -> None:
    """The same pages with JavaScript off, in English; forgets an answer once."""
    await page.goto(link)
    await page.click("button[value=en]")
    assert await page.get_by_text("Information and consent").is_visible()
    await page.check("input[name=agree]")
    await page.click("button[value=yes]")
    await page.click(SUBMIT)
    assert await page.get_by_text("Please answer this question.").count() > 5
    while "thanks" not in page.url:
        for box in await page.locator("main fieldset").all():
            radios = box.locator("input[type=radio]")
            if count := await radios.count():
                await radios.nth(3 % count).check()
            elif await box.locator("[inputmode]").count():
                await box.locator("[inputmode]").fill("3")
        await page.click(SUBMIT)
    assert re.search(r"[A-Z2-9]{4}-[A-Z2-9]{4}", await page.locator(".code").inner_text())


async def test_three_raters_in_a_browser_store_every_answer_once(tmp_path: Path) -> None:
    folder = planned(tmp_path)
    served: list[bytes] = []
    reading: list[asyncio.Task[None]] = []
    noise: list[str] = []

    async def keep(answer) -> None:
        if answer.status not in (204, 303):
            try:
                served.append(await answer.body())
            except playwright_api.Error:
                return  # a page left while its answer was still on the way
        served.append(answer.url.encode())

    with running(folder) as (root, store):
        own = links(store, root)
        async with playwright_api.async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=flags())
            people = (("lay-01", steady, True), ("lay-02", unlucky, True), ("expert-01", without_scripts, False))
            tasks = []
            for rater, behaviour, scripts in people:
                context = await browser.new_context(
                    java_script_enabled=scripts, viewport={"width": 390, "height": 844}
                )
                page = await context.new_page()
                page.on("response", lambda answer: reading.append(asyncio.ensure_future(keep(answer))))
                page.on("console", lambda line: noise.append(line.text))
                page.on("dialog", lambda dialog: asyncio.ensure_future(dialog.accept()))
                tasks.append(behaviour(page, own[rater]))
            await asyncio.wait_for(asyncio.gather(*tasks), 150)
            await asyncio.gather(*reading)
            await browser.close()
        ratings, survey = store.answers.ratings(), store.answers.survey_answers()
    everything = b"\n".join(served).lower()
    assert len(served) > 60
    assert not [name for name in NAMES if re.search(rf"\b{re.escape(name.lower())}\b".encode(), everything)]
    assert not [line for line in noise if "ontent Security Policy" in line or "ncaught" in line]
    items = Counter((rating.rater, rating.document) for rating in ratings)
    assert Counter(rater for rater, _ in items) == {"lay-01": 5, "lay-02": 5, "expert-01": 5}
    assert len({(r.rater, r.document, r.question) for r in ratings}) == len(ratings)
    unlucky_answers = [r for r in ratings if r.rater == "lay-02"]
    assert Counter(r.value for r in unlucky_answers if r.question == "U1") == {"5": 1, "3": 4}
    assert {r.value for r in unlucky_answers if r.question == "U3"} == {"말 2 <b>&"}
    assert {r.value for r in ratings if r.rater == "lay-01" and r.question == "U10"} == {"2"}
    assert ("lay-01", "S1", "말 1 <b>&") in survey
