"""What the machines of a run have in common: limits and caps, how far each shard is, and the word to stop.

Plain objects without a network: :mod:`frontdesk.runner.cluster.service` makes them reachable.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from arena.trial import JudgeTrial
from gateway.budget import Budget, Most, Spent
from gateway.clocks import LATEST
from gateway.errors import BudgetReached, Interrupted, JournalLost, NotReadable, Stopped
from gateway.leases import REST_S, Ended, Lender, Place
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


SILENCE_S = 30.0
"""How long a worker starts calls without word from the scheduler."""
LOST_S = 60.0
"""How long a worker that says nothing has its share; by then it has stopped by itself."""
ELSEWHERE: tuple[StopKind, str] = ("machines", "its share goes on elsewhere")


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
    """How far one shard is, as its worker says. ``segment``: the file on the worker that its calls are in;
    ``latencies``: of answers since it last said so."""

    done: int = 0
    of: int = 0
    in_flight: int = 0
    spent: Sums = field(default_factory=dict[str, float])
    endpoints: dict[str, Sums] = field(default_factory=dict[str, "Sums"])
    judges: dict[str, Seen] = field(default_factory=dict[str, Seen])
    latencies: dict[str, list[float]] = field(default_factory=dict[str, "list[float]"])
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
    file on its worker and how much of it is written; ``silent``: holders that have said nothing for LOST_S."""

    done: int
    in_flight: int
    spent: Sums
    endpoints: dict[str, Sums]
    budget: Mapping[str, Any] | None
    note: str
    lines: list[str]
    stop: tuple[StopKind, str] | None
    segments: dict[str, tuple[str, int]]
    silent: list[str]
    latencies: dict[str, list[float]]


