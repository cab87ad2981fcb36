"""Where it fails: by path, by track and category with the commonest reason, and the causes of instability."""

from __future__ import annotations

import numpy as np

from arena.agent_runs.links import BASES
from arena.agent_runs.result import Cause, PathFailures, Pattern
from arena.agent_runs.state import ABSENT, Records, State

TOP = 10


def failures_by_path(records: Records, state: State, top: int = TOP) -> tuple[PathFailures, ...]:
    """Paths by number of failed items: items scored, failed, and how many had no URL at all."""
    size = len(state.paths.listed)
    paths, accuracy, basis = records["path"], records["accuracy"], records["basis"]
    total = np.bincount(paths[accuracy != ABSENT], minlength=size)
    failed = np.bincount(paths[accuracy == 0], minlength=size)
    bare = np.bincount(paths[basis == BASES.index("no button URL")], minlength=size)
    order = [int(code) for code in np.lexsort((np.arange(size), -total, -failed)) if failed[code]][:top]
    return tuple(
        PathFailures(
            path=state.paths.listed[code] or None,
            items=int(total[code]),
            fail=int(failed[code]),
            rate=int(failed[code]) / int(total[code]),
            no_url=int(bare[code]),
        )
        for code in order
    )


def failing_patterns(records: Records, state: State, top: int = TOP) -> tuple[Pattern, ...]:
    """Track, category and reason of failed items, the commonest first, with the share of that group's items."""
    scored = records["accuracy"] != ABSENT
    tracks, categories, reasons = len(state.tracks.listed), len(state.categories.listed), len(BASES)
    if not scored.any() or not tracks * categories:
        return ()
    group = records["track"][scored].astype(np.int32) * categories + records["category"][scored]
    groups, inverse = np.unique(group, return_inverse=True)
    sizes = np.bincount(inverse)
    failed = records["accuracy"][scored] == 0
    basis = records["basis"][scored][failed]
    codes, counts = np.unique(inverse[failed] * reasons + basis, return_counts=True)
    rows: list[Pattern] = []
    for place in np.lexsort((codes, -counts))[:top]:
        which, basis = divmod(int(codes[place]), reasons)
        track, category = divmod(int(groups[which]), categories)
        rows.append(
            Pattern(
                track=state.tracks.listed[track] or None,
                category=state.categories.listed[category] or None,
                reason=BASES[basis],
                fail=int(counts[place]),
                items=int(sizes[which]),
                rate=int(counts[place]) / int(sizes[which]),
            )
        )
    return tuple(rows)


def instability_causes(records: Records, state: State, top: int = TOP) -> tuple[Cause, ...]:
    """Causes of instability, the commonest first; digits are folded so that alike messages count together."""
    bad = records["cause"][records["stability"] == 0]
    counts = np.bincount(bad, minlength=len(state.causes.listed))
    order = [int(code) for code in np.argsort(-counts, kind="stable") if counts[code]][:top]
    return tuple(Cause(cause=state.causes.listed[code], items=int(counts[code])) for code in order)
