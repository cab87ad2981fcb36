"""The figures per round and for the set, out of the compact state. They are never summed into one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from arena.agent_runs.intent import ORIGINS
from arena.agent_runs.links import BASES
from arena.agent_runs.result import Accuracy, Figures, Intent, RoundFigures, Speed, Stability
from arena.agent_runs.state import ABSENT, NO_KEY, Records

Bools = NDArray[np.bool_]
Indices = NDArray[np.int64]


def first_occurrences(records: Records) -> Indices:
    """For each row -1, or the index of the earlier row with the same Query ID in the same round.

    Only the first of such rows enters the figures; rows without an id are never taken for duplicates.
    """
    firsts = np.full(len(records), -1, dtype=np.int64)
    if not len(records):
        return firsts
    order = np.lexsort((np.arange(len(records)), records["round"], records["key"]))
    keys, rounds = records["key"][order], records["round"][order]
    new = np.ones(len(records), dtype=bool)
    new[1:] = (keys[1:] != keys[:-1]) | (rounds[1:] != rounds[:-1])
    starts = np.maximum.accumulate(np.where(new, np.arange(len(records)), 0))
    firsts[order] = np.where(new, -1, order[starts])
    firsts[(records["flags"] & NO_KEY) > 0] = -1
    return firsts


def round_order(names: Sequence[str]) -> list[int]:
    """Codes of rounds in the order of the numbers in their names: 1/1, 2/1, 10/1."""

    def place(code: int) -> tuple[list[int], str]:
        return [int(number) for number in re.findall(r"\d{1,9}", names[code])], names[code]

    return sorted(range(len(names)), key=place)


def round_figures(records: Records, rounds: Sequence[str]) -> tuple[RoundFigures, ...]:
    """The figures of each round, in order; ``records`` are those that count (no duplicates)."""
    return tuple(
        RoundFigures(round=rounds[code], index=place, **dict(_figures(records, records["round"] == code)))
        for place, code in enumerate(round_order(rounds), 1)
    )


def _figures(records: Records, chosen: Bools) -> Figures:
    # Column by column: a copy of whole records would be the largest thing in memory.
    rows = {name: records[name][chosen] for name in ("origin", "basis", "accuracy", "speed", "stability")}
    items = int(np.count_nonzero(chosen))
    accuracy, speed, stability = rows["accuracy"], rows["speed"], rows["stability"]
    success, scored = int((accuracy > 0).sum()), int((accuracy != ABSENT).sum())
    origins = np.bincount(rows["origin"], minlength=len(ORIGINS))
    bases = np.bincount(rows["basis"], minlength=len(BASES))
    seconds = records["seconds"][chosen & ~np.isnan(records["seconds"])]
    intent = records["intent"][chosen & ~np.isnan(records["intent"])]
    return Figures(
        items=items,
        intent=Intent(
            score=_mean(intent),
            origin={name: int(origins[code]) for code, name in enumerate(ORIGINS)},
            scored=len(intent),
        ),
        accuracy=Accuracy(
            score=_mean(accuracy[accuracy != ABSENT]),
            success=success,
            fail=scored - success,
            rate=success / scored if scored else None,
            scored=scored,
            not_applicable=items - scored,
            basis={name: int(bases[code]) for code, name in enumerate(BASES)},
        ),
        speed=Speed(
            mean_s=_mean(seconds),
            score=_mean(speed[speed != ABSENT]),
            distribution={str(band): int((speed == band).sum()) for band in range(5, -1, -1)},
            scored=int((speed != ABSENT).sum()),
            missing=int((speed == ABSENT).sum()),
            timed=len(seconds),
        ),
        stability=Stability(
            score=_mean(stability[stability != ABSENT]),
            ok=int((stability == 5).sum()),
            bad=int((stability == 0).sum()),
        ),
    )


def set_figures(rounds: Sequence[RoundFigures]) -> Figures:
    """The set: means and rates are the plain means of the rounds' values, counts are sums."""

    def merged(values: list[Any], name: str) -> Any:
        if isinstance(values[0], dict):
            return {key: merged([value[key] for value in values], key) for key in cast("list[str]", values[0])}
        if name in {"score", "mean_s", "rate"}:
            known = [value for value in values if value is not None]
            return sum(known) / len(known) if known else None
        return sum(values)

    rows = [figures.model_dump(include=set(Figures.model_fields)) for figures in rounds]
    return Figures.model_validate(merged(rows, ""))


def _mean(values: NDArray[Any]) -> float | None:
    return float(values.mean(dtype=np.float64)) if len(values) else None
