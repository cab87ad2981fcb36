"""Pictures as inline SVG: they take the page's own colours, and every text in them is escaped.

Colours come from classes (``s0`` ... ``s7`` for series), so that light, dark and print need no second picture.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any
from unicodedata import east_asian_width

from markupsafe import Markup

from frontdesk.report.blocks import Chart
from frontdesk.report.untrusted import html, one_line
from runstore.problems import Problem
from runstore.publish import replacing

SERIES = 8
TIE, INVALID, SURE, LESS_SURE = -1, -2, -3, -4
_CLASSES = {TIE: "st", INVALID: "sx", SURE: "su", LESS_SURE: "sm"}
_ROW, _LABEL, _PLOT, _RIGHT = 34, 190, 430, 70
_WIDTH, _HEIGHT, _EDGE, _MARGIN = 340, 300, 44, 12
_LINE = 13


@dataclass(frozen=True, slots=True)
class Dot:
    """One estimate with its interval; None where it is not known (``remark`` then stands in its place)."""

    label: str
    value: float | None
    lower: float | None
    upper: float | None
    colour: int
    shown: str
    remark: str = ""


def dots(rows: Sequence[Dot], title: str, *, reference: float | None = None, percent: bool = False) -> Markup:
    """Points with intervals on one axis. ``reference`` draws a dashed line (1000, or 50 %)."""
    low, high = _range(rows, reference)
    ticks = _ticks(low, high)
    height = _ROW * len(rows) + 40
    width = _LABEL + _PLOT + _RIGHT
    out = [
        Markup('<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">').format(width, height, title)
    ]
    bottom = _ROW * len(rows) + 8
    for tick in ticks:
        x = _x(tick, low, high)
        text = f"{100 * tick:.0f}%" if percent else f"{tick:.0f}"
        out.append(Markup('<line class="grid" x1="{0}" x2="{0}" y1="4" y2="{1}"/>').format(x, bottom))
        out.append(Markup('<text class="tick" x="{}" y="{}">{}</text>').format(x, bottom + 18, text))
    if reference is not None and low <= reference <= high:
        x = _x(reference, low, high)
        out.append(Markup('<line class="reference" x1="{0}" x2="{0}" y1="4" y2="{1}"/>').format(x, bottom))
    for at, row in enumerate(rows):
        out.append(_dot(row, 8 + _ROW * at + _ROW // 2, low, high))
    return Markup("").join([*out, Markup("</svg>")])


def _dot(row: Dot, y: int, low: float, high: float) -> Markup:
    label = Markup('<text class="label" x="{}" y="{}">{}</text>').format(_LABEL - 14, y + 5, short(row.label))
    if row.value is None:
        return label + Markup('<text class="remark" x="{}" y="{}">{}</text>').format(
            _LABEL + 6, y + 5, short(row.remark, 60)
        )
    parts = [label]
    if row.lower is not None or row.upper is not None:
        left = _x(low if row.lower is None else row.lower, low, high)
        right = _x(high if row.upper is None else row.upper, low, high)
        parts.append(
            Markup('<line class="span {0}" x1="{1}" x2="{2}" y1="{3}" y2="{3}"/>').format(
                series_class(row.colour), left, right, y
            )
        )
    middle = _x(row.value, low, high)
    parts.append(
        Markup('<circle class="dot {}" cx="{}" cy="{}" r="6"/>').format(series_class(row.colour), middle, y)
    )
    parts.append(
        Markup('<text class="value" x="{}" y="{}">{}</text>').format(_LABEL + _PLOT + 12, y + 5, row.shown)
    )
    return Markup("").join(parts)


def series_class(number: int) -> str:
    """The CSS class of a series: endpoints by number, and what is no endpoint by name."""
    return _CLASSES.get(number) or f"s{number % SERIES}"


def short(text: str, limit: int = 22) -> str:
    """One line of a text, cut where it would leave the picture (the table has it whole)."""
    line, width = one_line(text), 0
    for at, letter in enumerate(line):
        width += 2 if east_asian_width(letter) in "FW" else 1
        if width > limit:
            return line[: at - 1] + "…"
    return line


def _range(rows: Sequence[Dot], reference: float | None) -> tuple[float, float]:
    known = [v for row in rows for v in (row.value, row.lower, row.upper) if v is not None]
    known += [reference] if reference is not None else []
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    margin = max((high - low) * 0.06, 1e-3 if high <= 1 else 5.0)
    return low - margin, high + margin


def _ticks(low: float, high: float) -> list[float]:
    """About five round numbers inside the range."""
    raw = (high - low) / 5
    power = 10.0 ** _floor_log10(raw)
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= raw)
    first = int(low // step) + 1
    return [round(step * k, 9) for k in range(first, first + 12) if step * k < high]


def _floor_log10(value: float) -> int:
    return int(f"{value:e}".partition("e")[2])


def _x(value: float, low: float, high: float) -> str:
    return f"{_LABEL + _PLOT * (value - low) / (high - low):.1f}"


@dataclass(frozen=True, slots=True)
class _Axis:
    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        return round(self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start), 1)


def scatter(
    title: str, names: tuple[str, str], points: Sequence[tuple[float, float]], bounds: tuple[float, float]
) -> Chart:
    """One rater against another on the scale that both used; they are equal on the dashed line."""
    across, up = _square(bounds, bounds)
    equal = _dashed(across, up, (bounds[0], bounds[0]), (bounds[1], bounds[1]))
    return Chart(_plane(title, names, (across, up), points, equal), title)


def differences_against_means(
    title: str,
    names: tuple[str, str],
    points: Sequence[tuple[float, float]],
    levels: Sequence[tuple[str, float]],
    bounds: tuple[float, float],
) -> Chart:
    """The plot of Bland and Altman: (mean, difference) of each pair, and named levels of the difference."""
    furthest = 1.1 * max([1.0, *(abs(y) for _, y in points), *(abs(value) for _, value in levels)])
    across, up = _square(bounds, (-furthest, furthest))
    drawn: list[Markup] = []
    free = 0.0
    for label, value in sorted(levels, key=lambda level: -level[1]):
        drawn.append(_dashed(across, up, (bounds[0], value), (bounds[1], value)))
        free = max(up.at(value) - 4, free)
        drawn.append(_text("tick end", _WIDTH - _MARGIN - 2, free, label))
        free += _LINE
    return Chart(_plane(title, names, (across, up), points, Markup("").join(drawn)), title)


def against(title: str, names: tuple[str, str], points: Sequence[tuple[float, Dot]]) -> Chart:
    """Named estimates with their intervals, upwards, against a quantity from 0 on (a price, seconds)."""
    furthest = 1.08 * max(x for x, _ in points) or 1.0
    across, up = _square((0.0, furthest), _range([dot for _, dot in points], None))
    drawn: list[Markup] = []
    free = 0.0
    for x, dot in sorted(points, key=lambda point: -(point[1].value or 0.0)):
        at, value = across.at(x), dot.value or 0.0
        drawn.append(_upright(at, up, dot))
        height = max(up.at(value) - 5, free)
        left = x > furthest / 2
        drawn.append(
            _text(f"tick {'end' if left else 'start'}", at - 9 if left else at + 9, height, short(dot.label))
        )
        free = height + _LINE
    return Chart(_plane(title, names, (across, up), [], Markup("").join(drawn)), title)


def _upright(at: float, up: _Axis, dot: Dot) -> Markup:
    colour = series_class(dot.colour)
    circle = Markup('<circle class="dot {}" cx="{}" cy="{}" r="5"/>').format(colour, at, up.at(dot.value or 0.0))
    if dot.lower is None and dot.upper is None:
        return circle
    low, high = (
        up.at(edge if limit is None else limit) for limit, edge in ((dot.lower, up.low), (dot.upper, up.high))
    )
    return (
        Markup('<line class="span {0}" x1="{1}" x2="{1}" y1="{2}" y2="{3}"/>').format(colour, at, low, high)
        + circle
    )


def _square(x: tuple[float, float], y: tuple[float, float]) -> tuple[_Axis, _Axis]:
    return _Axis(*x, _EDGE, _WIDTH - _MARGIN), _Axis(*y, _HEIGHT - _EDGE, _MARGIN)


def _plane(
    title: str,
    names: tuple[str, str],
    axes: tuple[_Axis, _Axis],
    points: Sequence[tuple[float, float]],
    lines: Markup,
) -> Markup:
    """Points on two named axes; where several lie in one place the dot is larger and says how many."""
    across, up = axes
    out = [
        Markup('<svg class="chart square" viewBox="0 0 {} {}" role="img" aria-label="{}">').format(
            _WIDTH, _HEIGHT, one_line(title)
        )
    ]
    grid = Markup('<line class="grid" x1="{}" x2="{}" y1="{}" y2="{}"/>')
    for tick in _ticks(across.low, across.high):
        out.append(grid.format(across.at(tick), across.at(tick), _MARGIN, _HEIGHT - _EDGE))
        out.append(_text("tick", across.at(tick), _HEIGHT - _EDGE + 15, f"{tick:g}"))
    for tick in _ticks(up.low, up.high):
        out.append(grid.format(_EDGE, _WIDTH - _MARGIN, up.at(tick), up.at(tick)))
        out.append(_text("tick end", _EDGE - 5, up.at(tick) + 4, f"{tick:g}"))
    counts = Counter((across.at(x), up.at(y)) for x, y in points)
    for (x, y), count in counts.items():
        dot = Markup('<circle class="point" cx="{}" cy="{}" r="{:.1f}"><title>{}</title></circle>')
        out.append(dot.format(x, y, min(3 + count**0.5, 12), count))
    middle = (_HEIGHT - _EDGE) / 2
    out += [
        lines,
        _text("name", (_WIDTH + _EDGE) / 2, _HEIGHT - 8, short(names[0], 40)),
        Markup('<g transform="rotate(-90 12 {0})">{1}</g>').format(
            middle, _text("name", 12, middle, short(names[1], 36))
        ),
    ]
    return Markup("").join([*out, Markup("</svg>")])


def _dashed(across: _Axis, up: _Axis, start: tuple[float, float], end: tuple[float, float]) -> Markup:
    return Markup('<line class="reference" x1="{}" y1="{}" x2="{}" y2="{}"/>').format(
        across.at(start[0]), up.at(start[1]), across.at(end[0]), up.at(end[1])
    )


def _text(kind: str, x: float, y: float, text: str) -> Markup:
    return Markup('<text class="{}" x="{}" y="{}">{}</text>').format(kind, x, y, one_line(text))


_STANDALONE = (
    "text{fill:#222}.label{text-anchor:end}.tick{text-anchor:middle;font-size:12px}.grid{stroke:#ccc}"
    ".span{stroke:#2563eb;stroke-width:3}.dot{fill:#2563eb}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.grid{stroke:#444}.span{stroke:#7aa2f7}.dot{fill:#7aa2f7}}"
)


def svg_dots(rows: Sequence[Dot], title: str) -> str:
    """:func:`dots` as a file of its own: text only, no scripts, both colour schemes."""
    head, _, rest = str(dots(rows, title)).partition(">")
    head = head.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" font-family="system-ui, sans-serif" ')
    return f"{head}><title>{html(title)}</title><style>{_STANDALONE}</style>{rest}\n"


def png_dots(rows: Sequence[Dot], axis: str, path: Path) -> None:
    """The same picture as PNG, of the rows that have a value. Raises Problem where matplotlib is not installed."""
    try:
        figures: Any = import_module("matplotlib.figure")
    except ImportError as error:
        raise Problem("PNG plots need matplotlib (install tutor-arena[plots]); --svg needs nothing") from error
    rated = [(row, row.value) for row in reversed(rows) if row.value is not None]
    figure = figures.Figure(figsize=(8, 1 + 0.3 * max(len(rated), 1)), layout="constrained")
    axes = figure.subplots()
    span = _range(rows, None)
    for y, (row, value) in enumerate(rated):
        if row.lower is not None or row.upper is not None:
            low = span[0] if row.lower is None else row.lower
            high = span[1] if row.upper is None else row.upper
            axes.plot([low, high], [y, y], linewidth=3)
        axes.plot([value], [y], "o", color="black")
    axes.set_yticks(range(len(rated)), [one_line(row.label).replace("$", r"\$") for row, _ in rated])
    axes.set_xlabel(axis)
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=150, format="png")
