"""What the writers make of blocks: Markdown that keeps its outline, and pages with pictures in their place."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from frontdesk.report.blocks import (
    Block,
    Cell,
    Chart,
    Document,
    Either,
    Heading,
    Point,
    Section,
    Table,
    Text,
    columns,
    points,
)
from frontdesk.report.plots.planes import differences_against_means, scatter
from frontdesk.report.writers.html import html
from frontdesk.report.writers.markdown import markdown

HOSTILE = "<script>alert(1)</script> | `x` **y** [a](javascript:x) \x1b[31m \u202e =1+1 \" ' ##"


def report(*blocks: Block, title: str = "T", notes: tuple[str, ...] = ()) -> Document:
    return Document(title, "en", None, [], [Section("s", "S", list(blocks))], notes=list(notes))


def test_a_numbered_heading_keeps_its_number_and_loses_no_closing_signs() -> None:
    lines = markdown(report(Heading("1. Intent"), Heading("in C #"), title="2. Of #")).splitlines()
    assert lines[0] == "# 2. Of \\#"
    assert "### 1. Intent" in lines
    assert "### in C \\#" in lines


@pytest.mark.parametrize(("text", "span"), [("5(17)", "`5(17)`"), ("a`b", "`` a`b ``"), ("**", "`**`")])
def test_code_stands_letter_for_letter_after_a_point(text: str, span: str) -> None:
    document = report(points(Point("Spread:", code=text, rest=", none 3")))
    assert f"- Spread: {span}, none 3" in markdown(document).splitlines()
    assert f"Spread: <code>{text}</code>, none 3" in html(document)


def test_each_writer_shows_its_own_form_of_the_same() -> None:
    table = Table(columns("path", "share"), [(Cell("/a"), Cell("50%", share=0.5, colour=0))])
    document = report(Either(text=(points("/a: 1 of 2"),), page=(table,)), Text("after"))
    text, page = markdown(document), html(document)
    assert "- /a: 1 of 2" in text.splitlines()
    assert "| /a" not in text
    assert "1 of 2" not in page
    assert 'style="width: 50.0%"' in page
    assert text.index("1 of 2") < text.index("after")


def test_notes_open_the_report_side_by_side() -> None:
    document = report(notes=("first", "second"))
    assert markdown(document).startswith("> first\n>\n> second\n\n# T\n")
    assert html(document).index("second") < html(document).index("<h1>")


def pictures(name: str) -> list[Chart]:
    levels = [(f"{name} {value:+.2f}", value) for value in (0.0, 0.01, -0.01)]
    points_drawn = [(8.0, 0.0), (8.0, 0.0), (9.0, 0.5)]
    return [
        scatter(name, (name, name), [(8.0, 8.0), (9.0, 40.0)], (8, 40)),
        differences_against_means(name, (name, name), points_drawn, levels, (8, 40)),
    ]


@pytest.mark.parametrize("chart", pictures(HOSTILE))
def test_names_in_pictures_stay_text(chart: Chart) -> None:
    page = html(report(chart))
    assert "<script" not in page
    assert not {"\x1b", "\u202e"} & set(page)
    assert "&lt;script&gt;" in page


def test_labels_of_levels_that_lie_together_do_not_overlap_and_dots_count() -> None:
    svg = str(pictures("level")[1].svg)
    heights = sorted(float(y) for y in re.findall(r'y="([\d.]+)">level [+-]', svg))
    assert len(heights) == 3
    assert all(below - above >= 12 for above, below in pairwise(heights))
    assert sorted(re.findall(r"<title>(\d+)</title>", svg)) == ["1", "2"]


def test_hostile_text_stays_text_in_every_block() -> None:
    table = Table(columns(HOSTILE, HOSTILE), [(Cell(HOSTILE), Cell(HOSTILE))], HOSTILE, HOSTILE)
    listing = points(Point(HOSTILE, (HOSTILE,), code=HOSTILE, rest=HOSTILE))
    document = report(Text(HOSTILE), Heading(HOSTILE), listing, table, title=HOSTILE, notes=(HOSTILE,))
    text, page = markdown(document), html(document)
    for written in (text, page):
        assert not {"\x1b", "\u202e"} & set(written)
    assert "<script" not in page
    assert "<script" not in re.sub(r"(`+)[^`].*?\1", "", text)
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in rows} == {3}
    assert [line[:3] for line in text.splitlines() if line.startswith("#")] == ["# &", "## ", "###"]
