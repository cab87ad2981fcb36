"""Hostile text through every writer of every product; and nobody else escapes."""

from __future__ import annotations

import asyncio
import csv
import io
import re
from collections.abc import Callable
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from arena.agent_runs.scored import Options
from arena.agent_runs.scoring import analyse as analyse_runs
from arena.agent_runs.scoring import score_tables
from arena.agent_runs.state import Spool
from arena.agent_runs.tables import Layout, open_table
from arena.agreement import table as ratings_table
from arena.agreement.report import report as agreement_report
from arena.human.analysis import analyse
from arena.human.ratings import Rating
from arena.human.study import parse_study
from arena.ratings.leaderboard import build
from arena.ratings.settings import Settings
from arena.rubrics.rubric import load_rubric
from arena.scoring.sessions import Message, Session
from frontdesk.export.card import card
from frontdesk.report.blocks import Document, Table
from frontdesk.report.differences import marked
from frontdesk.report.sections.agent_runs.document import document as agent_runs_document
from frontdesk.report.sections.agreement.document import document as agreement_document
from frontdesk.report.sections.ratings.document import document as ratings_document
from frontdesk.report.sections.ratings.write import write_leaderboard
from frontdesk.report.sections.run.data import load
from frontdesk.report.sections.run.document import document as run_document
from frontdesk.report.sections.scores.document import document as scores_document
from frontdesk.report.sections.scores.outcome import ScoreTeller
from frontdesk.report.sections.study.document import document as study_document
from frontdesk.report.untrusted import visible
from frontdesk.report.writers import console
from frontdesk.report.writers.html import html
from frontdesk.report.writers.latex import tabular
from frontdesk.report.writers.markdown import markdown
from frontdesk.runner.score_files import Scored, publish
from frontdesk.runner.score_plan import Material, Plan, Wishes
from frontdesk.runner.source import Source
from runstore.publish import write_csv
from runstore.records import Sheet
from tests.support.battles import battles_of, rows_of
from tests.support.run_folders import RunBuilder

UNSEEN = "\x1b\x07\u202e\u2066\u200b\u200d\ufeff\u00ad\u3164\u0085"
HOSTILE = (
    "=1+1 {{ 7*7 }} \x1b[31mred\x07 \u202egnp\u2066 a|b `c` <img src=x onerror=alert(1)> $x$ \\input{y} "
    "a\u200bb c\u200dd \ufeffe \u00adf [z](javascript:alert(2))"
)
NAME = "=1+1 {{ 7*7 }} gnp a|b `c` <img src=x onerror=alert(1)> $x$ \\input{y} [z](javascript:alert(2))"
"""What may be the name of an endpoint: those must be of printable characters."""
ROOT = Path(__file__).resolve().parents[3]


def _run(folder: Path) -> Document:
    built = RunBuilder([NAME, "plain"], judges=[f"judge {NAME}"], utterance=HOSTILE)
    built.play(["aaa", "abt", "bbx", "axx", "bbb"])
    return run_document(load(built.write(folder / "run")), "en")


def _ratings(folder: Path) -> Document:
    return ratings_document(
        build(battles_of(rows_of([(HOSTILE, "Q", 9, 4, 1), ("Q", "R", 5, 0, 0)])), Settings(resamples=20))
    )


def _agreement(folder: Path) -> Document:
    path = folder / "ratings.csv"
    rows = [
        (f"item {at}", rater, 1 + at % 3) for at in range(6) for rater in (HOSTILE.replace("\x85", ""), "other")
    ]
    write_csv(path, ("item", "rater", "value"), rows)
    return agreement_document(agreement_report(ratings_table.load(path), resamples=20))


def _study(folder: Path) -> Document:
    likert = {"kind": "likert", "text": "?", "anchors": ["low", "high"]}
    study = parse_study(
        {
            "id": "fixed",
            "title": HOSTILE,
            "strata": {"high": 2, "low": 2},
            "conditions": {"A": {"name": "base", "label": HOSTILE}, "B": {"name": "new", "label": "Proposed"}},
            "groups": {"g": {"label": HOSTILE, "size": 12, "items": 2, "form": "f", "assignment": "common"}},
            "forms": {"f": {"questions": [{"id": "q1", **likert}]}},
            "consent": {"paragraphs": ["you are told"]},
            "table": [{"metric": "m", "label": HOSTILE, "questions": ["q1"]}],
        },
        "fixed.toml",
    )
    ratings = [
        Rating(f"r{n}", "g", f"d{n % 4}", "high", condition, "q1", str(1 + (n + shift) % 5), 30.0, "2026-01-01")
        for n in range(8)
        for shift, condition in enumerate("AB")
    ]
    done = {"finished": 1, "planned": 2, "missing": 1}
    return study_document(HOSTILE, "en", analyse(study, ratings, []), done, [], None)


