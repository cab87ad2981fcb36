r"""Backslashes of formulas inside text that is no JSON because of them.

A model that writes ``"\frac{1}{2} and \alpha"`` into JSON means formulas, but only ``\a`` shows it: ``\f`` is a
legal escape. A string without an illegal escape means what it says and stays as it is; in one with an illegal
escape the backslashes of formulas are doubled, and line breaks stay line breaks.
"""

from __future__ import annotations

import re

# Commands that begin with the letter of an escape for white space. The whole word must match. Left out are those
# whose rest is a word or a shortened one, as a line can begin with it: "\ne.g.", "\nu", "\nless", "\tan".
_WORDS = """
    bar beta begin bf big bigl bigr binom bmod boldsymbol bot boxed bullet forall frac frown
    nabla natural nearrow neq newcommand newline nleq ngeq nolimits nonumber norm
    notag notin nsim nsubseteq nsupseteq nwarrow nrightarrow nleftarrow ncong nprec nsucc
    raisebox rangle rbrace rbrack rceil renewcommand rfloor rgroup rho right rightarrow rightharpoonup
    rightleftharpoons rightrightarrows rmoustache rotatebox rtimes rVert rvert
    tanh tau tbinom text textbf textcolor textit textnormal textrm textsc textsf textstyle texttt tfrac
    therefore theta thickapprox thicksim thinspace tilde times tiny top triangle triangledown triangleleft
    triangleq triangleright twoheadrightarrow
"""
_COMMANDS = frozenset(_WORDS.split())
_STRING = re.compile(r'("(?:[^"\\]|\\.)*")', re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u[0-9A-Fa-f]{4}|.|\Z)", re.DOTALL)
_HARMLESS = frozenset("\"\\/bfnrt'")
_WORD = re.compile(r"[A-Za-z]+")
_MATH = re.compile(
    r"\$(?=\S)(?:\\.|[^$\\\"]){1,400}?(?<=\S)\$(?!\d)"
    r"|\\{1,2}\((?:(?!\\{1,2}\)|\").){1,400}?\\{1,2}\)"
    r"|\\{1,2}\[(?:(?!\\{1,2}\]|\").){1,400}?\\{1,2}\]",
    re.DOTALL,
)


def escape_latex(text: str) -> str:
    r"""JSON text with the backslashes of formulas doubled, where an illegal escape shows that there are any.

    Kept are ``\\``, ``\"``, ``\/``, ``\u`` with four hex digits, and ``\b \f \n \r \t`` that mean white space;
    doubled is every escape that JSON does not know, and every one that begins a known command. In a string that
    has an illegal escape itself, so are ``\b`` and ``\f`` before a letter, and all between math delimiters.
    ``\'`` becomes ``'``.
    """
    if has_illegal_escape(text):
        return "".join(escaped_string(part) for part in _STRING.split(text))
    return without_apostrophe_escapes(text)


def has_illegal_escape(text: str) -> bool:
    """Whether a backslash stands where JSON knows no escape; one before an apostrophe is no formula's."""
    return any(len(escape[0]) < 3 and escape[0][1:] not in _HARMLESS for escape in _ESCAPE.finditer(text))


def without_apostrophe_escapes(text: str) -> str:
    r"""The text with ``'`` for ``\'``, which JSON does not know."""
    return _ESCAPE.sub(lambda escape: "'" if escape[0] == "\\'" else escape[0], text) if "\\'" in text else text


def escaped_string(text: str) -> str:
    """:func:`escape_latex` for one string of a text that has an illegal escape somewhere."""
    is_formula_writers = has_illegal_escape(text)
    spans = [match.span() for match in _MATH.finditer(text)] if is_formula_writers else []
    parts: list[str] = []
    position = span = 0
    for match in _ESCAPE.finditer(text):
        while span < len(spans) and spans[span][1] <= match.start():
            span += 1
        in_math = span < len(spans) and spans[span][0] <= match.start()
        word = _WORD.match(text, match.start() + 1)
        shown = _escaped(match[0], word[0] if word else "", in_math=in_math, by_letter=is_formula_writers)
        parts.extend((text[position : match.start()], shown))
        position = match.end()
    return "".join((*parts, text[position:]))


def _escaped(escape: str, run: str, *, in_math: bool, by_letter: bool) -> str:
    """One escape and the word that it begins: doubled where it is a formula's."""
    letter = escape[1:]
    if len(letter) > 1 or (letter and letter in '"\\/'):
        return escape
    if letter == "'":
        return "'"
    if not letter or letter not in "bfnrt":
        return f"\\{escape}"
    is_before_letter = len(run) > 1
    formula = is_before_letter and (run in _COMMANDS or in_math or (by_letter and letter in "bf"))
    return f"\\{escape}" if formula else escape
