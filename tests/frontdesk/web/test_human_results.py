"""From collected answers to the files of the analysis, through the command line."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import aiohttp
import pytest

from arena.human.folder import StudyFolder
from arena.human.result import read_human
from frontdesk.cli import main
from frontdesk.report.run import write_report
from frontdesk.web.store import Store
from runstore.publish import read_csv, read_records, write_json, write_jsonl
from runstore.records import Judgment, Reply, Subset, Usage, Utterance, Verdict, Vote
from tests.support.human_site import links, planned, running, walk
from tests.support.run_folders import RunBuilder

HOSTILE = "<img src=x onerror=alert(1)> | **x** [y](javascript:alert(1)) \\input{z}"
VOTES = """
id = "votes"
title = "Votes"
[matches]
run = "RUN"
matches = 9
[groups.voter]
label = "Voters"
size = 3
items = 6
material = "matches"
form = "vote"
[[forms.vote.questions]]
id = "overall"
kind = "vote"
text = "Which?"
[[forms.vote.questions]]
id = "why"
kind = "text"
text = "Why?"
[consent]
paragraphs = ["you are told"]
"""


def answer_all(folder: StudyFolder) -> None:
    """Everybody answers everything: one point more for the second condition."""
    store, study = Store(folder), folder.study()
    for number, item in enumerate(store.answers.items()):
        values: dict[str, str] = {}
        for question in study.forms[study.groups[item.group].form].questions:
            if question.kind == "likert":
                values[question.id] = str(2 + (item.condition == "B") + number % 2)
            elif question.kind == "text":
                values[question.id] = HOSTILE
        store.answers.save(item.rater, "item", item.position, values, submit=True)
    store.close()


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert not [name for name, value in attrs if name.startswith("on") or "javascript:" in (value or "")]


def test_the_analysis_is_written_in_every_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = planned(tmp_path)
    answer_all(folder)
    assert main(["human", "analyze", str(folder.path), "--language", "en"]) == 0
    said = capsys.readouterr().out
    assert re.search(r": (\d+) of \1 items are finished, \d+ raters$", said, re.MULTILINE)
    assert "Metric" in said and "Understandability" in said
    assert said.rstrip().endswith(f"written: {folder.path / 'analysis.md'}, .html, .json, .tex, .csv")
    found = json.loads((folder.path / "analysis.json").read_text())
    assert [row["key"] for row in found["table"]][:2] == ["legal_accuracy", "completeness"]
    assert len(found["questions"]) == 20
    assert found["keep_until"] > "2026"
    assert found["attention"][0]["flags"]
    stars = {row["key"]: row["stars"] for row in found["table"]}
    assert stars["legal_accuracy"] == ""
    assert stars["understandability"] == "**"
    text = (folder.path / "analysis.md").read_text(encoding="utf-8")
    assert "| Metric | Baseline (A) | Proposed (B) | p-value | Effect Size |" in text
    assert "<0.001**" in text
    tags = _Tags()
    tags.feed((folder.path / "analysis.html").read_text(encoding="utf-8"))
    assert not tags.tags & {"script", "img", "b"}
    assert r"\begin{tabular}{lcccc}" in (folder.path / "analysis.tex").read_text()
    header, rows = read_csv(folder.path / "analysis.csv")
    assert header == ["Metric", "Baseline (A)", "Proposed (B)", "p-value", "Effect Size", "Holm p"]
    assert len(rows) == 8
    _, texts = read_csv(folder.path / "free_text.csv")
    assert {row["text"] for row in texts} == {HOSTILE}
    assert "condition" not in texts[0]
    _, key = read_csv(folder.path / "free_text_key.csv")
    assert {row["id"] for row in key} == {row["id"] for row in texts}


def test_the_same_ratings_from_a_file_give_the_same_table(tmp_path: Path) -> None:
    folder = planned(tmp_path)
    answer_all(folder)
    assert main(["human", "analyze", str(folder.path)]) == 0
    elsewhere = ["--study", str(tmp_path / "study.toml"), "--ratings", str(folder.ratings_csv)]
    assert main(["human", "analyze", *elsewhere, "--out", str(tmp_path / "again")]) == 0
    tables = [
        json.loads((path / "analysis.json").read_text())["table"] for path in (folder.path, tmp_path / "again")
    ]
    assert tables[0] == tables[1]
    assert main(["human", "analyze", "--study", str(tmp_path / "study.toml")]) == 2


def test_nothing_collected_is_nothing_to_analyse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = planned(tmp_path)
    Store(folder).close()
    assert main(["human", "analyze", str(folder.path), "--language", "en"]) == 2
    assert "nothing to analyse" in capsys.readouterr().err


def test_withdrawing_makes_the_analysis_again(tmp_path: Path) -> None:
    folder = planned(tmp_path)
    answer_all(folder)
    assert main(["human", "analyze", str(folder.path), "--language", "en"]) == 0
    store = Store(folder)
    code = store.persons.code_of("lay-04")
    store.close()
    assert main(["human", "withdraw", str(folder.path), code]) == 0
    found = json.loads((folder.path / "analysis.json").read_text())
    assert found["progress"] == {"finished": 160, "planned": 165, "missing": 5}
    assert main(["human", "analyze", str(folder.path), "--language", "en"]) == 1
    assert (folder.path / "analysis.md").read_text(encoding="utf-8").startswith("> **160 of 165")
    assert "lay-04" not in (folder.path / "analysis.json").read_text()
    assert "lay-04" not in (folder.path / "free_text_key.csv").read_text()


async def test_people_vote_on_the_matches_of_a_run_and_the_tutors_stay_hidden(tmp_path: Path) -> None:
    run = tmp_path / "run"
    said = (Utterance(role="student", text="How do I solve 2x = 4?"),)
    subsets = [
        Subset(id=f"s{n}", dialogue=f"d{n}", persona="p", question="q", subject="m", cut=1, depth=1, history=said)
        for n in range(9)
    ]
    write_jsonl(run / "subsets.jsonl", subsets)
    replies = [
        Reply(subset=one.id, dialogue=one.dialogue, endpoint=name, text=f"{text} {one.id}", finish="stop",
              usage=Usage(), latency_s=None, cost_usd=None)
        for one in subsets
        for name, text in (("tutor-zeta", "Halve both sides; tutor-zeta."), ("tutor-alpha", "What is half of 4?"))
    ]  # fmt: skip
    write_jsonl(run / "replies.jsonl", replies)
    vote = (Vote(judge="j", round=1, outcome="win", winner="tutor-alpha"),)
    pair = ("tutor-alpha", "tutor-zeta")
    write_jsonl(
        run / "verdicts.jsonl",
        [
            Verdict(subset=one.id, dialogue=one.dialogue, endpoints=pair, criterion="overall", outcome="win",
                    winner="tutor-alpha", agreement="unanimous", votes=vote)
            for one in subsets
        ],
    )  # fmt: skip
    (tmp_path / "votes.toml").write_text(VOTES.replace("RUN", str(run)), encoding="utf-8")
    folder = StudyFolder(tmp_path / "plan")
    assert folder.plan(tmp_path / "votes.toml", 2).plan.holds
    with running(folder) as (root, store):
        served: list[bytes] = []
        async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session:
            for number, link in enumerate(links(store, root).values()):
                served += await walk(session, link, choice=number)
    everything = b"\n".join(served)
    assert b"tutor-" not in everything
    assert "▮▮▮".encode() in everything
    assert main(["human", "analyze", str(folder.path), "--language", "en"]) == 0
    judgments = read_records(folder.path / "judgments.jsonl", Judgment)
    assert len(judgments) == 18
    assert {one.judge for one in judgments} == {"person:voter-01", "person:voter-02", "person:voter-03"}
    by_rater = {one.judge: one.raw for one in judgments}
    assert by_rater == {"person:voter-01": "left", "person:voter-02": "right", "person:voter-03": "both_good"}
    verdicts = read_records(folder.path / "verdicts.jsonl", Verdict)
    assert len(verdicts) == 9
    assert sum(len(one.votes) for one in verdicts) == 18
    found = json.loads((run / "human.json").read_text())
    assert found["judges"][0]["n"] == 9
    assert found["calibrated"][0]["judge"]["value"] == 1
    write_json(tmp_path / "again.json", read_human(run / "human.json"))
    assert (tmp_path / "again.json").read_bytes() == (run / "human.json").read_bytes()
    assert {row["name"] for row in json.loads((folder.path / "leaderboard.json").read_text())["models"]} == set(
        pair
    )
    text = (folder.path / "analysis.md").read_text(encoding="utf-8")
    assert "People and model judges" in text


def test_a_runs_report_shows_what_people_say_beside_the_judges(tmp_path: Path) -> None:
    builder = RunBuilder(("tutor-zeta", "tutor-alpha"))
    builder.play(["aaa", "aat", "bbb", "aaa"] * 10)
    run = builder.write(tmp_path / "run")
    assert "What people say" not in write_report(run)[0].read_text(encoding="utf-8")
    (tmp_path / "votes.toml").write_text(VOTES.replace("RUN", str(run.path)), encoding="utf-8")
    folder = StudyFolder(tmp_path / "plan")
    folder.plan(tmp_path / "votes.toml", 2)
    store = Store(folder)
    for item in store.answers.items():
        store.answers.save(item.rater, "item", item.position, {"overall": "left"}, submit=True)
    store.close()
    assert main(["human", "analyze", str(folder.path)]) == 0
    text, page = (path.read_text(encoding="utf-8") for path in write_report(run))
    assert "## What people say" in text
    assert "Win rates as people would give them" in text
    assert "What people say" in page
    assert "사람의 판단" in write_report(run, "ko")[0].read_text(encoding="utf-8")