def _scores(folder: Path) -> Document:
    rubric = load_rubric("qac")
    sessions = [
        Session(id=f"{HOSTILE} {at}", messages=(Message(role="student", text=HOSTILE),), columns={"mode": mode})
        for at, mode in enumerate((HOSTILE, "plain") * 3)
    ]
    sheets = [
        Sheet(
            subject=session.id,
            judge=judge,
            repeat=1,
            values={item.key: dict.fromkeys(item.slots, (at + shift) % 2) for item in rubric.items},
            readable=True,
            raw=HOSTILE,
        )
        for at, session in enumerate(sessions)
        for shift, judge in enumerate((HOSTILE, "other"))
    ]
    plan = Plan(source=HOSTILE, judges=(HOSTILE, "other"), repeats=1, wishes=Wishes(resamples=20))
    scored = Scored(plan, Material(rubric, sessions), sheets, [], {HOSTILE: "local", "other": "openai"})
    return scores_document(publish(folder, scored, ScoreTeller("en")), "en")


def _agent_runs(folder: Path) -> Document:
    path = folder / "runs.csv"
    rows = [
        {
            "Query ID": f"{HOSTILE} {at % 3}",
            "질의": HOSTILE,
            "기대결과": "/m?dataKey=RIGHT",
            "카테고리": HOSTILE,
            "방/반복": f"{HOSTILE} {at // 3}",
            "오류": HOSTILE if at % 2 else "",
            "LLM 점수": "5",
            "Raw JSON": "",
        }
        for at in range(6)
    ]
    write_csv(path, list(rows[0]), [list(row.values()) for row in rows])
    with closing(Spool(folder)) as spool:
        scored = asyncio.run(score_tables([open_table(path, Layout())], Options(), judge=None, spool=spool))
        return agent_runs_document(analyse_runs(scored), "en")


PRODUCTS: dict[str, Callable[[Path], Document]] = {
    "run": _run,
    "ratings": _ratings,
    "agreement": _agreement,
    "study": _study,
    "scores": _scores,
    "agent runs": _agent_runs,
}


