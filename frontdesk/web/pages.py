"""The words of the raters' pages."""

from __future__ import annotations

from collections.abc import Mapping

from runstore.languages import words


def texts(language: str) -> Mapping[str, str]:
    """All texts of the pages in this language. Raises Problem for a language there are no words of."""
    return words("frontdesk.web", "pages", language).texts
