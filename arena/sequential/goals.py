"""Goals by name: what a run wants to know, the policy that finds it out, and the account of how it ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from arena.sequential.best import Best
from arena.sequential.field import Field, Meeting, Policy
from arena.sequential.gaps import behind, direct, gaps, win_rate
from arena.sequential.goal import Goal, check
from arena.sequential.place import Place
from arena.sequential.ranking import Ranking
from arena.sequential.result import ACCOUNTS, GoalAccount, Matches


def start(goal: Goal, field: Field) -> Policy:
    """The tournament before its first match. Raises Problem where the goal does not fit the endpoints."""
    check(goal, field.names)
    if goal.name == "place":
        return Place.start(
            field, goal.newcomer or "", width_elo=goal.width_elo, error=goal.error, batch=goal.batch
        )
    if goal.name == "ranking":
        return Ranking.start(field, goal.error, goal.batch)
    return Best.start(field, goal.error, goal.batch)


def next_matches(state: Policy) -> list[Meeting]:
    """The next batch; empty where the goal is reached or nothing is left to ask."""
    return [] if state.decide() is not None else state.next_matches()


def play(state: Policy, ask: Callable[[Sequence[Meeting]], Sequence[float | None]], most: int = 1 << 62) -> Policy:
    """Ask batch after batch until the goal is reached, nothing is left, or ``most`` matches have been asked."""
    asked = 0
    while asked < most and (batch := next_matches(state)):
        state = state.absorb(ask(batch))
        asked += len(batch)
    return state


def account(goal: Goal, state: Policy, asked: Sequence[Meeting], scores: Sequence[float | None]) -> GoalAccount:
    """What was found out, from how many of how many matches, and why it ended: the content of ``goal.json``."""
    decision = state.decide()
    valid = sum(score is not None for score in scores)
    more: dict[str, Any] = dict(state.found())
    if not isinstance(state, Place):
        pairs = direct(state.field, asked, scores)
        more["gaps"] = gaps(state, pairs, goal.error)
        more["gaps_hold"] = "together" if isinstance(state, Ranking) or len(pairs) < 2 else "each"
        if isinstance(state, Best):
            far = behind(state, more["gaps"])
            more["endpoints"] = tuple(
                endpoint.model_copy(update={"behind": far[endpoint.name]}) for endpoint in state.found().endpoints
            )
        if goal.name == "decide":
            more["win_rate"] = win_rate(state.field, pairs, goal.error)
    return ACCOUNTS[goal.name](
        goal=goal.name,
        error=goal.error,
        decided=decision is not None and bool(decision.result.to_json()),
        statement=decision.statement if decision is not None else _undecided(goal, state),
        result=decision.result if decision is not None else None,
        stopped="matches ran out" if decision is None else "reached",
        matches=Matches(used=len(asked), valid=valid, possible=state.field.possible),
        batch=goal.batch,
        **more,
    )


def _undecided(goal: Goal, state: Policy) -> str:
    if isinstance(state, Best):
        names = [state.field.names[candidate] for candidate in state.candidates]
        return f"No dialogue is left; still possible as the best: {', '.join(names)}."
    if isinstance(state, Ranking):
        return f"No dialogue is left; {len(state.open_pairs)} pairs of endpoints are not told apart."
    return f"All matches of {goal.newcomer} were asked; its interval is still wider than wanted."
