"""Numbers as configuration files write them: "4" is a text, true is no 1, infinity no limit, 64 bits suffice."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field


def _fits(number: int) -> int:
    if number.bit_length() > 63:
        raise ValueError("expected a whole number of 64 bits")
    return number


Whole = Annotated[int, Field(strict=True), AfterValidator(_fits)]
Real = Annotated[float, Field(strict=True, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
YesNo = Annotated[bool, Field(strict=True)]
