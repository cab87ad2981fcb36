"""Nothing that a person stored is lost: two pages on one form, a full disk, two servers, other addresses."""

from __future__ import annotations

import re
import sqlite3
import stat
import subprocess
import sys
from html import unescape
from pathlib import Path

import aiohttp
import pytest

from frontdesk.web.desk import forget_persons, purge
from frontdesk.web.merging import merge, read_seen, seen_field
from frontdesk.web.serve import declared_root, serve
from frontdesk.web.store import Store
from runstore.problems import Problem
from runstore.runlock import RunLock
from tests.support.human_site import answers, planned, running, walk


def test_a_page_changes_only_what_was_changed_on_it() -> None:
    stored = {"q1": "3", "q2": "5", "q3": "text"}
    seen = read_seen(seen_field({"q1": "3"}))
    merged = merge(stored, {"q1": "3", "q4": "1"}, seen, ())
    assert (merged.new, merged.gone, merged.conflicts) == ({"q4": "1"}, [], {})
    merged = merge(stored, {"q1": "4", "q2": "2"}, seen, ())
    assert (merged.new, merged.gone, merged.conflicts) == ({"q1": "4"}, [], {"q2": "5"})
    merged = merge(stored, {}, seen, ())
    assert (merged.new, merged.gone, merged.conflicts) == ({}, ["q1"], {})
    assert merge(stored, {"q2": "5"}, seen, ("q1",)).gone == []
    assert read_seen("[1") is None
    merged = merge(stored, {"q1": "4"}, None, ())
    assert (merged.new, merged.gone, merged.conflicts) == ({"q1": "4"}, [], {})


def fields(html: str) -> dict[str, str]:
    hidden = re.search(r'name="_seen" value="([^"]*)"', html)
    assert hidden
    return {**answers(html), "_seen": unescape(hidden[1])}


async def test_a_page_left_open_deletes_nothing_and_both_answers_are_shown(tmp_path: Path) -> None:
    folder = planned(tmp_path)
    with running(folder) as (root, store):
        async with aiohttp.ClientSession() as session:
            rater, token, _ = store.links()[0]
            await walk(session, f"{root}/r/{token}", stop="item/1")
            page = f"{root}/r/{token}/item/1"
            async with session.get(page) as answer:
                old = fields(await answer.text())
            async with session.post(page, data=old, allow_redirects=False) as answer:
                assert answer.status == 303
            stored = store.answers.of(rater, "item", 1)
            assert len(stored) > 3

            blank = {"csrf": old["csrf"], "_seen": old["_seen"]}
            async with session.post(f"{root}/r/{token}/save/1", data=blank) as answer:
                assert answer.status == 200
            assert store.answers.of(rater, "item", 1) == stored

            closed = next(name for name, value in stored.items() if value in ("1", "2"))
            other = {**blank, closed: "2" if stored[closed] == "1" else "1"}
            async with session.post(f"{root}/r/{token}/save/1", data=other) as answer:
                assert answer.status == 409
            assert store.answers.of(rater, "item", 1) == stored
            async with session.post(page, data=other) as answer:
                assert answer.status == 409
                html = await answer.text()
            assert "Stored elsewhere" in html or "다른 곳에서 저장된 답" in html
            async with session.post(
                page, data={**fields(html), closed: other[closed]}, allow_redirects=False
            ) as answer:
                assert answer.status == 303
            assert store.answers.of(rater, "item", 1)[closed] == other[closed]


async def test_who_cannot_be_stored_keeps_the_page_and_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("frontdesk.web.database.WAIT_S", 0.1)
    folder = planned(tmp_path)
    with running(folder) as (root, store):
        async with aiohttp.ClientSession() as session:
            rater, token, _ = store.links()[0]
            await walk(session, f"{root}/r/{token}", stop="item/1")
            page = f"{root}/r/{token}/item/1"
            async with session.get(page) as answer:
                sent = fields(await answer.text())
            blocker = sqlite3.connect(folder.ratings_db, isolation_level=None)
            blocker.execute("BEGIN IMMEDIATE")
            try:
                async with session.get(page) as answer:
                    assert answer.status == 200
                async with session.post(page, data=sent) as answer:
                    assert answer.status == 503
                    html = await answer.text()
                    assert "Content-Security-Policy" in answer.headers
                assert "text 0 한글" in html or "checked" in html
            finally:
                blocker.execute("ROLLBACK")
                blocker.close()
            async with session.post(page, data=sent, allow_redirects=False) as answer:
                assert answer.status == 303
            assert store.answers.of(rater, "item", 1)


async def test_errors_are_pages_of_the_site_with_its_headers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(planned(tmp_path)) as (root, store):
        async with aiohttp.ClientSession() as session:
            token = store.links()[0][1]

            def fail(_: str) -> None:
                raise RuntimeError("inside")

            monkeypatch.setattr(store.answers, "rater", fail)
            for method, path, status in (("get", f"/r/{token}", 500), ("put", f"/r/{token}", 405)):
                async with session.request(method, root + path) as answer:
                    assert answer.status == status
                    html = await answer.text()
                    assert "Content-Security-Policy" in answer.headers
                assert "<main" in html
                assert "inside" not in html


def test_one_program_at_a_time_holds_a_study(tmp_path: Path) -> None:
    folder = planned(tmp_path)
    Store(folder).close()
    told: list[str] = []
    with RunLock(folder.path):
        for attempt in (
            lambda: serve(folder, host="127.0.0.1", port=0, address=None, tell=told.append),
            lambda: purge(folder, early=True),
            lambda: forget_persons(folder),
        ):
            with pytest.raises(Problem, match="is being written by"):
                attempt()
    assert folder.ratings_db.exists()
    assert told == []


@pytest.mark.parametrize(
    "address",
    [
        "https://x/base",
        "study.example.org",
        "ftp://x",
        "https://x/?a=1",
        "https://me:pw@x",
        "https://x:port",
        "https://[::1",
        "https://x:99999",
        "https://x y",
        "https://x\\y",
        "https://*",
        "https://a..b",
    ],
)
def test_an_address_that_the_links_cannot_have_is_refused(tmp_path: Path, address: str) -> None:
    with pytest.raises(Problem, match="--address"):
        serve(planned(tmp_path), host="127.0.0.1", port=0, address=address, tell=print)


def test_what_people_gave_is_for_its_owner_alone(tmp_path: Path) -> None:
    folder = planned(tmp_path)
    assert subprocess.run(
        [sys.executable, "-m", "frontdesk", "human", "forms", str(folder.path)], check=True, capture_output=True
    )
    private = [folder.ratings_db, folder.persons_db, *(folder.path / "forms").glob("*.csv")]
    assert len(private) > 2
    assert {stat.S_IMODE(path.stat().st_mode) for path in private} == {0o600}
    documents = {row.document for row in folder.rows()}
    for path in (folder.path / "forms").glob("*.csv"):
        assert not documents & set(re.split(r"[,\r\n]", path.read_text(encoding="utf-8-sig")))


@pytest.mark.parametrize(
    ("address", "origin"),
    [
        ("HTTPS://Study.Example.org/", "https://study.example.org"),
        ("http://study.example.org:80", "http://study.example.org"),
        ("https://study.example.org:8443", "https://study.example.org:8443"),
        ("https://연구.example", "https://xn--2e0bx87b.example"),
    ],
)
def test_an_address_is_declared_as_browsers_will_name_it(address: str, origin: str) -> None:
    assert declared_root(address) == origin
