"""Which requests go into which job, and how many the budget lets out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gateway.batches.base import LARGEST_JOB
from gateway.budget import Budget
from gateway.endpoint import FIRST_OUTPUT, Endpoint
from gateway.errors import BudgetReached
from gateway.rows import Call
from gateway.tokens import estimator
from runstore.records import Usage


def jobs_of(calls: Sequence[Call], most: int, largest: int = LARGEST_JOB) -> Iterator[list[Call]]:
    """Calls cut into jobs of at most ``most`` requests and about ``largest`` bytes, in the order given."""
    job: list[Call] = []
    size = 0
    for call in calls:
        if job and (len(job) >= most or size + len(call.sent) > largest):
            yield job
            job, size = [], 0
        job.append(call)
        size += len(call.sent)
    if job:
        yield job


def affordable(budget: Budget, target: Endpoint, calls: Sequence[Call], out: int) -> list[Call]:
    """The first of the calls that the caps have room for. ``out``: requests that are in jobs already.

    A job cannot be stopped when a cap is reached, so what each request may take is guessed before: its text by
    the model's token counter, its output by the mean of what came so far. Raises BudgetReached where there is
    room for none.
    """
    room = len(calls) if budget.calls is None else max(0, budget.calls - budget.total.calls - out)
    chosen = list(calls[:room])
    if budget.usd is not None or budget.tokens is not None:
        chosen = _within(budget, target, chosen)
    if calls and not chosen and not out:
        caps = {"USD": budget.usd, "calls": budget.calls, "tokens": budget.tokens}
        said = ", ".join(f"{cap:,.10g} {unit}" for unit, cap in caps.items() if cap is not None)
        raise BudgetReached(f"the cap of {said} leaves no room for another batch")
    return chosen


def _within(budget: Budget, target: Endpoint, calls: Sequence[Call]) -> list[Call]:
    count = estimator(target.adapter.settings.model or "").count
    output = _mean_output(target)
    tokens, usd = budget.spent_tokens, budget.spent_usd
    chosen: list[Call] = []
    for call in calls:
        guess = Usage(input=count(call.sent.decode("utf-8", "replace")), output=output, thinking=0, cached=0)
        tokens += (guess.input or 0) + output
        usd += target.cost(guess, batch=True) or 0.0
        over_tokens = budget.tokens is not None and tokens > budget.tokens
        if over_tokens or (budget.usd is not None and usd > budget.usd):
            break
        chosen.append(call)
    return chosen


def _mean_output(target: Endpoint) -> int:
    spent = target.spent
    answered = spent.calls - spent.failed
    if answered > 0 and spent.output + spent.thinking > 0:
        return -(-(spent.output + spent.thinking) // answered)
    return target.adapter.settings.max_output_tokens or 4 * FIRST_OUTPUT
