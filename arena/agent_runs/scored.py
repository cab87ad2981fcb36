"""What the first pass leaves behind."""

from __future__ import annotations

from collections import Counter
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

    @property
    def full(self) -> bool:
        """Whether the tables have the columns of agent runs, or only ids and answers."""
        return self.tables[0].columns.form == "full"
