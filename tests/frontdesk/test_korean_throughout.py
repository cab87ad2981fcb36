"""Reports in Korean are Korean throughout: no run of English words outside of what models and people said."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, cast

import aiohttp
import pytest

from arena.human.studies import FOLDER
from arena.rubrics.rubric import load_rubric
from frontdesk.cli import main
from frontdesk.report.sentences import spoken
from frontdesk.runner.shortfall import Shortfall
from runstore.korean import particle
from runstore.languages import Words
from tests.frontdesk.test_another_language import Visible
from tests.support.agent_runs_table import rows, table_text
from tests.support.fake_provider import FakeProvider
from tests.support.human_site import links, planned, running, walk
from tests.support.scoring_command import prepared
from tests.support.small_runs import write_config

ROOT = Path(__file__).resolve().parents[2]
_ENGLISH = re.compile(r"[A-Za-z][A-Za-z'’-]*(?:[,;:]? +[A-Za-z][A-Za-z'’-]*){2,}")
_DATA = ("dialogues", "subsets", "replies", "judgments", "sheets", "documents", "ratings", "items", "in")
"""Files of what models and people said: shown as it was said."""
_NAMES = ("tutor-arena verify --run", "gemini, gpt, claude", "agent, freepass", "with mark, comma", "a, b, c")
"""Commands, and names that the tests gave."""


def data_of(*folders: Path) -> str:
    """Everything said in the records of these folders, and the prompts, in one line a text."""
    paths = [path for folder in folders for path in folder.rglob("*") if path.stem in _DATA and path.is_file()]
    said: list[str] = []
    for path in paths:
        text = path.read_text("utf-8-sig")
        said.append(text)
        if path.suffix in {".jsonl", ".json"}:
            said += [part for line in text.splitlines() if line for part in _strings(json.loads(line))]
    return " ".join("\n".join(said).split()).lower()


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in cast("dict[str, object]", value).values():
            yield from _strings(part)
    elif isinstance(value, list):
        for part in cast("list[object]", value):
            yield from _strings(part)


def english(texts: Iterable[str], data: str) -> list[str]:
    """Runs of three English words or more that are no data."""
    found = [match[0] for text in texts for match in _ENGLISH.finditer(text)]
    return sorted({run for run in found if run.lower() not in data and not any(name in run for name in _NAMES)})


def shown(path: Path) -> list[str]:
    """What a reader sees of a page or a Markdown file, but what stands there as code or as somebody's words."""
    text = path.read_text("utf-8")
    if path.suffix != ".html":
        return re.sub(r"^(`{3,})text\n.*?^\1$|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL).splitlines()
    parser = Visible()
    parser.feed(text)
    return parser.texts


@pytest.mark.parametrize(
    "judge",
    [{}, {"endpoints": ["gemini", "ureka"]}, {"criteria": ["understanding", "language"], "one_by_one": True}],
    ids=["one judge", "two judges", "criteria one by one"],
)
def test_a_run_with_its_report_its_site_and_its_quality(
    provider: FakeProvider, tmp_path: Path, judge: dict[str, Any]
) -> None:
    config = write_config(tmp_path / "c.toml", provider, dialogues=4, subsets=8, **judge)
    config.write_text(config.read_text().replace("[run]\n", '[run]\nlanguage = "ko"\n'))
    run = tmp_path / "run"
    assert main(["run", str(config), "--run", str(run)]) == 0
    assert main(["quality", "--run", str(run)]) in (0, 1)
    assert main(["report", "--run", str(run), "--site", str(tmp_path / "site")]) == 0
    data = data_of(run)
    for path in (*(run / name for name in ("report.html", "report.md", "leaderboard.md", "quality.md")),
                 tmp_path / "site" / "index.html"):  # fmt: skip
        assert english(shown(path), data) == [], path.name
    index = (tmp_path / "site" / "data" / "index.js").read_text("utf-8")
    assert '"called":["높음","낮음"]' in index.replace(" ", "")
    report = (run / "report.md").read_text("utf-8")
    assert "페르소나별: 목표 몰입" in report
    assert ("소크라테스식 질문" in report) == ("one_by_one" in judge)


def test_scores_by_three_judges(provider: FakeProvider, tmp_path: Path) -> None:
    command = prepared(tmp_path, provider, 6)
    out = tmp_path / "scored"
    done = subprocess.run([*command, "--language", "ko", "--out", str(out)], capture_output=True, check=False,
                          env={**os.environ, "A_KEY": "k-0123456789"})  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    for name in ("score.html", "score.md"):
        assert english(shown(out / name), data_of(out, tmp_path)) == [], name


def test_scores_of_a_rubric_without_labels_and_floors(tmp_path: Path) -> None:
    items = [item.key for item in load_rubric("meeting_minutes").items]
    reply = json.dumps({key: {"score": 3, "rationale": "근거"} for key in items})
    (tmp_path / "j.jsonl").write_text(json.dumps({"reply": reply}))
    (tmp_path / "in.jsonl").write_text(json.dumps({"id": "m1", "question": "회의 기록", "answer": "회의록"}))
    (tmp_path / "c.toml").write_text(
        f'[run]\nlanguage = "ko"\n[endpoints.j]\nkind = "scripted"\nreplies = {str(tmp_path / "j.jsonl")!r}\n'
    )
    files = ["--input", str(tmp_path / "in.jsonl"), "--config", str(tmp_path / "c.toml"), "--judge", "j"]
    assert main(["score", *files, "--rubric", "meeting_minutes", "--out", str(tmp_path / "out")]) == 0
    report = (tmp_path / "out" / "score.md").read_text("utf-8")
    assert english(shown(tmp_path / "out" / "score.md"), "") == []
    assert "사실성" in report
    assert "factuality" not in report
    assert "최저점" not in report
    assert "minutes" not in re.sub(r"meeting.{0,2}minutes", "", report)


@pytest.mark.parametrize(
    "values", ["111", "123", "1-3", "---"], ids=["all alike", "spread", "with a gap", "nothing at all"]
)
def test_agreement_of_any_table(tmp_path: Path, values: str) -> None:
    lines = [f"i{item},r{rater},{'' if value == '-' else int(value) + (item * rater) % 2 * (values == '123')}"
             for item in range(4) for rater, value in enumerate(values)]  # fmt: skip
    (tmp_path / "t.csv").write_text("\n".join(["item,rater,value", *lines, ""]))
    for level in ("interval", "ordinal", "nominal"):
        command = ["agree", "--ratings", str(tmp_path / "t.csv"), "--level", level, "--language", "ko"]
        assert main([*command, "--out", str(tmp_path / level)]) in (0, 2)
        report = tmp_path / level / "agreement.md"
        assert not report.exists() or english(shown(report), "") == []


def test_ratings_of_battles(tmp_path: Path) -> None:
    battles = ["model_a,model_b,winner", "m1,m2,model_a", "m1,m2,model_a", "m2,m3,tie", "m4,m5,model_b"]
    (tmp_path / "b.csv").write_text("\n".join([*battles, ""]))
    for ties in ("half", "davidson"):
        out = tmp_path / ties
        command = ["rate", "--battles", str(tmp_path / "b.csv"), "--ties", ties, "--language", "ko"]
        assert main([*command, "--out", str(out)]) in (0, 1)
        assert english(shown(out / "leaderboard.md"), "") == []


def test_agent_runs(tmp_path: Path) -> None:
    (tmp_path / "url_agent_1.csv").write_bytes(table_text(rows()).encode("utf-8-sig"))
    assert main(["agent-runs", str(tmp_path / "url_agent_1.csv"), "--out", str(tmp_path / "out")]) == 1
    for name in ("agent_runs.md", "agent_runs.html"):
        assert english(shown(tmp_path / "out" / name), data_of(tmp_path) + table_text(rows()).lower()) == [], name


async def test_a_study_in_its_own_language(tmp_path: Path) -> None:
    text = (FOLDER / "document_review.toml").read_text("utf-8").replace('["ko", "en"]', '["ko"]')
    folder = planned(tmp_path, text=text)
    data = " ".join("\n".join(_strings(tomllib.loads(text))).split()).lower() + data_of(tmp_path)
    with running(folder) as (root, store):
        async with aiohttp.ClientSession() as session:
            for name in ("lay-01", "lay-02", "expert-01"):
                for body in await walk(session, links(store, root)[name]):
                    parser = Visible()
                    parser.feed(body.decode())
                    assert english(parser.texts, data) == []
    assert main(["human", "analyze", str(folder.path)]) == 1
    for name in ("analysis.md", "analysis.html"):
        assert english(shown(folder.path / name), data) == [], name
        assert 'lang="ko"' in (folder.path / "analysis.html").read_text("utf-8")


def _said(path: Path) -> Iterator[str]:
    """The sentences in a module's results: texts of three words or more, fields as a number."""
    tree = ast.parse(path.read_text("utf-8"))
    passed: set[int] = set()
    for node in ast.walk(tree):
        inside = ast.walk(node) if isinstance(node, ast.Raise) else ()
        passed |= {id(each) for each in inside}
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            passed.add(id(node.value))
        if isinstance(node, ast.JoinedStr):
            passed |= {id(each) for each in ast.walk(node) if each is not node}
    for node in ast.walk(tree):
        if id(node) not in passed and isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "7" for part in node.values)
        elif id(node) not in passed and isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


