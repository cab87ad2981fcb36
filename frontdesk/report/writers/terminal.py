"""What every command prints on: one console, and tables that fit its width and split no number and no name."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TextIO

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from frontdesk.report.untrusted import visible
from frontdesk.runner import screen

PIPED_WIDTH = 120
NARROWEST_TEXT = 14
"""Cells of a text column that is never made narrower; columns are left out instead."""


FULL_NAME = 28
"""Cells up to which a name is shown whole before other columns, which can wrap, are given more."""


@dataclass(frozen=True, slots=True)
class Head:
    """A column: its title, and whether it holds figures, which are never cut nor wrapped, or names, which are
    shortened with an ellipsis instead of being wrapped; the first column holds names in any case."""

    title: str
    number: bool = False
    name: bool = False


def console(out: TextIO | None = None) -> Console:
    """The console of ``out`` (stdout unless given); NO_COLOR or TERM=dumb: without any escape code."""
    file = out or sys.stdout
    colours = None if screen.is_plain() else "auto"
    made = Console(file=file, highlight=False, markup=False, emoji=False, color_system=colours)
    if made.is_terminal:
        return made
    return Console(file=file, highlight=False, markup=False, emoji=False, color_system=None, width=PIPED_WIDTH)


def styled(text: str, style: str = "") -> Text:
    """A text as it is, never markup, with what would move the cursor made visible."""
    return Text(visible(text), style=style)


def print_grid(on: Console, title: str, heads: Sequence[Head], rows: Sequence[Sequence[str]]) -> None:
    """A table as wide as the console at most.

    Where it does not fit, text columns wrap between words, the first one is shortened with an ellipsis, and then
    columns are left out from the right; a line below names them. A pipe has room for every column.
    """
    least = [_least(at, heads, rows) for at in range(len(heads))]
    width = on.width if on.is_terminal else max(on.width, sum(least) + _lines(len(least)))
    shown = len(heads)
    while shown > 2 and sum(least[:shown]) + _lines(shown) > width:
        shown -= 1
    wanted = [_natural(at, heads, rows) for at in range(shown)]
    names = [at for at in range(shown) if at == 0 or heads[at].name]
    room = width - _lines(shown)
    named = [min(cells, FULL_NAME) if at in names else least[at] for at, cells in enumerate(wanted)]
    widths = _widths(_widths(least[:shown], named, room), wanted, room)
    grid = Table(
        title=styled(title, "bold") if title else None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False
    )
    for at, (head, cells) in enumerate(zip(heads, widths, strict=False)):
        grid.add_column(
            styled(head.title),
            justify="right" if head.number else "left",
            width=cells,
            no_wrap=at == 0 or head.name,
            overflow="ellipsis" if at == 0 or head.name else "fold",
        )
    for row in rows:
        grid.add_row(*(styled(cell) for cell in row[:shown]))
    own, on.width = on.width, width  # a table is never made wider than its console
    on.print(grid, crop=False, soft_wrap=False)
    on.width = own
    if shown < len(heads):
        left_out = ", ".join(head.title for head in heads[shown:])
        on.print(styled(f"(… {left_out})", "dim"))


def _lines(columns: int) -> int:
    """Cells that borders and padding of so many columns take."""
    return 3 * columns - 1


def _natural(at: int, heads: Sequence[Head], rows: Sequence[Sequence[str]]) -> int:
    return max([cell_len(visible(row[at])) for row in rows] + [cell_len(visible(heads[at].title)), 1])


def _least(at: int, heads: Sequence[Head], rows: Sequence[Sequence[str]]) -> int:
    words = [cell_len(word) for word in visible(heads[at].title).split()]
    if heads[at].number:
        return max([cell_len(visible(row[at])) for row in rows] + words + [1])
    return min(_natural(at, heads, rows), max([NARROWEST_TEXT, *words]))


def _widths(least: Sequence[int], natural: Sequence[int], room: int) -> list[int]:
    """The least of every column, and what room is left shared out in turn among those that could use it."""
    widths = list(least)
    left = room - sum(widths)
    while left > 0 and (wanting := [at for at in range(len(widths)) if widths[at] < natural[at]]):
        for at in wanting[:left]:
            widths[at] += 1
        left -= min(left, len(wanting))
    return widths
