"""What a model that takes the quiz may write for a mark."""

from __future__ import annotations

import json
from typing import Any

import pytest

from arena.learning.quiz import Chosen, Shown, read_choice
from knowledge import load_topics

ITEM = next(item for item in load_topics().topics["dijkstra-negative-edges"].items if item.reasons)
SHOWN = Shown.drawn(ITEM, 1, "drawn", "leaf")


def read(**given: Any) -> Chosen | None:
    return read_choice(SHOWN, json.dumps({"support": "it said so", **given}), "stop").value


@pytest.mark.parametrize(
    ("answer", "reason", "meant"),
    [
        ("A", "1", ("A", "1")),
        ("b", 2, ("B", "2")),
        ("(B)", "2.", ("B", "2")),
        ("[C]", "3)", ("C", "3")),
        ("A", None, ("A", "?")),
        ("?", None, ("?", "?")),
    ],
)
def test_a_mark_is_read_in_whatever_form(answer: str, reason: object, meant: tuple[str, str]) -> None:
    assert read(answer=answer, reason=reason) == Chosen(*meant, "it said so")


@pytest.mark.parametrize(
    "given",
    [
        {"answer": "A", "reason": ["1"]},
        {"answer": ["A"], "reason": "1"},
        {"answer": {}, "reason": {}},
        {"answer": "A", "reason": True},
        {"answer": "A", "reason": "9"},
        {"answer": "A or B", "reason": "1"},
        {"answer": "", "reason": ""},
        {"answer": None, "reason": "1"},
        {"answer": "A"},
        {"answer": "A", "reason": "1", "support": ["it said so"]},
    ],
)
def test_what_names_no_mark_is_unreadable_and_not_wrong(given: dict[str, Any]) -> None:
    assert read(**given) is None
