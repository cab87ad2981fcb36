"""A report as blocks, made once and shown three ways: Markdown, HTML and the console.

Every text in a block is data: each of the three writers shows it literally.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from markupsafe import Markup

from frontdesk.report import marks
from frontdesk.report.marks import Picture


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: ``share`` (0..1) draws a bar of series ``colour`` under it.

    ``heat`` (0..1) shades it from nothing to much; ``lean`` (0..1) from one colour over none at a half to another.
    ``href`` leads to another page of ours.
    """

    text: str
    share: float | None = None
    colour: int | None = None
    heat: float | None = None
    soft: str = ""
    lean: float | None = None
    href: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A heading; numbers stand to the right. ``colour`` marks a column that belongs to a series."""

    title: str
    number: bool = True


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headings. ``title`` names it, ``caption`` says what the numbers are and of how many."""

    columns: tuple[Column, ...]
    rows: list[tuple[Cell, ...]]
    caption: str = ""
    title: str = ""
    row_heads: bool = True


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph. ``kind``: plain, soft (how it was computed), warn, lead."""

    text: str
    kind: str = "plain"


@dataclass(frozen=True, slots=True)
class Bar:
    """One whole split in parts: (label, count, colour); colours are series numbers, -1 tie, -2 invalid."""

    title: str
    parts: list[tuple[str, int, int]]

    @property
    def total(self) -> int:
        return sum(count for _, count, _ in self.parts)


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture for the HTML page; ``title`` says in words what it shows. The table beside it has the numbers.

    ``narrow`` takes its place on a phone; ``key`` names its file, where pictures are written as files.
    """

    picture: Picture
    title: str
    narrow: Picture | None = None
    key: str = ""

    @property
    def broad(self) -> Markup:
        """The one picture, where no styles choose between two."""
        return marks.svg(self.picture)

    @property
    def svg(self) -> Markup:
        """The picture as markup; both, where there are two: the page's styles show one of them."""
        if self.narrow is None:
            return marks.svg(self.picture, "square" if self.picture.width < 400 else "")
        return marks.svg(self.picture, "broad") + marks.svg(self.narrow, "narrow")


@dataclass(frozen=True, slots=True)
class Folded:
    """What is shown when asked for, under its label."""

    label: str
    blocks: tuple[Block, ...]


LONGEST_SHOWN = 8000


def shown(text: str, most: int = LONGEST_SHOWN) -> str:
    """A text as a report has it: its end left out where it would swell the page; the files hold it whole."""
    return text if len(text) <= most else f"{text[:most]} […{len(text) - most}]"


@dataclass(frozen=True, slots=True)
class Speech:
    """Something somebody said, whole."""

    who: str
    text: str
    colour: int | None = None
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Example:
    """One match: where it comes from, the end of its history, both replies side by side, and the votes."""

    title: str
    about: str
    earlier: list[Speech]
    latest: list[Speech]
    replies: list[Speech]
    votes: Table
    reasons: list[Speech]
    earlier_label: str
    reasons_label: str


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading inside a section."""

    text: str


@dataclass(frozen=True, slots=True)
class Point:
    """One point of a list, and those under it. ``state``: good, bad, or nothing said of it.

    ``code`` stands after the text letter for letter, and ``rest`` after that.
    """

    text: str
    under: tuple[str, ...] = ()
    state: str = ""
    code: str = ""
    rest: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """Points in order."""

    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """The same in two forms: lines where there is only text, and what a page can draw in their place."""

    text: tuple[Block, ...] = ()
    page: tuple[Block, ...] = ()


Block = Text | Heading | Listing | Table | Bar | Chart | Example | Either | Folded


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands under it. ``key`` is the anchor."""

    key: str
    title: str
    blocks: list[Block] = field(default_factory=list[Block])


@dataclass(frozen=True, slots=True)
class Document:
    """The whole report. ``demonstration`` is its very first line, where there is one; then the ``banner``.

    The banner's first line is the news, the others explain it; ``notes`` are warnings side by side.
    ``back``: label and address of the page above.
    """

    title: str
    language: str
    demonstration: str | None
    banner: list[str]
    sections: list[Section]
    contents_label: str = ""
    skip_label: str = ""
    notes: list[str] = field(default_factory=list[str])
    back: tuple[str, str] | None = None


def charts(document: Document) -> list[Chart]:
    """Every picture of a report, in its order."""

    def within(blocks: Iterable[Block]) -> Iterator[Chart]:
        for block in blocks:
            match block:
                case Chart():
                    yield block
                case Either():
                    yield from within(block.page)
                case Folded():
                    yield from within(block.blocks)
                case _:
                    pass  # no other block holds charts

    return [chart for section in document.sections for chart in within(section.blocks)]


def cells(*values: str | Cell) -> tuple[Cell, ...]:
    """A row out of plain texts and cells."""
    return tuple(value if isinstance(value, Cell) else Cell(value) for value in values)


def points(*texts: str | Point) -> Listing:
    """A list out of plain texts and points."""
    return Listing(tuple(text if isinstance(text, Point) else Point(text) for text in texts))


def columns(first: str, *rest: str, worded: Collection[str] = ()) -> tuple[Column, ...]:
    """Headings: the first of words, the rest of numbers but those that are ``worded``."""
    return (Column(first, number=False), *(Column(title, number=title not in worded) for title in rest))
