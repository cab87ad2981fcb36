"""What tutors and students wrote, as they meant it: Markdown, code and formulas as markup that can do nothing.

Raw HTML stays letters; links and pictures become their words and their address, so that a page leads nowhere and
fetches nothing; formulas are MathML of known elements alone. What can't be read this way is shown as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from html.parser import HTMLParser
from importlib import import_module
from typing import Any
from xml.etree import ElementTree

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markupsafe import Markup

from frontdesk.report.untrusted import html, visible

LONGEST = 20_000
"""Letters of a text that is still read as Markdown; a longer one is shown as it was written."""
_MOST_MARKUP = 12
"""Letters of markup for each letter of the text, at most."""
_LONGEST_CODE = 8_000
_LONGEST_FORMULA = 600
_DEEPEST_FORMULA = 12
_DELIMITERS = {"$$": "$$", "$": "$", "\\[": "\\]", "\\(": "\\)"}
_NESTED = re.compile(r"^(?:\s*(?:[-+*>]|\d{1,9}[.)])){10}|^[ \t]{80}", re.MULTILINE)
"""What stands in so many lists and quotations that a parser would lose it."""
_SIGNS = re.compile(r"[*_`#|$\\~>\[]|^\s*(?:[-+]|\d+[.)]) ", re.MULTILINE)
_LANGUAGES = frozenset(
    {
        "python", "py", "python3", "javascript", "js", "typescript", "ts", "java", "c", "cpp", "c++", "csharp",
        "go", "rust", "kotlin", "swift", "ruby", "php", "sql", "bash", "sh", "shell", "console", "json", "yaml",
        "toml", "html", "css", "xml", "r", "julia", "matlab", "scala", "haskell", "lua", "perl", "latex", "tex",
        "diff",
    }
)  # fmt: skip
_MATHML = "{http://www.w3.org/1998/Math/MathML}"
_ELEMENTS = frozenset(
    {
        "math", "mrow", "mi", "mo", "mn", "mtext", "mspace", "msup", "msub", "msubsup", "mfrac", "msqrt", "mroot",
        "mover", "munder", "munderover", "mtable", "mtr", "mtd", "mstyle", "mpadded", "mphantom",
    }
)  # fmt: skip
_ATTRIBUTES = frozenset(
    {
        "display", "displaystyle", "mathvariant", "stretchy", "fence", "form", "columnalign", "linethickness",
        "accent", "accentunder", "width", "minsize", "maxsize", "largeop", "movablelimits", "separator",
        "scriptlevel",
    }
)  # fmt: skip
_COMMANDS = re.compile(r"\\(?:begin|end|color|textcolor)\s*\{[^{}]*\}|\\[a-zA-Z]+")
_VALUE = re.compile(r"[\w .+-]{1,40}")


def prose(text: str) -> Markup | None:
    """The text rendered; None where there is nothing to render, or where it is better read as it is."""
    if len(text) > LONGEST or not _SIGNS.search(text) or _NESTED.search(text):
        return None
    made = _parser().render(visible(text))
    return Markup(made) if len(made) <= _MOST_MARKUP * len(text) + 4000 else None  # noqa: S704 - rules escape


def elements(markup: Markup) -> list[Any]:
    """What :func:`prose` made, for a script that makes elements and never markup.

    Texts, and ``[name, attributes, *inner]`` for an element.
    """
    return _Tree(markup).top


class _Tree(HTMLParser):
    def __init__(self, markup: str) -> None:
        super().__init__(convert_charrefs=True)
        self.top: list[Any] = []
        self._open: list[list[Any]] = [self.top]
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        made: list[Any] = [tag, dict(attrs)]
        self._open[-1].append(made)
        if tag not in ("br", "hr"):
            self._open.append(made)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("br", "hr"):
            self._open.pop()

    def handle_data(self, data: str) -> None:
        self._open[-1].append(data)


@lru_cache(1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True, "maxNesting": 100})
    parser.enable(["table", "strikethrough"]).disable(["reference", "html_block", "html_inline", "entity"])
    parser.inline.ruler.before("escape", "formula", _find_formula)
    for name, rule in _RULES.items():
        parser.add_render_rule(name, rule)
    return parser


def _find_formula(state: StateInline, silent: bool) -> bool:
    """``$x$``, ``\\(x\\)`` within a line of words; ``$$x$$``, ``\\[x\\]`` on their own. Prices are none."""
    text, at = state.src, state.pos
    for opening, closing in _DELIMITERS.items():
        if not text.startswith(opening, at):
            continue
        start = at + len(opening)
        end = text.find(closing, start, min(state.posMax, start + _LONGEST_FORMULA))
        if end <= start or (opening == "$" and not _is_formula(text, start, end)):
            return False
        if not silent:
            token = state.push("formula", "math", 0)
            token.content, token.block = text[start:end], opening in ("$$", "\\[")
        state.pos = end + len(closing)
        return True
    return False


def _is_formula(text: str, start: int, end: int) -> bool:
    """Whether single dollars hold a formula: no blank inside either, and no digit after."""
    return not (text[start].isspace() or text[end - 1].isspace() or text[end + 1 : end + 2].isdigit())


def _letters(text: str) -> str:
    """Escaped, as a plain string: what is put together here is not escaped again."""
    return str(html(text))


def _fence(_self: Any, tokens: Sequence[Token], at: int, *_: Any) -> str:
    token = tokens[at]
    named = token.info.strip()
    label = f'<span class="language">{html(named)}</span>' if named else ""
    code = _highlighted(token.content, named.partition(" ")[0].lower())
    return f'<pre class="code">{label}<code>{code}</code></pre>\n'


def _highlighted(code: str, language: str) -> str:
    if language not in _LANGUAGES or len(code) > _LONGEST_CODE:
        return html(code)
    lexers: Any = import_module("pygments.lexers")
    formatter: Any = import_module("pygments.formatters.html").HtmlFormatter(nowrap=True, classprefix="p-")
    return import_module("pygments").highlight(code, lexers.get_lexer_by_name(language), formatter)


def _heading(_self: Any, tokens: Sequence[Token], at: int, *_: Any) -> str:
    return '<p class="head">' if tokens[at].nesting == 1 else "</p>\n"


def _link(_self: Any, tokens: Sequence[Token], at: int, _options: Any, env: Any) -> str:
    """Nothing where it begins, and the address where it ends."""
    opened: list[str] = env.setdefault("links", [])
    if tokens[at].nesting == 1:
        told = [str(tokens[at].attrs[key]) for key in ("href", "title") if key in tokens[at].attrs]
        opened.append(", ".join(told))
        return ""
    address = opened.pop() if opened else ""
    return f' <span class="address">({html(address)})</span>' if address else ""


def _image(_self: Any, tokens: Sequence[Token], at: int, *_: Any) -> str:
    address = html(str(tokens[at].attrs.get("src", "")))
    return f'{html(tokens[at].content)} <span class="address">({address})</span>'


def _formula(_self: Any, tokens: Sequence[Token], at: int, *_: Any) -> str:
    """MathML, or the LaTeX itself where it is none."""
    latex, block = tokens[at].content.strip(), tokens[at].block
    if _depth(latex) > _DEEPEST_FORMULA:
        return f'<code class="latex">{html(latex)}</code>'
    try:
        made = import_module("latex2mathml.converter").convert(latex, display="block" if block else "inline")
        tree = ElementTree.fromstring(made)  # noqa: S314 - made here, without a document type
        if _said(_COMMANDS.sub("", latex)) <= _said("".join(tree.itertext())):  # else it lost some of it
            return _element(tree)
    except Exception:  # noqa: S110 - whatever a converter says of a stranger's formula
        pass
    return f'<code class="latex">{html(latex)}</code>'


def _said(text: str) -> int:
    return sum(letter.isalnum() for letter in text)


def _depth(latex: str) -> int:
    """How deep braces and environments stand in each other, at least."""
    deepest = depth = 0
    for step in re.findall(r"\\begin|\\end|\\left|\\right|[{}^_]", latex):
        depth += 1 if step in ("{", "\\begin", "\\left") else -1 if step in ("}", "\\end", "\\right") else 0
        deepest = max(deepest, depth)
    return deepest


def _element(element: ElementTree.Element) -> str:
    """Known elements with known attributes; others leave their texts."""
    name = element.tag.removeprefix(_MATHML)
    inner = _letters(element.text or "") + "".join(_element(child) for child in element)
    if name not in _ELEMENTS:
        return f"<mrow>{inner}</mrow>" if len(element) else f"<mtext>{inner}</mtext>"
    kept = "".join(
        f' {key}="{value}"'
        for key, value in element.attrib.items()
        if key in _ATTRIBUTES and _VALUE.fullmatch(value)
    )
    return f"<{name}{kept}>{inner}</{name}>"


_RULES = {
    "fence": _fence,
    "code_block": _fence,
    "heading_open": _heading,
    "heading_close": _heading,
    "link_open": _link,
    "link_close": _link,
    "image": _image,
    "formula": _formula,
}
