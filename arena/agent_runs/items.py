"""One row of a table -> the scores of one item, each with the reason it has them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from arena.agent_runs.columns import Columns
from arena.agent_runs.intent import Origin, csv_score
from arena.agent_runs.links import Basis, Levels, first_path, judge_links, read_expectation
from arena.agent_runs.payload import EMPTY, RawState, read_payload
from arena.agent_runs.tables import XLSX_CELL_LIMIT

StabilityReason = Literal[
    "ok", "raw JSON empty", "raw JSON unreadable", "raw JSON not an object", "error in raw JSON", "error cell", ""
]

# Upper bounds in seconds, the bound included.
_BANDS = ((5.0, 5), (8.0, 4), (10.0, 3), (15.0, 2), (20.0, 1))
_TIMEOUT = re.compile(
    r"time[\s_-]*d?[\s_-]*out|deadline[\s_-]*exceeded|타임\s*아웃|시간\s*(이\s*)?초과", re.IGNORECASE
)
_RAW_REASONS: dict[RawState, StabilityReason] = {
    "empty": "raw JSON empty",
    "unreadable": "raw JSON unreadable",
    "not an object": "raw JSON not an object",
}


@dataclass(slots=True)
class Item:
    """The scores of one row; None is "not applicable" or "missing", never a zero.

    ``intent`` 0..5, ``accuracy`` 5/3/0, ``speed`` 0..5 with ``seconds``, ``stability`` 5/0. ``path`` is the
    expected path, or the offered one where none is expected. ``response`` is the response cell as it stands
    (the agent's message where there is no such column), ``judged`` the message that intent is judged on.
    """

    row: int
    identity: str
    run_id: str
    item_id: str
    query_id: str
    round: str
    query: str
    expected: str
    category: str
    track: str
    response: str
    judged: str
    intent: float | None
    origin: Origin
    accuracy: int | None
    basis: Basis
    speed: int | None
    speed_reason: str
    seconds: float | None
    stability: int | None
    stability_reason: StabilityReason
    error: str
    path: str
    keys_expected: str
    urls: tuple[str, ...]
    raw_state: RawState
    layers: int
    raw_length: int

    @property
    def llm_missing(self) -> bool:
        """The table had no valid LLM score for it."""
        return self.origin != "csv"

    @property
    def raw_at_limit(self) -> bool:
        """Raw JSON that is broken at exactly the length at which a spreadsheet cuts a cell off."""
        return self.raw_state != "ok" and self.raw_length == XLSX_CELL_LIMIT


def speed_score(seconds: float) -> int:
    """5 up to 5 s, 4 up to 8 s, 3 up to 10 s, 2 up to 15 s, 1 up to 20 s, 0 beyond."""
    return next((score for bound, score in _BANDS if seconds <= bound), 0)


def is_timeout(error: str) -> bool:
    """Whether an error's text says that time ran out (English or Korean)."""
    return bool(error and _TIMEOUT.search(error))


def score_row(row: int, cells: Sequence[str], columns: Columns, levels: Levels) -> Item:
    """Score all but a missing intent, which needs a judge or the heuristic."""
    fields = columns.pick((*cells, ""))
    run_id, item_id, query_id, query, expected, category, track, turn, response = fields[:9]
    error_cell, status, score, _, raw = fields[9:]
    full = columns.form == "full"
    payload = read_payload(raw) if full else EMPTY
    error_cell = error_cell.strip()
    error = payload.error or error_cell
    expectation = read_expectation(expected)
    accuracy = judge_links(expectation, payload.urls, readable=payload.state == "ok", levels=levels)
    stability, reason = _stability(full, payload.state, payload.error, error_cell)
    late = is_timeout(payload.error) or is_timeout(error_cell)
    speed = 0 if late else None if payload.seconds is None else speed_score(payload.seconds)
    intent = csv_score(score, status)
    return Item(
        row=row,
        identity=cells[columns.index[columns.identity]].strip(),
        run_id=run_id.strip(),
        item_id=item_id.strip(),
        query_id=query_id.strip(),
        round=_round(turn) if full else "1",
        query=query,
        expected=expected,
        category=category.strip(),
        track=track.strip(),
        response=response if "response" in columns.index else payload.message,
        judged=payload.message if payload.message.strip() else response,
        intent=intent,
        origin="missing" if intent is None else "csv",
        accuracy=accuracy.score,
        basis=accuracy.basis,
        speed=speed,
        speed_reason="timeout" if late else _speed_reason(full, payload.state, payload.seconds_problem),
        seconds=payload.seconds,
        stability=stability,
        stability_reason=reason,
        error=error,
        path=expectation.shown_path or first_path(payload.urls),
        keys_expected=" ".join(sorted(expectation.keys)),
        urls=payload.urls,
        raw_state=payload.state,
        layers=payload.layers,
        raw_length=len(raw),
    )


def _round(cell: str) -> str:
    return "".join(cell.split()) or "(none)"


def _speed_reason(full: bool, state: RawState, problem: str) -> str:
    if not full:
        return "not measured"
    return problem if state == "ok" else _RAW_REASONS[state]


def _stability(full: bool, state: RawState, raw_error: str, cell: str) -> tuple[int | None, StabilityReason]:
    if not full:
        return None, ""
    if state != "ok":
        return 0, _RAW_REASONS[state]
    if raw_error:
        return 0, "error in raw JSON"
    return (0, "error cell") if cell else (5, "ok")
