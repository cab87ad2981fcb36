"""Scales with round ticks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from frontdesk.report.figures import significant


@dataclass(frozen=True, slots=True)
class Axis:
    """Values from ``low`` to ``high`` on pixels from ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """The pixel of a value, which may lie beyond either end."""
        return round(self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start), 1)

    def ticks(self, about: int = 5) -> list[float]:
        """About so many round numbers inside the range."""
        step = self._step(about)
        first = int(self.low // step)
        ticks = [round(step * k, 12) for k in range(first, first + 3 * about + 2)]
        return [value for value in ticks if self.low <= value <= self.high]

    def _step(self, about: int) -> float:
        raw = (self.high - self.low) / about
        power = 10.0 ** int(f"{raw:e}".partition("e")[2])
        return next(power * times for times in (1, 2, 5, 10) if power * times >= raw * (1 - 1e-9))


def plain(value: float) -> str:
    """A tick as a number: no more digits than it needs, thousands apart."""
    return significant(value, 10)


def percent(value: float) -> str:
    """A tick that is a share."""
    return f"{100 * value:.6g}%"


def lettering(*, is_share: bool) -> Callable[[float], str]:
    return percent if is_share else plain


def span_of(values: Sequence[float | None], least_margin: float = 0.0) -> tuple[float, float]:
    """A range around all that is known, with a margin."""
    known = [value for value in values if value is not None]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    margin = max((high - low) * 0.06, least_margin or (1e-3 if high <= 1 else 5.0))
    return low - margin, high + margin
