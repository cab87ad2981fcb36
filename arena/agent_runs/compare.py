"""Before and after: two sets of runs over the same questions, paired by Query ID.

Questions are the unit, not rows: rounds of one question are not independent, so each question enters once,
with the mean of its rounds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arena.agent_runs.figures import Indices, first_occurrences
from arena.agent_runs.result import BeforeAfter, FigureTest, Questions
from arena.agent_runs.scored import Scored
from arena.agent_runs.state import ABSENT, NO_KEY, Records
from arena.agreement.holm import holm
from arena.agreement.paired import mcnemar, wilcoxon
from arena.agreement.result import SignificanceTest

Floats = NDArray[np.float64]
_FIGURES = ("intent", "accuracy", "speed", "seconds", "stability")
_LISTED = 10


def compare(before: Scored, after: Scored) -> tuple[BeforeAfter, dict[str, list[int]]]:
    """Paired tests of ``after`` against ``before``, and the rows of ``after`` worth showing ("lost", "gained").

    McNemar's exact test on questions that succeed in more than half of their rounds; Wilcoxon's signed ranks on
    each question's mean of every figure. p values are also given after Holm's correction over all tests made.
    """
    records_before, records_after = _counted(before), _counted(after)
    keys_before, means_before = _by_query(records_before)
    keys_after, means_after = _by_query(records_after)
    both, at_before, at_after = np.intersect1d(keys_before, keys_after, assume_unique=True, return_indices=True)
    pairs = {name: (means_before[name][at_before], means_after[name][at_after]) for name in (*_FIGURES, "won")}
    held_before, held_after = (_held(values) for values in pairs["won"])
    tests = [_row("success", held_before, held_after, mcnemar(held_after, held_before))]
    tests += [_row(name, *pairs[name], wilcoxon(pairs[name][1], pairs[name][0])) for name in _FIGURES]
    lost, gained = (held_before == 1) & (held_after == 0), (held_before == 0) & (held_after == 1)
    corrected = holm([test.p_value for test in tests])
    result = BeforeAfter(
        before=tuple(table.path.name for table in before.tables),
        after=tuple(table.path.name for table in after.tables),
        queries=Questions(
            both=len(both),
            only_before=len(keys_before) - len(both),
            only_after=len(keys_after) - len(both),
        ),
        gained=int(gained.sum()),
        lost=int(lost.sum()),
        tests=tuple(test.model_copy(update={"p_holm": p}) for test, p in zip(tests, corrected, strict=True)),
    )
    changed = {"lost": lost, "gained": gained}
    return result, {name: _first_rows(after.records, both[which]) for name, which in changed.items()}


def _counted(scored: Scored) -> Records:
    records = scored.records
    return records[(first_occurrences(records) < 0) & ((records["flags"] & NO_KEY) == 0)]


def _by_query(records: Records) -> tuple[NDArray[np.uint64], dict[str, Floats]]:
    keys, inverse = np.unique(records["key"], return_inverse=True)

    def means(values: Floats) -> Floats:
        known = ~np.isnan(values)
        count = np.bincount(inverse[known], minlength=len(keys))
        total = np.bincount(inverse[known], weights=values[known], minlength=len(keys))
        return np.divide(total, count, out=np.full(len(keys), np.nan), where=count > 0)

    def known(name: str) -> Floats:
        values = records[name].astype(np.float64)
        return values if name in {"intent", "seconds"} else np.where(values == ABSENT, np.nan, values)

    figures = {name: means(known(name)) for name in _FIGURES}
    figures["won"] = means(np.where(records["accuracy"] == ABSENT, np.nan, records["accuracy"] > 0))
    return keys, figures


def _held(won: Floats) -> Floats:
    return np.where(np.isnan(won), np.nan, won > 0.5)


def _row(figure: str, before: Floats, after: Floats, test: SignificanceTest) -> FigureTest:
    there = ~np.isnan(before) & ~np.isnan(after)
    means = [float(values[there].mean()) if there.any() else None for values in (before, after)]
    return FigureTest(
        figure=figure,
        before=means[0],
        after=means[1],
        difference=None if means[0] is None or means[1] is None else means[1] - means[0],
        queries=int(there.sum()),
        **dict(test.row()),
        p_holm=None,
    )


def _first_rows(records: Records, keys: NDArray[np.uint64]) -> list[int]:
    places: Indices = np.flatnonzero(np.isin(records["key"], keys))
    _, first = np.unique(records["key"][places], return_index=True)
    return [int(place) for place in np.sort(places[first])[:_LISTED]]
