"""Checks that come before the figures: can they be trusted at all? Above its limit, a check fails the run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from arena.agent_runs.figures import Bools, round_order
from arena.agent_runs.result import Check
from arena.agent_runs.state import (
    LLM_MISSING,
    NO_KEY,
    NO_RESPONSE,
    RAW_AT_LIMIT,
    RAW_BROKEN,
    RAW_LAYERED,
    Records,
    State,
)

_DATE = re.compile(r"^\d{4}-\d{2}-\d{2}|\d월\d+일|^\d{1,2}-[A-Za-z]{3}$|^[A-Za-z]{3}-\d{1,2}$")


@dataclass(frozen=True)
class Limits:
    """Largest share (0 to 1) of rows or questions at which a check still passes."""

    unmatched: float = 0.0
    raw_failures: float = 0.05
    missing_llm: float = 0.2
    duplicates: float = 0.0
    malformed: float = 0.0
    judge_failures: float = 0.0


def share_check(name: str, count: int, of: int, limit: float) -> Check:
    """Passes where count / of <= limit."""
    share = count / of if of else 0.0
    return Check(name=name, passed=share <= limit, count=count, of=of, share=share, limit=limit)


def note(name: str, count: int, of: int) -> Check:
    """Something to know that fails nothing: ``passed`` is None."""
    return Check(name=name, passed=None, count=count, of=of, share=count / of if of else 0.0)


def never_filled(columns: Sequence[str], of: int) -> Check:
    """Columns that are there and empty throughout: what was to stand in them never came."""
    check = share_check("columns_never_filled", len(columns), of, 0.0)
    return check.model_copy(update={"columns": tuple(columns)})


def run_checks(
    records: Records,
    kept: Bools,
    state: State,
    *,
    full: bool,
    scored_elsewhere: bool,
    queries: int,
    unmatched: int,
    limits: Limits,
) -> list[Check]:
    """Checks on all rows read; ``kept`` marks those that are no duplicates.

    ``scored_elsewhere``: intent comes from a judge, or the tables have no column for it, so that missing LLM
    scores are a note.
    """
    rows, flags = len(records), records["flags"]

    def flagged(flag: int) -> int:
        return int(np.count_nonzero(flags & flag))

    checks: list[Check] = []
    if full:
        checks += [
            _items_per_round(records[kept], state),
            share_check("query_ids_matched", unmatched, queries, limits.unmatched),
            share_check("rows_without_query_id", flagged(NO_KEY), rows, limits.unmatched),
            share_check("raw_json_failures", flagged(RAW_BROKEN), rows, limits.raw_failures),
            # Scores that another source was meant to give are not missing: a table without the column, or a judge.
            note("missing_llm_scores", flagged(LLM_MISSING), rows)
            if scored_elsewhere
            else share_check("missing_llm_scores", flagged(LLM_MISSING), rows, limits.missing_llm),
        ]
    checks.append(share_check("duplicates", rows - int(kept.sum()), rows, limits.duplicates))
    notes = [("empty_responses", NO_RESPONSE), ("raw_json_cut_by_spreadsheet", RAW_AT_LIMIT)]
    if full:
        notes.append(("raw_json_encoded_twice", RAW_LAYERED))
    checks += [note(name, flagged(flag), rows) for name, flag in notes if flagged(flag)]
    if dates := [name for name in state.rounds.listed if _DATE.search(name)]:
        # Spreadsheets turn 1/1 into the first of January.
        dated = note("rounds_look_like_dates", len(dates), len(state.rounds.listed))
        checks.append(dated.model_copy(update={"rows": tuple(dates[:20])}))
    if full and len(state.rounds.listed) == 1:
        checks.append(note("single_round", 1, 1))
    return checks


def _items_per_round(records: Records, state: State) -> Check:
    counts = np.bincount(records["round"], minlength=len(state.rounds.listed))
    most = int(counts.max(initial=0))
    return Check(
        name="items_per_round",
        passed=bool((counts == most).all()),
        count=int(most - counts.min(initial=most)),
        of=most,
        share=(most - int(counts.min(initial=most))) / most if most else 0.0,
        limit=0.0,
        rounds={state.rounds.listed[code]: int(counts[code]) for code in round_order(state.rounds.listed)},
    )
