"""A panel's participants, the organiser's files, results that stay blind, and practice that is kept."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import aiohttp
import pytest

from arena.human.studies import FOLDER
from arena.human.study import load_study
from frontdesk.web.store import Store
from runstore.problems import InputProblem
from tests.support.human_site import NAMES, answers, field, links, planned, running, walk

PANEL = """
[recruitment]
completion = "https://panel.example/submissions/complete?cc=C0FFEE"
screened = "https://panel.example/screened"
code = "C0FFEE"
attention = {U1 = "1"}
"""


def study_text() -> str:
    return (FOLDER / "document_review.toml").read_text(encoding="utf-8") + PANEL


async def text_of(session: aiohttp.ClientSession, address: str, status: int = 200) -> str:
    async with session.get(address) as answer:
        assert answer.status == status, (address, answer.status)
        return await answer.text()


async def test_a_participant_gets_one_link_and_finds_it_again_on_another_device(tmp_path: Path) -> None:
    with running(planned(tmp_path, text=study_text())) as (root, store):
        tokens: list[str] = []
        for name in ("5f0a1", "5f0b2", "5f0a1"):
            async with (
                aiohttp.ClientSession() as device,
                device.get(f"{root}/join/lay?PROLIFIC_PID={name}&STUDY_ID=s", allow_redirects=False) as answer,
            ):
                assert answer.status == 303
                tokens.append(answer.headers["Location"])
        assert tokens[0] == tokens[2] != tokens[1]
        assert [rater for _, rater, _ in store.persons.recruits()] == ["lay-01", "lay-02"]
        async with aiohttp.ClientSession() as session:
            for wrong in ("", "?PROLIFIC_PID=", "?PROLIFIC_PID=<b>", "?other=5f0a1"):
                await text_of(session, f"{root}/join/lay{wrong}", 403)
            await text_of(session, f"{root}/join/nobody?PROLIFIC_PID=x", 403)
            for number in range(28):
                await text_of(session, f"{root}/join/lay?PROLIFIC_PID=more-{number}")
            page = await text_of(session, f"{root}/join/lay?PROLIFIC_PID=one-too-many", 409)
        assert "모두 찼습니다" in page


async def test_whoever_came_by_themselves_is_nobodys_participant(tmp_path: Path) -> None:
    with running(planned(tmp_path, text=study_text())) as (root, store):
        async with aiohttp.ClientSession() as session:
            await walk(session, links(store, root)["lay-01"], stop="/training/1")
            async with session.get(f"{root}/join/lay?PROLIFIC_PID=p", allow_redirects=False) as answer:
                assert answer.headers["Location"] == links(store, root)["lay-02"].removeprefix(root)


async def test_the_end_leads_back_to_the_panel_and_the_summary_says_what_it_pays_for(tmp_path: Path) -> None:
    with running(planned(tmp_path, text=study_text())) as (root, store):
        organiser = f"{root}/o/{store.persons.secret('organiser')}"
        async with aiohttp.ClientSession() as session:
            end = (await walk(session, f"{root}/join/lay?PROLIFIC_PID=pid1", choice=0))[-1].decode()
            own = (await walk(session, links(store, root)["lay-02"]))[-1].decode()
            rows = list(csv.DictReader(io.StringIO(await text_of(session, f"{organiser}/participants.csv"))))
            invited = list(csv.DictReader(io.StringIO(await text_of(session, f"{organiser}/invitations.csv"))))
            await text_of(session, f"{root}/o/guess/participants.csv", 403)
            await text_of(session, f"{root}/o/guess/results", 403)
    assert 'href="https://panel.example/submissions/complete?cc=C0FFEE"' in end
    assert "C0FFEE" in end
    assert "panel.example" not in own
    assert [(row["participant"], row["rater"], row["stage"], row["finished"]) for row in rows] == [
        ("pid1", "lay-01", "thanks", "5")
    ]
    assert (rows[0]["checks_passed"], rows[0]["checks_answered"]) == ("5", "5")
    assert {row["rater"]: row["is_at"] for row in invited}["lay-03"] == "consent"
    assert all(row["link"].startswith("/r/") for row in invited)


async def test_a_participant_who_withdraws_is_forgotten_with_their_id(tmp_path: Path) -> None:
    folder = planned(tmp_path, text=study_text())
    store = Store(folder)
    assert store.persons.recruit("pid1", ["lay-01"]) is not None
    code = next(code for rater, _, code in store.links() if rater == "lay-01")
    store.withdraw(code)
    assert store.persons.recruits() == []
    store.close()


async def test_results_so_far_name_no_condition_in_either_language(tmp_path: Path) -> None:
    with running(planned(tmp_path)) as (root, store):
        organiser = f"{root}/o/{store.persons.secret('organiser')}"
        async with aiohttp.ClientSession() as session:
            await text_of(session, f"{organiser}/results", 404)
            for number in (1, 2, 3):
                await walk(session, links(store, root)[f"lay-0{number}"], choice=number)
            for language, said in (("en", "15 of 165 planned items"), ("ko", "165")):
                async with session.get(f"{organiser}/results?language={language}") as answer:
                    policy, page = answer.headers["Content-Security-Policy"], await answer.text()
                assert said in page
                assert "<svg" in page
                assert "script" not in policy
                assert not [name for name in NAMES if name in page]
            korean = await text_of(session, f"{organiser}?language=ko")
    assert "문항 165개 가운데 15개 마침" in korean
    assert "완료" in korean


async def test_practice_is_kept_as_it_is_given(tmp_path: Path) -> None:
    with running(planned(tmp_path)) as (root, store):
        link = links(store, root)["lay-01"]
        async with aiohttp.ClientSession() as session:
            page = (await walk(session, link, stop="/training/1"))[-1].decode()
            given = answers(page, 2) | {"_seen": field(page, "_seen")}
            async with session.post(f"{link}/practised/1", data=given) as answer:
                assert answer.status == 200, await answer.text()
            async with session.post(f"{link}/practised/9", data=given) as answer:
                assert answer.status == 409
        async with aiohttp.ClientSession() as another_device:
            again = await text_of(another_device, f"{link}/training/1")
    assert again.count(" checked") >= 3


@pytest.mark.parametrize("line", ['completion = "http://panel.example"', 'parameter = "a b"', 'other = "x"'])
def test_a_wrong_recruitment_is_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "study.toml"
    path.write_text((FOLDER / "document_review.toml").read_text("utf-8") + f"\n[recruitment]\n{line}\n", "utf-8")
    with pytest.raises(InputProblem, match="recruitment"):
        load_study(path)
