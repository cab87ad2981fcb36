"""Text that somebody else wrote, made harmless: one function per output language, and nowhere else.

Every one of them first makes the unseen visible (:func:`visible`): a name that only looks like another, a text
that turns the reading direction or moves a terminal's cursor shows U+FFFD where it hides something.

    visible, one_line    plain text, for the console and for whatever escapes by itself
    markdown, heading    inline Markdown, and that of a heading
    code, fence          literal letters within a line, and a literal block
    html                 markup for a page
    latex                running text of a LaTeX document
    (cells of CSV files are guarded where CSV is written: runstore.publish.write_csv)
"""

from __future__ import annotations

import re
import unicodedata

from markupsafe import Markup

from runstore.publish import FILLERS

UNSEEN = "\ufffd"
_SUSPECT = re.compile(r"[^\x20-\x7e\n\xa1-\xac\xae-\u05ff\u0900-\u115e\u1161-\u17b3\u3000-\u3163\uac00-\ud7a3]")
"""A quick first look: what is none of the letters that most texts consist of is examined one by one."""
_BREAKS = frozenset("\n\r\v\f\x85\u2028\u2029\t")
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINERS = frozenset("\u200c\u200d")
_EMOJI = frozenset({"So", "Sk"})

_MARKDOWN = re.compile(r"([\\`*_\[\]|~$])")
_MARKDOWN_OPENING = re.compile(r"^(\d*)([-+=#.)](?=\s|$)|[-=#]{2,}|>)")
_MARKDOWN_CLOSING = re.compile(r"(#+)$")
_INTERVAL = re.compile(r"\\\[([-+\d.,–… %]+)\\\](?![(\[:])")
"""Escaped brackets around numbers that begin no link: an interval is read more often than shown."""
_MARKUP = re.compile(r"<(?=[A-Za-z!?/])|&(?=[#A-Za-z])")
"""What begins a tag, an address or an entity; "p < 0.05" does not."""
_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}


def visible(text: str) -> str:
    """The text with U+FFFD for each control, format, zero-width and blank letter in it; lines stay lines.

    A joiner stays where scripts need it: between two pictographs, and between letters of the scripts that join.
    """
    if not _SUSPECT.search(text):
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(_shown(text, at) for at in range(len(text)))


def _shown(text: str, at: int) -> str:
    letter = text[at]
    if letter in "\n\t":
        return letter
    if letter in FILLERS or unicodedata.category(letter) in _HIDDEN:
        return letter if letter in _JOINERS and _joins(text[at - 1 : at], text[at + 1 : at + 2]) else UNSEEN
    return letter


def _joins(before: str, after: str) -> bool:
    if not before or not after:
        return False
    if "\u0600" <= before <= "\u0dff" and "\u0600" <= after <= "\u0dff":
        return True
    is_emoji = unicodedata.category(before) in _EMOJI or before == "\ufe0f"
    return is_emoji and unicodedata.category(after) in _EMOJI


def one_line(text: str) -> str:
    """:func:`visible` on one line; white space is folded, and a text with nothing to see says so."""
    spaced = "".join(" " if letter in _BREAKS else letter for letter in text)
    return " ".join(visible(spaced).split()) or "(blank)"


def markdown(text: str) -> str:
    """Any text on one line, so that Markdown shows it literally, also where HTML and formulas are let through."""
    return _MARKDOWN_OPENING.sub(lambda match: f"{match[1]}\\{match[2]}", _inline(text))


def heading(text: str) -> str:
    """:func:`markdown` where no list or heading can begin: what a heading holds after its signs."""
    return _MARKDOWN_CLOSING.sub(r"\\\1", _inline(text))


def _inline(text: str) -> str:
    line = _INTERVAL.sub(r"[\1]", _MARKDOWN.sub(r"\\\1", one_line(text)))
    return _MARKUP.sub(lambda match: "&lt;" if match[0] == "<" else "&amp;", line)


def code(text: str) -> str:
    """Any text on one line as a code span that it can't close; not for cells of tables, where ``|`` would."""
    line = one_line(text)
    mark = "`" * (_longest_backticks(line) + 1)
    return f"{mark}{line}{mark}" if len(mark) == 1 else f"{mark} {line} {mark}"


def fence(text: str) -> list[str]:
    """The lines of a literal block whose fence is longer than any run of backticks inside."""
    clean = visible(text)
    mark = "`" * max(3, _longest_backticks(clean) + 1)
    return [f"{mark}text", *clean.split("\n"), mark]


def _longest_backticks(text: str) -> int:
    return max((len(run) for run in re.findall(r"`+", text)), default=0)


def html(text: str) -> Markup:
    """Any text as markup that shows it literally."""
    return Markup.escape(visible(text))


def latex(text: str) -> str:
    """Any text on one line, so that LaTeX prints it literally."""
    return "".join(_LATEX.get(letter, letter) for letter in one_line(text))
