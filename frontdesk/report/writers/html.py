"""The one way to an HTML page: Jinja with escaping on, templates from ``templates/``, nothing fetched."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from frontdesk.report.blocks import Document
from frontdesk.report.plots import series_class
from frontdesk.report.untrusted import visible


def _finalized(value: object) -> object:
    """Plain text with the unseen made visible; markup made here is left alone, and escaping follows."""
    return visible(value) if type(value) is str else value


@lru_cache(1)
def environment() -> Environment:
    """Autoescape everywhere; a name that a template uses and nobody gave is an error."""
    return Environment(
        loader=PackageLoader("frontdesk.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalized,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render(template_name: str, **context: Any) -> str:
    """The page as text."""
    return environment().get_template(template_name).render(**context)


def html(document: Document, template_name: str = "report.html.j2") -> str:
    """One self-contained page: no script, nothing fetched; another template may add to it."""
    return render(
        template_name,
        document=document,
        language=document.language,
        title=document.title,
        series=series_class,
    )


def fragment(document: Document) -> str:
    """The same blocks as a part of somebody else's page, a notebook's cell: no anchors and no style of its own."""
    return render("fragment.html.j2", document=document, series=series_class)
