"""What a run wants to know, by name: settings only, so that reading a configuration loads no mathematics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from runstore.problems import Problem

GoalName = Literal["best", "place", "ranking", "decide"]
GOALS: tuple[GoalName, ...] = ("best", "place", "ranking", "decide")


@dataclass(frozen=True)
class Goal:
    """``error``: how probable a wrong decision may be. ``batch``: matches asked before the next are chosen.

    ``newcomer`` and ``width_elo`` (half-width of its interval, rating points) belong to ``place``.
    """

    name: GoalName
    error: float = 0.05
    batch: int = 16
    newcomer: str | None = None
    width_elo: float = 35.0


def check(goal: Goal, names: Sequence[str]) -> None:
    """Raises Problem where the goal does not fit the endpoints."""
    if len(names) < 2:
        raise Problem(f"goal {goal.name!r} needs two endpoints or more, found {len(names)}")
    if goal.name == "decide" and len(names) != 2:
        raise Problem(f"goal 'decide' is for two endpoints, found {len(names)}: use 'best' or 'ranking'")
    if goal.name == "place" and goal.newcomer is None:
        raise Problem("goal 'place' needs the newcomer's name")
    if goal.name != "place" and goal.newcomer is not None:
        raise Problem(f"goal {goal.name!r} has no newcomer, found {goal.newcomer!r}: that is for 'place'")
    if goal.newcomer is not None and goal.newcomer not in names:
        raise Problem(f"newcomer: found {goal.newcomer!r}, expected one of {', '.join(names)}")
