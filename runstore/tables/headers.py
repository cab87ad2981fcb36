"""The columns of a table: what its header's names stand for, in any language, and none of them twice."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from runstore.problems import InputProblem, note_columns
from runstore.tables.names import clean_name


@dataclass(frozen=True)
class Schema:
    """A kind of table: its fields, each with further names that a header may give it in any language."""

    names: Mapping[str, tuple[str, ...]]

    def field(self, header: str) -> str | None:
        """The field that a header's name stands for."""
        key = folded(header)
        for name, aliases in self.names.items():
            if key == folded(name) or key in map(folded, aliases):
                return name
        return None

    def known(self, header: Sequence[str]) -> int:
        """How many names of a header line stand for a field; used to tell separators apart."""
        return sum(self.field(name) is not None for name in header)


ANY = Schema({})


def folded(name: str) -> str:
    """A header as it is compared: no case, blanks, underscores, hyphens or invisible marks; letters narrowed."""
    return re.sub(r"[\s_\-\ufeff\u200b]", "", unicodedata.normalize("NFKC", name)).casefold()


def clean_header(path: Path, header: Sequence[str], line: int | None = 1) -> list[str]:
    """A header's names without what cannot be seen. Raises InputProblem for a column that is there twice."""
    names = [clean_name(name) for name in header]
    places: dict[str, int] = {}
    for place, name in enumerate(names, 1):
        if name and places.setdefault(name, place) != place:
            found = f"{name!r} twice (columns {places[name]} and {place})"
            raise InputProblem(path, "each column once", found=found, line=line, field=name)
    return names


def rename_columns(
    path: Path, header: Sequence[str], schema: Schema, line: int | None = 1
) -> tuple[list[str], list[str]]:
    """The header under the schema's names, and the renamings to tell. Raises InputProblem for a column twice.

    What stands in the file for a field is noted, so that refusals name it.
    """
    names = clean_header(path, header, line)
    told: list[str] = []
    owners: dict[str, int] = {}
    result = list(names)
    for at, name in enumerate(names):
        meant = None if name in schema.names or not name else schema.field(name)
        if meant is None or meant in names:
            continue
        if meant in owners:
            first = owners[meant]
            found = f"{names[first]!r} and {name!r} (columns {first + 1} and {at + 1})"
            raise InputProblem(path, f"one column for {meant}", found=found, line=line, field=meant)
        owners[meant], result[at] = at, meant
        told.append(f"{name} as {meant}")
    note_columns(path, dict(zip(result, names, strict=True)))
    return result, told
