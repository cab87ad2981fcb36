"""Names and texts that look like markup stay text in every form of the report."""

from __future__ import annotations

import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from frontdesk.cli import main
from frontdesk.report.run import console_summary, write_report
from runstore.publish import write_jsonl
from tests.support.run_folders import RunBuilder

HOSTILE = (
    '<img src=x onerror=alert(1)><b>hi</b> & "q" <script>alert(2)</script> [x](javascript:alert(1)) [/b] [red]'
)
FENCES = "```\n# not a heading\n````\n~~~"


class Dom(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.fixture
def hostile(tmp_path: Path) -> RunBuilder:
    run = RunBuilder([HOSTILE, "gpt[x]"], judges=["[[A]] <i>"], utterance=f"{HOSTILE}\n{FENCES}")
    run.play(["aaa", "abt", "bbx", "axx", "bbb"])
    return run


def test_the_page_has_no_element_attribute_or_link_of_the_data(hostile: RunBuilder, tmp_path: Path) -> None:
    page = write_report(hostile.write(tmp_path))[1].read_text("utf-8")
    dom = Dom()
    dom.feed(page)
    assert dom.tags.isdisjoint({"img", "b", "i", "script", "iframe"})
    assert not [name for name, _ in dom.attributes if name.startswith("on")]
    links = [value or "" for name, value in dom.attributes if name in {"href", "src"}]
    assert all(link.startswith("#") for link in links)
    assert HOSTILE in "".join(dom.text)
    assert "default-src 'none'" in page


def test_markdown_keeps_names_and_texts_literal(hostile: RunBuilder, tmp_path: Path) -> None:
    text = write_report(hostile.write(tmp_path))[0].read_text("utf-8")
    inside: str | None = None
    for line in text.splitlines():
        if inside is None and line.startswith("```"):
            inside = line.removesuffix("text")
        elif line == inside:
            inside = None
        elif inside is None:
            assert "<" not in line, line
            assert "[x](" not in line, line
            assert line != "# not a heading"
    assert inside is None
    assert f"\n{FENCES}" in text


def test_the_console_prints_markup_as_it_is(hostile: RunBuilder, tmp_path: Path) -> None:
    out = io.StringIO()
    console_summary(hostile.write(tmp_path), out=out)
    flat = "".join(out.getvalue().split())
    assert "gpt[x]" in flat
    assert "[/b][red]" in flat
    assert "\x1b" not in out.getvalue()


def test_a_text_of_a_megabyte_does_not_swell_the_page_and_says_how_much_is_left_out(tmp_path: Path) -> None:
    run = RunBuilder(["x", "y"], utterance="so " * 350_000)
    run.play(["aaa", "abt", "bbb"])
    pages = write_report(run.write(tmp_path))
    assert all(page.stat().st_size < 2_000_000 for page in pages)
    assert all("[…1042000]" in page.read_text("utf-8") for page in pages)


HIDING = "\x1b[31m \u202egnp a\u200bb \ufeff \u3164"
SAID = (
    f"{HIDING} <img src=x onerror=alert(1)></script><script>alert(2)</script> | `c` 👨\u200d👩\u200d👧 {'w' * 300}"
)
CONTESTANTS = ("=cmd|' /C calc'!A0", "a|b <i>x</i>", "👩🏽 튜터", "-minus", "@at +plus")


def scripted(folder: Path) -> Path:
    """A configuration whose every speaker and name is hostile."""
    said = {"student": "why?", "teacher": "What do you think?", "judge": "", **{f"t{at}": "" for at in range(5)}}
    for name, opening in said.items():
        ends = (
            ["### (a)", "### (b)", "### (c)", "no"] if name == "judge" else ["=1", "+1", "@1", "\t=1", "\u200b=1"]
        )
        lines = [{"reply": f"{end if name.startswith('t') else opening} {SAID}\n{end}"} for end in ends]
        write_jsonl(folder / f"{name}.jsonl", lines)
    named = {"student": "student", "teacher": "teacher", "judge": "judge"}
    named |= {name: f"t{at}" for at, name in enumerate(CONTESTANTS)}
    tables = [
        f"[endpoints.{json.dumps(name, ensure_ascii=False)}]\nkind = 'scripted'\nreplies = '{file}.jsonl'"
        for name, file in named.items()
    ]
    (folder / "c.toml").write_text(
        '[run]\nname = "</script><b>run</b>"\n[site]\ntitle = "<b>t</b> \u202e"\n[cut]\nsubsets = 4\n'
        '[simulate]\ndialogues = 4\nturns = 2\nstudent = "student"\nteacher = "teacher"\n'
        f"[collect]\nendpoints = {json.dumps(CONTESTANTS, ensure_ascii=False)}\n"
        '[judge]\nendpoints = ["judge"]\nrounds = 2\n' + "\n".join(tables) + "\n",
        encoding="utf-8",
    )
    return folder / "c.toml"


def test_no_page_and_no_line_of_any_command_hides_a_letter_or_has_an_element_of_the_data(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, study = str(tmp_path / "run"), tmp_path / "study"
    assert main(["human", "init", str(study), "--example", "tutor-votes"]) == 0
    plan = (study / "study.toml").read_text("utf-8").replace("runs/demo", run)
    for asked, fits in (("matches = 20 ", "matches = 4 "), ("size = 6", "size = 4"), ("items = 10", "items = 4")):
        plan = plan.replace(asked, fits)
    (study / "study.toml").write_text(
        plan.replace("items = 6", "items = 4").replace("dialogues = 6", "dialogues = 4")
    )
    for command in (
        ["run", str(scripted(tmp_path)), "--run", run], ["report", run, "--site", str(tmp_path / "site")],
        ["compare", run, run, "--out", str(tmp_path / "compared")], ["export", run, "--as", "page,csv,openai"],
        ["quality", run], ["rate", run, "--svg", "--latex", "--png"], ["runs", str(tmp_path)], ["calls", run],
        ["human", "plan", str(study / "study.toml"), "--out", str(study / "plan")],
        ["human", "forms", str(study / "plan")],
    ):  # fmt: skip
        assert main(command) in (0, 1), (command, capsys.readouterr().err)
    told = capsys.readouterr()
    assert not set(HIDING) & set(told.out + told.err) - set(" [31mgnpab")
    seen = [path for path in tmp_path.rglob("*") if path.suffix in {".html", ".md", ".tex", ".svg"}]
    assert len(seen) > 20
    for path in seen:
        text = path.read_text("utf-8")
        assert not set(HIDING) & set(text) - set(" [31mgnpab"), path
        assert not re.search(r"<img|<script>alert|<i>x|<b>run", text) or path.suffix == ".md", path
