"""Ratings with their intervals as a picture: SVG written here, PNG through matplotlib where it is installed."""

from __future__ import annotations

import html
from importlib import import_module
from pathlib import Path
from typing import Any

from arena.ratings.result import Leaderboard, RatedModel
from arena.ratings.tables import one_line
from runstore.problems import Problem
from runstore.publish import clean_unicode, replacing

_STYLE = (
    "text{fill:#222}.l{stroke:#999;stroke-width:1}.i{stroke:#2563eb;stroke-width:3}.d{fill:#2563eb}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.i{stroke:#7aa2f7}.d{fill:#7aa2f7}}"
)
_ROW, _LEFT, _WIDTH, _TOP = 26, 220, 460, 24


def svg_plot(board: Leaderboard) -> str:
    """A dot and interval per rated model, on the rating scale; text only, no scripts, both colour schemes."""
    span = _span(board.models)
    height = _TOP + _ROW * max(len(board.models), 1) + 30
    total = _LEFT + _WIDTH + 80
    box = f'viewBox="0 0 {total} {height}" width="{total}" height="{height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {box} role="img" font-family="system-ui, sans-serif"'
    parts = [head + ' font-size="13">', "<title>Ratings with intervals</title>", f"<style>{_STYLE}</style>"]
    for number, model in enumerate(board.models):
        parts.append(_svg_row(model, _TOP + _ROW * number, span))
    parts.append(_axis(span, height - 24))
    return "".join(parts) + "</svg>\n"


def _span(models: tuple[RatedModel, ...]) -> tuple[float, float]:
    values = [value for model in models for value in (model.lower, model.rating, model.upper) if value is not None]
    low, high = (min(values), max(values)) if values else (900.0, 1100.0)
    margin = max((high - low) * 0.05, 10.0)
    return low - margin, high + margin


def _x(value: float, span: tuple[float, float]) -> float:
    return round(_LEFT + _WIDTH * (value - span[0]) / (span[1] - span[0]), 1)


def _svg_row(model: RatedModel, y: int, span: tuple[float, float]) -> str:
    name = one_line(clean_unicode(model.name))
    short = name if len(name) <= 30 else name[:29] + "…"
    label = f'<text x="{_LEFT - 12}" y="{y + 4}" text-anchor="end">{html.escape(short)}</text>'
    if model.rating is None:
        return (
            label + f'<text x="{_LEFT}" y="{y + 4}" opacity=".7">{html.escape(model.reason or "no rating")}</text>'
        )
    low = span[0] if model.lower is None else model.lower
    high = span[1] if model.upper is None else model.upper
    bar = f'<line class="i" x1="{_x(low, span)}" x2="{_x(high, span)}" y1="{y}" y2="{y}"/>'
    if model.lower is None and model.upper is None:
        bar = ""
    dot = f'<circle class="d" cx="{_x(model.rating, span)}" cy="{y}" r="5"/>'
    return label + bar + dot + f'<text x="{_LEFT + _WIDTH + 12}" y="{y + 4}">{model.rating:.0f}</text>'


def _axis(span: tuple[float, float], y: int) -> str:
    line = f'<line class="l" x1="{_LEFT}" x2="{_LEFT + _WIDTH}" y1="{y}" y2="{y}"/>'
    ticks = [span[0] + (span[1] - span[0]) * step / 4 for step in range(5)]
    return line + "".join(
        f'<text x="{_x(tick, span)}" y="{y + 16}" text-anchor="middle" font-size="11">{tick:.0f}</text>'
        for tick in ticks
    )


def png_plot(board: Leaderboard, path: Path) -> None:
    """The same picture as PNG. Raises Problem where matplotlib is not installed."""
    try:
        figures: Any = import_module("matplotlib.figure")
    except ImportError as error:
        raise Problem("PNG plots need matplotlib (install tutor-arena[plots]); --svg needs nothing") from error
    rated = [(model, model.rating) for model in reversed(board.models) if model.rating is not None]
    figure = figures.Figure(figsize=(8, 1 + 0.3 * max(len(rated), 1)), layout="constrained")
    axes = figure.subplots()
    span = _span(board.models)
    for y, (model, rating) in enumerate(rated):
        if model.lower is not None or model.upper is not None:
            low = span[0] if model.lower is None else model.lower
            high = span[1] if model.upper is None else model.upper
            axes.plot([low, high], [y, y], linewidth=3)
        axes.plot([rating], [y], "o", color="black")
    labels = [one_line(clean_unicode(model.name)).replace("$", r"\$") for model, _ in rated]
    axes.set_yticks(range(len(rated)), labels)
    axes.set_xlabel("rating")
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=150, format="png")
