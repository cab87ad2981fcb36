"""Two pages on one form: what a page changed is told from what it merely showed.

A page carries a short hash of every answer that it showed. What it sends otherwise was changed there; what it
sends alike was not, whatever has been stored since. Changed here and stored otherwise in between is a conflict.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, cast

from runstore.ids import digest

FIELD = "_seen"
"""The form's hidden field."""


@dataclass(frozen=True, slots=True)
class Merged:
    """What to write, what to delete, and by question what is stored ("": nothing) where both sides changed it."""

    new: dict[str, str]
    gone: list[str]
    conflicts: dict[str, str]


def seen_field(values: Mapping[str, str]) -> str:
    """The hidden field of a page that shows these answers."""
    return json.dumps({question: _version(value) for question, value in values.items()})


def read_seen(field: str | None) -> dict[str, str] | None:
    """What a page says that it showed; None where it says nothing that can be read."""
    try:
        seen: Any = json.loads(field or "")
    except ValueError:
        return None
    if not isinstance(seen, dict):
        return None
    return {str(key): str(value) for key, value in cast("dict[Any, Any]", seen).items()}


def merge(
    stored: Mapping[str, str], sent: Mapping[str, str], seen: Mapping[str, str] | None, keep: Collection[str]
) -> Merged:
    """Merge a page's answers into those on file. ``keep``: questions that came in no readable form.

    Without ``seen`` nobody knows what the page showed: what it has is written, and what it lacks stays.
    """
    merged = Merged({}, [], {})
    for question in {**stored, **sent}:
        had, mine = stored.get(question, ""), sent.get(question, "")
        if had == mine or question in keep or (seen is None and not mine):
            continue
        if seen is not None:
            shown = seen.get(question, "")
            if _version(mine) == shown:
                continue
            if _version(had) != shown:
                merged.conflicts[question] = had
                continue
        if mine:
            merged.new[question] = mine
        else:
            merged.gone.append(question)
    return merged


def _version(value: str) -> str:
    return digest(value, size=4) if value else ""
