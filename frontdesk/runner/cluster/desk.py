"""What the machines of a run have in common: limits and caps, how far each shard is, and the word to stop.

Plain objects without a network: :mod:`frontdesk.runner.cluster.service` makes them reachable.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from arena.trial import JudgeTrial
from gateway.budget import Budget, Most, Spent
from gateway.errors import BudgetReached, Interrupted, JournalLost, NotReadable, Stopped
from gateway.leases import Ended, Lender, Place
from runstore.records import Usage

StopKind = Literal["interrupted", "budget", "unreadable", "journal", "machines"]
Limits = tuple[float | None, float | None]
Sums = dict[str, float]
"""Totals by name, those of :class:`gateway.budget.Spent`."""
PlainMost = tuple[float, float, bool]
PlainEnded = tuple[PlainMost, Sequence[int | None] | None, float | None]
"""A :class:`gateway.leases.Ended` as it travels."""


class MachinesLost(Stopped):
    """The scheduler, or every worker, is gone: what is finished is kept, and the run can be resumed anywhere."""

    exit_code = 1


STOPS: dict[StopKind, type[Stopped]] = {
    "interrupted": Interrupted,
    "budget": BudgetReached,
    "unreadable": NotReadable,
    "journal": JournalLost,
    "machines": MachinesLost,
}


def kind_of(reason: Stopped) -> StopKind:
    """The name by which a reason travels."""
    for kind, cls in STOPS.items():
        if isinstance(reason, cls):
            return kind
    return "interrupted"


@dataclass(slots=True)
class Seen:
    """One judge's sheets or rounds of one shard: how many, how many unreadable, and the last of those."""

    judged: int = 0
    unreadable: int = 0
    raw: str = ""
    reason: str | None = None


@dataclass(slots=True)
class Told:
    """How far one shard is, as its worker says. ``segment``: the file on the worker that its calls are in."""

    done: int = 0
    of: int = 0
    in_flight: int = 0
    spent: Sums = field(default_factory=dict[str, float])
    endpoints: dict[str, Sums] = field(default_factory=dict[str, "Sums"])
    judges: dict[str, Seen] = field(default_factory=dict[str, Seen])
    segment: str = ""
    size: int = 0

    @classmethod
    def of_plain(cls, row: Mapping[str, Any]) -> Told:
        """What arrives, as ``asdict`` sent it."""
        told = cls(**row)
        told.judges = {judge: Seen(**seen) for judge, seen in row.get("judges", {}).items()}
        return told


@dataclass(slots=True)
class Looked:
    """How far all shards are, together. ``budget``: its state, where there are caps; ``segments``: by holder, the
    file on its worker and how much of it is written."""

    done: int
    in_flight: int
    spent: Sums
    endpoints: dict[str, Sums]
    budget: Mapping[str, Any] | None
    note: str
    lines: list[str]
    stop: tuple[StopKind, str] | None
    segments: dict[str, tuple[str, int]]


@dataclass(slots=True)
class Stage:
    """One stage that is under way. ``attempts``: how often each shard has been started."""

    name: str
    lender: Lender
    is_capped: bool
    limited: tuple[str, ...]
    trial_rounds: int
    trial_unit: str
    told: dict[str, Told] = field(default_factory=dict[str, Told])
    holders: dict[str, str] = field(default_factory=dict[str, str])
    started: set[str] = field(default_factory=set[str])
    lines: dict[str, None] = field(default_factory=dict[str, None])
    stop: tuple[StopKind, str] | None = None


