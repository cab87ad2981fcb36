"""Estimates with their intervals, one a row, on one axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from frontdesk.report.blocks import Chart
from frontdesk.report.marks import Disc, Line, Mark, Picture, Words, short
from frontdesk.report.plots.axes import Axis, lettering, span_of

_ROW = 34


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


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where the axis begins and ends; names stand left of it, or above each row."""

    start: float
    end: float
    width: float
    row: float
    above: bool
    letters: int


_BROAD = _Layout(190, 620, 690, _ROW, above=False, letters=22)
_NARROW = _Layout(8, 290, 352, 44, above=True, letters=38)


def dots(
    rows: Sequence[Dot],
    title: str,
    *,
    reference: float | None = None,
    percent: bool = False,
    axis: str = "",
    narrow: bool = False,
) -> Picture:
    """Points with intervals on one axis, which ``axis`` names with its unit.

    ``reference`` draws a dashed line (1000, or 50 %); ``narrow`` is for a phone.
    """
    layout = _NARROW if narrow else _BROAD
    known = [value for row in rows for value in (row.value, row.lower, row.upper)]
    across = Axis(*span_of([*known, reference]), layout.start, layout.end)
    bottom = layout.row * len(rows) + 8
    marks: list[Mark] = []
    for tick in across.ticks():
        x = across.at(tick)
        marks += [
            Line(x, 4, x, bottom, "grid"),
            Words(x, bottom + 18, lettering(is_share=percent)(tick), "tick"),
        ]
    if reference is not None:
        marks.append(Line(across.at(reference), 4, across.at(reference), bottom, "reference"))
    for at, row in enumerate(rows):
        marks += _row(row, 8 + layout.row * at, across, layout)
    if axis:
        marks.append(Words((layout.start + layout.end) / 2, bottom + 38, axis, "name"))
    return Picture(title, layout.width, bottom + (48 if axis else 32), tuple(marks))


def dot_chart(
    rows: Sequence[Dot],
    title: str,
    *,
    reference: float | None = None,
    percent: bool = False,
    axis: str = "",
    key: str = "",
) -> Chart:
    """:func:`dots` as a block, for broad screens and for narrow ones."""
    broad, narrow = (
        dots(rows, title, reference=reference, percent=percent, axis=axis, narrow=narrow)
        for narrow in (False, True)
    )
    return Chart(broad, title, narrow, key)


def _row(row: Dot, top: float, across: Axis, layout: _Layout) -> list[Mark]:
    y = top + (30 if layout.above else layout.row / 2)
    if layout.above:
        label = Words(layout.start, top + 14, short(row.label, layout.letters), "label", "start")
    else:
        label = Words(layout.start - 14, y + 5, short(row.label, layout.letters), "label", "end")
    if row.value is None:
        return [label, Words(across.start + 6, y + 5, short(row.remark, 60), "remark", "start")]
    marks: list[Mark] = [label]
    if row.lower is not None or row.upper is not None:
        left = across.start if row.lower is None else across.at(row.lower)
        right = across.end if row.upper is None else across.at(row.upper)
        marks.append(Line(left, y, right, y, "span", row.colour))
    marks += [
        Disc(across.at(row.value), y, 6, "dot", row.colour),
        Words(layout.end + 12, y + 5, row.shown, "value", "start"),
    ]
    return marks
