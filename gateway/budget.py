"""What has been spent, and the caps on it. An unknown price stays unknown; it is never counted as 0."""

from __future__ import annotations

from dataclasses import dataclass, field

from gateway.adapters.base import Tokens
from gateway.errors import BudgetReached


@dataclass(slots=True)
class Spent:
    """Totals of one endpoint (or of all). ``usd`` covers ``priced`` of ``calls``; the rest have no known price."""

    calls: int = 0
    failed: int = 0
    served: int = 0
    priced: int = 0
    usd: float = 0.0
    input: int = 0
    output: int = 0
    thinking: int = 0
    cached: int = 0

    @property
    def tokens(self) -> int:
        return self.input + self.output + self.thinking

    def add(self, tokens: Tokens | None, usd: float | None) -> None:
        if tokens is not None:
            self.input += tokens.input or 0
            self.output += tokens.output or 0
            self.thinking += tokens.thinking or 0
            self.cached += tokens.cached or 0
        if usd is not None:
            self.priced += 1
            self.usd += usd


@dataclass(slots=True)
class Budget:
    """Caps on a whole run, earlier sessions of it included; None is no cap.

    A call is let through only if what is spent plus what is in flight (at the mean of finished calls) stays
    within the caps.
    """

    usd: float | None = None
    calls: int | None = None
    tokens: int | None = None
    total: Spent = field(default_factory=Spent)
    by_endpoint: dict[str, Spent] = field(default_factory=dict[str, Spent])
    in_flight: int = 0

    @property
    def is_capped(self) -> bool:
        return self.usd is not None or self.calls is not None or self.tokens is not None

    def of(self, endpoint: str) -> Spent:
        return self.by_endpoint.setdefault(endpoint, Spent())

    def check(self) -> None:
        """Raises BudgetReached if one more call might break a cap."""
        total, flying = self.total, self.in_flight
        if self.calls is not None and total.calls >= self.calls:
            raise BudgetReached(f"the cap of {self.calls} calls is reached")
        done = max(1, total.calls - flying)
        if self.usd is not None and total.usd + (flying + 1) * total.usd / done > self.usd:
            raise BudgetReached(
                f"the cap of {self.usd:g} USD is reached: {total.usd:.4f} spent, {flying} calls in flight"
            )
        if self.tokens is not None and total.tokens + (flying + 1) * total.tokens / done > self.tokens:
            raise BudgetReached(
                f"the cap of {self.tokens} tokens is reached: {total.tokens} used, {flying} in flight"
            )