class Desk:
    """One run's desk. Every method takes and gives plain values, as they travel."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._stage: Stage | None = None

    # -- the driver

    def open(
        self,
        stage: str,
        limits: dict[str, Limits],
        caps: Mapping[str, Any],
        state: Mapping[str, Any],
        trial: tuple[int, str],
    ) -> None:
        """A stage begins. ``caps`` and ``state``: the budget's caps, and what has been spent under them."""
        budget = Budget(**caps)
        budget.restore(state)
        lender = Lender(limits, budget, self._clock)
        limited = tuple(name for name, limit in limits.items() if any(limit))
        self._stage = Stage(stage, lender, budget.is_capped, limited, *trial)

    def look(self) -> Looked:
        """How far all shards are, together."""
        stage = self._open()
        told = list(stage.told.values())
        lines = list(stage.lines)
        stage.lines.clear()
        return Looked(
            done=sum(share.done for share in told),
            in_flight=sum(share.in_flight for share in told),
            spent=_sum(share.spent for share in told),
            endpoints={
                name: _sum(share.endpoints[name] for share in told if name in share.endpoints)
                for name in dict.fromkeys(name for share in told for name in share.endpoints)
            },
            budget=stage.lender.budget.state() if stage.is_capped else None,
            note=self._trial(stage).note,
            lines=lines,
            stop=stage.stop,
            segments={name: (share.segment, share.size) for name, share in stage.told.items() if share.segment},
        )

    def stop(self, kind: StopKind, text: str) -> None:
        """No shard starts a further call; the first reason counts."""
        if self._stage is not None and self._stage.stop is None:
            self._stage.stop = (kind, text)

    # -- the workers

    def start(self, stage: str, holder: str, worker: str) -> bool:
        """Whether this attempt at a shard may start: a second time (after its worker was lost) it may not."""
        if self._stage is None or self._stage.name != stage or holder in self._stage.started:
            return False
        self._stage.started.add(holder)
        self._stage.holders[holder] = worker
        return True

    def beat(self, holder: str, told: Mapping[str, Any], lines: Sequence[str]) -> tuple[StopKind, str] | None:
        """A shard says how far it is; whether it shall stop, and why."""
        stage = self._open()
        stage.told[holder] = Told.of_plain(told)
        stage.lines.update(dict.fromkeys(lines))
        if stage.stop is None and (failed := self._failed_trial(stage, stage.told[holder])) is not None:
            stage.stop = ("unreadable", str(failed))
        return stage.stop

    def places(self, holder: str, endpoint: str, tokens: list[int], unused: list[int], more: int) -> list[Place]:
        """Start times under the endpoint's limits; ``unused`` ones are given back, ``more`` tokens were used."""
        lender = self._open().lender
        lender.unused(endpoint, unused)
        lender.settle(endpoint, more)
        return lender.places(holder, endpoint, tokens)

    def permits(
        self,
        holder: str,
        wanted: Sequence[PlainMost],
        told: Sequence[PlainEnded],
        is_over: Sequence[bool],
        back: Sequence[PlainMost],
    ) -> tuple[int, str | None]:
        """Calls under the run's caps; what ended, and what is given back, is taken in first."""
        lender = self._open().lender
        ended = [Ended(_most(left), None if usage is None else Usage.of(usage), usd) for left, usage, usd in told]
        lender.ended(holder, ended, is_call=is_over)
        lender.returned(holder, [_most(permit) for permit in back])
        return lender.permits(holder, [_most(permit) for permit in wanted])

    def lose(self, worker: str) -> None:
        """A worker is gone: what it held comes back."""
        if self._stage is not None:
            for holder in [name for name, whose in self._stage.holders.items() if whose == worker]:
                self._stage.lender.forget(holder)
                self._stage.told.get(holder, Told()).in_flight = 0

    def _open(self) -> Stage:
        if self._stage is None:
            raise RuntimeError("no stage is under way")
        return self._stage

    def _trial(self, stage: Stage) -> JudgeTrial:
        trial = JudgeTrial(stage.trial_rounds, stage.trial_unit)
        for told in stage.told.values():
            for judge, seen in told.judges.items():
                trial.judged[judge] += seen.judged
                trial.unreadable[judge] += seen.unreadable
        return trial

    def _failed_trial(self, stage: Stage, told: Told) -> NotReadable | None:
        if not stage.trial_rounds or not told.judges:
            return None
        trial = self._trial(stage)
        for judge, seen in told.judges.items():
            failed = trial.verdict(judge, seen.raw, seen.reason) if seen.unreadable else None
            if failed is not None:
                return failed
        return None


def _most(value: PlainMost) -> Most:
    return Most(*value)


def _sum(parts: Iterable[Sums]) -> Sums:
    total: Sums = asdict(Spent())
    for part in parts:
        for name, value in part.items():
            total[name] += value
    return total
