"""The report as Markdown. Whatever a model or a user wrote is escaped, or stands in a fence it can't close."""

from __future__ import annotations

import html
import re

from arena.ratings.tables import one_line
from frontdesk.report.blocks import Bar, Block, Cell, Chart, Document, Example, Speech, Table, Text
from frontdesk.report.writers.html import shown

_SPECIAL = re.compile(r"([\\`*_\[\]|~$])")
_OPENING = re.compile(r"^(\d*)([-+=#.)](?=\s|$)|[-=#]{2,})")


def markdown(document: Document) -> str:
    """The whole report as text; the demonstration line and the banner come first."""
    lines: list[str] = []
    if document.demonstration:
        lines += [f"> **{_said(document.demonstration)}**", ""]
    for number, line in enumerate(document.banner):
        lines += [f"> **{_said(line)}**" if number == 0 else f"> {_said(line)}", ">"]
    if document.banner:
        lines[-1] = ""
    lines += [f"# {_said(document.title)}", ""]
    for section in document.sections:
        lines += [f"## {_said(section.title)}", ""]
        for block in section.blocks:
            lines += _block(block)
    return "\n".join(lines).rstrip() + "\n"


def _block(block: Block) -> list[str]:
    match block:
        case Text():
            return [f"> {_said(block.text)}" if block.kind == "warn" else _said(block.text), ""]
        case Table():
            return _table(block)
        case Bar() | Chart():
            return []
        case Example():
            return _example(block)


def _table(table: Table) -> list[str]:
    head = [f"**{_said(table.title)}**"] if table.title else []
    head += [_said(table.caption)] if table.caption else []
    lines = [" · ".join(head), ""] if head else []
    lines.append(f"| {' | '.join(_said(column.title) for column in table.columns)} |")
    lines.append(f"|{'|'.join('---:' if column.number else ':---' for column in table.columns)}|")
    lines += [f"| {' | '.join(_cell(cell) for cell in row)} |" for row in table.rows]
    return [*lines, ""]


def _cell(cell: Cell) -> str:
    text = f"{cell.text} {cell.soft}".strip()
    return _said(text) if text else ""


def _said(text: str) -> str:
    """Any text on one line, so that Markdown shows it literally, also where HTML and formulas are let through."""
    line = _SPECIAL.sub(r"\\\1", one_line(text))
    line = html.escape(line, quote=False)
    return _OPENING.sub(lambda found: f"{found[1]}\\{found[2]}", line)


def _example(example: Example) -> list[str]:
    lines = [f"### {_said(example.title)}", "", _said(example.about), ""]
    if example.earlier:
        lines += [f"*{_said(example.earlier_label)}*", ""]
    for speech in (*example.latest, *example.replies):
        lines += _speech(speech)
    return [*lines, *_table(example.votes)]


def _speech(speech: Speech) -> list[str]:
    mark = f" ({_said(speech.mark)})" if speech.mark else ""
    return [f"**{_said(speech.who)}**{mark}", "", *fenced(speech.text), ""]


def fenced(text: str) -> list[str]:
    """A literal block whose fence is longer than any run of backticks inside."""
    clean = str(shown(text.replace("\r\n", "\n").replace("\r", "\n")))
    longest = max((len(run) for run in re.findall(r"`+", clean)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}text", *clean.split("\n"), fence]
