"""Names and texts that look like markup stay text in every form of the report."""

from __future__ import annotations

import io
from html.parser import HTMLParser
from pathlib import Path

import pytest

from frontdesk.report.run import console_summary, write_report
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
