r"""Backslashes of formulas inside JSON, set right before the first parse.

A model that writes ``"\frac{1}{2}"`` into JSON means the formula, but ``\f`` is a legal escape: a strict parser
would turn it into a form feed without a word. So the backslashes are doubled where a formula is meant, and what
was doubled already stays as it is.
"""

from __future__ import annotations

import re

# Commands that begin with the letter of an escape for white space. The whole word must match, so "\next" stays
# a line break and "ext".
_WORDS = """
    nabla natural ne nearrow neg neq newcommand newline nexists nleq ngeq nless ngtr nmid nolimits nonumber norm
    not notag notin nparallel nsim nsubseteq nsupseteq nu nwarrow nrightarrow nleftarrow ncong nprec nsucc
    raisebox rangle rbrace rbrack rceil ref renewcommand rfloor rgroup rho right rightarrow rightharpoonup
    rightleftharpoons rightrightarrows rm rmoustache root rotatebox rtimes rule rVert rvert
    tag tan tanh tau tbinom text textbf textcolor textit textnormal textrm textsc textsf textstyle texttt tfrac
    therefore theta thickapprox thicksim thinspace tilde times tiny to top triangle triangledown triangleleft
    triangleq triangleright twoheadrightarrow
"""
_COMMANDS = frozenset(_WORDS.split())
_ESCAPE = re.compile(r"\\(?:u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_WORD = re.compile(r"[A-Za-z]+")
_MATH = re.compile(
    r"\$(?=\S)(?:\\.|[^$\\\"]){1,400}?(?<=\S)\$(?!\d)"
    r"|\\{1,2}\((?:(?!\\{1,2}\)|\").){1,400}?\\{1,2}\)"
    r"|\\{1,2}\[(?:(?!\\{1,2}\]|\").){1,400}?\\{1,2}\]",
    re.DOTALL,
)


def escape_latex(text: str) -> str:
    r"""JSON text with the single backslashes of formulas doubled.

    Kept: ``\\``, ``\"``, ``\/``, ``\u`` with four hex digits, and ``\b \f \n \r \t`` that mean white space.
    Doubled: every escape JSON does not know, ``\b`` and ``\f`` before a letter, ``\n \r \t`` where they begin a
    known command or stand before a letter between math delimiters. ``\'`` becomes ``'``.
    """
    if "\\" not in text:
        return text
    spans = [match.span() for match in _MATH.finditer(text)]
    parts: list[str] = []
    position = span = 0
    for match in _ESCAPE.finditer(text):
        while span < len(spans) and spans[span][1] <= match.start():
            span += 1
        in_math = span < len(spans) and spans[span][0] <= match.start()
        parts.extend((text[position : match.start()], _escaped(match[0], text, match.start() + 1, in_math)))
        position = match.end()
    parts.append(text[position:])
    joined = "".join(parts)
    return f"{joined}\\" if _ends_in_lone_backslash(joined) else joined


def _escaped(escape: str, text: str, at: int, in_math: bool) -> str:
    letter = escape[1]
    if letter in '"\\/' or len(escape) > 2:
        return escape
    if letter == "'":
        return "'"
    if letter not in "bfnrt":
        return f"\\{escape}"
    word = _WORD.match(text, at)
    run = word[0] if word else letter
    before_letter = len(run) > 1
    formula = before_letter and (letter in "bf" or in_math or run in _COMMANDS)
    return f"\\{escape}" if formula else escape


def _ends_in_lone_backslash(text: str) -> bool:
    return (len(text) - len(text.rstrip("\\"))) % 2 == 1
