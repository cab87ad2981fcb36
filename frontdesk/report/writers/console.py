"""A report on a terminal. Texts are never markup, and nothing in them moves the cursor."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TextIO

from rich.console import Console

from frontdesk.report.blocks import Block, Document, Folded, Heading, Listing, Table, Text
from frontdesk.report.writers import terminal
from frontdesk.report.writers.terminal import styled

SUMMARY = ("result", "reliability", "leaderboard")
"""The sections that answer first; without them the console would scroll the answer away."""


def show(document: Document, out: TextIO | None = None, sections: Collection[str] | None = SUMMARY) -> None:
    """Print banner and sections to ``out`` (stdout unless given); None: all sections."""
    console = terminal.console(out)
    if document.demonstration:
        console.print(styled(document.demonstration, "bold yellow"))
    for line in document.banner:
        console.print(styled(line, "bold red"))
    for section in document.sections:
        if sections is None or section.key in sections:
            for block in section.blocks:
                _print(console, block, section.title)


def show_blocks(blocks: Iterable[Block], out: TextIO | None = None) -> None:
    """Print blocks that are no report of their own."""
    console = terminal.console(out)
    for block in blocks:
        _print(console, block, "")


def _print(console: Console, block: Block, title: str) -> None:
    match block:
        case Table():
            _print_table(console, block, title)
            if block.caption:
                console.print(styled(block.caption, "dim"))
            console.print()
        case Text() if block.kind in {"lead", "plain", "warn"}:
            console.print(styled(block.text, "bold" if block.kind == "lead" else ""))
        case Heading():
            console.print(styled(block.text, "bold"))
        case Listing():
            for point in block.points:
                console.print(styled(f"- {point.text}"))
                for text in point.under:
                    console.print(styled(f"  - {text}"))
        case Folded():
            for inner in block.blocks:
                _print(console, inner, title)
        case _:
            pass  # pictures and long texts are for pages


def _print_table(console: Console, table: Table, title: str) -> None:
    heads = [terminal.Head(column.title, column.number) for column in table.columns]
    rows = [[f"{cell.text} {cell.soft}".strip() for cell in row] for row in table.rows]
    terminal.print_grid(console, title, heads, rows)
