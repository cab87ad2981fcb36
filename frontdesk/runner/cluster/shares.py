"""Which items are whose: by a hash of what they are, never by order or by who is free."""

from __future__ import annotations

from dataclasses import dataclass

from runstore.ids import hashed_number


@dataclass(frozen=True, slots=True)
class Share:
    """Share number ``index`` (from 0) of ``of``. A dialogue, a subset or a subject is in exactly one of them."""

    index: int = 0
    of: int = 1

    def has(self, name: str) -> bool:
        """Whether the item of this id is in the share; of ``ID/…`` only the id counts, and none is in all."""
        return self.of == 1 or not name or number_of(name, self.of) == self.index


def number_of(name: str, of: int) -> int:
    """The one of so many shares that the item is in."""
    return hashed_number("share", name.partition("/")[0]) % of


EVERYTHING = Share()
