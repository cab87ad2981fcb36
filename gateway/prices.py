"""What calls cost. A price nobody told is unknown (None), never 0; only what runs on this machine is free.

All prices are USD per million tokens. The table ``prices.yaml`` holds public list prices with their date; a
price in the configuration wins over it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from gateway.adapters.base import PRICED, EndpointSettings
from runstore.records import Usage
from runstore.yaml_file import read_yaml

TABLE = Path(__file__).with_name("prices.yaml")
FREE_KINDS = frozenset({"local", "scripted"})
BATCH_FACTOR = 0.5
"""Gemini, OpenAI and Anthropic all take half the price for their batch interfaces."""
CACHE_WRITE_FACTOR, CACHE_WRITE_1H_FACTOR = 1.25, 2.0

_MILLION = 1_000_000
_VERSION = re.compile(
    r"(?:-(?:preview|exp))?(?:-(?:\d{8}|\d{4}-\d{2}-\d{2}|\d{2}-\d{4}|\d{2}-\d{2}|\d{3}|latest))?", re.ASCII
)


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million tokens. A part that is None is unknown; cached input without a price of its own is input.

    Writing to a provider's prompt cache, where it is counted, costs 1.25 times the input for five minutes and
    twice the input for an hour, unless it has a price of its own (Anthropic's multipliers).

    ``source`` says where the numbers come from, ``date`` when they were noted (ISO, or None for a user's own).
    """

    input: float | None
    output: float | None
    cached_input: float | None = None
    source: str = "configuration"
    date: str | None = None
    cache_write: float | None = None
    cache_write_1h: float | None = None


FREE = Price(0.0, 0.0, 0.0, source="runs on this machine")


def price_of(settings: EndpointSettings) -> Price | None:
    """The endpoint's price: the user's, else 0 for what runs here, else the table's, else None (unknown)."""
    if settings.price is not None:
        return from_mapping(settings.price)
    if settings.kind in FREE_KINDS:
        return FREE
    return listed(settings.model or "")


def from_mapping(price: Mapping[Any, float]) -> Price:
    """A price from the keys ``input``, ``output``, ``cached_input``, ``cache_write`` and ``cache_write_1h``; each
    may be missing."""
    return Price(
        price.get("input"),
        price.get("output"),
        price.get("cached_input"),
        cache_write=price.get("cache_write"),
        cache_write_1h=price.get("cache_write_1h"),
    )


def listed(model: str) -> Price | None:
    """The table's price of a model, or of the one it is a dated version of (longest name first); else None.

    ``gpt-5-mini-2025-08-07`` is ``gpt-5-mini``; ``gpt-5-chat`` is not ``gpt-5``: its price is unknown.
    """
    name = model.removeprefix("models/").strip()
    known = table()
    for length in range(len(name), 0, -1):
        if name[:length] in known and _VERSION.fullmatch(name[length:]):
            return known[name[:length]]
    return None


def cost(price: Price | Mapping[Any, float] | None, tokens: Usage, *, batch: bool = False) -> float | None:
    """USD of one call, or None where a price or a count that it needs is unknown.

    ``tokens.input`` includes what was read from and written to the cache; thinking is billed as output.
    ``batch``: through a provider's batch interface.
    """
    if price is None:
        return None
    if not isinstance(price, Price):
        price = from_mapping(price)
    whole = tokens.input or 0
    cached = min(tokens.cached or 0, whole)
    written = min(tokens.cache_written or 0, whole - cached)
    written_1h = min(tokens.cache_written_1h or 0, whole - cached - written)
    special = cached + written + written_1h
    cached_price = price.input if price.cached_input is None else price.cached_input
    output = None if tokens.output is None else tokens.output + (tokens.thinking or 0)
    parts = [
        _part(price.input, None if tokens.input is None else tokens.input - special),
        _part(cached_price, cached),
        _part(_else_times(price.cache_write, CACHE_WRITE_FACTOR, price.input), written),
        _part(_else_times(price.cache_write_1h, CACHE_WRITE_1H_FACTOR, price.input), written_1h),
        _part(price.output, output),
    ]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    return sum(known) / _MILLION * (BATCH_FACTOR if batch else 1.0)


def _else_times(own: float | None, factor: float, price: float | None) -> float | None:
    return factor * price if own is None and price is not None else own


def _part(price: float | None, tokens: int | None) -> float | None:
    """Nothing of anything is 0, and so is anything for nothing; else both must be known."""
    if price == 0 or tokens == 0:
        return 0.0
    return None if price is None or tokens is None else price * tokens


@cache
def table() -> dict[str, Price]:
    """Model -> list price, as shipped. Raises InputProblem if the file is broken."""
    file = read_yaml(TABLE)
    top = file.mapping(file.data, (), ("as_of", "note", "vendors"))
    date, note = str(top["as_of"]), str(top["note"])
    prices: dict[str, Price] = {}
    for vendor, models in file.mapping(top["vendors"], ("vendors",)).items():
        for model, raw in file.mapping(models, ("vendors", vendor)).items():
            parts = file.mapping(raw, ("vendors", vendor, model), PRICED)
            numbers = from_mapping({part: float(value) for part, value in parts.items()})
            prices[model] = replace(numbers, source=f"{vendor}'s list prices; {note}", date=date)
    return prices
