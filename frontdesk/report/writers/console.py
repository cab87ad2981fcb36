"""A report on a terminal. Texts are never markup, and nothing in them moves the cursor."""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import TextIO

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text as RichText

from frontdesk.report.blocks import Block, Document, Heading, Listing, Table, Text
from frontdesk.report.untrusted import visible

SUMMARY = ("result", "reliability", "leaderboard")
"""The sections that answer first; without them the console would scroll the answer away."""
_PIPED_WIDTH = 120


def show(document: Document, out: TextIO | None = None, sections: Collection[str] | None = SUMMARY) -> None:
    """Print banner and sections to ``out`` (stdout unless given); None: all sections."""
    console = Console(file=out or sys.stdout, highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console = Console(file=out or sys.stdout, highlight=False, markup=False, emoji=False, width=_PIPED_WIDTH)
    if document.demonstration:
        console.print(_styled(document.demonstration, "bold yellow"))
    for line in document.banner:
        console.print(_styled(line, "bold red"))
    for section in document.sections:
        if sections is None or section.key in sections:
            for block in section.blocks:
                _print(console, block, section.title)


def _print(console: Console, block: Block, title: str) -> None:
    match block:
        case Table():
            console.print(_table(block, title))
            if block.caption:
                console.print(_styled(block.caption, "dim"))
            console.print()
        case Text() if block.kind in {"lead", "plain", "warn"}:
            console.print(_styled(block.text, "bold" if block.kind == "lead" else ""))
        case Heading():
            console.print(_styled(block.text, "bold"))
        case Listing():
            for point in block.points:
                console.print(_styled(f"- {point.text}"))
                for text in point.under:
                    console.print(_styled(f"  - {text}"))
        case _:
            pass  # pictures and long texts are for pages


def _styled(text: str, style: str = "") -> RichText:
    return RichText(visible(text), style=style)


def _table(table: Table, title: str) -> RichTable:
    grid = RichTable(title=_styled(title, "bold"), title_justify="left", box=box.SIMPLE_HEAD)
    for column in table.columns:
        justify = "right" if column.number else "left"
        grid.add_column(_styled(column.title), justify=justify, overflow="fold")
    for row in table.rows:
        grid.add_row(*(_styled(f"{cell.text} {cell.soft}".strip()) for cell in row))
    return grid
