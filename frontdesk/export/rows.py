"""The rows that an export is made of."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Row:
    """One row of an export and the dialogue it comes from: rows of one dialogue never part."""

    dialogue: str
    value: dict[str, Any]


@dataclass(frozen=True)
class Rows:
    """The rows of one data set, what was left out of it and why, and what was changed in rows that are in it.

    ``of`` counts what there was, in ``unit``: rows and things left out add up to it.
    """

    name: str
    unit: str
    of: int
    rows: list[Row]
    left_out: Counter[str] = field(default_factory=Counter[str])
    changed: Counter[str] = field(default_factory=Counter[str])
