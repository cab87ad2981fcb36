"""What a user did wrong, said so that it can be put right.

Problem                 exit code 2, nothing was called
└── InputProblem        a file, a line or row in it, a field: what was found, what was expected
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

_COLUMNS: dict[str, dict[str, str]] = {}
"""Of each table read under other names than its own: a field, and the name that stands in the table for it."""


def note_columns(file: Path | str, names: Mapping[str, str]) -> None:
    """``names``: field -> the name that stands in the file for it. What was noted before is forgotten."""
    _COLUMNS.pop(str(file), None)
    if other := {field: name for field, name in names.items() if field != name}:
        _COLUMNS[str(file)] = other


def in_file(file: Path | str, field: str) -> str:
    """A field's name as it stands in the file: whoever reads a refusal looks for it there."""
    at = next((at for at, sign in enumerate(field) if sign in ".["), len(field))
    return _COLUMNS.get(str(file), {}).get(field[:at], field[:at]) + field[at:]


class Problem(Exception):
    """A user's mistake: bad usage, configuration or input. Shown without a traceback; exit code 2."""


class InputProblem(Problem):
    """Something in a file is not what it should be.

    The message always reads ``FILE:LINE: FIELD: found X, expected Y`` with the parts that are known; a field is
    called what the file calls it.
    """

    def __init__(
        self,
        file: Path | str,
        expected: str,
        *,
        found: object = None,
        line: int | None = None,
        field: str | None = None,
    ) -> None:
        field = None if field is None else in_file(file, field)
        self.file, self.line, self.field = str(file), line, field
        where = self.file if line is None else f"{self.file}:{line}"
        what = f"found {shown(found)}, expected {expected}" if found is not None else f"expected {expected}"
        super().__init__(": ".join(part for part in (where, field, what) if part))


def nearest(name: str, known: Iterable[str], likeness: float = 0.6) -> str | None:
    """The known name that was probably meant, at least so alike (0 to 1); None where none is."""
    from difflib import get_close_matches  # needed only where something is wrong

    return next(iter(get_close_matches(name, list(known), 1, likeness)), None)


def shown(found: object, limit: int = 120) -> str:
    """What was found, on one line, cut at ``limit`` characters, without what would move a terminal's cursor."""
    text = found if isinstance(found, str) and found.strip() else repr(found)
    head = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[:limit])
    return head if len(text) <= limit else f"{head}… ({len(text)} characters)"
