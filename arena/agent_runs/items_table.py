"""The second pass: the per-item table, and the few rows whose texts the report shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from arena.agent_runs.consistency import LABELS, Queries
from arena.agent_runs.figures import Bools, Indices
from arena.agent_runs.items import Item
from arena.agent_runs.result import Check, Duplicate, ShownItem
from arena.agent_runs.scored import Scored
from arena.agent_runs.state import MAX_ROUNDS, NO_RESPONSE, Records
from runstore.publish import Cell, write_csv

ITEM_HEADER = (
    *("file", "row", "run_id", "item_id", "query_id", "round", "track", "category", "query", "expected"),
    *("response", "response_state", "intent", "intent_origin", "accuracy", "accuracy_basis", "seconds", "speed"),
    *("speed_reason", "stability", "stability_reason", "error", "expected_keys", "urls", "path"),
    *("scored_text", "consistency", "duplicate_of"),
)
SHOWN = {"appendix": 200, "slowest": 10, "differing": 10, "duplicates": 50, "empty": 20, "unmatched": 20}
Labels = NDArray[np.uint8]


def spooled(item: Item) -> list[Cell]:
    """The part of a row of the per-item table that is known when the item is scored."""
    return [
        item.row,
        *(item.run_id, item.item_id, item.query_id, item.round, item.track, item.category),
        *(item.query, item.expected, item.response, "text" if item.judged.strip() else "empty"),
        *(item.intent, item.origin, item.accuracy, item.basis, item.seconds, item.speed, item.speed_reason),
        *(item.stability, item.stability_reason, item.error, item.keys_expected, "\n".join(item.urls), item.path),
        item.judged,
    ]


def rows_to_show(
    records: Records, kept: Bools, first: Indices, labels: Labels, queries: Queries, rounds: int
) -> dict[str, list[int]]:
    """Which rows (indices in the order read) the report needs the texts of, by purpose."""
    places = np.flatnonzero(kept)
    named = queries.member >= 0
    partial = named & (queries.present < rounds)[queries.member] if len(queries.present) else named
    chosen = {
        "appendix": places,
        "slowest": _slowest(records["seconds"], kept, SHOWN["slowest"]),
        "differing": places[_one_a_query(labels[kept] == LABELS.index("fail"), queries, SHOWN["differing"])],
        "duplicates": np.flatnonzero(first >= 0),
        "empty": np.flatnonzero(records["flags"] & NO_RESPONSE),
        "unmatched": places[_one_a_query(partial, queries, SHOWN["unmatched"])],
    }
    return {name: [int(place) for place in rows[: SHOWN[name]]] for name, rows in chosen.items()}


def _slowest(seconds: NDArray[np.float64], kept: Bools, count: int) -> Indices:
    """The rows with most seconds, those read first before others of the same time."""
    timed = np.flatnonzero(kept & ~np.isnan(seconds))
    if len(timed) > count:
        least = np.partition(seconds[timed], len(timed) - count)[len(timed) - count]
        timed = timed[seconds[timed] >= least]
    return timed[np.lexsort((timed, -seconds[timed]))]


def _one_a_query(wanted: Bools, queries: Queries, count: int) -> Indices:
    """The first of the wanted rows of each question, in the order read, enough for ``count`` questions."""
    rows = np.flatnonzero(wanted)[: count * MAX_ROUNDS]
    _, leaders = np.unique(queries.member[rows], return_index=True)
    return rows[np.sort(leaders)]


def write_items(
    scored: Scored, first: Indices, labels: Labels, wanted: dict[str, list[int]], items: Path | None
) -> dict[str, list[ShownItem]]:
    places = {place for rows in wanted.values() for place in rows}
    shown: dict[int, ShownItem] = {}
    names = [table.path.name for table in scored.tables]
    files, numbers = scored.records["file"], scored.records["row"]
    several = len(names) > 1

    def where(place: int) -> str | int:
        row = int(numbers[place])
        return f"{names[files[place]]}:{row}" if several else row

    def rows() -> Iterator[list[Cell]]:
        for place, texts in enumerate(scored.spool.rows() if scored.spool else ()):
            duplicate = None if first[place] < 0 else where(int(first[place]))
            label = "" if duplicate is not None else LABELS[int(labels[place])]
            row: list[Cell] = [names[files[place]], *texts, label, duplicate]
            if place in places:
                shown[place] = ShownItem.model_validate(dict(zip(ITEM_HEADER, row, strict=True)))
            yield row

    if items is not None:
        write_csv(items, ITEM_HEADER, rows())
    else:
        for _ in rows():
            pass
    return {name: [shown[place] for place in chosen if place in shown] for name, chosen in wanted.items()}


def with_rows(checks: Sequence[Check], shown: Mapping[str, Sequence[ShownItem]], scored: Scored) -> list[Check]:
    """The checks with row numbers and Query IDs beside those they belong to."""
    several = len(scored.tables) > 1

    def place(file: str, row: int) -> str | int:
        return f"{file}:{row}" if several else row

    duplicates = [
        Duplicate(
            id=item.query_id or item.item_id or item.run_id,
            round=item.round,
            row=place(item.file, item.row),
            first_row=item.duplicate_of if item.duplicate_of is not None else "",
        )
        for item in shown["duplicates"]
    ]
    listed: dict[str, dict[str, object]] = {
        "duplicates": {"rows": tuple(duplicates)},
        "empty_responses": {"rows": tuple(place(item.file, item.row) for item in shown["empty"])},
        "query_ids_matched": {"queries": tuple(item.query_id for item in shown["unmatched"])},
        "malformed_rows": {"rows": tuple(place(file, row) for file, row in scored.malformed)},
    }
    return [
        check.model_copy(update=listed[check.name]) if check.count and check.name in listed else check
        for check in checks
    ]
