"""One endpoint as the engine sees it: adapter, lanes, limits, health, prices, and what it has spent."""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from math import inf
from typing import cast
from urllib.parse import urlsplit

import orjson

from gateway import proxies
from gateway.adapters import templates
from gateway.adapters.base import Adapter, CredentialsWay, EndpointSettings
from gateway.adapters.catalog import KINDS, key_values
from gateway.bodies import MB
from gateway.budget import Most, Spent
from gateway.clocks import LATEST
from gateway.errors import TRANSIENT, Fault, Retry
from gateway.leases import LentPlaces, Place
from gateway.limits import AdaptiveConcurrency, PerMinute, TokenGuess
from gateway.prices import cost, price_of
from gateway.retry import EndpointHealth
from gateway.secrets import Redactor, check_key, tellable
from gateway.wire import Lane, Route, choose_lane
from runstore.problems import Problem
from runstore.records import Usage

PER_NODE = "per-node:"
FIRST_OUTPUT = 256
"""Tokens of output that a first call is taken to give, where the settings say no less."""
LONG_OUTPUT = 8_192
"""Tokens of output, thinking among them, that a call is held to under a cap where it is told no limit."""
_MORE_OUTPUT = frozenset({"n", "best_of", "max_tokens", "max_completion_tokens"})
_COMPOSE_JSON = frozenset(place.partition(":")[0] for place in KINDS.values())
"""Our own adapters compose one line of JSON; anybody's may compose what it likes."""
LATE_S = 0.3
"""How much later than its place under a limit that several machines share a call may start."""
BUSY_LANE_S = 5.0
"""How long a lane rests after a rate limit that names no time, if there are other lanes."""


