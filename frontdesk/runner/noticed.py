"""What came with an answer as a warning and is told: reasoning that may have leaked, tokens not told."""

from __future__ import annotations

from collections.abc import Iterable

from gateway.adapters.reading import LEAKED_REASONING, UNKNOWN_USAGE
from runstore.records import Dialogue

KINDS = (LEAKED_REASONING, UNKNOWN_USAGE)
_NOTED = "warning: "
"""What they begin with among a dialogue's notes."""


def noticed(warnings: Iterable[str]) -> set[str]:
    """The kinds that are among the warnings of one reply."""
    return {kind for each in warnings for kind in KINDS if each.startswith(kind)}


def noticed_in(dialogue: Dialogue) -> set[str]:
    """The kinds that are among a dialogue's notes."""
    return noticed(note.removeprefix(_NOTED) for note in dialogue.notes if note.startswith(_NOTED))
