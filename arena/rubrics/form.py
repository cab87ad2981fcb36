"""A rubric as a judge meets it: its text, the form of the answer, and the JSON schema of that form."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from arena.rubrics.rubric import SCORE, Area, Element, Item, Rubric
from gateway.prompt import Schema
from gateway.prompts import fill
from runstore.records import Language

Json = dict[str, Any]
"""A part of a JSON schema: what goes over the wire."""
NOT_APPLICABLE_WORD = "not applicable"


@dataclass(frozen=True, slots=True)
class Wanted:
    """The part of a rubric that is asked for: (item key, element key) pairs and flag keys."""

    slots: frozenset[tuple[str, str]]
    flags: frozenset[str]

    @classmethod
    def whole(cls, rubric: Rubric) -> Wanted:
        return cls(frozenset(rubric.slots()), frozenset(flag.key for flag in rubric.flags))

    def of(self, item: Item) -> list[str]:
        return [slot for slot in item.slots if (item.key, slot) in self.slots]

    def __bool__(self) -> bool:
        return bool(self.slots or self.flags)

    def __len__(self) -> int:
        return len(self.slots) + len(self.flags)


def reason_key(rubric: Rubric) -> str | None:
    """The key under which a judge gives its reason, beside each value; None where none is asked."""
    return {"quote": "evidence", "rationale": "rationale", "none": None}[rubric.evidence]


def schema(rubric: Rubric, wanted: Wanted) -> Schema:
    """The JSON schema of the wanted part: every key required, no other allowed, the reason before the value."""
    properties: Json = {
        flag.key: _entry(rubric, "value", {"type": "integer", "enum": [0, 1]})
        for flag in rubric.flags
        if flag.key in wanted.flags
    }
    for item in rubric.items:
        if slots := wanted.of(item):
            properties[item.key] = _item_schema(rubric, item, slots)
    return Schema(f"{rubric.name}-sheet"[:64], _object(properties))


def _item_schema(rubric: Rubric, item: Item, slots: Collection[str]) -> Json:
    if item.scale:
        numbers = list(range(item.scale.low, item.scale.high + 1))
        return _entry(rubric, SCORE, {"type": "integer", "enum": numbers})
    elements = {element.key: element for element in item.elements}
    return _object({slot: _entry(rubric, "value", _flag_schema(elements[slot])) for slot in slots})


def _flag_schema(element: Element) -> Json:
    if element.not_applicable:
        return {"type": "string", "enum": ["1", "0", NOT_APPLICABLE_WORD]}
    return {"type": "integer", "enum": [0, 1]}


def _entry(rubric: Rubric, name: str, value: Json) -> Json:
    reason = reason_key(rubric)
    return _object({reason: {"type": "string"}, name: value} if reason else {name: value})


def _object(properties: Json) -> Json:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def form_text(rubric: Rubric, wanted: Wanted, language: Language, words: Mapping[str, str]) -> str:
    """The wanted part of the rubric in words. ``words`` are the texts of ``score_words``."""
    parts = [f"- {flag.key}: {flag.question[language]}" for flag in rubric.flags if flag.key in wanted.flags]
    parts += [
        _area_text(area, wanted, language, words)
        for area in rubric.areas
        if any(wanted.of(item) for item in area.items)
    ]
    return "\n\n".join(parts)


def _area_text(area: Area, wanted: Wanted, language: Language, words: Mapping[str, str]) -> str:
    lines = [f"## {area.key}. {area.title[language]}"]
    if area.guidance:
        lines.append(area.guidance[language])
    for item in area.items:
        if slots := wanted.of(item):
            lines += ["", *_item_lines(item, slots, language, words)]
    return "\n".join(lines)


def _item_lines(item: Item, slots: Collection[str], language: Language, words: Mapping[str, str]) -> list[str]:
    lines = [f"### {item.key}: {item.title[language]}"]
    if item.guidance:
        lines.append(item.guidance[language])
    for element in item.elements:
        if element.key in slots:
            note = f" {words['allows_not_applicable']}" if element.not_applicable else ""
            lines.append(f"- {element.key}: {element.question[language]}{note}")
    if item.scale:
        bounds = {"low": str(item.scale.low), "high": str(item.scale.high)}
        lines.append(f"- {SCORE}: {fill(words['scale_line'], **bounds)}")
        lines += [f"  - {number}: {text[language]}" for number, text in sorted(item.scale.anchors.items())]
    return lines


def value_rules(rubric: Rubric, words: Mapping[str, str]) -> str:
    """How values are written, for the kinds of line that the rubric has."""
    kinds = (
        ("binary", bool(rubric.flags) or any(item.elements for item in rubric.items)),
        ("not_applicable", any(element.not_applicable for item in rubric.items for element in item.elements)),
        ("scale", any(item.scale for item in rubric.items)),
    )
    return "\n".join(words[kind] for kind, applies in kinds if applies)


def skeleton(rubric: Rubric, wanted: Wanted) -> str:
    """The object to answer with, its values replaced by what may stand there."""
    example = _example(schema(rubric, wanted).schema)
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in example.items()]
    return "{{{}}}".format(",\n ".join(lines))


def _example(node: Json) -> Any:
    if node["type"] == "object":
        return {key: _example(child) for key, child in node["properties"].items()}
    return "|".join(map(str, node["enum"])) if "enum" in node else "..."
