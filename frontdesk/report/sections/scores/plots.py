"""The plots of a score report as numbers to draw: judge against judge, and difference against mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from arena.agreement.bland_altman import bland_altman
from arena.rubrics.rubric import Rubric
from arena.scoring.combine import Combined

WIDTH, HEIGHT, EDGE = 340, 300, 44
MOST_PAIRS = 6


@dataclass(frozen=True, slots=True)
class Plot:
    """Positions in the units of the drawing. ``points``: (x, y, how many subjects lie there)."""

    title: str
    x_name: str
    y_name: str
    points: list[tuple[float, float, int]]
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    lines: list[tuple[float, float, float, float, str]]
    width: int = WIDTH
    height: int = HEIGHT
    edge: int = EDGE


@dataclass(frozen=True, slots=True)
class _Axis:
    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        return round(self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start), 1)

    def ticks(self) -> list[tuple[float, str]]:
        values = [self.low + (self.high - self.low) * part / 4 for part in range(5)]
        return [(self.at(value), f"{value:g}" if value == round(value) else f"{value:.1f}") for value in values]


def pair_plots(rubric: Rubric, rows: Sequence[Combined]) -> list[tuple[Plot, Plot]]:
    """A scatter and a Bland-Altman plot of the totals for each pair of judges, six pairs at most."""
    totals: dict[str, dict[str, float]] = {}
    for row in rows:
        totals.setdefault(row.judge, {})
        if row.scores.total is not None:
            totals[row.judge][row.subject] = row.scores.total
    plots: list[tuple[Plot, Plot]] = []
    for a, b in list(combinations(totals, 2))[:MOST_PAIRS]:
        shared = [subject for subject in totals[a] if subject in totals[b]]
        if shared:
            x, y = [totals[a][one] for one in shared], [totals[b][one] for one in shared]
            plots.append((_scatter(a, b, x, y, rubric.bounds), _difference(a, b, x, y, rubric.bounds)))
    return plots


def _axes(x: tuple[float, float], y: tuple[float, float]) -> tuple[_Axis, _Axis]:
    return _Axis(*x, EDGE, WIDTH - 12), _Axis(*y, HEIGHT - EDGE, 12)


def _plot(
    title: str,
    names: tuple[str, str],
    points: Sequence[tuple[float, float]],
    axes: tuple[_Axis, _Axis],
    lines: Sequence[tuple[float, float, float, float, str]],
) -> Plot:
    across, up = axes
    counted: dict[tuple[float, float], int] = {}
    for x, y in points:
        place = across.at(x), up.at(y)
        counted[place] = counted.get(place, 0) + 1
    drawn = [(across.at(x1), up.at(y1), across.at(x2), up.at(y2), text) for x1, y1, x2, y2, text in lines]
    return Plot(
        title, *names, [(x, y, count) for (x, y), count in counted.items()], across.ticks(), up.ticks(), drawn
    )


def _scatter(a: str, b: str, x: Sequence[float], y: Sequence[float], bounds: tuple[float, float]) -> Plot:
    low, high = bounds
    points = list(zip(x, y, strict=True))
    return _plot(f"{a} and {b}", (a, b), points, _axes(bounds, bounds), [(low, low, high, high, "")])


def _difference(a: str, b: str, x: Sequence[float], y: Sequence[float], bounds: tuple[float, float]) -> Plot:
    limits = bland_altman(x, y)
    lines: list[tuple[float, float, float, float, str]] = []
    for one, name in zip(limits.statistics, ("bias", "lower limit", "upper limit"), strict=True):
        if one.value is not None:
            lines.append((bounds[0], one.value, bounds[1], one.value, f"{name} {one.value:+.2f}"))
    furthest = max([1.0, *(abs(float(d)) for d in limits.differences), *(abs(line[1]) for line in lines)])
    points = [(float(m), float(d)) for m, d in zip(limits.means, limits.differences, strict=True)]
    axes = _axes(bounds, (-furthest * 1.1, furthest * 1.1))
    return _plot(f"{a} minus {b}", ("mean of both", "difference"), points, axes, lines)
