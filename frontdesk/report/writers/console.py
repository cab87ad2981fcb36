"""The report's first answer on a terminal: banner, result, reliability, leaderboard. Texts are never markup."""

from __future__ import annotations

import sys
from typing import TextIO

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text as RichText

from frontdesk.report.blocks import Document, Table, Text
from frontdesk.report.untrusted import visible

SHOWN = ("result", "reliability", "leaderboard")
_PIPED_WIDTH = 120


def show(document: Document, out: TextIO | None = None) -> None:
    """Print the summary to ``out`` (stdout unless given)."""
    console = Console(file=out or sys.stdout, highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console = Console(file=out or sys.stdout, highlight=False, markup=False, emoji=False, width=_PIPED_WIDTH)
    if document.demonstration:
        console.print(RichText(visible(document.demonstration), style="bold yellow"))
    for line in document.banner:
        console.print(RichText(visible(line), style="bold red"))
    for section in document.sections:
        if section.key not in SHOWN:
            continue
        for block in section.blocks:
            if isinstance(block, Table):
                console.print(_table(block, section.title))
                if block.caption:
                    console.print(RichText(visible(block.caption), style="dim"))
                console.print()
            elif isinstance(block, Text) and block.kind in {"lead", "plain", "warn"}:
                console.print(RichText(visible(block.text), style="bold" if block.kind == "lead" else ""))


def _table(table: Table, title: str) -> RichTable:
    grid = RichTable(title=RichText(visible(title), style="bold"), title_justify="left", box=box.SIMPLE_HEAD)
    for column in table.columns:
        justify = "right" if column.number else "left"
        grid.add_column(RichText(visible(column.title)), justify=justify, overflow="fold")
    for row in table.rows:
        grid.add_row(*(RichText(visible(f"{cell.text} {cell.soft}".strip())) for cell in row))
    return grid
