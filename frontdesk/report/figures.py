"""Numbers as text: the same everywhere in a report."""

from __future__ import annotations

from decimal import Decimal

from arena.agreement.shares import Share
from arena.ratings.result import RatedModel


def percent(rate: float | None, digits: int = 1) -> str:
    """A share with so many decimals, or a dash."""
    return "–" if rate is None else f"{100 * rate:.{digits}f}%"


def signed(value: float | None, digits: int = 0) -> str:
    """A difference with its sign and so many decimals, or a dash; one that rounds to nothing has no sign."""
    if value is None:
        return "–"
    return f"{value:+.{digits}f}" if round(value, digits) else f"{0:.{digits}f}"


def rounded(value: float | None) -> str:
    """A rating or a rank as a whole number, or a dash."""
    return "–" if value is None else f"{value:.0f}"


def limits(lower: float | None, upper: float | None) -> str:
    """An interval in whole numbers, open where it has no limit; a dash where it has none at all."""
    if lower is None and upper is None:
        return "–"
    return f"[{'…' if lower is None else rounded(lower)}, {'…' if upper is None else rounded(upper)}]"


def span_of_points(lower: float | None, upper: float | None) -> str:
    """An interval of a gap in rating points, with its signs, open where it has no limit."""
    return f"[{_points(lower)}, {_points(upper)}]"


def _points(limit: float | None) -> str:
    """A limit; on which side of zero it lies is seen also where it rounds to zero."""
    if limit is None:
        return "…"
    shown = round(limit, 6) + 0.0  # noise of the arithmetic has no side, and zero no sign of its own
    return f"{shown:+.0f}" if round(shown) or not shown else f"{shown:+.1f}"


def places_text(places: tuple[int, int] | None) -> str:
    """``2`` or ``2–3``: the places that the data leave open."""
    if places is None:
        return "–"
    return str(places[0]) if places[0] == places[1] else f"{places[0]}–{places[1]}"


def span(lower: float | None, upper: float | None) -> str:
    """An interval of shares, in whole per cent."""
    return "–" if lower is None or upper is None else f"{100 * lower:.0f}–{100 * upper:.0f}%"


def with_span(share: Share, *, n: bool = True) -> str:
    """A share, its interval and, with ``n``, what it is of: ``61.5% [54–68%], n 200``."""
    if share.value is None:
        return "–"
    limits = f" [{span(share.lower, share.upper)}]" if share.lower is not None else ""
    return f"{percent(share.value)}{limits}{f', n {share.of}' if n else ''}"


def plain(value: float | None, digits: int = 0) -> str:
    """A number with that many decimals, or a dash."""
    return "–" if value is None else f"{value:.{digits}f}"


def count(value: float) -> str:
    """A whole number with thousands marked; halves keep their half."""
    return f"{value:,.0f}" if float(value).is_integer() else significant(value, 10)


def significant(value: float, digits: int) -> str:
    """A number with so many digits that say something, never in exponent form."""
    return f"{Decimal(f'{value:.{digits}g}'):,f}"


def p_text(value: float | None) -> str:
    """``p = 0.012`` or ``p < 0.0001``."""
    if value is None:
        return "p –"
    return "p < 0.0001" if value < 0.0001 else f"p = {value:.4f}" if value < 0.01 else f"p = {value:.3f}"


def dollars(value: float | None, unknown: str) -> str:
    """US dollars; an unknown price is said to be unknown."""
    return unknown if value is None else f"{value:.4f}" if value < 100 else f"{value:,.2f}"


def service_texts(model: RatedModel) -> tuple[str, str]:
    """``0.46 (1.20)``: seconds of half and of 95 % of the replies; and US dollars of 1,000; ``–`` is not known.

    Where only some of the replies tell, how many do: ``4.10 (18/20)``.
    """
    seconds, dollars_ = "–", "–"
    if model.latency_s is not None and model.latency_p95_s is not None:
        half, most = (significant(round(value, 3), 3) for value in (model.latency_s, model.latency_p95_s))
        seconds = f"{half} ({most}){_of(model.timed, model.replies)}"
    if model.usd_per_1000 is not None:
        dollars_ = f"{model.usd_per_1000:.2f}{_of(model.priced, model.replies)}"
    return seconds, dollars_


def _of(told: int | None, replies: int | None) -> str:
    return "" if told == replies else f" ({told}/{replies})"


def level_text(level: float) -> str:
    """``95%``."""
    return f"{100 * level:g}%"
