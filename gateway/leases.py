"""One quota and one budget for processes on several machines: lent in batches, given back when unused.

The lender (:class:`Lender`) stands in one place, where every process can reach it. It keeps the limits per minute
of each endpoint and the caps of the run. A process asks it for what its waiting calls need, all of them in one
message, and tells it what ended; what a process that died still held is taken back by :meth:`Lender.forget`.

Limits per minute are lent as start times: so many in any minute and six tenths of a second, whoever uses them.
Those tenths are for single calls that are late; one that is later gives its place back and takes another, and what
was missed is made up for by a pace a tenth above the limit.
"""

from __future__ import annotations

import asyncio
import heapq
import math
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from gateway.budget import NOTHING, Budget, Most
from gateway.errors import BudgetReached
from runstore.records import Usage

SLOWER = 1.01
"""How much longer than it has to be a line of start times is (and a minute, where it is one)."""
FASTER = 1.1
"""Pace above the limit, until a minute is full."""
STEP_S = 0.1
WINDOW = round(SLOWER * 60.0 / STEP_S) + 1
"""Steps in which no more than a minute's units may start."""
REST_S = 10.0
"""How long who keeps a limit alone waits after another who did: a tenth of a minute is what each may be ahead."""
RETRY_S = 0.05
"""How long to wait before asking again for what others hold."""


class Place(NamedTuple):
    """When a call may start: seconds from now, and the number by which the place is given back."""

    wait_s: float
    number: int


class _Minutes:
    """Start times of which any minute has at most ``limit``."""

    def __init__(self, limit: float, now: float) -> None:
        self._limit = max(1, math.floor(limit))
        self._each = 60.0 / limit / (FASTER if limit >= 1 else 1.0)
        self._due = now
        self._step, self._in_window = math.floor(now / STEP_S), 0
        self._counts: dict[int, int] = {}
        self._free: list[float] = []

    def take(self, now: float) -> float:
        """The next start time: one that was given back, or at the end of the line."""
        while self._free:
            start = heapq.heappop(self._free)
            if start >= now:
                return start
            self._uncount(start)
        start = max(now, self._due)
        self._advance(math.floor(start / STEP_S))
        while self._in_window >= self._limit:
            self._advance(self._step + 1)
            start = self._step * STEP_S
        self._counts[self._step] = self._counts.get(self._step, 0) + 1
        self._in_window += 1
        self._due = start + self._each
        return start

    def give_back(self, start: float, now: float) -> None:
        """One that is not used: it is taken again in its turn, or makes room at the end where it has passed."""
        if start > now:
            heapq.heappush(self._free, start)
        else:
            self._uncount(start)

    def rest(self, until: float) -> None:
        """No start before, not even one that was given back."""
        self._due = max(self._due, until)
        while self._free and self._free[0] < until:
            self._uncount(heapq.heappop(self._free))

    def _uncount(self, start: float) -> None:
        step = math.floor(start / STEP_S + 1e-6)
        if self._counts.get(step, 0) > 0:
            self._counts[step] -= 1
            self._in_window -= 1

    def _advance(self, step: int) -> None:
        if step - self._step > WINDOW:
            self._counts.clear()
            self._step, self._in_window = step, 0
        while self._step < step:
            self._step += 1
            self._in_window -= self._counts.pop(self._step - WINDOW, 0)


