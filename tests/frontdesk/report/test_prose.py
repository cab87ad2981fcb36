"""Replies as Markdown, code and formulas: readable, harmless, and never less than was written."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

import pytest

from frontdesk.report.blocks import Document, Example, Section, Speech, Table, columns
from frontdesk.report.differences import marked
from frontdesk.report.prose import LONGEST, prose
from frontdesk.report.writers.html import html

HOSTILE = [
    "**a** <img src=x onerror=alert(1)><script>alert(1)</script>",
    "*[x](javascript:alert(1)) [y](data:text/html,<b>) ![z](https://e.org/pixel.png)*",
    "[a](https://e.org/\"onmouseover=\"alert(1)) **b**",
    "<https://e.org> *a* <javascript:alert(1)>",
    "$\\href{javascript:alert(1)}{x}$ $\\text{<script>alert(1)</script>}$ *a*",
    "$$\\begin{array}{c} \\style{background:url(https://e.org)}{x} \\end{array}$$",
    "```html\n</code></pre><script>alert(1)</script>\n```",
    '```"><img/src=x>\ncode\n```',
    "# </p><iframe src=https://e.org>",
    "|<b>|`|`|\n|-|-|-|\n|</td><form action=x>|b|c|",
    "**\u202eevil\u0000 \u2066** &lt;script&gt;",
    "[ref]: javascript:alert(1)\n\n**[ref]**",
]  # fmt: skip
ALLOWED = frozenset(
    [
        "p",
        "strong",
        "em",
        "s",
        "code",
        "pre",
        "span",
        "br",
        "hr",
        "ul",
        "ol",
        "li",
        "blockquote",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "math",
        "mrow",
        "mi",
        "mo",
        "mn",
        "mtext",
        "mspace",
        "msup",
        "msub",
        "msubsup",
        "mfrac",
        "msqrt",
        "mroot",
        "mover",
        "munder",
        "munderover",
        "mtable",
        "mtr",
        "mtd",
        "mstyle",
        "mpadded",
        "mphantom",
    ]
)


class Elements(HTMLParser):
    """Names of elements and attributes, and the text."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_makes_known_elements_alone(text: str) -> None:
    found = Elements(str(prose(text)))
    assert found.names <= ALLOWED, found.names
    assert not {
        name for name in found.attributes if name.startswith("on") or name in ("href", "src", "style", "id")
    }


@pytest.mark.parametrize("text", HOSTILE)
def test_no_word_is_lost(text: str) -> None:
    shown = Elements(str(prose(text))).text
    words = set(re.findall(r"[^\W_]{3,}", text))
    assert not {word for word in words if word not in shown}


def test_markdown_code_and_formulas_are_rendered() -> None:
    made = str(
        prose("**b** and $a_m < x$:\n\n```python\ndef f(): ...\n```\n\\[ \\frac{1}{2} \\]\n\n1. one\n2. two")
    )
    assert "<strong>b</strong>" in made
    assert "<msub><mi>a</mi><mi>m</mi></msub><mo>&lt;</mo>" in made
    assert '<span class="p-k">def</span>' in made
    assert '<math display="block"><mrow><mfrac>' in made
    assert "<ol>" in made


def test_addresses_are_told_and_lead_nowhere() -> None:
    assert "docs" in (made := str(prose("see [the docs](https://e.org/a?b=1&c=2)")))
    assert unescape(Elements(made).text).strip() == "see the docs (https://e.org/a?b=1&c=2)"
    assert "<a" not in made


@pytest.mark.parametrize("text", ["costs $5 and $6, * 3", "a $ b *c*", "from $1 to $20 for `x`"])
def test_prices_are_no_formulas(text: str) -> None:
    assert "<math" not in str(prose(text))
    assert "$" in str(prose(text))


@pytest.mark.parametrize("formula", ["\\frac{1}{", "\\begin{matrix}a&b", "x^{" * 30, "\\unknown{x}{", "\\left( x"])
def test_a_broken_formula_is_shown_as_written(formula: str) -> None:
    assert formula.strip() in unescape(Elements(str(prose(f"*so* ${formula}$"))).text).replace("\xa0", " ")


@pytest.mark.parametrize(
    "text", ["plain words, one line", ">" * 40 + " deep", "- " * 5000 + "x", "*a* " * LONGEST]
)
def test_what_is_better_read_as_written_is_not_rendered(text: str) -> None:
    assert prose(text) is None


def test_markup_never_swells_without_limit() -> None:
    for text in ("$a$ " * 4000, "```perl\n" + "/{" * 3900 + "\n```", "[" * 9000, "*a " * 5000, "\\(" * 8000):
        made = prose(text)
        assert made is None or len(made) <= 12 * len(text) + 4000


def test_differences_are_marked_and_nothing_is_changed() -> None:
    first, second = "the <b>old</b> list is sorted", "the <b>new</b> list is not sorted"
    both = marked(first, second)
    assert both is not None
    assert [unescape(re.sub("</?mark>", "", str(side))) for side in both] == [first, second]
    assert re.findall("<mark>(.*?)</mark>", str(both[1])) == ["new", "not "]


def test_a_long_example_is_folded_and_can_be_shown_as_written() -> None:
    long = "**word** " * 400
    replies, judges = [Speech("a", long), Speech("b", "*short*")], [Speech("judge", "*j*")]
    example = Example("t", "", [], [], replies, Table(columns("vote"), []), judges, "", "")
    page = html(Document("d", "en", None, [], [Section("s", "s", [example])]))
    assert page.count('class="clip"') == 1
    assert "Show all of it (3,600 letters)" in page
    assert 'type="checkbox"' in page
    assert '<p class="words" dir="auto">*j*</p>' in page
    assert "<script" not in page
