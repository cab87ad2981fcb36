"""Results that write and read their own file."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict

Number = int | float
"""Counts are whole unless what is counted carries weights; both stand in files as they are."""


def _ten_digits(value: Number) -> Number:
    return value if isinstance(value, int) else float(f"{value:.10g}")


Figure = Annotated[Number, AfterValidator(_ten_digits)]
"""Computed: ten significant digits, since the last of sixteen depend on the processor's own linear algebra."""


class Result(BaseModel):
    """Base of all results: frozen; keys of later versions are kept.

    A key that a file lacks is not made up, so that what was read is written again byte by byte.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    @classmethod
    def taken_from(cls, source: object) -> Self:
        """The fields out of the source's attributes of the same names, all the way down.

        Raises pydantic's ValidationError where the source lacks one.
        """
        return cls.model_validate(source, from_attributes=True)

    def to_json(self) -> dict[str, Any]:
        """The object that stands in the file: what was set or read, in the order of the fields."""
        return self.model_dump(exclude_unset=True)
