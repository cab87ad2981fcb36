"""Pictures as files of their own: SVG for both colour schemes, PNG and PDF by matplotlib."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from frontdesk.report.blocks import Chart
from frontdesk.report.marks import (
    INVALID,
    LESS_SURE,
    SERIES,
    SURE,
    TIE,
    Box,
    Curve,
    Disc,
    Line,
    Mark,
    Picture,
    Words,
    inner_svg,
    series_class,
)
from frontdesk.report.untrusted import html, one_line
from runstore.problems import Problem
from runstore.publish import replacing, safe_name, write_text

_LIGHT = ("#2f6fa8", "#b0692a", "#2f7d5d", "#84609f", "#b0526e", "#5d7183", "#757125", "#2f7e8e")
_DARK = ("#6aa6dc", "#dea064", "#67b893", "#b08fcb", "#d7849d", "#92a6b7", "#b7b264", "#68b6c5")
_OTHERS = {TIE: "#b4bbbf", INVALID: "#d9a59b", SURE: "#3b766d", LESS_SURE: "#9bbdb7"}
_TONES = {"win": "#2f6fa8", "lose": "#c9812f", "much": "#2f6fa8"}
_STYLE = (
    "text{fill:#22272c}.start{text-anchor:start}.middle{text-anchor:middle}.end{text-anchor:end}"
    ".label,.value{font-size:14px}.value{font-weight:600}.tick,.remark,.name,.count{font-size:12px}"
    ".tick,.remark{fill:#5d6770}.grid{stroke:#d5d9d6}.reference{stroke:#5d6770;stroke-dasharray:4 4}"
    ".span{stroke:var(--s);stroke-width:6;stroke-linecap:round;opacity:.38}.whisker{stroke:var(--s);opacity:.6}"
    ".dot,.bar{fill:var(--s)}.curve{fill:none;stroke:var(--s);stroke-width:2}.point{fill:#2b6ca8;opacity:.55}"
    + "".join(f".{tone}{{fill:{colour}}}" for tone, colour in _TONES.items())
    + "".join(f".s{at}{{--s:{colour}}}" for at, colour in enumerate(_LIGHT))
    + "".join(f".{series_class(number)}{{--s:{colour}}}" for number, colour in _OTHERS.items())
    + "@media(prefers-color-scheme:dark){text{fill:#e4e7e9}.tick,.remark{fill:#9ba6ae}.grid{stroke:#31383d}"
    + "".join(f".s{at}{{--s:{colour}}}" for at, colour in enumerate(_DARK))
    + "}"
)
_SIZES = {"label": 14, "value": 14}
_FONTS = ["Noto Sans CJK KR", "Noto Sans KR", "Apple SD Gothic Neo", "Malgun Gothic", "DejaVu Sans"]


def standalone(picture: Picture) -> str:
    """The picture as an SVG file: text only, no scripts, both colour schemes."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {picture.width:g} {picture.height:g}" '
        f'width="{picture.width:g}" height="{picture.height:g}" role="img" font-family="system-ui, sans-serif">'
        f"<title>{html(one_line(picture.title))}</title><style>{_STYLE}</style>{inner_svg(picture)}</svg>\n"
    )


def write_pictures(charts: Iterable[Chart], folder: Path, formats: Sequence[str]) -> list[Path]:
    """A file for each picture that has a key, in each format; the paths.

    Raises Problem where PNG or PDF is asked for and matplotlib is not installed.
    """
    paths: list[Path] = []
    for chart in charts:
        for ending in formats if chart.key else ():
            path = folder / f"{safe_name(chart.key)}.{ending}"
            draw(chart.picture, path)
            paths.append(path)
    return paths


def draw(picture: Picture, path: Path) -> None:
    """Write one picture in the format that the file's name ends with. Raises Problem without matplotlib."""
    if path.suffix == ".svg":
        write_text(path, standalone(picture))
        return
    try:
        figures: Any = import_module("matplotlib.figure")
        manager: Any = import_module("matplotlib.font_manager")
        shapes: Any = import_module("matplotlib.patches")
    except ImportError as error:
        raise Problem("PNG and PDF need matplotlib (install tutor-arena[plots]); SVG needs nothing") from error
    installed = {font.name for font in manager.fontManager.ttflist}
    fonts = [name for name in _FONTS if name in installed]
    figure = figures.Figure(figsize=(picture.width / 96, picture.height / 96))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, picture.width)
    axes.set_ylim(picture.height, 0)
    axes.axis("off")
    for mark in picture.marks:
        _drawn(axes, shapes, mark, fonts)
    path.parent.mkdir(parents=True, exist_ok=True)
    when = {"CreationDate": None} if path.suffix == ".pdf" else {"Software": None}
    with replacing(path) as temporary, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)  # a box stands in its place
        figure.savefig(temporary, dpi=192, format=path.suffix[1:], metadata=when)


def _drawn(axes: Any, shapes: Any, mark: Mark, fonts: list[str]) -> None:
    match mark:
        case Line():
            colour = {"grid": "#d5d9d6", "reference": "#5d6770"}.get(mark.kind) or _colour(mark.colour)
            wide, alpha = {"span": (4.5, 0.38), "whisker": (1.0, 0.6)}.get(mark.kind, (0.75, 1.0))
            dashes = (0, (4, 4)) if mark.kind == "reference" else "-"
            axes.plot([mark.x1, mark.x2], [mark.y1, mark.y2], color=colour, linewidth=wide, alpha=alpha,
                      linestyle=dashes, solid_capstyle="round" if mark.kind == "span" else "butt")  # fmt: skip
        case Disc():
            colour, alpha = (_colour(mark.colour), 1.0) if mark.kind == "dot" else ("#2b6ca8", 0.55)
            axes.add_patch(
                shapes.Circle((mark.x, mark.y), mark.r, color=colour, alpha=alpha, linewidth=0, zorder=3)
            )
        case Box():
            tone = _TONES.get(mark.kind.partition(" ")[2]) or _colour(mark.colour)
            axes.add_patch(shapes.Rectangle((mark.x, mark.y), mark.width, mark.height, color=tone,
                                            alpha=mark.strength, linewidth=0))  # fmt: skip
        case Curve():
            across, up = zip(*mark.points, strict=True)
            axes.plot(across, up, color=_colour(mark.colour), linewidth=1.5)
        case Words():
            colour = "#5d6770" if mark.kind in ("tick", "remark") else "#22272c"
            across = {"start": "left", "middle": "center", "end": "right"}[mark.anchor]
            axes.text(mark.x, mark.y, one_line(mark.text).replace("$", r"\$"), color=colour,
                      ha=across, va="baseline", rotation=90 if mark.turned else 0, rotation_mode="anchor",
                      fontsize=0.75 * _SIZES.get(mark.kind, 12), family=fonts or None, zorder=4,
                      fontweight="bold" if mark.kind == "value" else "normal")  # fmt: skip


def _colour(number: int | None) -> str:
    return _OTHERS.get(number or 0) or _LIGHT[(number or 0) % SERIES]
