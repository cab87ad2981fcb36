"""Small multiples: the same little picture for each endpoint, or for each item of a rubric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from frontdesk.report.blocks import Chart
from frontdesk.report.marks import Anchor, Box, Disc, Line, Mark, Picture, Words, short
from frontdesk.report.plots.axes import Axis, percent
from frontdesk.report.plots.dots import Dot

_ROW, _HEAD, _FOOT = 22, 26, 30
_BAR_HEIGHT = 70


@dataclass(frozen=True, slots=True)
class Panel:
    """One little picture: its title, and an estimate for each level."""

    title: str
    colour: int
    dots: Mapping[str, Dot]


def rate_panels(title: str, axis: str, levels: Mapping[str, str], panels: Sequence[Panel], key: str = "") -> Chart:
    """Shares from 0 to 1 by level (their names by id), a panel an endpoint; the dashed line is a half."""
    broad, narrow = (_rate_panels(title, axis, levels, panels, narrow=narrow) for narrow in (False, True))
    return Chart(broad, title, narrow, key)


def _rate_panels(
    title: str, axis: str, levels: Mapping[str, str], panels: Sequence[Panel], *, narrow: bool
) -> Picture:
    left, width, each = (112, 352, 2) if narrow else (150, 690, 4)
    step = (width - left) / each
    height = _HEAD + _ROW * len(levels) + _FOOT
    marks: list[Mark] = []
    for at, panel in enumerate(panels):
        row, column = divmod(at, each)
        top, start = row * height, left + step * column
        across = Axis(0.0, 1.0, start + 8, start + step - 12)
        if column == 0:
            for place, name in enumerate(levels.values()):
                y = top + _HEAD + _ROW * place + _ROW / 2 + 4
                marks.append(Words(left - 6, y, short(name, 15 if narrow else 20), "tick", "end"))
        marks += _rates(panel, levels, across, top)
    rows = -(-len(panels) // each)
    marks.append(Words((left + width) / 2, rows * height + 10, axis, "name"))
    return Picture(title, width, rows * height + 20, tuple(marks))


def _rates(panel: Panel, levels: Mapping[str, str], across: Axis, top: float) -> list[Mark]:
    bottom = top + _HEAD + _ROW * len(levels)
    middle = across.at(0.5)
    marks: list[Mark] = [
        Disc(across.start + 4, top + 13, 4, "dot", panel.colour),
        Words(across.start + 12, top + 17, short(panel.title, 15), "name", "start"),
        Line(middle, top + _HEAD, middle, bottom, "reference"),
    ]
    for tick in (0.0, 0.5, 1.0):
        if tick != 0.5:
            marks.append(Line(across.at(tick), top + _HEAD, across.at(tick), bottom, "grid"))
        side: Anchor = "start" if tick == 0 else "end" if tick == 1 else "middle"
        marks.append(Words(across.at(tick), bottom + 14, percent(tick), "tick", side))
    for place, level in enumerate(levels):
        dot = panel.dots.get(level)
        if dot is None or dot.value is None:
            continue
        y = top + _HEAD + _ROW * place + _ROW / 2
        if dot.lower is not None and dot.upper is not None:
            marks.append(Line(across.at(dot.lower), y, across.at(dot.upper), y, "span", panel.colour))
        hint = f"{panel.title}, {levels[level]}: {dot.shown}"
        marks.append(Disc(across.at(dot.value), y, 4.5, "dot", panel.colour, hint))
    return marks


@dataclass(frozen=True, slots=True)
class Counts:
    """One item: how often each value was given, by who gave it."""

    title: str
    values: tuple[str, ...]
    given: Mapping[str, Sequence[int]]


def count_panels(title: str, axis: str, items: Sequence[Counts], raters: Sequence[str], key: str = "") -> Chart:
    """How often each value was given, a panel an item, a bar a rater (series in their order)."""
    broad, narrow = (_count_panels(title, axis, items, raters, narrow=narrow) for narrow in (False, True))
    return Chart(broad, title, narrow, key)


def _count_panels(
    title: str, axis: str, items: Sequence[Counts], raters: Sequence[str], *, narrow: bool
) -> Picture:
    width, each = (352, 2) if narrow else (690, 4)
    step, height = width / each, _HEAD + _BAR_HEIGHT + _FOOT
    most = max([1, *(n for item in items for counts in item.given.values() for n in counts)])
    marks: list[Mark] = []
    for at, rater in enumerate(raters):
        row, column = divmod(at, each)
        x, y = step * column + 8, 18 * row + 12
        marks += [Disc(x, y - 4, 4, "dot", at), Words(x + 9, y, short(rater, 18), "tick", "start")]
    start = 18 * -(-len(raters) // each) + 8
    marks.append(Words(step - 12, start + _HEAD + 2, str(most), "count", "end"))
    for at, item in enumerate(items):
        row, column = divmod(at, each)
        marks += _bars(item, raters, (step * column + 8, start + row * height, step - 20), most)
    rows = -(-len(items) // each)
    marks.append(Words(width / 2, start + rows * height + 8, axis, "name"))
    return Picture(title, width, start + rows * height + 18, tuple(marks))


def _bars(item: Counts, raters: Sequence[str], place: tuple[float, float, float], most: int) -> list[Mark]:
    x, y, width = place
    bottom = y + _HEAD + _BAR_HEIGHT
    wide = width / max(1, len(item.values))
    bar = 0.8 * wide / max(1, len(raters))
    marks: list[Mark] = [
        Words(x, y + 17, short(item.title, 19), "name", "start"),
        Line(x, y + _HEAD + 5, x + width, y + _HEAD + 5, "grid"),
        Line(x, bottom, x + width, bottom, "grid"),
    ]
    for at, value in enumerate(item.values):
        marks.append(Words(x + wide * (at + 0.5), bottom + 14, short(value, 7), "tick"))
        for who, rater in enumerate(raters):
            n = item.given.get(rater, [0] * len(item.values))[at]
            tall = (_BAR_HEIGHT - 5) * n / most
            left = x + wide * at + 0.1 * wide + bar * who
            if n:
                hint = f"{rater}, {value}: {n}"
                marks.append(Box(left, bottom - tall, max(bar - 1, 1), tall, "bar", who, hint=hint))
    return marks