class _Line:
    """One endpoint's requests and tokens a minute as start times, lent to holders."""

    def __init__(self, requests: float | None, tokens: float | None, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.limit = requests, tokens
        self._minutes = _Minutes(requests, clock()) if requests else None
        self._each_token = SLOWER * 60.0 / tokens if tokens else 0.0
        self._token_due = clock()
        self._lent: dict[int, tuple[str, float, float, int]] = {}
        self._numbers = 0

    def take(self, holder: str, tokens: int) -> Place:
        now = self._clock()
        own = start = self._minutes.take(now) if self._minutes is not None else now
        if self._each_token:
            self._token_due = max(self._token_due, now)
            start = max(start, self._token_due)
            self._token_due += tokens * self._each_token
        self._numbers += 1
        self._lent[self._numbers] = (holder, start, own, tokens)
        if self._numbers % 4096 == 0:
            self._lent = {number: loan for number, loan in self._lent.items() if loan[1] > now - 60}
        return Place(max(0.0, start - now), self._numbers)

    def give_back(self, number: int) -> None:
        """A place that was not used."""
        if (held := self._lent.pop(number, None)) is not None:
            _, _, own, tokens = held
            if self._minutes is not None:
                self._minutes.give_back(own, self._clock())
            self._token_due -= tokens * self._each_token

    def forget(self, holder: str | None = None) -> None:
        """What a process that is gone (all of them) had not come to; what has passed it may have used."""
        now = self._clock()
        for number in [number for number, loan in self._lent.items() if holder in (None, loan[0])]:
            if self._lent[number][1] > now:
                self.give_back(number)
            else:
                del self._lent[number]

    def rest(self, seconds: float) -> None:
        """Nothing starts for so long: others have used this minute."""
        if self._minutes is not None:
            self._minutes.rest(self._clock() + seconds)
        self._token_due = max(self._token_due, self._clock() + seconds)

    def settle(self, tokens: int) -> None:
        """So many tokens more than was lent for were used (or fewer)."""
        self._token_due += tokens * self._each_token


class Ended(NamedTuple):
    """What a process tells of its calls, in order: one that ended (its most), or what one took."""

    left: Most = NOTHING
    usage: Usage | None = None
    usd: float | None = None


class Lender:
    """The run's limits and caps. ``limits``: by endpoint, requests and tokens a minute; None is no limit."""

    def __init__(
        self,
        limits: Mapping[str, tuple[float | None, float | None]],
        budget: Budget,
        clock: Callable[[], float],
        before: Lender | None = None,
    ) -> None:
        """``before``: of an earlier part of the same run; the minutes that it has begun go on."""
        self.budget = budget
        self._lines: dict[str, _Line] = {}
        for name, (requests, tokens) in limits.items():
            line = before._lines.get(name) if before is not None else None
            if line is not None and line.limit == (requests, tokens):
                line.forget()
                self._lines[name] = line
            elif requests or tokens:
                self._lines[name] = _Line(requests, tokens, clock)
        self._held: dict[str, list[Most]] = defaultdict(list)
        self._lost: dict[str, list[Most]] = defaultdict(list)

    def places(self, holder: str, endpoint: str, tokens: Sequence[int]) -> list[Place]:
        """Start times for calls of so many tokens each."""
        return [self._lines[endpoint].take(holder, count) for count in tokens]

    def unused(self, endpoint: str, numbers: Sequence[int]) -> None:
        """Places that no call will use."""
        for number in numbers:
            self._lines[endpoint].give_back(number)

    def rest(self, endpoint: str, seconds: float) -> None:
        """The endpoint was asked by somebody else just now: see :data:`REST_S`."""
        self._lines[endpoint].rest(seconds)

    def settle(self, endpoint: str, tokens: int) -> None:
        """Correct the tokens that were lent by what the provider counted."""
        self._lines[endpoint].settle(tokens)

    def permits(self, holder: str, wanted: Sequence[Most]) -> tuple[int, str | None]:
        """How many of the wanted calls may go out now (the first ones), or why none ever will."""
        granted = 0
        for most in wanted:
            try:
                if not self.budget.fits(most):
                    break
            except BudgetReached as reason:
                return granted, None if granted else str(reason)
            self.budget.entered(most)
            self._held[holder].append(most)
            granted += 1
        return granted, None

    def ended(self, holder: str, told: Sequence[Ended], *, is_call: Sequence[bool]) -> None:
        """What came of calls: those that are over leave, and what they took is spent.

        A process that was taken for gone may still tell of its calls: they are lost no more.
        """
        for call, is_over in zip(told, is_call, strict=True):
            if is_over:
                self._find(holder, call.left)
                if _dropped(self._held[holder], call.left):
                    self.budget.left(call.left)
            elif call.usage is not None:
                self.budget.spend(call.usage, call.usd)

    def returned(self, holder: str, unused: Sequence[Most]) -> None:
        """Permits that no call will use."""
        for most in unused:
            self._find(holder, most)
            if _dropped(self._held[holder], most):
                self.budget.returned(most)

    def forget(self, holder: str) -> None:
        """A process is gone: its places are free again, its calls count as lost (they may have been paid for)."""
        for line in self._lines.values():
            line.forget(holder)
        for most in self._held.pop(holder, []):
            self.budget.lose(most)
            self._lost[holder].append(most)

    def _find(self, holder: str, most: Most) -> None:
        """A call that was counted as lost is heard of after all."""
        if most not in self._held[holder] and _dropped(self._lost[holder], most):
            self.budget.find(most)
            self._held[holder].append(most)


def _dropped(calls: list[Most], most: Most) -> bool:
    """Whether such a call was among them; it is no more."""
    if most not in calls:
        return False
    calls.remove(most)
    return True


AskPlaces = Callable[[list[int]], Awaitable[list[Place]]]


class LentPlaces:
    """One endpoint's limits per minute, as a process borrows them: one message for all that wait."""

    def __init__(self, ask: AskPlaces) -> None:
        self._ask = ask
        self._wanted: list[tuple[int, asyncio.Future[Place]]] = []
        self._asking: asyncio.Task[None] | None = None
        self.unused: list[int] = []
        self.more_tokens = 0

    async def take(self, tokens: int) -> Place:
        """A place in the line of the whole run."""
        future: asyncio.Future[Place] = asyncio.get_running_loop().create_future()
        self._wanted.append((tokens, future))
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._pump())
        try:
            return await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled() and future.exception() is None:
                self.unused.append(future.result().number)
            raise

    async def _pump(self) -> None:
        while self._wanted:
            batch, self._wanted = self._wanted, []
            try:
                places = await self._ask([tokens for tokens, _ in batch])
            except Exception as error:  # all who wait are told
                for _, future in batch:
                    if not future.done():
                        future.set_exception(error)
                continue
            for (_, future), place in zip(batch, places, strict=True):
                if future.done():
                    self.unused.append(place.number)
                else:
                    future.set_result(place)

    def settle(self, more: int) -> None:
        """So many tokens more were used than had been lent (or fewer); told with the next message."""
        self.more_tokens += more


