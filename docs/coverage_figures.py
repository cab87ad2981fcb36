"""The coverage figures of the pages, drawn from the tables that stand in them: ``make figures``.

How often intervals hold the truth is measured by the benches and written into tables; a figure shows the lowest and
highest of several cells. A test holds that the pictures are those of the tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from frontdesk.report.marks import Picture
from frontdesk.report.plots.dots import Dot, dots
from frontdesk.report.plots.files import standalone
from runstore.publish import write_text

DOCS = Path(__file__).parent
FOLDER = DOCS / "coverage"
NOMINAL = 0.95
AXIS = "Share of the intervals that hold the truth: lowest (dot and number) to highest"
Table = list[list[str]]


def pictures() -> dict[str, str]:
    """Every picture as SVG, by the name of its page."""
    drawn = {"ratings": ratings(), "judges": judges(), "agreement": agreement(), "fewer-calls": fewer_calls()}
    return {name: standalone(picture) for name, picture in drawn.items()}


def ratings() -> Picture:
    own, beside = table("ratings", "design", "endpoints"), table("ratings", "dialogues", "bootstrap covers")
    bootstrap = {row[0]: row[1] for row in beside[1:]}
    rows = list[Dot]()
    for at, dialogues in enumerate(own[0][2:], 2):
        rows += dot(f"{dialogues} dialogues", (row[at] for row in own[1:]), 0)
        rows += dot("bootstrap", [bootstrap[dialogues]], 1)
    return drawn(rows, "How often intervals of gaps hold the truth, by number of dialogues, beside the bootstrap")


def judges() -> Picture:
    own = table("judges", "two judges", "5")
    rows = list[Dot]()
    for colour, (name, *cells) in enumerate(own[1:]):
        for dialogues, cell in zip(own[0][1:], cells, strict=True):
            rows += dot(f"{name.rpartition(' ')[2]}: {dialogues}", [cell], colour)
    return drawn(rows, "How often intervals of two judges' agreement hold the truth, by number of dialogues")


def agreement() -> Picture:
    own = table("agreement", "design", "kappas")
    kinds, items = ("kappa, alpha, AC", "ICC"), ("5, 8", "10", "20", "50")
    rows = list[Dot]()
    for k, kind in enumerate(kinds):
        for at, number in enumerate(items, 1 + len(items) * k):
            rows += dot(f"{kind}: {number}", (row[at] for row in own[1:]), k)
    return drawn(rows, "How often intervals of agreement hold the truth, by number of items")


def fewer_calls() -> Picture:
    own = table("fewer-calls", "at the stop", "hold")
    rows = list[Dot]()
    for name, holds, ordinary in own[1:]:
        rows += [*dot(name, [holds], 0), *dot("ordinary", [ordinary], 1)]
    return drawn(rows, "How often limits at the stop hold the truth, beside ordinary intervals")


def dot(label: str, cells: Sequence[str] | Iterator[str], colour: int) -> list[Dot]:
    """The lowest to the highest of all numbers in the cells; nothing where there is none."""
    found = [number for cell in cells for number in numbers(cell)]
    if not found:
        return []
    low, high = min(found), max(found)
    return [Dot(label, low / 100, low / 100, high / 100, colour, f"{low:.1f}%")]


def numbers(cell: str) -> list[float]:
    """The shares in a cell; what is in brackets says how many intervals there are, and is none."""
    return [float(found) for found in re.findall(r"\d+(?:\.\d+)?", re.sub(r"\(.*?\)", "", cell))]


def drawn(rows: Sequence[Dot], title: str) -> Picture:
    return dots(rows, title, reference=NOMINAL, percent=True, axis=AXIS)


def table(page: str, *heads: str) -> Table:
    """The page's table whose first heads start so. Raises LookupError where there is none."""
    lines = (DOCS / f"{page}.md").read_text(encoding="utf-8").splitlines()
    for is_table, block in groupby(lines, lambda line: line.lstrip().startswith("|")):
        rows = (
            [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in block] if is_table else []
        )
        if rows and all(cell.startswith(head) for cell, head in zip(rows[0], heads, strict=False)):
            return [row for at, row in enumerate(rows) if at != 1]
    raise LookupError(f"{page}.md has no table with the heads {', '.join(heads)}")


def main() -> None:
    for name, picture in pictures().items():
        write_text(FOLDER / f"{name}.svg", picture)


if __name__ == "__main__":
    main()