class Endpoint:
    """Built once per run from an adapter. Reads the endpoint's keys from ``environ``, once.

    ``keyless``: nothing will be sent, so no key is asked for (replays). Raises Problem for a variable that is
    missing or holds something that is no key.
    """

    def __init__(
        self,
        name: str,
        adapter: Adapter,
        clock: Callable[[], float],
        environ: Mapping[str, str] | None = None,
        *,
        keyless: bool = False,
    ) -> None:
        settings = adapter.settings
        self.name, self.adapter = name, adapter
        self.name_json = orjson.dumps(name)
        self.timeout_s: float = settings.timeout_s
        self.spent = Spent()
        self.latencies = deque[float](maxlen=LATEST)  # seconds of the last answers that came
        self.told_until = 0.0
        self.is_told_of_cap = False
        self.health = EndpointHealth()
        self.gate = AdaptiveConcurrency(settings.concurrency, clock)
        environ = os.environ if environ is None else environ
        keys = [] if keyless else key_values(settings, environ, name=name)
        self.keys: list[str] = [*keys, *_declared(adapter, "header_keys")]
        addresses = _addresses(name, adapter)
        route = Route(proxy=False) if keyless else _route(settings, environ, name)
        self.lanes = [
            Lane(of_this_node(address), key, {} if keyless else adapter.headers(key), route)
            for address in addresses
            for key in (keys or [None])
        ]
        in_proxies = [secret for lane in self.lanes if lane.proxy is not None for secret in lane.proxy.secrets]
        self.secrets: list[str] = [*keys, *_declared(adapter, "secrets"), *in_proxies]
        if not keyless:
            _make_ready(adapter, name, CredentialsWay(settings.timeout_s, route.proxy))
        self._identity = hashlib.blake2b(
            orjson.dumps([name, settings.kind, settings.identity or addresses, *_extra_headers(settings)]),
            digest_size=16,
        )
        self.is_json = type(adapter).__module__ in _COMPOSE_JSON
        self._known_by: Callable[[bytes], bytes] = getattr(adapter, "known_by", _itself)
        self._requests = PerMinute(settings.requests_per_minute, clock) if settings.requests_per_minute else None
        self._tokens = (
            PerMinute(settings.tokens_per_minute, clock, burst_s=10.0) if settings.tokens_per_minute else None
        )
        self._guess: TokenGuess | None = None
        self.lent: LentPlaces | None = None
        self._price = price_of(settings)
        self._longest_reply = _longest_reply(settings)
        self.is_priced = self._price is not None

    @property
    def proxies(self) -> list[str]:
        """The proxies through which the endpoint is reached, without their passwords; none for direct ways."""
        return list(dict.fromkeys(lane.proxy.shown for lane in self.lanes if lane.proxy is not None))

    @property
    def is_local(self) -> bool:
        """Whether every address is of this machine: then a key may be any word, and is no secret."""
        return all(proxies.is_loopback(urlsplit(lane.base_url).hostname or "") for lane in self.lanes)

    def key(self, sent: bytes, repeat: int) -> str:
        """The journal's key: BLAKE2b-128 of endpoint, kind, address (or identity), all that is sent, repeat.

        All that is sent are the bytes (without marks that change no answer) and every header but the key.
        """
        hasher = self._identity.copy()
        hasher.update(self._known_by(sent))
        hasher.update(b"#%d" % repeat)
        return hasher.hexdigest()

    def lane(self, now: float) -> Lane:
        lane = choose_lane(self.lanes, now)
        lane.used += 1
        return lane

    def blame(self, lane: Lane, fault: Fault, now: float) -> Retry:
        """What a fault means for its lane, and whether another attempt makes sense: perhaps over another lane.

        A refused key, or one whose quota is used up, is out for good; a busy lane rests as long as it asked for.
        """
        if len(self.lanes) == 1:
            return fault.retry
        if fault.kind in ("auth", "quota"):
            lane.rest(inf if fault.retry.wait_s is None else now + fault.retry.wait_s)
        elif fault.kind == "rate_limit":
            lane.rest(now + (BUSY_LANE_S if fault.retry.wait_s is None else fault.retry.wait_s))
        else:
            if fault.kind in ("connection", "timeout", "server"):
                lane.went_badly(now)
            return fault.retry
        return fault.retry if all(other.is_out(now) for other in self.lanes) else TRANSIENT

    def estimate(self, sent: bytes) -> int:
        """Tokens of the text that is sent, where a limit needs to know; else 0."""
        if self._tokens is None:
            return 0
        if self._guess is None:
            from gateway.tokens import Correction, estimator

            settings = self.adapter.settings
            first = min(FIRST_OUTPUT, settings.max_output_tokens or FIRST_OUTPUT)
            self._guess = TokenGuess(estimator(settings.model or ""), Correction(), first)
        return self._guess.input(sent.decode("utf-8", "replace"))

    async def place(self, counted: int, missed: Place | None) -> tuple[Place | None, float, int]:
        """A place in the line of a run on several machines, if it is one; seconds until the limits per minute
        allow a call with that much text; and the tokens reserved for it.

        One that was ``missed`` is given back: who starts late would crowd the minute of others.
        """
        reserved = self._guess.total(counted) if self._guess is not None else 0
        if self.lent is not None:
            if missed is not None:
                self.lent.unused.append(missed.number)
            place = await self.lent.take(reserved)
            return place, place.wait_s, reserved
        wait = self._requests.reserve(1) if self._requests is not None else 0.0
        return None, max(wait, self._tokens.reserve(reserved) if self._tokens is not None else 0.0), reserved

    def rest(self, seconds: float) -> None:
        """Nothing starts under a limit per minute for so long: others have used this minute."""
        for line in (self._requests, self._tokens):
            if line is not None:
                line.rest(seconds)

    @property
    def has_line(self) -> bool:
        """Whether calls wait in line for a limit per minute, of this process or of a run on several machines."""
        return self._requests is not None or self._tokens is not None or self.lent is not None

    @property
    def limits(self) -> tuple[float | None, float | None]:
        """Requests and tokens a minute, as configured."""
        return self.adapter.settings.requests_per_minute, self.adapter.settings.tokens_per_minute

    def settle(self, counted: int, reserved: int, usage: Usage) -> None:
        """Correct what was reserved, and later guesses, by what the provider counted."""
        if self._tokens is None or self._guess is None or usage.input is None:
            return
        outputs = (usage.output or 0) + (usage.thinking or 0)
        if self.lent is not None:
            self.lent.settle(usage.input + outputs - reserved)
        else:
            self._tokens.settle(reserved, usage.input + outputs)
        self._guess.learn(counted, usage.input, outputs)

    def most(self, sent: bytes) -> Most:
        """What one attempt at sending this can take at most.

        No token is less than a byte of what is sent, and no reply is longer than the limit; where the endpoint is
        told none, hardly any is longer than LONG_OUTPUT. Without a known price nothing is counted in dollars.
        """
        size, is_sure = len(sent), self._longest_reply is not None
        limit = LONG_OUTPUT if self._longest_reply is None else self._longest_reply
        written = size if getattr(self.adapter.settings, "cache_prompt", False) else 0
        usd = self.cost(Usage(input=size, output=limit, thinking=0, cached=0, cache_written=written))
        return Most(float(size + limit), usd or 0.0, is_sure)

    def cost(self, usage: Usage, *, batch: bool = False) -> float | None:
        """USD, or None where the price is not known. ``batch``: at the price of a batch interface."""
        return None if self._price is None else cost(self._price, usage, batch=batch)


