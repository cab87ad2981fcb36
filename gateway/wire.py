"""The way out: lanes (an address with a key) over one transport, and one attempt's use of a lane.

Bytes go in prebuilt and come out raw.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from gateway import proxies
from gateway.adapters import reading
from gateway.adapters.base import WireReply, whole_address
from gateway.bodies import MB
from gateway.errors import NO, Fault
from gateway.secrets import Redactor
from gateway.transport import Loan, Target, Transport

EJECT_AFTER = 3
EJECT_S = 30.0
FORBID_VARIABLE = "TUTOR_ARENA_FORBID_CALLS"


@dataclass(frozen=True, slots=True)
class Route:
    """What an endpoint's settings say about its way. ``proxy``: as ``gateway.proxies.chosen`` takes it;
    ``largest_reply``: bytes; ``setting``: the key that holds the address."""

    proxy: str | bool | None = None
    largest_reply: int = 4 * MB
    setting: str = "base_url"


class Lane:
    """One address with one key, and how it has been doing. Raises Problem for a proxy that cannot be used."""

    def __init__(
        self, base_url: str, key: str | None, headers: Mapping[str, str], route: Route | None = None
    ) -> None:
        self.base_url, self.key = base_url.rstrip("/"), key
        self.route = route or Route()
        self.proxy = proxies.chosen(self.base_url, self.route.proxy)
        self.headers = dict(headers)
        self.in_use = self.used = 0
        self._bad_in_a_row = 0
        self._out_until = 0.0
        self._targets: dict[str, Target] = {}

    def target(self, path: str, headers: Mapping[str, str] | None = None, method: str = "POST") -> Target:
        """The request's head for a path; kept where it will be needed again."""
        is_kept = headers is None and method == "POST"
        target = self._targets.get(path) if is_kept else None
        if target is None:
            sent = {**self.headers, **(headers or {})}
            if path.startswith(("http://", "https://")):
                target = self.foreign(path, sent, method)
            else:
                target = _allowed(whole_address(self.base_url, path), sent, method, self.proxy)
            if is_kept and len(self._targets) < 64:
                self._targets[path] = target
        return target

    def foreign(self, address: str, headers: Mapping[str, str], method: str) -> Target:
        """The head of a request to any address, with those headers alone, by the endpoint's way."""
        return _allowed(address, headers, method, proxies.chosen(address, self.route.proxy))

    def is_out(self, now: float) -> bool:
        return now < self._out_until

    def rest(self, until: float) -> None:
        """Leave this lane alone until then, if there are others."""
        self._out_until = max(self._out_until, until)

    def went_well(self) -> None:
        self._bad_in_a_row = 0

    def went_badly(self, now: float) -> None:
        """Rests after three in a row; and then after each further one, until one goes well."""
        self._bad_in_a_row += 1
        if self._bad_in_a_row >= EJECT_AFTER:
            self.rest(now + EJECT_S)


def _allowed(address: str, headers: Mapping[str, str], method: str, proxy: proxies.Proxy | None) -> Target:
    """Raises Fault where calls are switched off and the address, or the proxy, is not of this machine."""
    check_allowed(urlsplit(address).hostname or "")
    if proxy is not None:
        check_allowed(proxy.address.host or "")
    return Target(address, headers, method, proxy)


def choose_lane(lanes: Sequence[Lane], now: float) -> Lane:
    """The least loaded lane that is not resting (of equals, the least used); if all are, of all."""
    if len(lanes) == 1:
        return lanes[0]
    well = [lane for lane in lanes if not lane.is_out(now)]
    return min(well or lanes, key=lambda lane: (lane.in_use, lane.used))


