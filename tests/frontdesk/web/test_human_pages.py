"""The raters' site over HTTP: whole walks, blinding, refusals, double posts, and a server that is killed."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import re
import signal
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import aiohttp
import pytest

from arena.human.folder import StudyFolder
from frontdesk.report.untrusted import visible
from frontdesk.web.store import Store
from tests.support.human_site import NAMES, answers, field, links, planned, running, walk
from tests.support.small_runs import start
from tests.support.started import Started


async def test_thirty_three_raters_at_once_lose_nothing_and_see_no_name(tmp_path: Path) -> None:
    folder = planned(tmp_path)
    with running(folder) as (root, store):
        async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session:
            own = links(store, root)
            walks = (walk(session, link, choice=number) for number, link in enumerate(own.values()))
            served = [body for bodies in await asyncio.gather(*walks) for body in bodies]
            for name in ("form.css", "form.js"):
                async with session.get(f"{root}/static/{name}") as answer:
                    served.append(await answer.read())
        ratings = store.answers.ratings()
    everything = b"\n".join(served).lower()
    assert not [name for name in NAMES if re.search(rf"\b{re.escape(name.lower())}\b".encode(), everything)]
    assert b"condition" not in everything
    per_item = Counter((rating.rater, rating.document) for rating in ratings)
    assert len(per_item) == 165
    plan = {(row.rater, row.document): row.condition for row in folder.rows()}
    assert {(r.rater, r.document): r.condition for r in ratings} == plan
    lay = [rating for rating in ratings if rating.group == "lay"]
    assert Counter(rating.question for rating in lay if rating.question.startswith("U"))["U1"] == 150
    for number, rater in enumerate(own):
        points = {rating.value for rating in ratings if rating.rater == rater and rating.question in ("U10", "E1")}
        assert points == {str(number % (7 if rater.startswith("lay") else 5) + 1)}


async def test_without_a_token_nothing_is_read_or_written(tmp_path: Path) -> None:
    with running(planned(tmp_path)) as (root, store):
        token = store.links()[0][1]
        async with aiohttp.ClientSession() as session:
            for path in (
                "/",
                "/r/",
                "/r/x",
                "/r/x/item/1",
                "/o/x",
                "/o/x/ratings.csv",
                f"/o/{token}",
                "/etc/passwd",
            ):
                async with session.get(root + path) as answer:
                    assert answer.status == 403, path
                    assert "근로계약서" not in await answer.text()
            for path in ("/r/x/item/1", "/r/x/save/1", "/r/x/consent", "/r/x/survey", f"/r/{token[:-1]}/save/1"):
                async with session.post(root + path, data={"U1": "3", "csrf": "x"}) as answer:
                    assert answer.status == 403, path
        assert store.answers.ratings() == []


async def test_forms_of_others_and_large_forms_are_refused(tmp_path: Path) -> None:
    with running(planned(tmp_path)) as (root, store):
        mine, other = list(links(store, root).values())[3:5]
        async with aiohttp.ClientSession() as session:
            await walk(session, mine, stop="/item/1")
            async with session.get(f"{mine}/item/1") as answer:
                policy = answer.headers["Content-Security-Policy"]
                assert "default-src 'none'" in policy
                assert "unsafe-inline" not in policy
                page = await answer.text()
                form = answers(page)
            assert not re.search(r"<script(?! src=)|<[^>]+ (on\w+|style)=", page)
            async with session.get(f"{other}/consent") as answer:
                foreign = field(await answer.text(), "csrf")
            wrong = [
                ({**form, "csrf": foreign}, {}),
                ({**form, "csrf": ""}, {}),
                (form, {"Origin": "https://elsewhere.example"}),
                (form, {"Origin": "null"}),
                (form, {"Sec-Fetch-Site": "cross-site"}),
            ]
            for data, headers in wrong:
                async with session.post(f"{mine}/save/1", data=data, headers=headers) as answer:
                    assert answer.status == 403
            async with session.post(f"{mine}/item/1", data={**form, "U3": "x" * 300_000}) as answer:
                assert answer.status == 413
            assert store.answers.of("lay-01", "item", 1) == {}
            async with session.post(f"{mine}/item/1", data={**form, "U3": "x" * 2001, "U1": "9"}) as answer:
                assert answer.status == 422
            kept = store.answers.of("lay-01", "item", 1)
            form_type = {"Content-Type": "application/x-www-form-urlencoded"}
            for raw in (b"U3=%ff%fe%00%ed%a0%80", b"U1=&U1=3&U1=", b"U9=1;DROP+TABLE+answers"):
                body = f"csrf={form['csrf']}&".encode() + raw
                async with session.post(f"{mine}/save/1", data=body, headers=form_type) as answer:
                    assert answer.status == 200, raw
            async with session.post(f"{mine}/save/1", data=b"csrf=\xff\xfe", headers=form_type) as answer:
                assert answer.status == 400
            assert "U3" not in kept
            assert "U1" not in kept
            assert kept["U4"] == "1"


async def test_sending_twice_and_going_back_store_every_answer_once(tmp_path: Path) -> None:
    with running(planned(tmp_path)) as (root, store):
        mine = links(store, root)["lay-05"]
        async with aiohttp.ClientSession() as session:
            await walk(session, mine, stop="/item/2", choice=1)
            before = store.answers.ratings()
            async with session.get(f"{mine}/item/1") as answer:
                page = await answer.text()
            assert 'value="2" checked' in page
            form = answers(page, 1)
            same = [session.post(f"{mine}/item/1", data=form, allow_redirects=False) for _ in range(5)]
            assert {answer.status for answer in await asyncio.gather(*same)} == {303}
            after = store.answers.ratings()
            assert [(r.question, r.value, r.submitted_at) for r in after] == [
                (r.question, r.value, r.submitted_at) for r in before
            ]
            async with session.post(f"{mine}/item/1", data={**form, "U1": "5"}) as answer:
                assert str(answer.url).endswith("/item/2")
            assert {r.value for r in store.answers.ratings() if r.question == "U1"} == {"5"}
            async with session.get(f"{mine}/item/4") as answer:
                assert str(answer.url).endswith("/item/2")
            partial = {"csrf": form["csrf"], "U2": "NA"}
            async with session.post(f"{mine}/save/2", data=partial) as answer:
                assert (await answer.json()) == {"saved": True, "complete": False}
            assert {r.document for r in store.answers.ratings()} == {r.document for r in after}
            async with session.get(mine) as answer:
                assert str(answer.url).endswith("/item/2")
                assert 'value="NA" checked' in await answer.text()


async def test_hidden_follow_up_questions_have_no_answer(tmp_path: Path) -> None:
    with running(planned(tmp_path)) as (root, store):
        mine = links(store, root)["expert-02"]
        async with aiohttp.ClientSession() as session:
            await walk(session, mine, stop="/item/1")
            async with session.get(f"{mine}/item/1") as answer:
                form = answers(await answer.text())
            async with session.post(f"{mine}/save/1", data={**form, "E7": "no", "E7n": "4"}) as answer:
                assert (await answer.json())["complete"]
            assert "E7n" not in store.answers.of("expert-02", "item", 1)
            async with session.post(f"{mine}/save/1", data={**form, "E7": "yes", "E7n": ""}) as answer:
                assert not (await answer.json())["complete"]
            money = {**form, "E7": "yes", "E7n": "2", "E12": "１,２００,０００원"}
            async with session.post(f"{mine}/save/1", data=money) as answer:
                assert (await answer.json())["complete"]
            assert store.answers.of("expert-02", "item", 1)["E12"] == "1200000"


async def test_declining_keeps_nothing_and_english_is_offered(tmp_path: Path) -> None:
    with running(planned(tmp_path)) as (root, store):
        mine = links(store, root)["lay-09"]
        async with aiohttp.ClientSession() as session:
            async with session.get(mine) as answer:
                csrf = field(await answer.text(), "csrf")
            data = {"csrf": csrf, "choice": "no", "name": "홍길동"}
            async with session.post(f"{mine}/consent", data=data) as answer:
                assert "저장한 것은 없습니다" in await answer.text()
            back = {"csrf": csrf, "language": "en", "back": f"{mine.removeprefix(root)}/consent"}
            async with session.post(f"{mine}/language", data=back) as answer:
                assert "Information and consent" in await answer.text()
            async with session.post(f"{mine}/consent", data={"csrf": csrf, "choice": "yes"}) as answer:
                assert answer.status == 422
            async with session.post(f"{mine}/language", data={**back, "back": "https://x.example/"}) as answer:
                assert str(answer.url).startswith(root)
    assert b"\xed\x99\x8d\xea\xb8\xb8\xeb\x8f\x99" not in (tmp_path / "plan" / "persons.sqlite").read_bytes()


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.bad: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.bad += [name for name, value in attrs if name.startswith("on") or "javascript:" in (value or "")]

    def handle_data(self, data: str) -> None:
        self.text += data


async def test_hostile_material_is_shown_as_the_text_it_is(tmp_path: Path) -> None:
    hostile = '<img src=x onerror=alert(1)><b>hi</b> & \\"q\\" [x](javascript:alert(1))'
    folder = planned(tmp_path)
    documents = folder.path / "documents.jsonl"
    text = documents.read_text(encoding="utf-8")
    unseen = "\u202egnp a\u200bb \u001b[31m \u3164"
    documents.write_text(
        text.replace("위험도: ", f"{hostile} {json.dumps(unseen)[1:-1]} 위험도: "), encoding="utf-8"
    )
    with running(folder) as (root, store):
        async with aiohttp.ClientSession() as session:
            page = (await walk(session, links(store, root)["lay-02"], stop="/item/1"))[-1].decode()
    seen = _Tags()
    seen.feed(page)
    assert seen.tags["img"] == 0
    assert seen.tags["b"] == 0
    assert seen.tags["script"] == 1
    assert seen.bad == []
    assert f"{hostile.replace(chr(92), '')} {visible(unseen)}" in seen.text
    assert not set(unseen) & set(page) - set(" [31mgnpab")


async def test_the_organiser_sees_progress_flags_and_the_export(tmp_path: Path) -> None:
    with running(planned(tmp_path)) as (root, store):
        own = links(store, root)
        page_of_organiser = f"{root}/o/{store.persons.secret('organiser')}"
        async with aiohttp.ClientSession() as session:
            await walk(session, own["lay-01"], choice=2)
            async with session.get(page_of_organiser) as answer:
                page = await answer.text()
            async with session.get(f"{page_of_organiser}/ratings.csv") as answer:
                rows = list(csv.DictReader(io.StringIO(await answer.text())))
    assert "165건 중 5건 끝남" in page
    assert re.search(r"lay-01</td><td>lay</td><td>끝</td><td class=\"n\">5 / 5", page)
    assert "같은 점수만 고름, 너무 빠름" in page
    assert not [name for name in NAMES if name in page]
    assert list(rows[0]) == ["rater", "document", "condition", "question", "value", "seconds", "submitted_at"]
    assert {row["condition"] for row in rows} == {"A", "B"}
    assert len({row["document"] for row in rows}) == 5


def _serve(folder: StudyFolder) -> tuple[Started, str]:
    server = start("human", "serve", folder.path, "--port", "0", NO_COLOR="1")
    for line in server.stdout:
        if address := re.search(rb"(http://127\.0\.0\.1:\d+)/o/", line):
            return server, address[1].decode()
    raise AssertionError("the server did not start")


async def test_every_acknowledged_answer_survives_a_killed_server(tmp_path: Path) -> None:
    folder = planned(tmp_path)
    acknowledged: dict[tuple[str, int], dict[str, str]] = {}
    server, root = _serve(folder)
    store = Store(folder)
    own = links(store, root)

    async def rate(session: aiohttp.ClientSession, rater: str, number: int) -> None:
        try:
            await walk(session, own[rater], stop="/item/1", choice=number)
            async with session.get(f"{own[rater]}/item/1") as answer:
                form = answers(await answer.text(), number)
            for turn in range(1000):
                form["U3"] = f"answer {turn} of {rater}"
                async with session.post(f"{own[rater]}/save/1", data=form) as answer:
                    if answer.status == 200:
                        acknowledged[rater, turn] = dict(form)
        except aiohttp.ClientError:
            return

    raters = [rater for rater in own if rater.startswith("lay")][:12]
    async with aiohttp.ClientSession() as session:
        working = [asyncio.create_task(rate(session, rater, n)) for n, rater in enumerate(raters)]
        while len(acknowledged) < 150:
            await asyncio.sleep(0.01)
        server.send_signal(signal.SIGKILL)
        await asyncio.gather(*working)
    server.communicate()
    for rater in raters:
        last = max(turn for name, turn in acknowledged if name == rater)
        stored = store.answers.of(rater, "item", 1)
        kept = int(stored["U3"].split()[1])
        assert kept in (last, last + 1)
        assert {k: v for k, v in stored.items() if k != "U3"} == {
            k: v for k, v in acknowledged[rater, last].items() if k not in ("U3", "csrf")
        }
    store.close()
    server, root = _serve(folder)
    try:
        async with aiohttp.ClientSession() as session, session.get(root + own[raters[0]][-27:]) as answer:
            assert answer.status == 200
            assert "answer " in await answer.text()
    finally:
        server.terminate()
        server.communicate(20)
        assert server.returncode == 0


@pytest.mark.parametrize("missing", ["documents.jsonl", "study.json"])
def test_a_folder_that_is_no_planned_study_is_refused(tmp_path: Path, missing: str) -> None:
    folder = planned(tmp_path)
    (folder.path / missing).unlink()
    refused = start("human", "serve", folder.path, "--port", "0")
    errors = refused.communicate(60)[1].decode()
    assert refused.returncode == 2
    assert missing in errors
    assert "Traceback" not in errors
