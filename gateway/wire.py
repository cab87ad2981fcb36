"""The way out: one tuned aiohttp session, and lanes (an address with a key) through it.

Bytes go in prebuilt and come out raw; vendor SDKs would cost ten to thirty times the call itself. What aiohttp
raises never leaves this module: its exceptions hold request headers, and so keys.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import zlib
from collections.abc import Callable, Mapping, Sequence

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from gateway.adapters.base import WireReply
from gateway.errors import TRANSIENT, Fault
from gateway.secrets import Redactor

EJECT_AFTER = 3
EJECT_S = 30.0
FORBID_VARIABLE = "TUTOR_ARENA_FORBID_CALLS"


def new_session() -> aiohttp.ClientSession:
    """The one kind of session used: no limits of its own, no cookies, no hidden headers, no hidden retries."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, limit_per_host=0, keepalive_timeout=75, ttl_dns_cache=600),
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
        skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding"),
        trust_env=False,
        raise_for_status=False,
    )


class Lane:
    """One address with one key, and how it has been doing."""

    def __init__(self, base_url: str, key: str | None, headers: Mapping[str, str]) -> None:
        self.base_url, self.key = base_url.rstrip("/"), key
        self.headers = CIMultiDict({"Content-Type": "application/json", "Accept-Encoding": "identity", **headers})
        self.in_use = 0
        self._bad_in_a_row = 0
        self._ejected_until = 0.0
        self._urls: dict[str, URL] = {}

    def url(self, path: str) -> URL:
        url = self._urls.get(path)
        if url is None:
            address = path if path.startswith(("http://", "https://")) else self.base_url + path
            url = URL(address)
            if os.environ.get(FORBID_VARIABLE) and not _is_loopback(url.host or ""):
                raise Fault("forbidden", f"calls are switched off by {FORBID_VARIABLE}; {url.host} was not asked")
            if len(self._urls) < 64:
                self._urls[path] = url
        return url

    def is_out(self, now: float) -> bool:
        return now < self._ejected_until

    def went_well(self) -> None:
        self._bad_in_a_row = 0

    def went_badly(self, now: float) -> None:
        self._bad_in_a_row += 1
        if self._bad_in_a_row >= EJECT_AFTER:
            self._ejected_until = now + EJECT_S


def choose_lane(lanes: Sequence[Lane], now: float) -> Lane:
    """The least loaded lane that is not ejected; if all are, the least loaded of all."""
    if len(lanes) == 1:
        return lanes[0]
    well = [lane for lane in lanes if not lane.is_out(now)]
    return min(well or lanes, key=lambda lane: lane.in_use)


class Attempt:
    """One attempt over one lane: implements ``gateway.adapters.base.Wire`` and keeps the bodies that came."""

    __slots__ = ("_redactor", "_session", "base_url", "bodies", "key", "lane")

    def __init__(self, session: aiohttp.ClientSession, lane: Lane, redactor: Redactor) -> None:
        self._session, self.lane, self._redactor = session, lane, redactor
        self.base_url, self.key = lane.base_url, lane.key
        self.bodies: list[bytes] = []

    async def post(self, path: str, body: bytes, headers: Mapping[str, str] | None = None) -> WireReply:
        lane = self.lane
        sent_headers = lane.headers if headers is None else CIMultiDict({**lane.headers, **headers})
        url = lane.url(path)
        try:
            async with self._session.post(url, data=body, headers=sent_headers, allow_redirects=False) as response:
                data = await response.read()
        except aiohttp.ClientPayloadError:
            raise Fault("connection", "the response was cut off", TRANSIENT) from None
        except aiohttp.ClientConnectorError as error:
            reason = error.os_error.strerror or type(error.os_error).__name__
            raise Fault("connection", f"cannot connect to {url.origin()}: {reason}", TRANSIENT) from None
        except aiohttp.ServerDisconnectedError:
            raise Fault("connection", "the server closed the connection", TRANSIENT) from None
        except (aiohttp.ClientError, OSError) as error:
            raise Fault("connection", f"connection failed ({type(error).__name__})", TRANSIENT) from None
        encoding = response.headers.get("Content-Encoding")
        if encoding is not None and encoding != "identity":
            data = _decompressed(data, encoding)
        data = self._redactor.data(data)
        self.bodies.append(data)
        return WireReply(response.status, response.headers, data)


def _decompressed(data: bytes, encoding: str) -> bytes:
    windows: dict[str, int] = {"gzip": 31, "deflate": 47}
    if encoding not in windows:
        raise Fault("malformed", f"the response is encoded as {encoding}, which was not asked for", TRANSIENT)
    try:
        return zlib.decompress(data, windows[encoding])
    except zlib.error:
        raise Fault("malformed", f"the response is not valid {encoding}", TRANSIENT) from None


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Deadlines:
    """Timeouts of attempts, kept by one timer for all instead of one each.

    An attempt's task is cancelled at most a quarter of a second after its time is up; whoever started it turns
    that cancellation into a timeout.
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

    def stop(self, task: asyncio.Task[object]) -> bool:
        """Forget the task; True if it was cancelled here because its time was up."""
        self._running.pop(task, None)
        if task in self._late:
            self._late.remove(task)
            return True
        return False

    def _sweep(self) -> None:
        now = self._clock()
        for task in [task for task, due in self._running.items() if due <= now]:
            del self._running[task]
            self._late.add(task)
            task.cancel()
        self._timer = asyncio.get_running_loop().call_later(self.STEP_S, self._sweep) if self._running else None