class Attempt:
    """One attempt over one lane: implements ``gateway.adapters.base.Wire`` and keeps the bodies that came.

    ``asked`` is the address of the last request, ``size`` that of all bodies in bytes.
    """

    __slots__ = ("_redactor", "_transport", "asked", "base_url", "bodies", "key", "lane", "size")

    def __init__(self, transport: Transport, lane: Lane, redactor: Redactor) -> None:
        self._transport, self.lane, self._redactor = transport, lane, redactor
        self.base_url, self.key = lane.base_url, lane.key
        self.bodies: list[bytes] = []
        self.asked = ""
        self.size = 0

    async def post(self, path: str, body: bytes, headers: Mapping[str, str] | None = None) -> WireReply:
        target = self.lane.target(path, headers)
        return self._read(target, await self._transport.send(target, body, self.lane.route.largest_reply))

    async def get(self, path: str, *, largest: int = 0) -> WireReply:
        """GET a path, or a full address; ``largest``: bytes that the body may have, if more than usual."""
        target = self.lane.target(path, method="GET")
        largest = max(largest, self.lane.route.largest_reply)
        return self._read(target, await self._transport.send(target, b"", largest))

    async def lend(self, path: str, body: bytes, use: Callable[[Loan], Awaitable[object]]) -> WireReply:
        target, largest = self.lane.target(path), self.lane.route.largest_reply
        return self._read(target, await self._transport.lend(target, self.lane.headers, body, largest, use))

    async def fetch(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> WireReply:
        target = self.lane.foreign(url, headers, method)
        return self._read(target, await self._transport.send(target, body, self.lane.route.largest_reply))

    def hide(self, secret: str) -> None:
        self._redactor.learn(secret)

    def keep(self, made: bytes) -> None:
        self.bodies.append(self._redactor.data(made))

    def _read(self, target: Target, reply: WireReply) -> WireReply:
        data = self._redactor.data(reply.body)
        self.bodies.append(data)
        self.size += len(data)
        self.asked = str(target.url)
        if 300 <= reply.status < 400 and (location := reply.headers.get("location")):
            raise _redirected(self.lane, str(target.url), location, reply.status)
        return reply if data is reply.body else reply._replace(body=data)


def _redirected(lane: Lane, asked: str, location: str, status: int) -> Fault:
    """Not followed, since the key would go along; the address to write instead, where it can be told."""
    try:
        there = urljoin(asked, location)
    except ValueError:  # no address at all
        there = location
    path = asked.removeprefix(lane.base_url)
    setting = lane.route.setting
    instead = there
    if setting == "base_url":
        instead = there.removesuffix(path) if there.endswith(path) else ""
    advice = f"{setting} = {reading.shown(instead)!r}" if instead else f"a {setting} that is not redirected"
    message = (
        f"HTTP {status}: the address redirects to {reading.shown(location)}, which is not followed; set {advice}"
    )
    return Fault("bad_request", message, NO, status=status)


def check_allowed(host: str) -> None:
    """Where calls are switched off (in tests), only this machine may be asked."""
    if os.environ.get(FORBID_VARIABLE) and not proxies.is_loopback(host):
        raise Fault("forbidden", f"calls are switched off by {FORBID_VARIABLE}; {host} was not asked")


class Deadlines:
    """Timeouts of attempts, kept by one timer for all instead of one each.

    An attempt's task is cancelled at most a quarter of a second after its time is up; whoever started it asks
    :meth:`absorbed` and turns that cancellation into a timeout.
    """

    STEP_S = 0.25

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._running: dict[asyncio.Task[object], float] = {}
        self._late: set[asyncio.Task[object]] = set()
        self._timer: asyncio.TimerHandle | None = None

    def start(self, task: asyncio.Task[object], seconds: float) -> None:
        self._running[task] = self._clock() + seconds
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self.STEP_S, self._sweep)

    def absorbed(self, task: asyncio.Task[object]) -> bool:
        """After a cancellation: True if it came from here alone, and is hereby over."""
        return self.is_late(task) and task.uncancel() == 0

    def is_late(self, task: asyncio.Task[object]) -> bool:
        """The attempt is over; whether its time was up, so that a cancellation came or is still to come."""
        self._running.pop(task, None)
        if task in self._late:
            self._late.remove(task)
            return True
        return False

    async def cancelled(self, task: asyncio.Task[object]) -> None:
        """The cancellation of an attempt that ended by itself in the tick in which its time was up. Raises
        CancelledError only if the task was cancelled by somebody else too."""
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            if task.uncancel() > 0:
                raise

    def strike(self) -> None:
        """Let the time of every running attempt be up now."""
        for task in list(self._running):
            self._running[task] = 0.0
        self._sweep(0.0)

    def _sweep(self, now: float | None = None) -> None:
        now = self._clock() if now is None else now
        for task in [task for task, due in self._running.items() if due <= now]:
            del self._running[task]
            self._late.add(task)
            task.cancel()
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(self.STEP_S, self._sweep) if self._running else None
