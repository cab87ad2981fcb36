"""A square of shaded cells: who beats whom, how often two judges agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from frontdesk.report.blocks import Chart
from frontdesk.report.marks import Box, Mark, Picture, Words, short

STRONGEST = 0.5
"""How much of a colour the fullest cell has: text on it keeps a contrast of 4.5 in both schemes."""
_CELL = 44


@dataclass(frozen=True, slots=True)
class Shade:
    """One cell: a share, and of how many."""

    share: float
    of: int


def grid(
    title: str,
    names: Sequence[str],
    cells: Mapping[tuple[str, str], Shade],
    *,
    diverging: bool,
    narrow: bool = False,
) -> Picture:
    """Rows against columns, which bear the numbers of the rows; shares in per cent over how many there are.

    ``diverging``: blue over a half, orange under it, nothing at it; else the more the darker.
    """
    left, width, letters = (150, _CELL, 18) if narrow else (190, 62, 22)
    marks: list[Mark] = []
    for at, name in enumerate(names):
        middle = 30 + _CELL * at + _CELL / 2
        marks += [
            Words(left + width * (at + 0.5), 20, str(at + 1), "tick"),
            Words(left - 10, middle + 4, f"{at + 1}  {short(name, letters)}", "label", "end"),
        ]
        for other, column in enumerate(names):
            if (cell := cells.get((name, column))) is not None:
                marks += _cell(left + width * other, 30 + _CELL * at, width, cell, diverging=diverging)
    return Picture(title, left + width * len(names) + 4, 34 + _CELL * len(names), tuple(marks))


def grid_chart(
    title: str, names: Sequence[str], cells: Mapping[tuple[str, str], Shade], *, diverging: bool, key: str = ""
) -> Chart:
    """:func:`grid` as a block, for broad screens and for narrow ones."""
    broad, narrow = (grid(title, names, cells, diverging=diverging, narrow=narrow) for narrow in (False, True))
    return Chart(broad, title, narrow, key)


def _cell(x: float, y: float, width: float, cell: Shade, *, diverging: bool) -> list[Mark]:
    strength = 2 * abs(cell.share - 0.5) if diverging else cell.share
    tone = ("win" if cell.share >= 0.5 else "lose") if diverging else "much"
    return [
        Box(x + 1, y + 1, width - 2, _CELL - 2, f"cell {tone}", strength=round(STRONGEST * strength, 2)),
        Words(x + width / 2, y + 19, f"{100 * cell.share:.0f}%", "label"),
        Words(x + width / 2, y + 34, str(cell.of), "count"),
    ]
