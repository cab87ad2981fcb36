"""Sentences known by their English form, said in another language.

Result files and messages are written once, in English. Each has its form in a table of words
(:mod:`runstore.languages`); a sentence that fits it is shown in the words of the same key. What fits no form is
shown as it is. A field that holds a sentence or a unit of its own is looked up likewise.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextvars import ContextVar
from functools import lru_cache
from string import Formatter

from runstore.english import in_number
from runstore.languages import SOURCE, VARIABLE, words

CONSOLE: ContextVar[Callable[[str], str]] = ContextVar("how a console tells a line", default=str)
"""What a room that must speak at once (a long download) puts its lines through; the console's owner sets it."""

Tables = tuple[tuple[str, str], ...]
"""Tables of words, each by its package and name: what a sentence is looked up in."""

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

_NUMBER = r"[-+]?[0-9][0-9.,e+-]*"

_NAMES = frozenset(("a", "b"))
_NAME = r"(?:(?!: ).)+?"
"""Names and places, never what stands behind a colon and a blank: that is a sentence of its own."""

_GIVEN = frozenset(("values", "came", "had", "earlier", "setting"))
"""Fields that hold what people answered ("no and yes" is no sentence of ours), or a key, which stays as it is."""

_SPOT = "spot"
"""The field of a place in a file, which may have colons of its own: ``answers.csv, line 3: lay-1, d1, clear``."""

_BETWEEN = "; "
"""Between several reasons of one figure."""


def spoken_by(sentence: str | None, language: str, *groups: Tables) -> str:
    """``sentence`` in ``language``; empty for None.

    The form that says most itself counts, whatever its group; of equal ones that of the first group.

    Raises as :func:`runstore.languages.words` does.
    """
    if not sentence or language == SOURCE:
        return in_number(sentence or "")
    if (whole := _fitting(sentence, language, groups)) is not None:
        return whole
    parts = sentence.split(_BETWEEN)
    for at in range(len(parts) - 1, 0, -1):
        if (first := _fitting(_BETWEEN.join(parts[:at]), language, groups)) is not None:
            return first + _BETWEEN + spoken_by(_BETWEEN.join(parts[at:]), language, *groups)
    return sentence


def _fitting(sentence: str, language: str, groups: tuple[Tables, ...]) -> str | None:
    exact, forms = _forms(groups, os.environ.get(VARIABLE, ""))
    if (place := exact.get(sentence)) is not None:
        return words(*place[:2], language)(place[2]).format()  # without fields it still has doubled braces
    for (package, table, key), form in forms:
        if match := form.fullmatch(sentence):
            fields = match.groupdict().items()
            said = {
                name: value if name in _GIVEN else spoken_by(value, language, *groups) for name, value in fields
            }
            return words(package, table, language)(key, **said)
    return None


Place = tuple[str, str, str]
"""Package, table and key of a form."""


@lru_cache(8)
def _forms(
    groups: tuple[Tables, ...],
    own: str,  # noqa: ARG001 - a cache's key
) -> tuple[dict[str, Place], list[tuple[Place, re.Pattern[str]]]]:
    """Places of whole sentences, and of forms with fields, those that say most themselves first."""
    exact: dict[str, Place] = {}
    forms: list[tuple[int, int, Place, re.Pattern[str]]] = []
    listed = [(at, *table) for at, tables in enumerate(groups) for table in tables]
    for at, package, table in reversed(listed):
        for key, text in words(package, table, SOURCE).texts.items():
            place, parts = (package, table, key), list(Formatter().parse(text))
            if all(name is None for _, name, _, _ in parts):
                exact["".join(said for said, *_ in parts)] = place
                continue
            pattern = "".join(re.escape(said) + (_group(name) if name else "") for said, name, _, _ in parts)
            if not any(said.strip(": ()") for said, *_ in parts):  # signs alone: of one reason
                pattern = pattern.replace(".+?", "[^;]+?", 1)
            own_words = -sum(len(said) for said, *_ in parts)
            forms.append((own_words, at, place, re.compile(pattern, re.DOTALL)))
    return exact, [(place, form) for _, _, place, form in sorted(forms, key=lambda each: each[:3])]


def _group(name: str) -> str:
    anything = ".+" if name == _SPOT else ".+?"
    return f"(?P<{name}>{_NUMBER if name in _COUNTS else _NAME if name in _NAMES else anything})"
