"""What the first pass leaves behind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from arena import asking
from arena.agent_runs.checks import Limits
from arena.agent_runs.links import Levels
from arena.agent_runs.state import Records, Spool, State
from arena.agent_runs.tables import Table

MALFORMED_LISTED = 20


@dataclass(frozen=True)
class Options:
    """``rounds_by`` names what makes a round, joined: "repeat" (the column), "run" (Run ID), "file"."""

    levels: Levels = "three-level"
    rounds_by: tuple[str, ...] = ("repeat",)
    limits: Limits = field(default_factory=Limits)


@dataclass
class Scored:
    """All rows read and scored: the compact state, the spooled texts, and rows that could not be split.

    ``asked``: how the judge's questions ended; ``unscored``: those without a score, by file and row.
    """

    tables: list[Table]
    options: Options
    state: State
    records: Records
    spool: Spool | None
    judged: bool
    malformed: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    malformed_count: int = 0
    asked: Counter[asking.State] = field(default_factory=Counter[asking.State])
    unscored: list[tuple[str, asking.Asked[int | None]]] = field(
        default_factory=list[tuple[str, asking.Asked[int | None]]]
    )
    _unfilled: dict[int, dict[str, int]] = field(default_factory=dict[int, dict[str, int]])

    def see(self, table: Table, cells: Sequence[str]) -> None:
        """Note which of the table's columns has had anything in it."""
        waiting = self._unfilled.setdefault(id(table), dict(table.columns.index))
        for name in [name for name, at in waiting.items() if cells[at].strip()]:
            del waiting[name]

    def filled_columns(self) -> tuple[list[str], int]:
        """Titles of the known columns that no row of their table fills, and how many there are in all.

        Of the errors' column nothing is expected, nor of the scores' ones where another source gives the scores.
        """
        passed = {"error", "llm_comment"} | ({"llm_score", "llm_status"} if self.judged else set[str]())
        known = [(table, name) for table in self.tables for name in table.columns.index if name not in passed]
        blank = [
            table.columns.header[table.columns.index[name]]
            for table, name in known
            if name in self._unfilled.get(id(table), {})
        ]
        return list(dict.fromkeys(blank)), len(known)

    @property
    def full(self) -> bool:
        """Whether the tables have the columns of agent runs, or only ids and answers."""
        return self.tables[0].columns.form == "full"
