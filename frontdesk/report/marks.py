"""A picture as a list of marks, drawn the same as SVG in a page, as SVG of its own, and as PNG or PDF.

Marks have a kind and a series instead of colours, so that light, dark and print need no second picture; every text
in them is escaped where it is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from unicodedata import east_asian_width

from markupsafe import Markup

from frontdesk.report.untrusted import one_line

SERIES = 8
TIE, INVALID, SURE, LESS_SURE = -1, -2, -3, -4
_CLASSES = {TIE: "st", INVALID: "sx", SURE: "su", LESS_SURE: "sm"}
Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True, slots=True)
class Line:
    """A straight line; kinds: grid, reference, span (an interval), whisker (a thin one)."""

    x1: float
    y1: float
    x2: float
    y2: float
    kind: str
    colour: int | None = None


@dataclass(frozen=True, slots=True)
class Disc:
    """A point; kinds: dot (an estimate), point (one of many)."""

    x: float
    y: float
    r: float
    kind: str
    colour: int | None = None
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle; kinds: bar, and cell with a tone (win, lose, much) and its strength from 0 to 1."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    colour: int | None = None
    strength: float = 1.0
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Curve:
    """A line through points, in order."""

    points: tuple[tuple[float, float], ...]
    colour: int


@dataclass(frozen=True, slots=True)
class Words:
    """A text with its baseline at ``y``; kinds: label, tick, remark, value, name. ``turned`` reads upwards."""

    x: float
    y: float
    text: str
    kind: str
    anchor: Anchor = "middle"
    turned: bool = False


Mark = Line | Disc | Box | Curve | Words


@dataclass(frozen=True, slots=True)
class Picture:
    """Marks on a plane of that size in pixels, y downwards. ``title`` says in words what it shows."""

    title: str
    width: float
    height: float
    marks: tuple[Mark, ...]


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


def inner_svg(picture: Picture) -> Markup:
    """The marks as SVG elements with classes."""
    return Markup("").join(_element(mark) for mark in picture.marks)


def svg(picture: Picture, kind: str = "") -> Markup:
    """The picture for a page that has the styles of ``chart``; ``kind`` is another class."""
    opening = Markup('<svg class="{}" viewBox="0 0 {:g} {:g}" width="{:g}" role="img" aria-label="{}">').format(
        f"chart {kind}".strip(), picture.width, picture.height, picture.width, one_line(picture.title)
    )
    return opening + inner_svg(picture) + Markup("</svg>")


def _element(mark: Mark) -> Markup:
    match mark:
        case Line():
            return Markup('<line class="{}" x1="{}" y1="{}" x2="{}" y2="{}"/>').format(
                _class(mark.kind, mark.colour), *map(_number, (mark.x1, mark.y1, mark.x2, mark.y2))
            )
        case Disc():
            drawn = Markup('<circle class="{}" cx="{}" cy="{}" r="{}"').format(
                _class(mark.kind, mark.colour), *map(_number, (mark.x, mark.y, mark.r))
            )
            return drawn + _hinted(mark.hint) + Markup("</circle>")
        case Box():
            drawn = Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}"').format(
                _class(mark.kind, mark.colour), *map(_number, (mark.x, mark.y, mark.width, mark.height))
            )
            if mark.strength < 1:
                drawn += Markup(' fill-opacity="{:.2f}"').format(mark.strength)
            return drawn + _hinted(mark.hint) + Markup("</rect>")
        case Curve():
            points = " ".join(f"{_number(x)},{_number(y)}" for x, y in mark.points)
            return Markup('<polyline class="{}" points="{}"/>').format(_class("curve", mark.colour), points)
        case Words():
            turn = Markup("")
            if mark.turned:
                turn = Markup(' transform="rotate(-90 {} {})"').format(_number(mark.x), _number(mark.y))
            return Markup('<text class="{} {}" x="{}" y="{}"{}>{}</text>').format(
                mark.kind, mark.anchor, _number(mark.x), _number(mark.y), turn, one_line(mark.text)
            )


def _class(kind: str, colour: int | None) -> str:
    return kind if colour is None else f"{kind} {series_class(colour)}"


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _hinted(hint: str) -> Markup:
    return Markup("><title>{}</title>").format(one_line(hint)) if hint else Markup(">")