_NO_RESULTS = {"table.py", "battles.py", "reading.py", "study.py", "ratings.py", "returned.py", "certificate.py",
               "phrases.py", "values.py", "text.py", "escapes.py", "objects.py", "verdicts.py"}  # fmt: skip


@pytest.mark.parametrize("room", ["agreement", "ratings", "judges", "human", "reading", "realism"])
def test_every_sentence_of_a_result_has_its_korean(room: str) -> None:
    """A new name, reason or remark of the mathematics belongs into words/sentences.LANGUAGE.yaml."""
    folder = ROOT / "simulator" / "realism" if room == "realism" else ROOT / "arena" / room
    lacking = {
        sentence
        for path in folder.rglob("*.py")
        if path.name not in _NO_RESULTS
        for sentence in _said(path)
        if len(re.findall(r"[A-Za-z]{2,}", sentence)) >= 3 and english([spoken(sentence, "ko")], "")
    }
    assert lacking - _PARTS == set()


@pytest.mark.parametrize("criteria", [1, 3])
@pytest.mark.parametrize(("invalid", "why"), [(2, {"rate_limited": 3}), (2, {}), (0, {"timeout": 1}), (0, {})])
def test_what_a_run_lacks_is_told_in_korean(criteria: int, invalid: int, why: dict[str, int]) -> None:
    note = Shortfall(valid=6, asked=20, criteria=criteria, invalid=invalid, why=why).note
    assert english([spoken(note, "ko")], "") == []
    assert spoken(note, "ko") != note


