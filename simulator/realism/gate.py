"""What a run's students must reach: one table of limits, which a user may change."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from runstore.problems import Problem
from simulator.realism.failures import RULES


@dataclass(frozen=True, slots=True)
class Limit:
    """``at``: the value may be at most, or must be at least, ``value``. Limits are set by hand, not measured."""

    at: Literal["most", "least"]
    value: float
    what: str


LIMITS: dict[str, Limit] = {
    "realism_distance": Limit("most", 0.5, "distance from people (LLM students: 0.6 to 1.1)"),
    "personas_failed": Limit("most", 0, "share of decided personas that are farther from people than that"),
    "directions_opposite": Limit("most", 0, "expected directions in which students differ the other way round"),
    "factors_recovered": Limit(
        "least", 0.5, "share of factors whose level can be told from the words (p <= 0.05)"
    ),
    "opener_variety": Limit("least", 0.5, "different openers by seed question"),
    "topic_evenness": Limit("least", 0.5, "evenness of dialogues over subjects"),
    "role_flip": Limit("most", 0.02, "rate of dialogues"),
    "prompt_leak": Limit("most", 0.01, "rate of dialogues"),
    "thinking_leak": Limit("most", 0.01, "rate of dialogues"),
    "loop": Limit("most", 0.05, "rate of dialogues"),
    "near_duplicate": Limit("most", 0.05, "rate of dialogues"),
    "thanks_run": Limit("most", 0.1, "rate of dialogues"),
    "empty": Limit("most", 0.01, "rate of dialogues"),
    "refused": Limit("most", 0.02, "rate of dialogues"),
    "premature_end": Limit("most", 0.1, "rate of dialogues"),
}


def with_changes(changes: Mapping[str, float]) -> dict[str, Limit]:
    """The table with some values replaced. Raises Problem for a name that is not in it, or no number."""
    table = dict(LIMITS)
    for name, value in changes.items():
        if name not in table:
            raise Problem(f"--limit: found {name!r}, expected one of {', '.join(table)}")
        if not math.isfinite(value):
            raise Problem(f"--limit {name}: found {value}, expected a number")
        table[name] = Limit(table[name].at, value, table[name].what)
    return table


def gate(
    realism: Mapping[str, Any],
    fidelity: Mapping[str, Any],
    failures: Mapping[str, Mapping[str, Any]],
    diversity: Mapping[str, Any],
    limits: Mapping[str, Limit],
) -> dict[str, Any]:
    """``passed``: false where a check fails, true where all pass, null where none fails but some are undecided."""
    values = {**_realism(realism), **_fidelity(fidelity), **_variety(diversity)}
    values |= {kind: (failures[kind]["rate"], "no dialogues") for kind in RULES}
    checks: list[dict[str, Any]] = []
    for name, limit in limits.items():
        value, reason = values[name]
        passed = None
        if value is not None:
            passed = value <= limit.value if limit.at == "most" else value >= limit.value
        checks.append(
            {
                "name": name,
                "value": value,
                "at": limit.at,
                "limit": limit.value,
                "what": limit.what,
                "passed": passed,
                "reason": reason if value is None else None,
            }
        )
    states = [check["passed"] for check in checks]
    return {
        "passed": False if False in states else None if None in states else True,
        "failed": [check["name"] for check in checks if check["passed"] is False],
        "undecided": [check["name"] for check in checks if check["passed"] is None],
        "checks": checks,
    }


def _realism(realism: Mapping[str, Any]) -> dict[str, tuple[float | None, str | None]]:
    states = [group["passed"] for group in realism["personas"].values()]
    decided = [state for state in states if state is not None]
    share = decided.count(False) / len(decided) if decided else None
    none = realism["reason"] if realism["distance"] is None else f"0 of {len(states)} personas are decided"
    return {
        "realism_distance": (realism["distance"], realism["reason"]),
        "personas_failed": (share, none),
    }


def _variety(diversity: Mapping[str, Any]) -> dict[str, tuple[float | None, str | None]]:
    openers, topics = diversity["openers"], diversity["topics"]
    variety = openers["different"] / openers["questions"] if openers["questions"] else None
    return {"opener_variety": (variety, "no dialogues"), "topic_evenness": (topics["evenness"], "no dialogues")}


def _fidelity(fidelity: Mapping[str, Any]) -> dict[str, tuple[float | None, str | None]]:
    directions = [row["found"] for row in fidelity["directions"]]
    tested = [row["p"] for row in fidelity["recoverability"]["factors"].values() if row["p"] is not None]
    recovered = sum(p <= 0.05 for p in tested) / len(tested) if tested else None
    return {
        "directions_opposite": (float(directions.count("opposite")) if directions else None, "no such factor"),
        "factors_recovered": (recovered, "no factor with enough dialogues"),
    }
