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


@lru_cache
def environment(package: str, *, fills_forms: bool = False) -> Environment:
    """A package's templates: autoescape everywhere; a name that a template uses and nobody gave is an error.

    ``fills_forms``: texts come back as they were given, so nothing unseen in them is replaced.
    """
    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=None if fills_forms else _finalized,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render(template_name: str, **context: Any) -> str:
    """The page as text."""
    return environment("frontdesk.report").get_template(template_name).render(**context)


def html(document: Document) -> str:
    """One self-contained page: no script, nothing fetched."""
    return render(
        "report.html.j2",
        document=document,
        language=document.language,
        title=document.title,
        series=series_class,
    )


def fragment(document: Document) -> str:
    """The same blocks as a part of somebody else's page, a notebook's cell: no anchors and no style of its own."""
    return render("fragment.html.j2", document=document, series=series_class)
