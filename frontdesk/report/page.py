"""The one way to an HTML page: Jinja with escaping on, templates from ``templates/``, nothing fetched."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


@lru_cache(1)
def environment() -> Environment:
    """Autoescape everywhere; a name that a template uses and nobody gave is an error."""
    return Environment(
        loader=PackageLoader("frontdesk.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render(template_name: str, **context: Any) -> str:
    """The page as text."""
    return environment().get_template(template_name).render(**context)
