"""What results say in English (the name of a method, why a figure is missing), as a reader of a report reads it.

Result files are one for all languages, so their sentences are English, whatever the report's language. Each
has its form in ``words/sentences.en.yaml``; a sentence that fits it is shown in the words of the same key. What
fits no form is shown as it is. A field that holds a sentence or a unit of its own is looked up likewise.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from string import Formatter

from runstore.languages import SOURCE, VARIABLE, Words, words

_COUNTS = frozenset(
    (
        "n",
        "of",
        "k",
        "df",
        "zeros",
        "fewest",
        "needed",
        "floor",
        "most",
        "words",
        "groups",
        "right",
        "wrong",
        "games",
    )
)
"""Fields that hold a number: others may hold a sentence, and would take the words before the number with them."""

_BETWEEN = "; "
"""Between several reasons of one figure."""


def spoken(sentence: str | None, language: str) -> str:
    """``sentence`` of a result in ``language``; empty for None."""
    if not sentence or language == SOURCE:
        return sentence or ""
    say = words("frontdesk.report", "sentences", language)
    if (whole := _fitting(sentence, say)) is not None:
        return whole
    parts = sentence.split(_BETWEEN)
    for at in range(len(parts) - 1, 0, -1):
        if (first := _fitting(_BETWEEN.join(parts[:at]), say)) is not None:
            return first + _BETWEEN + spoken(_BETWEEN.join(parts[at:]), language)
    return sentence


def _fitting(sentence: str, say: Words) -> str | None:
    exact, forms = _forms(os.environ.get(VARIABLE, ""))
    if (key := exact.get(sentence)) is not None:
        return say(key)
    for key, form in forms:
        if found := form.fullmatch(sentence):
            return say(key, **{name: spoken(value, say.language) for name, value in found.groupdict().items()})
    return None


@lru_cache(4)
def _forms(own: str) -> tuple[dict[str, str], list[tuple[str, re.Pattern[str]]]]:  # noqa: ARG001
    """Keys of whole sentences, and forms with fields, those that say most themselves first."""
    exact: dict[str, str] = {}
    forms: list[tuple[int, str, re.Pattern[str]]] = []
    for key, text in words("frontdesk.report", "sentences", SOURCE).texts.items():
        parts = list(Formatter().parse(text))
        if all(name is None for _, name, _, _ in parts):
            exact[text] = key
            continue
        pattern = "".join(re.escape(said) + (_group(name) if name else "") for said, name, _, _ in parts)
        forms.append((-sum(len(said) for said, *_ in parts), key, re.compile(pattern, re.DOTALL)))
    return exact, [(key, form) for _, key, form in sorted(forms, key=lambda each: each[:2])]


def _group(name: str) -> str:
    return f"(?P<{name}>{r'[-+]?[0-9][0-9.,e+-]*' if name in _COUNTS else '.+?'})"
