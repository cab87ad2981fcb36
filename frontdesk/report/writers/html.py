"""The one way to an HTML page: Jinja with escaping on, templates from ``templates/``, nothing fetched."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

_UNSEEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def shown(value: object) -> object:
    """Text with the unseen made visible: control characters, and those that turn the reading direction."""
    return _UNSEEN.sub("\ufffd", value) if type(value) is str else value


@lru_cache(1)
def environment() -> Environment:
    """Autoescape everywhere; a name that a template uses and nobody gave is an error."""
    return Environment(
        loader=PackageLoader("frontdesk.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render(template_name: str, **context: Any) -> str:
    """The page as text."""
    return environment().get_template(template_name).render(**context)
