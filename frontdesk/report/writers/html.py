"""The one way to an HTML page: Jinja with escaping on, templates from ``templates/``, nothing fetched."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any, cast

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from frontdesk.report.blocks import Block, Cell, Chart, Column, Document, Speech, Text
from frontdesk.report.differences import marked
from frontdesk.report.marks import series_class
from frontdesk.report.prose import prose
from frontdesk.report.untrusted import visible
from runstore.languages import words


def _finalized(value: object) -> object:
    """Plain text with the unseen made visible; markup made here is left alone, and escaping follows."""
    return visible(value) if type(value) is str else value


def _joined(blocks: Sequence[Block]) -> list[Block | list[Block]]:
    """The blocks; warnings that follow each other as one list, and so are small pictures."""
    parts: list[Block | list[Block]] = []
    for kind, run in groupby(blocks, _kind):
        own = list(run)
        parts += [own] if kind and len(own) > 1 else own
    return parts


def _kind(block: Block) -> str:
    if isinstance(block, Text):
        return "warning" if block.kind == "warn" else ""
    return "picture" if isinstance(block, Chart) and block.narrow is None else ""


def _looks(cell: Cell, column: Column) -> Markup:
    """The attributes of a table's cell: numbers stand to the right, shades are classes and a strength."""
    names, strength = ["n"] if column.number else list[str](), None
    if cell.lean is not None:
        names += ["heat", "win" if cell.lean >= 0.5 else "lose"]
        strength = 100 * abs(cell.lean - 0.5)
    elif cell.heat is not None:
        names, strength = [*names, "heat"], 50 * cell.heat
    shown = Markup(' class="{}"').format(" ".join(names)) if names else Markup("")
    return shown if strength is None else shown + Markup(' style="--heat: {:.0f}%"').format(strength)


def _marked(replies: Sequence[Speech]) -> tuple[Markup, Markup] | None:
    """Two replies with what only one of them says; None where they are not two, or are too long for it."""
    return marked(replies[0].text, replies[1].text) if len(replies) == 2 else None


def _is_long(text: str, kind: str) -> bool:
    """Whether a text is folded: judges' words earlier than what they judge."""
    letters, lines = (400, 8) if kind == "judge" else (1600, 30)
    return len(text) > letters or text.count("\n") >= lines


@lru_cache
def environment(package: str, *, fills_forms: bool = False) -> Environment:
    """A package's templates: autoescape everywhere; a name that a template uses and nobody gave is an error.

    ``fills_forms``: texts come back as they were given, so nothing unseen in them is replaced.
    """
    made = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=None if fills_forms else _finalized,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    tools: dict[str, object] = {
        "joined": _joined,
        "looks": _looks,
        "prose": prose,
        "marked": _marked,
        "is_long": _is_long,
    }
    cast("dict[str, object]", made.globals).update(tools)
    return made


def render(template_name: str, **context: Any) -> str:
    """The page as text."""
    return environment("frontdesk.report").get_template(template_name).render(**context)


def html(document: Document, template_name: str = "report.html.j2") -> str:
    """One self-contained page: no script, nothing fetched; another template may add to it."""
    return render(
        template_name,
        document=document,
        language=document.language,
        title=document.title,
        **common(document.language),
    )


def fragment(document: Document) -> str:
    """The same blocks as a part of somebody else's page, a notebook's cell: no anchors and no style of its own."""
    return render("fragment.html.j2", document=document, **common(document.language, styled=False))


def common(language: str, *, styled: bool = True) -> dict[str, object]:
    """What the templates of blocks need beside the blocks. Without our styles texts are shown as written."""
    return {"series": series_class, "tell": words("frontdesk.report", "blocks", language), "styled": styled}
