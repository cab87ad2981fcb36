"""One endpoint as the engine sees it: adapter, lanes, limits, health, prices, and what it has spent."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from typing import cast

import orjson

from gateway.adapters.base import Adapter, Tokens
from gateway.budget import Spent
from gateway.limits import AdaptiveConcurrency, PerMinute
from gateway.prices import cost, price_of
from gateway.retry import EndpointHealth
from gateway.wire import Lane, choose_lane


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
        from gateway.adapters.catalog import key_values

        settings = adapter.settings
        self.name, self.adapter = name, adapter
        self.name_json = orjson.dumps(name)
        self.timeout_s: float = settings.timeout_s
        self.spent = Spent()
        self.health = EndpointHealth()
        self.gate = AdaptiveConcurrency(settings.concurrency, clock)
        keys = [] if keyless else key_values(settings, os.environ if environ is None else environ)
        self.secrets: list[str] = [*keys, *_declared_secrets(adapter)]
        addresses = _addresses(adapter)
        self.lanes = [
            Lane(address, key, {} if keyless else adapter.headers(key))
            for address in addresses
            for key in (keys or [None])
        ]
        self._identity = hashlib.blake2b(
            orjson.dumps([name, settings.kind, settings.identity or addresses]), digest_size=16
        )
        self._requests = PerMinute(settings.requests_per_minute, clock) if settings.requests_per_minute else None
        self._tokens = (
            PerMinute(settings.tokens_per_minute, clock, burst_s=10.0) if settings.tokens_per_minute else None
        )
        self._count: Callable[[str], int] | None = None
        self._ratio = 1.0
        self._price = price_of(settings)

    def key(self, sent: bytes, repeat: int) -> str:
        """The journal's key: BLAKE2b-128 of endpoint, kind, address (or identity), all that is sent, repeat."""
        hasher = self._identity.copy()
        hasher.update(sent)
        hasher.update(b"#%d" % repeat)
        return hasher.hexdigest()

    def lane(self, now: float) -> Lane:
        return choose_lane(self.lanes, now)

    def estimate(self, sent: bytes) -> int:
        """Tokens this call will take, where a limit needs to know; else 0."""
        if self._tokens is None:
            return 0
        if self._count is None:
            from gateway.tokens import estimator

            self._count = estimator(self.adapter.settings.model or "")
        text = sent.decode("utf-8", "replace")
        expected_output = self.adapter.settings.max_output_tokens or 256
        return max(1, int(self._ratio * self._count(text)) + expected_output)

    def reserve(self, tokens: int) -> float:
        """Seconds until the limits per minute allow this call."""
        wait = self._requests.reserve(1) if self._requests is not None else 0.0
        if self._tokens is not None:
            wait = max(wait, self._tokens.reserve(tokens))
        return wait

    def settle(self, estimated: int, usage: Tokens) -> None:
        """Correct the reserved tokens, and later estimates, by what the provider counted."""
        if self._tokens is None or usage.input is None:
            return
        used = usage.input + (usage.output or 0) + (usage.thinking or 0)
        self._tokens.settle(estimated, used)
        self._ratio = min(4.0, max(0.25, self._ratio * (1 + 0.1 * (used / max(1, estimated) - 1))))

    def cost(self, usage: Tokens) -> float | None:
        """USD, or None where the price is not known."""
        return None if self._price is None else cost(self._price, usage)


def _addresses(adapter: Adapter) -> list[str]:
    given = adapter.settings.base_url
    if isinstance(given, list) and given:
        return [str(address) for address in cast("list[object]", given)]
    return [given if isinstance(given, str) else adapter.address]


def _declared_secrets(adapter: Adapter) -> list[str]:
    declare: Callable[[], list[str]] | None = getattr(adapter, "secrets", None)
    return declare() if declare is not None else []
