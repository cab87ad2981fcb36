"""A planned study and its site, for the tests of the raters' pages."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import aiohttp
from aiohttp import web

from arena.human.folder import StudyFolder
from arena.human.studies import FOLDER
from frontdesk.web.app import make_app
from frontdesk.web.store import Store

NAMES = ("GPT-4o", "RAG", "DocScanner", "full pipeline", "Baseline", "Proposed")


def planned(path: Path, *, seed: int = 3, text: str | None = None) -> StudyFolder:
    """The example study, planned; ``text`` replaces the study file's."""
    (path / "study.toml").write_text(
        text or (FOLDER / "document_review.toml").read_text(encoding="utf-8"), encoding="utf-8"
    )
    (path / "documents.jsonl").write_bytes((FOLDER / "documents.jsonl").read_bytes())
    folder = StudyFolder(path / "plan")
    folder.plan(path / "study.toml", seed)
    return folder


def field(html: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', html)
    assert found, html
    return found[1]


def answers(html: str, choice: int = 0) -> dict[str, str]:
    """An answer to everything on the page: of closed questions the one at ``choice`` (cyclic)."""
    given: dict[str, str] = {"csrf": field(html, "csrf")}
    options: dict[str, list[str]] = {}
    for name, value in re.findall(r'type="radio" name="([^"]+)" value="([^"]+)"', html):
        options.setdefault(name, []).append(value)
    given |= {name: values[choice % len(values)] for name, values in options.items()}
    given |= dict.fromkeys(re.findall(r'inputmode="decimal" name="([^"]+)"', html), "12")
    given |= dict.fromkeys(re.findall(r'<textarea name="([^"]+)"', html), f"text {choice} 한글")
    return given


async def walk(session: aiohttp.ClientSession, link: str, *, choice: int = 0, stop: str = "thanks") -> list[bytes]:
    """A rater who goes from the link to the thanks; every body that was served."""
    served: list[bytes] = []
    address = link
    for _ in range(40):
        async with session.get(address) as answer:
            html = await answer.text()
            served.append(html.encode())
            here = str(answer.url)
        if stop in here:
            return served
        form = answers(html, choice)
        if here.endswith("/consent"):
            form = {"csrf": form["csrf"], "choice": "yes", "agree": "yes", "name": "홍길동"}
        async with session.post(here, data=form) as answer:
            served.append((await answer.text()).encode())
            assert answer.status == 200, (here, answer.status)
            address = str(answer.url)
    raise AssertionError(f"{link} never came to {stop}")


@contextmanager
def running(folder: StudyFolder) -> Iterator[tuple[str, Store]]:
    """The site in a thread with its own loop: its address, and the store."""
    import asyncio

    store = Store(folder)
    ready, loop = threading.Event(), asyncio.new_event_loop()
    address: list[str] = []

    async def begin() -> web.AppRunner:
        runner = web.AppRunner(make_app(store), access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        address.append(f"http://127.0.0.1:{runner.addresses[0][1]}")
        ready.set()
        return runner

    def work() -> None:
        asyncio.set_event_loop(loop)
        runner = loop.run_until_complete(begin())
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())
        loop.close()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert ready.wait(20)
        yield address[0], store
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(20)
        store.close()


def links(store: Store, root: str) -> dict[str, str]:
    return {rater: f"{root}/r/{token}" for rater, token, _ in store.links()}
