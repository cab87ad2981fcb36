"""Verdicts in marker form: ``### (a)``, ``### (b)`` or ``### (c)`` in the last section that ``###`` opens."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

from arena.reading.text import CUT_OFF, finished, folded, plain_text
from arena.reading.withdrawn import withdrawn
from gateway.thinking import without_thinking

Letter = Literal["a", "b", "c"]

_EMPHASIS = str.maketrans("", "", "*_`")
_EMPHASISED = re.compile("[*_`]")
_SIGNS = re.compile("[#＃﹟]")
"""All that becomes a ``#`` where texts are folded: one without them holds no line that ``###`` opens."""
_LETTER = re.compile(r"(?<![^\W_가-힣])(?<!\\)\(\s*([abc])\s*\)(?!(?-i:[a-z]))", re.IGNORECASE)
_FILLING = (
    r"a|the|it|that|quite|really|clearly|choose|pick|select|say|call|think|believe|prefer|go|for|with|teacher|tutor"
    r"|reply|b|option|choice|answer|verdict|letter"
)
_BEFORE = (
    r"\b(?:no|(?:can)?not(?: be)?|neither|nor|never|hardly|rather than|instead of|anything but|without|except"
    r"|reject(?:ed|ing)?|exclud(?:ed?|ing))|n['’]t(?: be)?|~|<(?:del|s|strike)>"
)
_AFTER = (
    r"[?~]|(?:is|was|can|could|would)(?:n['’]t| ?not)\b"
    r"|(?:is|was|seems|would be) (?:wrong|incorrect|worse|weaker|out|rejected)\b"
    r"|[가이은는도를을]?\s*(?:아니|아닌|아닐|아닙|아님|아냐|말고|빼고|제외|틀[렸리린]|오답)|일까|인가|인지"
    r"|[가이]?\s*(?:더\s*)?(?:나은\s*것\s*같|낫|좋)지[는도]?\s*않"
    r"|(?:이?라고|으?로|[을를은는이가])?\s*(?:할|볼|고를|하기|보기|고르기)[는가]?\s*수?[는가]?\s*(?:없|어렵|힘들)"
)
_UNDECIDED = re.compile(
    rf"(?:{_BEFORE})(?: (?:{_FILLING}))*\s*\(\s*[abc]\s*\)|\(\s*[abc]\s*\)\s*(?:{_AFTER})",
    re.IGNORECASE,
)
"""A letter that is denied, asked or struck out by what stands directly before or behind it."""
_BARE = re.compile(r"[\[({\"'\s]*([abc])[\])}\"'\s.]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LetterReading:
    """The letter a judge wrote, or None and why none could be read."""

    letter: Letter | None
    reason: str | None = None


def read_marker(raw: str, *, finish: str = "stop", quoted: Sequence[str] = ()) -> LetterReading:
    """The letter after the last line that starts with ``###``.

    Emphasis, case, full-width and invisible characters, blanks and line ends do not matter. Thinking blocks are
    taken off first. ``quoted`` are the texts that were judged: a ``###`` line that also stands in one of them,
    together with its letter, is a quotation and is passed over. From the deciding line to the end of the reply
    one and the same letter may occur any number of times; two different ones are a conflict. A letter that is
    denied, asked, struck out or taken back decides nothing, nor do the form's three lines, copied. Never raises.
    """
    if not finished(finish):
        return LetterReading(None, CUT_OFF)
    text = plain_text(without_thinking(raw))
    if _EMPHASISED.search(text):
        text = text.translate(_EMPHASIS)
    lines = [line.strip() for line in text.split("\n")]
    if not any(lines):
        return LetterReading(None, "the reply is empty")
    sources = [folded(text) for text in quoted if _SIGNS.search(text)]
    starts = [index for index, line in enumerate(lines) if line.startswith("###")]
    passed_over = False
    end = len(lines)
    for start in reversed(starts):
        section = "\n".join(lines[start:end])
        if sources and _is_quotation(section, sources):
            passed_over, end = True, start
            continue
        if _is_copied_form(lines[:end]):
            return LetterReading(None, "the lines of the form, none chosen")
        return _one_letter(section)
    if passed_over:
        return LetterReading(None, "the only ### lines repeat the judged text")
    return LetterReading(None, "no line starts with ###")


def _is_quotation(section: str, sources: Sequence[str]) -> bool:
    first = _LETTER.search(section)
    shown = section[: first.end()] if first else section.split("\n", 1)[0]
    claim = "###" + folded(shown).lstrip("#")  # one more # makes no quotation one's own
    return any(claim in source for source in sources)


def _is_copied_form(lines: Sequence[str]) -> bool:
    """Whether the last lines with a word are decisions for all three letters, one below the other."""
    last = [_LETTER.findall(line) if line.startswith("###") else [] for line in lines if line][-3:]
    return sorted(letter.lower() for letters in last for letter in letters[:1]) == ["a", "b", "c"]


def _one_letter(section: str) -> LetterReading:
    if undecided := _UNDECIDED.search(section):
        return LetterReading(None, f"no decision: {' '.join(undecided[0].split())}")
    letters = {match.lower() for match in _LETTER.findall(section)}
    if len(letters) == 1:
        last = max(match.end() for match in _LETTER.finditer(section))
        if words := withdrawn(section[last:]):
            return LetterReading(None, f"taken back: {words}")
        return LetterReading(cast("Letter", letters.pop()))
    if letters:
        return LetterReading(None, f"conflicting letters after ###: {', '.join(sorted(letters))}")
    return LetterReading(None, "no (a), (b) or (c) after the last ###")


def read_choice(value: object) -> LetterReading:
    """The letter in a field of a JSON verdict: ``a``, ``(b)``, ``C`` and the like, and nothing beside it."""
    if isinstance(value, str):
        match = _BARE.fullmatch(plain_text(value).translate(_EMPHASIS).strip())
        if match:
            return LetterReading(cast("Letter", match[1].lower()))
        return LetterReading(None, "the verdict field is not a, b or c")
    return LetterReading(None, "the verdict field is missing" if value is None else "the verdict field is no text")