@dataclass(slots=True)
class Stage:
    """One stage that is under way. ``holders``: the worker of each attempt at a shard that was started; ``heard``:
    when it said something last; ``trial``: of the judges, by what all shards saw."""

    name: str
    lender: Lender
    is_capped: bool
    trial: JudgeTrial
    told: dict[str, Told] = field(default_factory=dict[str, Told])
    holders: dict[str, str] = field(default_factory=dict[str, str])
    latencies: dict[str, deque[float]] = field(default_factory=dict[str, "deque[float]"])
    heard: dict[str, float] = field(default_factory=dict[str, float])
    withdrawn: set[str] = field(default_factory=set[str])
    lines: dict[str, None] = field(default_factory=dict[str, None])
    stop: tuple[StopKind, str] | None = None

    def is_at_work(self, holder: str) -> bool:
        """Whether this attempt at a shard was started in this stage, and has not been given up."""
        return holder in self.holders and holder not in self.withdrawn

    def tell(self, holder: str, told: Told) -> None:
        """Take in how far an attempt is, instead of what it told before."""
        before, self.told[holder] = self.told.get(holder, Told()), told
        for sign, judges in ((-1, before.judges), (1, told.judges)):
            for judge, seen in judges.items():
                self.trial.judged[judge] += sign * seen.judged
                self.trial.unreadable[judge] += sign * seen.unreadable

    def failed_trial(self, told: Told) -> NotReadable | None:
        """Why a judge of the attempt that told this is asked no more, if so."""
        ends = (
            self.trial.verdict(judge, seen.raw, seen.reason)
            for judge, seen in told.judges.items()
            if seen.unreadable
        )
        return next((end for end in ends if end is not None), None)


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
        asked: Sequence[str] = (),
    ) -> None:
        """A stage begins. ``caps`` and ``state``: the budget's caps, and what has been spent under them;
        ``asked``: endpoints that the driver has asked itself since the last one."""
        budget = Budget(**caps)
        budget.restore(state)
        lender = Lender(limits, budget, self._clock, None if self._stage is None else self._stage.lender)
        for name in asked:
            if any(limits[name]):
                lender.rest(name, REST_S)
        self._stage = Stage(stage, lender, budget.is_capped, JudgeTrial(*trial))

    def look(self) -> Looked:
        """How far all shards are, together."""
        stage = self._open()
        told = list(stage.told.values())
        lines = list(stage.lines)
        stage.lines.clear()
        latencies = {name: list(since) for name, since in stage.latencies.items()}
        stage.latencies.clear()
        return Looked(
            done=sum(share.done for share in told),
            in_flight=sum(share.in_flight for share in told),
            spent=sum_of(share.spent for share in told),
            endpoints={
                name: sum_of(share.endpoints[name] for share in told if name in share.endpoints)
                for name in dict.fromkeys(name for share in told for name in share.endpoints)
            },
            budget=stage.lender.budget.state() if stage.is_capped else None,
            note=stage.trial.note,
            lines=lines,
            stop=stage.stop,
            segments={name: (share.segment, share.size) for name, share in stage.told.items() if share.segment},
            latencies=latencies,
            silent=[name for name, at in stage.heard.items() if self._clock() - at > LOST_S],
        )

    def stop(self, kind: StopKind, text: str) -> None:
        """No shard starts a further call; the first reason counts."""
        if self._stage is not None and self._stage.stop is None:
            self._stage.stop = (kind, text)

    def withdraw(self, holder: str) -> None:
        """This attempt at a shard is given up for another: whoever still works at it gets nothing more.

        What it has spent stays spent; what it has done is counted by the next one.
        """
        stage = self._open()
        stage.withdrawn.add(holder)
        stage.heard.pop(holder, None)
        stage.lender.forget(holder)
        if (told := stage.told.get(holder)) is not None:
            stage.tell(holder, replace(told, done=0, of=0, in_flight=0, judges={}))

    # -- the workers

    def start(self, stage: str, holder: str, worker: str) -> bool:
        """Whether this attempt at a shard may start: no second time, and not once it has been given up."""
        if self._stage is None or self._stage.name != stage:
            return False
        if holder in self._stage.holders or holder in self._stage.withdrawn:
            return False
        self._stage.holders[holder] = worker
        return True

    def beat(self, holder: str, told: Mapping[str, Any], lines: Sequence[str]) -> tuple[StopKind, str] | None:
        """A shard says how far it is; whether it shall stop, and why."""
        stage, now = self._open(), Told.of_plain(told)
        if not stage.is_at_work(holder):
            if (before := stage.told.get(holder)) is not None:
                before.spent, before.endpoints = now.spent, now.endpoints
            return ELSEWHERE
        stage.tell(holder, now)
        for name, since in now.latencies.items():
            stage.latencies.setdefault(name, deque(maxlen=LATEST)).extend(since)
        stage.heard[holder] = self._clock()
        stage.lines.update(dict.fromkeys(lines))
        if stage.stop is None and (failed := stage.failed_trial(now)) is not None:
            stage.stop = ("unreadable", str(failed))
        return stage.stop

    def end(self, holder: str) -> None:
        """An attempt has come to its end: it will not be heard of again."""
        if self._stage is not None:
            self._stage.heard.pop(holder, None)

    def places(self, holder: str, endpoint: str, tokens: list[int], unused: list[int], more: int) -> list[Place]:
        """Start times under the endpoint's limits; ``unused`` ones are given back, ``more`` tokens were used."""
        lender = self._open().lender
        lender.unused(endpoint, unused)
        lender.settle(endpoint, more)
        if tokens:
            self._check(holder)
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
        if wanted:
            self._check(holder)
        return lender.permits(holder, [_most(permit) for permit in wanted])

    def lose(self, worker: str) -> None:
        """A worker is gone: what it held comes back."""
        if self._stage is not None:
            for holder in [name for name, whose in self._stage.holders.items() if whose == worker]:
                self._stage.lender.forget(holder)
                self._stage.told.get(holder, Told()).in_flight = 0

    def _check(self, holder: str) -> None:
        """Raises MachinesLost for an attempt that was given up, or of another stage."""
        if not self._open().is_at_work(holder):
            raise MachinesLost(ELSEWHERE[1])

    def _open(self) -> Stage:
        if self._stage is None:
            raise RuntimeError("no stage is under way")
        return self._stage


def _most(value: PlainMost) -> Most:
    return Most(*value)


def sum_of(parts: Iterable[Sums]) -> Sums:
    """Totals of many, added up."""
    total: Sums = asdict(Spent())
    for part in parts:
        for name, value in part.items():
            total[name] += value
    return total
