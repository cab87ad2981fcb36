"""Numbers for people: in the form that the table has, and never with an exponent."""

from __future__ import annotations

import pytest

from frontdesk.report.figures import count, significant, span_of_points
from frontdesk.report.plots.axes import plain


def test_a_tiny_limit_keeps_its_side_and_its_form() -> None:
    assert span_of_points(3e-05, 0.3) == "[+0.0, +0.3]"
    assert span_of_points(-2e-5, None) == "[-0.0, …]"
    assert span_of_points(-2e-13, 0.0) == "[+0, +0]"
    assert span_of_points(-12.4, 7.6) == "[-12, +8]"


@pytest.mark.parametrize("value", [3e-05, 0.5, 12.0, 1234.5, 1_234_567.0, 1_234_567.5, 98_765_432.25, 1e18])
def test_no_number_has_an_exponent(value: float) -> None:
    for text in (count(value), significant(value, 12), plain(value)):
        assert "e" not in text
        assert float(text.replace(",", "")) == pytest.approx(value, rel=1e-8)


def test_counts_mark_thousands_and_keep_a_half() -> None:
    assert [count(value) for value in (12, 0.5, 1_200_000, 1_200_000.5)] == [
        "12",
        "0.5",
        "1,200,000",
        "1,200,000.5",
    ]