class _Dom(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs


def _no_unseen(text: str) -> None:
    assert not set(UNSEEN) & set(text)


_CODE_SPAN = re.compile(r"(?<![\\`])(`+)(?!`)[^\n]+?(?<!`)\1(?!`)")


def _check_markdown(document: Document) -> None:
    text = re.sub(r"^(`{3,})text\n.*?^\1$", "", markdown(document), flags=re.MULTILINE | re.DOTALL)
    text = _CODE_SPAN.sub("", text)
    assert not re.search(r"<[A-Za-z!/]", text)
    assert not re.search(r"(?<!\\)\]\(", text)
    assert not re.search(r"(?<!\\)[`$]", text)
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if re.match(r"\|[:|-]+$", line):
            wide = line.count("|")
            body = [row for row in lines[at - 1 :] if row.startswith("|")]
            first = lines[at - 1]
            assert len(re.findall(r"(?<!\\)\|", first)) == wide, first
            assert all(len(re.findall(r"(?<!\\)\|", row)) == wide for row in body[: _rows_below(lines, at)])
    _no_unseen(markdown(document))


def _rows_below(lines: list[str], at: int) -> int:
    count = 2
    while at + count - 1 < len(lines) and lines[at + count - 1].startswith("|"):
        count += 1
    return count


def _check_html(document: Document) -> None:
    page = html(document)
    dom = _Dom()
    dom.feed(page)
    assert dom.tags.isdisjoint({"img", "script", "iframe"})
    assert not [name for name, _ in dom.attributes if name.startswith("on")]
    assert "{{ 7*7 }}" in page
    _no_unseen(page)


def _check_console(document: Document) -> None:
    out = io.StringIO()
    console.show(document, out, None)
    _no_unseen(out.getvalue())


def _check_latex(document: Document) -> None:
    tables = [block for section in document.sections for block in section.blocks if isinstance(block, Table)]
    assert tables
    for table in tables:
        text = tabular([table])
        assert not re.search(r"(?<!\\)[$#_]", text.partition("\n")[2])
        assert r"\input" not in text
        _no_unseen(text)


WRITERS: dict[str, Callable[[Document], None]] = {
    "markdown": _check_markdown,
    "html": _check_html,
    "console": _check_console,
    "latex": _check_latex,
}


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("product", PRODUCTS)
def test_hostile_text_is_harmless(product: str, writer: str, tmp_path: Path) -> None:
    WRITERS[writer](PRODUCTS[product](tmp_path))


def test_spreadsheets_get_no_formulas(tmp_path: Path) -> None:
    board = build(battles_of(rows_of([(HOSTILE, "Q", 9, 4, 1)])), Settings(resamples=20))
    write_leaderboard(tmp_path, board)
    with (tmp_path / "leaderboard.csv").open(encoding="utf-8-sig", newline="") as file:
        names = [row["name"] for row in csv.DictReader(file)]
    assert len(names) == 2
    assert not [name for name in names if name.startswith("=")]


def test_the_data_card_is_harmless(tmp_path: Path) -> None:
    built = RunBuilder([NAME, "plain"], utterance=HOSTILE)
    built.play(["aaa", "bbb"])
    text = card(Source(built.write(tmp_path / "run")), "openai", [], {}, HOSTILE)
    assert not re.search(r"<[A-Za-z!/]", text)
    _no_unseen(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("👩\u200d👩\u200d👧", "👩\u200d👩\u200d👧"),
        ("क्\u200dष", "क्\u200dष"),
        ("a\u200db", "a\ufffdb"),
        ("1\r\n2\r3", "1\n2\n3"),
        ("\ud83d", "\ufffd"),
        ("가나 ㄱ", "가나 ㄱ"),
    ],
)
def test_what_is_made_visible_and_what_a_script_needs(text: str, shown: str) -> None:
    assert visible(text) == shown


ESCAPERS = re.compile(
    r"html\.escape|rich\.markup|escape_latex\(|markupsafe|textbackslash"
    r"|def _?(?:escape|escaped|md|markdown_text|latex_text)\b"
    r"|replace\([\"']<[\"']|replace\([\"']\|[\"']"
)
ALLOWED = {
    "frontdesk/report/untrusted.py",
    "frontdesk/report/blocks.py",  # names the type of markup
    "frontdesk/report/differences.py",  # marks around texts that untrusted.html has escaped
    "frontdesk/report/prose.py",  # a parser's tokens to known elements; letters by untrusted.html
    "frontdesk/report/marks.py",  # fills markup templates, which escape
    "frontdesk/report/writers/html.py",  # attributes of table cells, from a template that escapes
    "gateway/secrets.py",  # looks for keys in every dress
    "arena/reading/escapes.py",  # puts back what a judge's JSON escaped wrongly
    "arena/reading/objects.py",
}


def test_only_one_module_escapes() -> None:
    others: dict[str, Any] = {}
    for package in (
        "personas",
        "seed_questions",
        "runstore",
        "gateway",
        "simulator",
        "arena",
        "frontdesk",
        "tutor_arena",
    ):
        for path in (ROOT / package).rglob("*.py"):
            name = path.relative_to(ROOT).as_posix()
            if name not in ALLOWED and (match := ESCAPERS.search(path.read_text("utf-8"))):
                others[name] = match[0]
    assert others == {}


def test_a_difference_within_what_a_joiner_holds_together_hides_nothing_and_breaks_nothing() -> None:
    found = marked("so 👨\u200d👩\u200d👧 and می\u200cخواهم", "so 👨\u200d👩\u200d👦 and می\u200cشود")
    assert found is not None
    assert "\ufffd" not in "".join(found)
    assert found[0] == "so <mark>👨\u200d👩\u200d👧</mark> and <mark>می\u200cخواهم</mark>"
    hidden = marked("plain", "pl\u200bain \u202ex")
    assert hidden is not None
    assert "\u200b" not in hidden[1]
    assert "\ufffd" in hidden[1]
