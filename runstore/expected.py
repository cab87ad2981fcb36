"""What a value that a check refused should have been, in our words instead of the checker's."""

from __future__ import annotations

import re
from typing import Any

from pydantic_core import ErrorDetails

from runstore.problems import nearest

WORDS = {
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "string_type": "a text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "finite_number": "a finite number",
}
"""What values are called, by the kind of error."""

_BEGINS = re.compile(r"[A-Z][a-z]*\b")
"""An ordinary word at the start of a sentence, not a name in capitals or with digits (``JSON``, ``E7``)."""


def expected_of(first: ErrorDetails) -> str:
    """What was expected, for an :class:`~runstore.problems.InputProblem`."""
    if first["type"] == "missing":
        return "a value: it is needed"
    if first["type"] == "too_short":
        return f"{first['ctx']['min_length']} at least" if "ctx" in first else "more"
    if first["type"] == "literal_error":
        choices = re.findall(r"'([^']*)'", first["msg"])
        given: Any = first["input"]
        near = nearest(str(given), choices)
        return f"one of {', '.join(choices)}" + (f" (did you mean {near!r}?)" if near else "")
    said = first["msg"].removeprefix("Value error, ")
    if _BEGINS.match(said):
        said = said[:1].lower() + said[1:]
    return WORDS.get(first["type"], said).removeprefix("input should be ")
