"""Points and lines on two named axes: raters against each other, ratings against cost, ratings over time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from frontdesk.report.blocks import Chart
from frontdesk.report.marks import Curve, Disc, Line, Mark, Picture, Words, short
from frontdesk.report.plots.axes import Axis, plain, span_of
from frontdesk.report.plots.dots import Dot

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _MARGIN = 352, 310, 62, 46, 12
_LINE = 15
_BROAD = 690


def scatter(
    title: str, names: tuple[str, str], points: Sequence[tuple[float, float]], bounds: tuple[float, float]
) -> Chart:
    """One rater against another on the scale that both used; they are equal on the dashed line."""
    across, up = _square(bounds, bounds)
    equal = _dashed(across, up, (bounds[0], bounds[0]), (bounds[1], bounds[1]))
    return Chart(_plane(title, names, (across, up), [*_counted(across, up, points), equal]), title)


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
    marks, free = _counted(across, up, points), 0.0
    for label, value in sorted(levels, key=lambda level: -level[1]):
        marks.append(_dashed(across, up, (bounds[0], value), (bounds[1], value)))
        free = max(up.at(value) - 4, free)
        marks.append(Words(_WIDTH - _MARGIN - 2, free, label, "tick", "end"))
        free += _LINE
    return Chart(_plane(title, names, (across, up), marks), title)


def against(title: str, names: tuple[str, str], points: Sequence[tuple[float, Dot]], key: str = "") -> Chart:
    """Named estimates with their intervals, upwards, against a quantity from 0 on (a price, seconds)."""
    furthest = 1.08 * max(x for x, _ in points) or 1.0
    values = [value for _, dot in points for value in (dot.value, dot.lower, dot.upper)]
    across, up = _square((0.0, furthest), span_of(values))
    marks, free = list[Mark](), 0.0
    for x, dot in sorted(points, key=lambda point: -(point[1].value or 0.0)):
        at, value = across.at(x), dot.value or 0.0
        marks += _upright(at, up, dot, "span")
        height = max(up.at(value) - 5, free)
        left = x > furthest / 2
        place = (at - 9, "end") if left else (at + 9, "start")
        marks.append(Words(place[0], height, short(dot.label), "tick", "end" if left else "start"))
        free = height + _LINE
    return Chart(_plane(title, names, (across, up), marks), title, key=key)


@dataclass(frozen=True, slots=True)
class Moment:
    """What stood at one time: estimates by the series they belong to."""

    label: str
    dots: Mapping[str, Dot]


def over_time(title: str, name: str, moments: Sequence[Moment], key: str = "") -> Chart:
    """Estimates with their intervals over equally spaced moments, one line a series, named at its end."""
    return Chart(*(_over_time(title, name, moments, narrow=False), title,
                   _over_time(title, name, moments, narrow=True)), key)  # fmt: skip


def _over_time(title: str, name: str, moments: Sequence[Moment], *, narrow: bool) -> Picture:
    width = _WIDTH if narrow else _BROAD
    right = width - (_MARGIN if narrow else 170)
    values = [v for moment in moments for dot in moment.dots.values() for v in (dot.value, dot.lower, dot.upper)]
    up = Axis(*span_of(values), _HEIGHT - _BOTTOM, _MARGIN)
    across = Axis(-0.25, len(moments) - 0.75, _LEFT, right)
    marks = _upward_ticks(up, right)
    shown = max(1, -(-len(moments) // (4 if narrow else 7)))
    for at, moment in enumerate(moments):
        if (len(moments) - 1 - at) % shown == 0:
            is_last = at == len(moments) - 1
            x = right if narrow and is_last else across.at(at)
            marks.append(
                Words(x, _HEIGHT - _BOTTOM + 17, moment.label, "tick", "end" if narrow and is_last else "middle")
            )
    names = list(dict.fromkeys(series for moment in moments for series in moment.dots))
    for place, series in enumerate(names):
        own = [(at, moment.dots[series]) for at, moment in enumerate(moments) if series in moment.dots]
        shift = 3 * (place - (len(names) - 1) / 2)
        rated = [(across.at(at) + shift, dot) for at, dot in own if dot.value is not None]
        if rated:
            marks.append(Curve(tuple((x, up.at(dot.value or 0.0)) for x, dot in rated), rated[0][1].colour))
        for x, dot in rated:
            marks += _upright(x, up, dot, "whisker")
    height = _HEIGHT + (_LINE + 5) * len(names) if narrow else _HEIGHT
    marks += _ends(names, moments, up, (right, width), narrow=narrow)
    marks.append(Words(13, (_HEIGHT - _BOTTOM) / 2, name, "name", turned=True))
    return Picture(title, width, height, tuple(marks))


def _ends(
    names: Sequence[str], moments: Sequence[Moment], up: Axis, edges: tuple[float, float], *, narrow: bool
) -> list[Mark]:
    """The names of the lines: right of the last point, or in a list below."""
    last: dict[str, Dot] = {name: moment.dots[name] for moment in moments for name in names if name in moment.dots}
    ordered = sorted(names, key=lambda name: -(last[name].value or 0.0))
    marks, free = list[Mark](), 0.0
    for place, name in enumerate(ordered):
        y = max(up.at(last[name].value or up.low), free)
        x = edges[0] + 12
        if narrow:
            x, y = _LEFT, _HEIGHT + (_LINE + 5) * place
        free = y + _LINE + 3
        marks += [Disc(x, y, 4, "dot", last[name].colour), Words(x + 9, y + 4, short(name), "tick", "start")]
    return marks


def _upright(at: float, up: Axis, dot: Dot, kind: str) -> list[Mark]:
    marks: list[Mark] = []
    if dot.lower is not None or dot.upper is not None:
        low, high = (
            up.at(edge if limit is None else limit) for limit, edge in ((dot.lower, up.low), (dot.upper, up.high))
        )
        marks.append(Line(at, low, at, high, kind, dot.colour))
    radius = 5 if kind == "span" else 4
    marks.append(Disc(at, up.at(dot.value or 0.0), radius, "dot", dot.colour, f"{dot.label}: {dot.shown}"))
    return marks


def _square(x: tuple[float, float], y: tuple[float, float]) -> tuple[Axis, Axis]:
    return Axis(*x, _LEFT, _WIDTH - _MARGIN), Axis(*y, _HEIGHT - _BOTTOM, _MARGIN)


def _counted(across: Axis, up: Axis, points: Sequence[tuple[float, float]]) -> list[Mark]:
    """Points; where several lie in one place the dot is larger and says how many."""
    counts = Counter((across.at(x), up.at(y)) for x, y in points)
    return [Disc(x, y, min(3 + n**0.5, 12), "point", hint=str(n)) for (x, y), n in counts.items()]


def _upward_ticks(up: Axis, right: float) -> list[Mark]:
    marks: list[Mark] = []
    for tick in up.ticks():
        y = up.at(tick)
        marks += [Line(_LEFT, y, right, y, "grid"), Words(_LEFT - 5, y + 4, plain(tick), "tick", "end")]
    return marks


def _plane(title: str, names: tuple[str, str], axes: tuple[Axis, Axis], drawn: Sequence[Mark]) -> Picture:
    across, up = axes
    marks = _upward_ticks(up, _WIDTH - _MARGIN)
    for tick in across.ticks():
        x = across.at(tick)
        marks += [
            Line(x, _MARGIN, x, _HEIGHT - _BOTTOM, "grid"),
            Words(x, _HEIGHT - _BOTTOM + 16, plain(tick), "tick"),
        ]
    marks += [
        *drawn,
        Words((_WIDTH + _LEFT) / 2, _HEIGHT - 8, short(names[0], 44), "name"),
        Words(13, (_HEIGHT - _BOTTOM) / 2, short(names[1], 36), "name", turned=True),
    ]
    return Picture(title, _WIDTH, _HEIGHT, tuple(marks))


def _dashed(across: Axis, up: Axis, start: tuple[float, float], end: tuple[float, float]) -> Line:
    return Line(across.at(start[0]), up.at(start[1]), across.at(end[0]), up.at(end[1]), "reference")
