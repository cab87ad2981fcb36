"""The report as Markdown. Whatever a model or a user wrote is escaped, or stands in a fence it can't close."""

from __future__ import annotations

import re
from collections.abc import Iterable

from frontdesk.report.blocks import (
    Bar,
    Block,
    Cell,
    Chart,
    Document,
    Either,
    Example,
    Folded,
    Heading,
    Listing,
    Point,
    Speech,
    Table,
    Text,
)
from frontdesk.report.untrusted import code, fence, heading
from frontdesk.report.untrusted import markdown as literal

_LAST_STARS = re.compile(r"(?:\\\*)+$")
"""Stars that end a cell (0.003**) begin nothing, so they need no escape."""


def markdown(document: Document) -> str:
    """The whole report as text; the demonstration line and the banner come first."""
    lines: list[str] = []
    if document.demonstration:
        lines += [f"> **{literal(document.demonstration)}**", ""]
    for number, line in enumerate(document.banner):
        lines += [f"> **{literal(line)}**" if number == 0 else f"> {literal(line)}", ">"]
    if document.banner:
        lines[-1] = ""
    for note in document.notes:
        lines += [f"> {literal(note)}", ">"]
    if document.notes:
        lines[-1] = ""
    lines += [f"# {heading(document.title)}", ""]
    for section in document.sections:
        lines += [f"## {heading(section.title)}", ""] if section.title else []
        lines += blocks_as_markdown(section.blocks)
    return "\n".join(lines).rstrip() + "\n"


def blocks_as_markdown(blocks: Iterable[Block]) -> list[str]:
    """The lines of some blocks."""
    return [line for block in blocks for line in _block(block)]


def _block(block: Block) -> list[str]:
    match block:
        case Text():
            return [f"> {literal(block.text)}" if block.kind == "warn" else literal(block.text), ""]
        case Heading():
            return [f"### {heading(block.text)}", ""]
        case Listing():
            return [*(line for point in block.points for line in _point(point)), ""]
        case Table():
            return _table(block)
        case Bar() | Chart():
            return []
        case Example():
            return _example(block)
        case Either():
            return blocks_as_markdown(block.text)
        case Folded():
            return blocks_as_markdown(block.blocks)


def _point(point: Point) -> list[str]:
    line = f"- {literal(point.text)}"
    if point.code:
        line += f" {code(point.code)}" + (literal(point.rest) if point.rest else "")
    return [line, *(f"  - {literal(text)}" for text in point.under)]


def _table(table: Table) -> list[str]:
    head = [f"**{literal(table.title)}**"] if table.title else []
    head += [literal(table.caption)] if table.caption else []
    lines = [" · ".join(head), ""] if head else []
    lines.append(f"| {' | '.join(literal(column.title) for column in table.columns)} |")
    lines.append(f"|{'|'.join('---:' if column.number else ':---' for column in table.columns)}|")
    lines += [f"| {' | '.join(_cell(cell) for cell in row)} |" for row in table.rows]
    return [*lines, ""]


def _cell(cell: Cell) -> str:
    text = f"{cell.text} {cell.soft}".strip()
    return _LAST_STARS.sub(lambda match: match[0].replace("\\", ""), literal(text)) if text else ""


def _example(example: Example) -> list[str]:
    lines = [f"### {heading(example.title)}", "", literal(example.about), ""]
    if example.earlier:
        lines += [f"*{literal(example.earlier_label)}*", ""]
    for speech in (*example.latest, *example.replies):
        lines += _speech(speech)
    return [*lines, *_table(example.votes)]


def _speech(speech: Speech) -> list[str]:
    mark = f" ({literal(speech.mark)})" if speech.mark else ""
    return [f"**{literal(speech.who)}**{mark}", "", *fence(speech.text), ""]