_PARTS = {
    ", with a prior of 7 even games against an average opponent",
    ", adjusted for the order of showing",
    "average of k = 7 ratings an item",
    "average of k = 7 raters",
    "normal approximation, ties corrected, 7 continuity correction",
    "above every other",
    "below every other",
    "own family of 7",
}
"""Ends of sentences whose wholes are known."""


@pytest.mark.parametrize(
    ("word", "subject", "topic", "toward"),
    [
        ("서울", "이", "은", "로"),
        ("심판", "이", "은", "으로"),
        ("튜터", "가", "는", "로"),
        ("gemini", "가", "는", "로"),
        ("GPT", "가", "는", "로"),
        ("LLM", "이", "은", "으로"),
        ("baseline", "이", "은", "으로"),
        ("simple", "이", "은", "로"),
        ("bot", "이", "은", "으로"),
        ("test", "가", "는", "로"),
        ("tutor-v2", "가", "는", "로"),
        ("tutor-v3", "이", "은", "으로"),
        ("2.0", "이", "은", "으로"),
        ("7", "이", "은", "로"),
        ("'심판'", "이", "은", "으로"),
        ("「튜터」", "가", "는", "로"),
        ("심판(둘)", "이", "은", "으로"),
        ("50%", "가", "는", "로"),
    ],
)
def test_a_particle_follows_the_last_sound(word: str, subject: str, topic: str, toward: str) -> None:
    assert (particle(word, "이(가)"), particle(word, "은(는)"), particle(word, "(으)로")) == (
        subject,
        topic,
        toward,
    )


def test_particles_are_chosen_after_what_was_filled_in_and_never_inside_it() -> None:
    say = Words("ko", {"t": "{a}와(과) '{b}'이(가) {n}(으)로, {a}을(를)"})
    assert say("t", a="gemini", b="은(는)심판", n=3) == "gemini와 '은(는)심판'이 3으로, gemini를"
