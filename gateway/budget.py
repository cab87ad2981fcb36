"""What has been spent, and the caps on it. An unknown price stays unknown; it is never counted as 0."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import Any, Literal, NamedTuple

from gateway.errors import BudgetReached
from runstore.records import Usage

Unit = Literal["usd", "tokens"]


@dataclass(slots=True)
class Spent:
    """Totals of one endpoint (or of all). ``usd`` covers the ``priced`` calls; ``unpriced`` have no known price.

    ``calls`` counts attempts that were sent, ``served`` answers out of the journal.
    """

    calls: int = 0
    failed: int = 0
    served: int = 0
    priced: int = 0
    unpriced: int = 0
    usd: float = 0.0
    input: int = 0
    output: int = 0
    thinking: int = 0
    cached: int = 0

    @property
    def tokens(self) -> int:
        return self.input + self.output + self.thinking

    def add(self, tokens: Usage, usd: float | None) -> None:
        self.input += tokens.input or 0
        self.output += tokens.output or 0
        self.thinking += tokens.thinking or 0
        self.cached += tokens.cached or 0
        if usd is None:
            self.unpriced += 1
        else:
            self.priced += 1
            self.usd += usd


class Most(NamedTuple):
    """The most that a call can take: tokens, and USD (0 where nothing is counted in dollars).

    ``is_sure``: by a limit that is sent; else it is what calls of that kind take at most by all that is known.
    """

    tokens: float = 0.0
    usd: float = 0.0
    is_sure: bool = True


NOTHING = Most(is_sure=False)
"""Where nothing is known of a call, or no cap asks."""


def _with(sum_: Most, most: Most, sign: int) -> Most:
    return Most(sum_.tokens + sign * most.tokens, sum_.usd + sign * most.usd)


@dataclass(slots=True)
class Budget:
    """Caps on a whole run, earlier sessions of it included; None is no cap.

    Calls are counted exactly. A call is let out only where all that are out fit under the cap if each takes its
    most (:class:`Most`), so the cap is never passed where that is sure. Where it is not, a call counts as its most
    or as the largest so far, whichever is more; where that does not fit, one goes out alone, as long as it fits by
    the mean: the cap may then be passed by what that one takes.

    ``trial_calls``: of an endpoint that never says anything, so many calls are paid for (0: any number).
    """

    usd: float | None = None
    calls: int | None = None
    tokens: int | None = None
    trial_calls: int = 30
    total: Spent = field(default_factory=Spent)
    in_flight: int = 0
    _sure: Most = field(default_factory=Most)
    _unsure: Most = field(default_factory=Most)
    _unsure_out: int = 0
    _ended: int = 0
    _lost: int = 0
    _largest_usd: float = 0.0
    _largest_tokens: int = 0
    _change: asyncio.Future[None] | None = None

    @property
    def is_capped(self) -> bool:
        return self.usd is not None or self.calls is not None or self.tokens is not None

    def entered(self, most: Most = NOTHING) -> None:
        """A call goes out; ``most``: what it can take, where a cap needs to know."""
        self.in_flight += 1
        self.total.calls += 1
        self._hold(most, 1)

    def left(self, most: Most = NOTHING) -> None:
        """A call came to an end."""
        self.in_flight -= 1
        self._ended += 1
        self._hold(most, -1)
        if self._change is not None:
            self._change.set_result(None)
            self._change = None

    def returned(self, most: Most = NOTHING) -> None:
        """A call that was counted as going out never did."""
        self.total.calls -= 1
        self._ended -= 1
        self.left(most)

    def lose(self, most: Most = NOTHING) -> None:
        """A call that is out will never be heard of: it counts as :meth:`recall` counts a lost one."""
        self._ended -= 1
        self._lost += 1
        self.left(most)

    def find(self, most: Most = NOTHING) -> None:
        """A call that was given up as lost is out still."""
        self._lost -= 1
        self.in_flight += 1
        self._hold(most, 1)

    def _hold(self, most: Most, sign: int) -> None:
        if not self.in_flight:
            self._sure = self._unsure = Most()
            self._unsure_out = 0
        elif most is NOTHING:
            self._unsure_out += sign
        elif most.is_sure:
            self._sure = _with(self._sure, most, sign)
        else:
            self._unsure = _with(self._unsure, most, sign)
            self._unsure_out += sign

    def spend(self, tokens: Usage, usd: float | None) -> None:
        self.total.add(tokens, usd)
        whole = (tokens.input or 0) + (tokens.output or 0) + (tokens.thinking or 0)
        self._largest_tokens = max(self._largest_tokens, whole)
        self._largest_usd = max(self._largest_usd, usd or 0.0)

    def recall(self, calls: int, *, lost: int = 0) -> None:
        """Attempts of an earlier session: those that ended, and those in flight when it was killed.

        Nobody knows what the lost ones took; under a cap each counts as the largest that is known.
        """
        self.total.calls += calls + lost
        self._ended += calls
        self._lost += lost

    @property
    def caps(self) -> dict[str, float | None]:
        """The caps by name."""
        return {"usd": self.usd, "calls": self.calls, "tokens": self.tokens}

    def state(self) -> dict[str, Any]:
        """What has been spent, to go on with elsewhere; calls that are still out count as lost."""
        largest = (self._largest_usd, self._largest_tokens)
        lost = self._lost + self.in_flight
        return {"total": asdict(self.total), "ended": self._ended, "lost": lost, "largest": largest}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on with what :meth:`state` gave."""
        self.total = Spent(**state["total"])
        self._ended, self._lost = state["ended"], state["lost"]
        self._largest_usd, self._largest_tokens = state["largest"]

    @property
    def spent_usd(self) -> float:
        """Dollars that count under a cap, the lost attempts among them."""
        return self.total.usd + self._lost * self._largest_usd

    @property
    def spent_tokens(self) -> float:
        """The same of tokens."""
        return float(self.total.tokens + self._lost * self._largest_tokens)

    @property
    def is_early(self) -> bool:
        """Whether less than half of each cap is spent."""
        spent = ((self.usd, self.spent_usd), (self.tokens, self.spent_tokens), (self.calls, self.total.calls))
        return all(cap is None or 2 * used < cap for cap, used in spent)

    def fits(self, most: Most = NOTHING) -> bool:
        """Whether one more call, which can take ``most``, may go out now; if not, perhaps when another has ended:
        see :meth:`change`. Raises BudgetReached.
        """
        total = self.total
        if self.calls is not None and total.calls >= self.calls:
            raise BudgetReached(f"the cap of {self.calls} calls is reached; to go on, raise budget.calls")
        caps: tuple[tuple[Unit, float | None], ...] = (("usd", self.usd), ("tokens", self.tokens))
        return all(cap is None or self._fits_under(cap, unit, most) for unit, cap in caps)

    def _fits_under(self, cap: float, unit: Unit, most: Most) -> bool:
        is_usd = unit == "usd"
        spent = self.spent_usd if is_usd else self.spent_tokens
        largest = self._largest_usd if is_usd else float(self._largest_tokens)
        own, sure, unsure = (
            amount.usd if is_usd else amount.tokens for amount in (most, self._sure, self._unsure)
        )
        if not self.in_flight:
            mean = (spent - self._lost * largest) / self._ended if self._ended else 0.0
            if spent >= cap or spent + (own if most.is_sure else mean) > cap:
                raise BudgetReached(self._reached(cap, spent, unit, own if most.is_sure else None))
            return True
        if not self._ended and (self._unsure_out or not most.is_sure):
            return False
        out = sure + max(unsure, self._unsure_out * largest)
        return spent + out + (own if most.is_sure else max(own, largest)) <= cap

    def _reached(self, cap: float, spent: float, unit: Unit, own: float | None) -> str:
        lost = f" ({self._lost} attempts that were lost each count as the largest)" if self._lost else ""
        called = "USD" if unit == "usd" else unit
        said = f"the cap of {_figure(cap, unit)} {called} is reached: {_figure(spent, unit)} spent{lost}"
        less = ""
        if own is not None and spent < cap:
            said += f", and the next call may take up to {_figure(own, unit)} by its max_output_tokens"
            less = ", or lower max_output_tokens"
        return f"{said}; to go on, raise budget.{unit}{less}"

    def change(self) -> asyncio.Future[None]:
        """Done when a call that is in flight now has ended."""
        if self._change is None:
            self._change = asyncio.get_running_loop().create_future()
        return self._change


def _figure(value: float, unit: Unit) -> str:
    """Tokens with thousands marked, dollars with six digits that say something; never in exponent form."""
    return f"{Decimal(f'{value:.6g}'):f}" if unit == "usd" else f"{value:,.0f}"
