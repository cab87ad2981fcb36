"""Costs: the user's price wins, the table knows dated names, and what is unknown stays unknown."""

from __future__ import annotations

import pytest

from gateway.adapters.base import EndpointSettings
from gateway.prices import FREE, Price, cost, listed, price_of, table
from runstore.records import Usage

FLASH = Price(input=0.30, output=2.50, cached_input=0.075)


def test_a_call_costs_its_fresh_and_cached_input_its_output_and_its_thinking() -> None:
    tokens = Usage(input=1_000_000, output=100_000, thinking=300_000, cached=400_000)
    assert cost(FLASH, tokens) == pytest.approx(0.6 * 0.30 + 0.4 * 0.075 + 0.4 * 2.50)


def test_a_batch_costs_half() -> None:
    tokens = Usage(input=2_000_000, output=1_000_000)
    assert cost(FLASH, tokens, batch=True) == pytest.approx((0.60 + 2.50) / 2)


def test_cached_input_without_a_price_of_its_own_costs_as_much_as_input() -> None:
    assert cost(Price(2.0, 8.0), Usage(input=1_000_000, output=0, cached=900_000)) == pytest.approx(2.0)


def test_more_cached_than_input_is_never_a_refund() -> None:
    assert cost(FLASH, Usage(input=100, output=0, cached=5_000)) == pytest.approx(100 * 0.075 / 1e6)


@pytest.mark.parametrize(
    ("price", "tokens"),
    [
        (None, Usage(input=10, output=10)),
        (FLASH, Usage()),
        (FLASH, Usage(input=10)),
        (FLASH, Usage(output=10)),
        (Price(0.3, None), Usage(input=10, output=10)),
        ({"input": 0.3}, Usage(input=10, output=10)),
    ],
)
def test_an_unknown_price_or_count_makes_an_unknown_cost(price: Price | None, tokens: Usage) -> None:
    assert cost(price, tokens) is None


def test_what_runs_on_this_machine_is_known_to_be_free_even_without_counts() -> None:
    for kind in ("local", "scripted"):
        price = price_of(EndpointSettings(kind=kind))
        assert price == FREE
        assert cost(price, Usage()) == 0.0


def test_the_users_price_wins_over_the_table_and_over_free() -> None:
    own = {"input": 7.0, "output": 9.0}
    for kind, model in (("gemini", "gemini-2.5-flash"), ("local", None), ("openai", "nobody-knows-it")):
        settings = EndpointSettings.model_validate({"kind": kind, "model": model, "price": own})
        assert cost(price_of(settings), Usage(input=1_000_000, output=1_000_000)) == pytest.approx(16.0)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("gpt-5-mini-2025-08-07", "gpt-5-mini"),
        ("gpt-5-2025-08-07", "gpt-5"),
        ("gpt-4.1-mini", "gpt-4.1-mini"),
        ("claude-haiku-4-5-20251001", "claude-haiku-4-5"),
        ("claude-sonnet-4-20250514", "claude-sonnet-4"),
        ("gemini-2.5-flash-preview-09-2025", "gemini-2.5-flash"),
        ("models/gemini-2.5-flash-lite", "gemini-2.5-flash-lite"),
        ("gemini-2.0-flash-001", "gemini-2.0-flash"),
    ],
)
def test_a_dated_name_has_the_price_of_the_longest_name_it_is_a_version_of(name: str, meant: str) -> None:
    assert listed(name) == table()[meant]


@pytest.mark.parametrize("name", ["", "gpt-5-chat", "gpt-5.9", "gemini-2.5-flash-image", "my-tutor", "claude"])
def test_a_name_that_is_only_alike_has_no_price(name: str) -> None:
    assert listed(name) is None
    assert price_of(EndpointSettings(kind="openai", model=name)) is None


def test_every_listed_price_says_its_date_and_that_it_wants_checking() -> None:
    assert len(table()) > 20
    for model, price in table().items():
        assert price.date == "2025-12-01", model
        assert "check before you rely on it" in price.source
        assert price.input is not None
        assert price.output is not None
        assert 0 < price.input < price.output
        assert price.cached_input is None or 0 < price.cached_input < price.input


def test_writing_to_the_cache_has_its_own_price() -> None:
    sonnet = Price(3.0, 15.0, 0.3)
    call = Usage(input=8_050, output=20, cached=0, cache_written=8_000)
    assert 12 * (cost(sonnet, call) or 0) == pytest.approx(0.3654)
    for_an_hour = Usage(input=8_050, output=20, cache_written_1h=8_000)
    assert cost(sonnet, for_an_hour) == pytest.approx((50 * 3 + 8_000 * 6 + 20 * 15) / 1e6)
    own = {"input": 3.0, "output": 15.0, "cache_write": 1.0, "cache_write_1h": 2.0}
    both = Usage(input=100, output=0, cached=10, cache_written=20, cache_written_1h=30)
    assert cost(own, both) == pytest.approx((40 * 3 + 10 * 3 + 20 * 1 + 30 * 2) / 1e6)
    assert cost(Price(None, 15.0, 0.3), call) is None
