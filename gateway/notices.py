"""What a person should be told of an endpoint while a run goes on: None where there is nothing to tell yet."""

from __future__ import annotations

from gateway.budget import Budget, Most
from gateway.endpoint import Endpoint

LONG_WAIT_S = 60.0
"""A wait for the limits per minute that is worth telling."""


def of_wait(target: Endpoint, wait_s: float, now: float) -> str | None:
    """Nobody waits long for a limit of the configuration without a word; one a minute is enough."""
    if wait_s < LONG_WAIT_S or now < target.told_until:
        return None
    target.told_until = now + LONG_WAIT_S
    return f"{target.name}: waits {wait_s:.0f} s for requests_per_minute or tokens_per_minute"


def of_cap(target: Endpoint, most: Most, budget: Budget) -> str | None:
    """A cap that holds calls back from early on is worth a word, where a setting would let them out."""
    if most.is_sure or target.is_told_of_cap or not budget.is_early:
        return None
    target.is_told_of_cap = True
    return (
        f"{target.name}: under the cap no more than {budget.in_flight} calls are out at once, since each may take "
        f"{most.tokens:.0f} tokens; max_output_tokens would let out more"
    )


def of_cost(target: Endpoint, usd: float | None, budget: Budget) -> str | None:
    """A cap in dollars cannot count what is not known."""
    if usd is not None or budget.usd is None or not target.is_priced:
        return None
    target.is_priced = False
    return f"{target.name}: its answers do not say what they took; the cap in dollars leaves them out"
