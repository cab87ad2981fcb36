"""From the values of a sheet to scores: items, areas, total, before and after floor rules.

What is missing stays missing: an item with a missing element has no score, nor has its area, nor the total.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from arena.rubrics.rubric import SCORE, Floor, Item, Rubric
from runstore.records import Sheet

Values = Mapping[str, Mapping[str, float | None]]
Names = Mapping[str, Collection[str]]

NOTHING_APPLICABLE = "nothing applicable"


@dataclass(frozen=True, slots=True)
class Level:
    """Scores of one sheet at one point of the arithmetic, by item key and area key; None where there is none."""

    items: dict[str, float | None]
    areas: dict[str, float | None]
    total: float | None


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores ``before`` and ``after`` the floor rules.

    ``floored``: areas that a floor rule set to their lowest. ``undecided``: areas whose floor rule depends on a
    flag that the sheet does not have. ``reasons``: why an item (by key) or area floor has no score.
    """

    before: Level
    after: Level
    floored: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    reasons: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def total(self) -> float | None:
        return self.after.total

    @property
    def does_not_apply(self) -> bool:
        """Whether there is no total for no other reason than that nothing of an item applies."""
        return self.total is None and set(self.reasons.values()) == {NOTHING_APPLICABLE}


def score(
    rubric: Rubric,
    values: Values,
    *,
    flags: Mapping[str, float | None] | None = None,
    not_applicable: Names | None = None,
) -> Scores:
    """The scores of one sheet, or of the combined values of several.

    ``values``: by item key and element key, None or absent where missing; a scale's element is ``score``.
    ``flags``: 0, 1 or None by flag key. ``not_applicable``: element keys by item key.
    Raises ValueError for a value off its scale: readers let none through.
    """
    reasons: dict[str, str] = {}
    items: dict[str, float | None] = {}
    for item in rubric.items:
        given = values.get(item.key, {})
        result, reason = _item_score(item, given, (not_applicable or {}).get(item.key, ()))
        items[item.key] = result
        if reason:
            reasons[item.key] = reason
    before = _level(rubric, items)
    floored = tuple(floor.area for floor in rubric.floors if (flags or {}).get(floor.flag) == floor.when)
    open_floors = [floor for floor in rubric.floors if (flags or {}).get(floor.flag) is None]
    after = _level(rubric, _after_floors(rubric, items, floored, open_floors, reasons))
    return Scores(before, after, floored, tuple(floor.area for floor in open_floors), reasons)


def misfit(rubric: Rubric, sheet: Sheet) -> tuple[str, object] | None:
    """The first (field, value) of a sheet that the rubric does not allow; None where it fits."""
    items = {item.key: item for item in rubric.items}
    for key, given in sheet.values.items():
        item = items.get(key)
        if item is None:
            return f"values.{key}", key
        low, high = (item.scale.low, item.scale.high) if item.scale else (0, 1)
        for slot, value in given.items():
            if slot not in item.slots or (value is not None and not low <= value <= high):
                return f"values.{key}.{slot}", slot if slot not in item.slots else value
    for key, value in sheet.flags.items():
        if key not in {flag.key for flag in rubric.flags} or value not in (0, 1, None):
            return f"flags.{key}", value
    for key, slots in sheet.not_applicable.items():
        allowed = (
            {element.key for element in items[key].elements if element.not_applicable}
            if key in items
            else set[str]()
        )
        if strays := [slot for slot in slots if slot not in allowed]:
            return f"not_applicable.{key}", strays[0]
    return None


def _after_floors(
    rubric: Rubric,
    items: Mapping[str, float | None],
    floored: Collection[str],
    open_floors: Iterable[Floor],
    reasons: dict[str, str],
) -> dict[str, float | None]:
    lost = {floor.area: floor.flag for floor in open_floors if floor.if_missing == "null"}
    after: dict[str, float | None] = {}
    for area in rubric.areas:
        for item in area.items:
            after[item.key] = items[item.key]
            if area.key in floored:
                after[item.key] = float(item.bounds[0])
            elif area.key in lost and after[item.key] not in (None, item.bounds[0]):
                after[item.key] = None
                reasons[item.key] = f"whether the floor applies is unknown: {lost[area.key]} is missing"
    return after


def _item_score(
    item: Item, given: Mapping[str, float | None], not_applicable: Collection[str]
) -> tuple[float | None, str | None]:
    counted = [slot for slot in item.slots if slot not in not_applicable]
    if not counted:
        return None, NOTHING_APPLICABLE
    if missing := [slot for slot in counted if given.get(slot) is None]:
        return None, f"missing: {', '.join(missing)}"
    values = {slot: value for slot in counted if (value := given.get(slot)) is not None}
    low, high = (item.scale.low, item.scale.high) if item.scale else (0, 1)
    if off := {slot: value for slot, value in values.items() if not low <= value <= high}:
        raise ValueError(f"item {item.key}: {off} is not from {low} to {high}")
    if item.scale:
        return float(values[SCORE]), None
    if item.arithmetic == "met_plus_one":
        return 1.0 + sum(values.values()), None
    weights = {element.key: element.weight for element in item.elements}
    met = sum(weights[slot] * value for slot, value in values.items())
    return item.points * met / sum(weights[slot] for slot in counted), None


def _level(rubric: Rubric, items: Mapping[str, float | None]) -> Level:
    areas = {area.key: _sum(items[item.key] for item in area.items) for area in rubric.areas}
    return Level(dict(items), areas, _sum(areas.values()))


def _sum(values: Iterable[float | None]) -> float | None:
    known: list[float] = []
    for value in values:
        if value is None:
            return None
        known.append(value)
    return sum(known)


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over the ``n`` of ``of`` that have a value; None, with its reason, where none has."""

    value: float | None
    n: int
    of: int
    reason: str | None = None

    def __str__(self) -> str:
        shown = "—" if self.value is None else f"{self.value:.2f}"
        return f"{shown} ({self.n} of {self.of})"


def mean(values: Sequence[float | None], reason: str = "nothing scored") -> Mean:
    """The mean of what is there, never shown without how much that is."""
    known = [value for value in values if value is not None]
    if not known:
        return Mean(None, 0, len(values), reason)
    return Mean(sum(known) / len(known), len(known), len(values))
