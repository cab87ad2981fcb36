"""What a run's journal says about its calls: how they ended, how long they took, what they cost."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runstore.journal import read_rows
from runstore.problems import InputProblem

QUANTILES = (0.5, 0.9, 0.99)
Row = dict[str, Any]
"""A row of the journal."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which calls are meant: of an endpoint, a stage, an end, an item (a part of its id will do); None for all."""

    endpoint: str | None = None
    stage: str | None = None
    state: str | None = None
    item: str | None = None


def finished(folder: Path, selection: Selection) -> Iterator[Row]:
    """The selected calls that came to an end, in the order of the journal. Raises InputProblem for no journal."""
    return (row for row in selected(folder, selection) if row["state"] != "sent")


def selected(folder: Path, selection: Selection) -> Iterator[Row]:
    """The same and, where calls are selected by endpoint alone, what was sent: lost calls are counted by it.

    Raises InputProblem where there is no journal.
    """
    if not (folder / "journal").is_dir():
        raise InputProblem(folder, "a run folder with a journal", found="none")
    # Only what came of a call says what it was made for.
    is_by_endpoint = not (selection.state or selection.stage or selection.item)
    for row in read_rows(folder / "journal"):
        if row["state"] == "note" or selection.endpoint not in (None, row["endpoint"]):
            continue
        if row["state"] == "sent":
            if is_by_endpoint:
                yield row
            continue
        stage, item = row["where"]
        if (
            selection.stage in (None, stage)
            and selection.state in (None, row["state"])
            and (selection.item is None or selection.item in item)
        ):
            yield row


def line_of(row: Row) -> Row:
    """A finished call in one line."""
    failure = row.get("failure")
    return {
        "key": row["key"],
        "state": row["state"],
        "endpoint": row["endpoint"],
        "stage": row["where"][0],
        "item": row["where"][1],
        "at": row["at"],
        "attempts": len(row["faults"]) + (row["state"] == "ok"),
        "latency_s": row.get("latency_s"),
        "cost_usd": row.get("cost_usd"),
        "request_id": row["answer"]["request_id"] if failure is None else None,
        "error": None if failure is None else f"{failure['kind']}: {failure['message']}",
    }


def summarise(rows: Iterable[Row], slowest: int = 5) -> Row:
    """Counts, tokens, cost, latency quantiles, errors and stragglers per endpoint, and calls lost in flight."""
    latencies: defaultdict[str, list[float]] = defaultdict(list)
    states: defaultdict[str, Counter[str]] = defaultdict(Counter)
    tokens: defaultdict[str, Counter[str]] = defaultdict(Counter)
    faults: defaultdict[str, Counter[str]] = defaultdict(Counter)
    dollars: defaultdict[str, list[float | None]] = defaultdict(list)
    longest: list[tuple[float, Row]] = []
    sent: Counter[str] = Counter()
    for row in rows:
        if row["state"] == "note":
            continue
        name = row["endpoint"]
        if row["state"] == "sent":
            sent[row["key"]] += 1
            continue
        sent[row["key"]] -= 1
        states[name][row["state"]] += 1
        faults[name].update(fault["kind"] for fault in row["faults"])
        if row["state"] != "ok":
            continue
        dollars[name].append(row["cost_usd"])
        for kind, count in zip(("input", "output", "thinking", "cached"), row["answer"]["usage"], strict=False):
            tokens[name][kind] += count or 0
        if row["latency_s"] is not None:  # what came by batch has none
            latencies[name].append(row["latency_s"])
            longest = sorted([*longest, (row["latency_s"], line_of(row))], key=lambda pair: -pair[0])[:slowest]
    endpoints = {
        name: {
            "calls": dict(states[name]),
            "attempts_failed": dict(faults[name].most_common()),
            "latency_s": _quantiles(latencies[name]),
            "tokens": dict(tokens[name]),
            "usd": _money(dollars[name]),
        }
        for name in sorted(states)
    }
    lost = sum(count for count in sent.values() if count > 0)
    return {"endpoints": endpoints, "lost_in_flight": lost, "slowest": [line for _, line in longest]}


def _quantiles(values: list[float]) -> dict[str, float | None]:
    ordered = sorted(values)
    return {
        f"p{round(100 * share)}": ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None
        for share in QUANTILES
    }


def _money(costs: list[float | None]) -> dict[str, Any]:
    known = [cost for cost in costs if cost is not None]
    return {"known": sum(known) if known else None, "priced": len(known), "of": len(costs)}