AskPermits = Callable[[list[Most], list[Ended], list[bool], list[Most]], Awaitable[Any]]


@dataclass(slots=True)
class LentBudget(Budget):
    """The run's caps as a process borrows them. ``ask`` sends what is wanted, what ended and what is given back;
    it returns how many may go out, or why none ever will."""

    ask: AskPermits | None = None
    _permits: list[Most] = field(default_factory=list[Most])
    _wanted: list[Most] = field(default_factory=list[Most])
    _told: list[Ended] = field(default_factory=list[Ended])
    _over: list[bool] = field(default_factory=list[bool])
    _refused: str | None = None
    _asking: asyncio.Task[None] | None = None
    _failed: Exception | None = None

    @property
    def is_early(self) -> bool:
        """Never told here: a call waits for its permit at first, whatever the caps are."""
        return False

    def fits(self, most: Most = NOTHING) -> bool:
        """As of a budget of one's own. Raises BudgetReached."""
        if self._failed is not None:
            raise self._failed
        if most in self._permits:
            return True
        if self._refused is not None:
            raise BudgetReached(self._refused)
        self._wanted.append(most)
        if self._asking is None or self._asking.done():
            self._asking = asyncio.get_running_loop().create_task(self._pump())
        return False

    def entered(self, most: Most = NOTHING) -> None:
        if most in self._permits:
            self._permits.remove(most)
        Budget.entered(self, most)

    def left(self, most: Most = NOTHING) -> None:
        self._told.append(Ended(left=most))
        self._over.append(True)
        waiting, self._change = self._change, None  # who may go out next is decided elsewhere
        Budget.left(self, most)
        self._change = waiting

    def spend(self, tokens: Usage, usd: float | None) -> None:
        self._told.append(Ended(usage=tokens, usd=usd))
        self._over.append(False)
        Budget.spend(self, tokens, usd)

    async def tell(self) -> None:
        """Say what ended, and give back what nobody waits for."""
        back = list(self._permits)
        self._permits.clear()
        await self._send([], back)

    async def _send(self, wanted: list[Most], back: list[Most]) -> tuple[int, str | None]:
        told, over = list(self._told), list(self._over)
        self._told.clear()
        self._over.clear()
        ask = cast("AskPermits", self.ask)
        return await ask(wanted, told, over, back)

    async def _pump(self) -> None:
        """One message for all that wait, again and again while somebody does; what nobody took goes back."""
        while self._wanted or self._permits:
            await asyncio.sleep(0 if self._wanted else RETRY_S)
            try:
                if self._wanted:
                    await self._borrow()
                elif self._permits:
                    await self.tell()
            except Exception as error:  # raised by whoever asks next
                self._failed = error
            self._wanted.clear()  # all who wait are woken, and say again what they want
            change, self._change = self._change, None
            if change is not None and not change.done():
                change.set_result(None)
            if self._failed is not None:
                return

    async def _borrow(self) -> None:
        wanted = list(self._wanted)
        granted, self._refused = await self._send(wanted, [])
        self._permits += wanted[:granted]
        if not granted and self._refused is None:
            await asyncio.sleep(RETRY_S)
