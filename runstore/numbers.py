"""Numbers as configuration files write them: "4" is a text, true is no 1, and infinity is no limit."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

Whole = Annotated[int, Field(strict=True)]
Real = Annotated[float, Field(strict=True, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
YesNo = Annotated[bool, Field(strict=True)]