def redactor_of(endpoints: Iterable[Endpoint], words: Collection[str]) -> Redactor:
    """What takes the endpoints' secrets out. Raises Problem for a key that could not be told from ``words``."""
    endpoints = list(endpoints)
    for endpoint in endpoints:
        for key in () if endpoint.is_local else endpoint.keys:
            check_key(endpoint.name, key, words)
    known = {secret for endpoint in endpoints for secret in endpoint.secrets}
    return Redactor(secret for secret in known if tellable(secret, words) is None)


def _itself(sent: bytes) -> bytes:
    return sent


def _route(settings: EndpointSettings, environ: Mapping[str, str], name: str) -> Route:
    """Raises Problem for a proxy whose variables are not set, or that is no address once they are filled in."""
    proxy = settings.proxy
    if isinstance(proxy, str):
        proxy = templates.expand(proxy, environ, f"endpoints.{name}.proxy", quoted=True)
        try:
            proxies.parsed(proxy)
        except ValueError as error:
            raise Problem(f"endpoints.{name}.proxy: {error}") from None
    has_url = settings.base_url is None and getattr(settings, "url", None) is not None
    return Route(proxy, int(settings.largest_reply_mb * MB), "url" if has_url else "base_url")


def _addresses(name: str, adapter: Adapter) -> list[str]:
    given = adapter.settings.base_url
    if isinstance(given, list) and given:
        return [str(address) for address in cast("list[object]", given)]
    try:
        return [given if isinstance(given, str) else adapter.address]
    except Problem as problem:
        raise Problem(f"endpoints.{name}.{problem}") from None


def of_this_node(address: str) -> str:
    """``per-node:PORT/PATH`` is a server on each machine that makes calls, at the port of its own loopback.

    The journal's key names it as it is written: what one node asked is answered on any other.
    """
    return f"http://127.0.0.1:{address.removeprefix(PER_NODE)}" if address.startswith(PER_NODE) else address


def _extra_headers(settings: EndpointSettings) -> list[object]:
    """Headers that are sent beside the key belong to what was sent; where there are none, to nothing."""
    extra: Mapping[str, str] = getattr(settings, "extra_headers", {})
    return [sorted(extra.items())] if extra else []


def _make_ready(adapter: Adapter, name: str, way: CredentialsWay) -> None:
    """What an adapter wants to have ready before anything is asked. Raises Problem."""
    make_ready: Callable[[CredentialsWay], None] | None = getattr(adapter, "make_ready", None)
    try:
        if make_ready is not None:
            make_ready(way)
    except Problem as problem:
        raise Problem(f"endpoints.{name}: {problem}") from None


def _longest_reply(settings: EndpointSettings) -> int | None:
    """Tokens that a reply can have by what is sent, unless other keys of the body may say otherwise."""
    body: Mapping[str, object] = getattr(settings, "extra_body", {})
    return None if _MORE_OUTPUT & body.keys() else settings.max_output_tokens


def _declared(adapter: Adapter, name: str) -> list[str]:
    declare: Callable[[], list[str]] | None = getattr(adapter, name, None)
    return declare() if declare is not None else []
