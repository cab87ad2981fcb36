"""What a run's calls cost and when they were made, counted from its journal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from runstore.journal import read_rows

STAGES = ("simulate", "collect", "judge", "student")
TOKENS = ("input", "output", "thinking", "cached")


@dataclass
class Line:
    """One stage and endpoint: finished calls by state, tokens as counted by the provider, and known dollars."""

    stage: str
    endpoint: str
    states: Counter[str] = field(default_factory=Counter[str])
    tokens: Counter[str] = field(default_factory=Counter[str])
    counted: Counter[str] = field(default_factory=Counter[str])
    retried: int = 0
    usd: float = 0.0
    priced: int = 0


@dataclass(frozen=True)
class Spending:
    """Lines in order of stages, the models that answered per endpoint, first and last day (UTC)."""

    lines: list[Line]
    answered_by: Mapping[str, list[str]]
    first_day: str | None
    last_day: str | None


NOTHING = Spending([], {}, None, None)


def spending_of(journal: Path) -> Spending:
    """Every call of the run's stages that the journal holds, whether its answer was used or not."""
    return count(read_rows(journal)) if journal.is_dir() else NOTHING


def count(rows: Iterable[Mapping[str, Any]]) -> Spending:
    """The same over parsed journal lines."""
    lines: dict[tuple[str, str], Line] = {}
    models: dict[str, set[str]] = {}
    first, last = float("inf"), float("-inf")
    for row in rows:
        state = row["state"]
        if state in ("sent", "note"):
            continue
        stage, endpoint = row["where"][0], row["endpoint"]
        if stage not in STAGES:
            continue
        first, last = min(first, row["at"]), max(last, row["at"])
        line = lines.setdefault((stage, endpoint), Line(stage, endpoint))
        line.states[state] += 1
        line.retried += len(row["faults"]) - (state != "ok" and bool(row["faults"]))
        if state == "ok":
            _add(line, row)
            if model := row["answer"]["model"]:
                models.setdefault(endpoint, set()).add(model)
    ordered = sorted(lines.values(), key=lambda line: (STAGES.index(line.stage), line.endpoint))
    return Spending(
        ordered,
        {name: sorted(named) for name, named in sorted(models.items())},
        _day(first),
        _day(last),
    )


def _add(line: Line, row: Mapping[str, Any]) -> None:
    for kind, tokens in zip(TOKENS, row["answer"]["usage"], strict=False):
        if tokens is not None:
            line.tokens[kind] += tokens
            line.counted[kind] += 1
    if row["cost_usd"] is not None:
        line.usd += row["cost_usd"]
        line.priced += 1


def _day(at: float) -> str | None:
    return datetime.fromtimestamp(at, UTC).date().isoformat() if abs(at) != float("inf") else None
