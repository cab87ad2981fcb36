"""The study server without room on its disk: nothing stored is lost, whoever writes is told, and it goes on."""

from __future__ import annotations

import re
import resource
from html import unescape
from pathlib import Path

import aiohttp

from frontdesk.web.store import Store
from tests.support.human_site import answers, planned, walk
from tests.support.killed_server import Server, free_port


def form(html: str, choice: int) -> dict[str, str]:
    hidden = re.search(r'name="_seen" value="([^"]*)"', html)
    assert hidden
    return answers(html, choice) | {"_seen": unescape(hidden[1])}


def limit(server: Server, room: int) -> None:
    """No file of the server grows beyond so many bytes, as if the disk were full."""
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))


def texts(stored: dict[str, str]) -> set[str]:
    return {value for value in stored.values() if value.startswith("text ")}


async def test_a_full_disk_is_said_loses_nothing_and_passes(tmp_path: Path) -> None:
    study, port = planned(tmp_path), free_port()
    store = Store(study)
    (rater, token, _), (other, others, _) = store.links()[:2]
    store.close()
    async with Server(study.path, port) as server, aiohttp.ClientSession() as session:
        link = f"{server.root}/r/{token}"
        page = f"{link}/item/1"
        await walk(session, link, stop="item/1")
        async with session.get(page) as answer:
            first = form(await answer.text(), 1)
        async with session.post(f"{link}/save/1", data=first) as answer:
            assert answer.status == 200
        async with session.get(page) as answer:
            second = form(await answer.text(), 2)

        limit(server, 0)
        for address in (f"{link}/save/1", page):
            async with session.post(address, data=second) as answer:
                assert answer.status == 503
                html = await answer.text()
                assert "Content-Security-Policy" in answer.headers
            assert "지금은 저장하지 못했습니다" in html
        assert "text 2 한글" in html  # nobody types it again
        async with session.get(page) as answer:
            assert answer.status == 200
            assert "text 1 한글" in await answer.text()
        # Who has not begun is told too, and is not half admitted.
        async with session.get(f"{server.root}/r/{others}/consent") as answer:
            agreed = {
                "csrf": answers(await answer.text())["csrf"],
                "choice": "yes",
                "agree": "yes",
                "name": "홍길동",
            }
        async with session.post(f"{server.root}/r/{others}/consent", data=agreed) as answer:
            assert answer.status == 503

        limit(server, resource.RLIM_INFINITY)
        async with session.post(page, data=second, allow_redirects=False) as answer:
            assert answer.status == 303
        async with session.post(f"{server.root}/r/{others}/consent", data=agreed) as answer:
            assert answer.status == 200
        assert server.process.poll() is None
    store = Store(study)
    assert texts(store.answers.of(rater, "item", 1)) == {"text 2 한글"}
    assert store.answers.item(rater, 1).submitted_at is not None  # pyright: ignore[reportOptionalMemberAccess]
    assert store.answers.rater(other).consented
    store.close()


async def test_a_server_that_was_killed_on_a_full_disk_has_what_it_acknowledged(tmp_path: Path) -> None:
    study, port = planned(tmp_path), free_port()
    store = Store(study)
    rater, token, _ = store.links()[0]
    store.close()
    acknowledged = refused = 0
    async with Server(study.path, port) as server, aiohttp.ClientSession() as session:
        link = f"{server.root}/r/{token}"
        await walk(session, link, stop="item/1")
        limit(server, study.ratings_db.with_name("ratings.sqlite-wal").stat().st_size + 300_000)
        for number in range(30):
            async with session.get(f"{link}/item/1") as answer:
                assert answer.status == 200
                sent = form(await answer.text(), number)
            async with session.post(f"{link}/save/1", data=sent) as answer:
                assert answer.status in (200, 503)
                refused += answer.status == 503
                acknowledged = number if answer.status == 200 else acknowledged
    assert refused
    assert acknowledged
    store = Store(study)
    assert texts(store.answers.of(rater, "item", 1)) == {f"text {acknowledged} 한글"}
    store.close()
