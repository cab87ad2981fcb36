"""Filled-in checklists as judges write them, from the request's schema or from a table of values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from arena.rubrics.rubric import load_rubric

QAC = load_rubric("qac")


def sheet_text(
    value: int = 1, *, flag: int | None = 1, evidence: str = '[0] "그래프"', **changed: Mapping[str, Any]
) -> str:
    """A whole sheet as JSON; ``changed`` maps item labels to element values (None leaves an element out)."""
    sheet: dict[str, Any] = {} if flag is None else {"reached_content": {"evidence": evidence, "value": flag}}
    for item in QAC.items:
        given = dict.fromkeys(item.slots, value) | dict(changed.get(item.name, {}))
        sheet[item.key] = {
            slot: {"value": number, "evidence": evidence} for slot, number in given.items() if number is not None
        }
    return json.dumps(sheet, ensure_ascii=False)


def answer_to_schema(node: Mapping[str, Any], value: int = 1, text: str = "no quote") -> Any:
    """An answer that follows a request's JSON schema, every whole number being ``value``."""
    if node["type"] == "object":
        return {key: answer_to_schema(child, value, text) for key, child in node["properties"].items()}
    return value if node["type"] == "integer" else text
