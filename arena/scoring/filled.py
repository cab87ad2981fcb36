"""A judge's reply as a filled-in form: which values it gives, with their reasons, and which are missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from arena.reading import NOT_APPLICABLE, ObjectReading, read_flag, read_integer, read_object, scan_element
from arena.rubrics.form import Wanted
from arena.rubrics.rubric import SCORE, Item, Rubric

Slot = tuple[str, str]
FLAGS = "flags"
_REASONS = ("evidence", "rationale", "reason", "근거")
_ABSENT = object()


@dataclass(slots=True)
class Filled:
    """Values by (item key, element key), flags by (``flags``, flag key).

    ``steps``: what was needed beyond a strict parse, ``scan`` among them. ``reason``: why nothing could be read.
    """

    values: dict[Slot, int] = field(default_factory=dict[Slot, int])
    not_applicable: set[Slot] = field(default_factory=set[Slot])
    evidence: dict[Slot, str] = field(default_factory=dict[Slot, str])
    steps: set[str] = field(default_factory=set[str])
    reason: str | None = None

    def missing(self, wanted: Wanted) -> Wanted:
        """The part of ``wanted`` that has no answer yet."""
        have = self.values.keys() | self.not_applicable
        return Wanted(
            frozenset(slot for slot in wanted.slots if slot not in have),
            frozenset(flag for flag in wanted.flags if (FLAGS, flag) not in have),
        )

    def add(self, later: Filled) -> None:
        """Take from a later reply what is missing here; what was read first stays."""
        for slot, value in later.values.items():
            if slot not in self.not_applicable and slot not in self.values:
                self.values[slot] = value
        self.not_applicable |= later.not_applicable - self.values.keys()
        self.evidence = later.evidence | self.evidence
        self.steps |= later.steps
        if later.values or later.not_applicable:
            self.reason = None


def read_filled(
    raw: str, rubric: Rubric, wanted: Wanted, *, finish: str = "stop", quoted: Sequence[str] = ()
) -> Filled:
    """What a reply gives of the ``wanted`` part of the rubric. Never raises.

    Keys must be the rubric's (an item's short label stands for its key); whatever else is in the object is left
    alone. Where no object could be read, the elements are looked for one by one; what a whole object lacks, or
    gives in two ways that differ, is missing.
    """
    items = [item for item in rubric.items if wanted.of(item)]
    keys = {item.key for item in items} | {item.name for item in items} | wanted.flags
    reading = read_object(raw, finish=finish, keys=keys, quoted=quoted)
    filled = Filled(steps=set(reading.steps), reason=reading.reason)
    for flag in wanted.flags:
        entry = (reading.value or {}).get(flag, _ABSENT)
        _take(filled, rubric, (FLAGS, flag), _with_scan(filled, reading, entry, (flag, "value"), keys))
    for item in items:
        for slot in wanted.of(item):
            entry = _entry(reading.value or {}, item, slot)
            _take(filled, rubric, (item.key, slot), _with_scan(filled, reading, entry, (item.key, slot), keys))
    if filled.values or filled.not_applicable:
        filled.reason = None
    elif filled.reason is None:
        filled.reason = "no value that the form allows"
    return filled


def _entry(sheet: dict[str, Any], item: Item, slot: str) -> Any:
    node = _given(sheet, (item.key, item.name))
    if item.scale:
        return node
    return cast("dict[str, Any]", node).get(slot, _ABSENT) if isinstance(node, dict) else _ABSENT


def _given(node: dict[str, Any], names: Sequence[str]) -> Any:
    """What stands under one of the names, None where several are there and differ."""
    values = [node[name] for name in dict.fromkeys(names) if name in node]
    return _ABSENT if not values else values[0] if all(other == values[0] for other in values) else None


def _with_scan(filled: Filled, reading: ObjectReading, entry: Any, place: Slot, keys: set[str]) -> Any:
    if reading.value is not None or not reading.text:
        return entry
    value = scan_element(reading.text, *place, keys)
    if value is None:
        return _ABSENT
    filled.steps.add("scan")
    return value


def _take(filled: Filled, rubric: Rubric, slot: Slot, entry: Any) -> None:
    value, reason = entry, None
    if isinstance(entry, dict):
        node = cast("dict[str, Any]", entry)
        value = _given(node, ("value", SCORE))
        reason = next((node[name] for name in _REASONS if isinstance(node.get(name), str)), None)
    answer = None if value is _ABSENT else _answer(rubric, slot, value)
    if answer == NOT_APPLICABLE:
        filled.not_applicable.add(slot)
    elif isinstance(answer, int):
        filled.values[slot] = answer
    if reason:
        filled.evidence[slot] = reason


def _answer(rubric: Rubric, slot: Slot, value: Any) -> int | str | None:
    item = next((item for item in rubric.items if item.key == slot[0]), None)
    if item and item.scale:
        return read_integer(value, item.scale.low, item.scale.high).value
    answer = read_flag(value)
    if answer == NOT_APPLICABLE:
        allowed = item and any(element.key == slot[1] and element.not_applicable for element in item.elements)
        return answer if allowed else None
    return answer
