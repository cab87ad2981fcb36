"""What a command did, as one object: how its stages ended, what its endpoints took, and how it came out.

``run``, ``simulate``, ``cut``, ``collect`` and ``judge`` print it with ``--json``; their summary on a terminal is
made of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING, Literal

from arena.ratings.result import Leaderboard, read_leaderboard
from runstore.results import Result

if TYPE_CHECKING:
    from frontdesk.runner.stagework import StageWork

State = Literal["done", "incomplete", "refused", "stopped", "interrupted"]
STATES: dict[int, State] = {0: "done", 1: "incomplete", 2: "refused", 3: "stopped", 130: "interrupted"}


class StageDone(Result):
    """A stage that was worked on: of ``of`` items asked for, ``done`` came to an end and ``failed`` did not."""

    stage: str
    done: int
    failed: int
    of: int


class EndpointDone(Result):
    """What one endpoint took in this session.

    ``calls``: attempts that were sent; ``served``: answers out of the journal, not paid again; ``failed``: calls
    that came to no answer; ``unreadable``: answers as a judge that could not be read, served ones included;
    ``usd``: of the calls whose price is known, null where none is; ``unpriced``: calls of unknown price;
    ``median_latency_s``: of the (latest 10,000) answers that came in this session, null where none did.
    """

    endpoint: str
    calls: int
    served: int
    failed: int
    unreadable: int
    input: int
    output: int
    thinking: int
    cached: int
    usd: float | None
    unpriced: int
    median_latency_s: float | None


class Outcome(Result):
    """A command's end: ``exit_code`` and ``state`` say the same; ``reason`` is why it stopped, if it did.

    ``run`` is the folder, null for a file that was cut by itself. ``leaderboard`` is null where nothing is rated.
    ``told``, of ``init`` and ``human`` alone: the lines that they print without ``--json``.
    """

    command: str
    run: str | None
    state: State
    exit_code: int
    reason: str | None
    stages: tuple[StageDone, ...]
    endpoints: tuple[EndpointDone, ...]
    leaderboard: Leaderboard | None
    told: tuple[str, ...] = ()


def outcome(command: str, code: int, pipeline: StageWork | None, *, rated: bool) -> Outcome:
    """The outcome of a command over an open run; ``rated``: it made ratings, which are then part of it."""
    if pipeline is None:
        return ended(command, code)
    board = None
    if rated and (file := pipeline.folder.file("leaderboard.json")).is_file():
        board = read_leaderboard(file)
    return ended(
        command,
        code,
        run=str(pipeline.folder.path),
        reason=None if pipeline.stopped is None else str(pipeline.stopped),
        stages=pipeline.ended,
        endpoints=endpoints_of(pipeline),
        leaderboard=board,
    )


def ended(
    command: str,
    code: int,
    *,
    run: str | None = None,
    reason: str | None = None,
    stages: Sequence[StageDone] = (),
    endpoints: Sequence[EndpointDone] = (),
    leaderboard: Leaderboard | None = None,
    told: Sequence[str] = (),
) -> Outcome:
    """The outcome of a command with an exit code, which may have opened no run."""
    return Outcome(
        command=command,
        run=run,
        state=STATES.get(code, "stopped"),
        exit_code=code,
        reason=reason,
        stages=tuple(stages),
        endpoints=tuple(endpoints),
        leaderboard=leaderboard,
        told=tuple(told),
    )


def endpoints_of(pipeline: StageWork) -> Sequence[EndpointDone]:
    """What each endpoint that was asked for anything took in this session, in the order of their names."""
    endpoints = {} if pipeline.gateway is None else pipeline.gateway.endpoints
    return [
        EndpointDone(
            endpoint=name,
            calls=spent.calls,
            served=spent.served,
            failed=spent.failed,
            unreadable=pipeline.unreadable[name],
            input=spent.input,
            output=spent.output,
            thinking=spent.thinking,
            cached=spent.cached,
            usd=spent.usd if spent.priced else None,
            unpriced=spent.unpriced,
            median_latency_s=median(endpoint.latencies) if endpoint.latencies else None,
        )
        for name, endpoint in sorted(endpoints.items())
        if (spent := endpoint.spent).calls or spent.served or spent.failed
    ]


def status(pipeline: StageWork) -> tuple[str, ...]:
    """What the line of progress says of the session, the most urgent first: what does not fit is left out."""
    if pipeline.gateway is None:
        return ()
    total = pipeline.gateway.budget.total
    served = sum(endpoint.spent.served for endpoint in pipeline.gateway.endpoints.values())
    unreadable = pipeline.unreadable.total()
    parts = {
        f"{total.failed} failed": total.failed,
        f"{unreadable} unreadable": unreadable,
        f"{total.calls:,} calls": True,
        f"${total.usd:.4f}": total.priced,
        f"{total.tokens:,} tokens": True,
        f"{served:,} from the journal": served,
        "some prices unknown": total.unpriced,
    }
    return tuple(said for said, holds in parts.items() if holds)
