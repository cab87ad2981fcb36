"""The student's end marker: ``<END>`` at the very end, on its own or after the last sentence.

In quotation marks, in code, or as a word of the sentence (``the tag is <END>``, ``You said to type <END>.``) it is
spoken of, and ends nothing.
"""

from __future__ import annotations

import re

from gateway.thinking import EDGE

_LAST = re.compile(
    rf"(?P<open>[*_~(\[]*)[<＜]\s*/?\s*END\s*/?\s*[>＞](?P<close>[*_~)\]]*)(?P<stop>[.!。]*)(?P<more>[*_~)\]]*){EDGE}\Z",
    re.IGNORECASE,
)
_PAIRS = {"*": "*", "_": "_", "~": "~", "(": ")", "[": "]"}
_OVER = re.compile(r"[.!?…。？！][)\]]*\Z|[)\]\"'”’」*_]\Z|[^\w\s,:;=<>/\\`“‘「-]\Z|[ㅋㅎㅠㅜ요다죠네]\Z")
_WORDS = """
    a an the this that these those my your is are was were be been being am means mean of to with by in on
    at for as and or but not from into like than then if when until after before type typed typing write
    wrote writes written writing say said says saying print prints printed put see saw use used using read
    enter entered call called named tag token marker word symbol string keyword line element command text
    code sign
"""
_OPEN_WORDS = frozenset(_WORDS.split())
_OPEN_ENDINGS = ("은", "는", "을", "를", "에", "로", "라고", "이란", "란")
_QUOTES = (("“", "”"), ("「", "」"), ("«", "»"))


def without_end(text: str) -> str | None:
    """The text without the marker that it ends with (however often), or None where it does not end with one."""
    rest = _without_last(text)
    if rest is None:
        return None
    while (shorter := _without_last(rest)) is not None:
        rest = shorter
    return rest


def _without_last(text: str) -> str | None:
    marker = _LAST.search(text)
    if marker is None:
        return None
    before = text[: marker.start()]
    if _is_quoted(before) or not _is_said_out(before, is_stopped=bool(marker["stop"])):
        return None
    wraps = [_PAIRS[sign] for sign in reversed(marker["open"])]
    closing = list(marker["close"] + marker["more"])
    unmatched = closing[len(wraps) :] if closing[: len(wraps)] == wraps else closing
    return before.rstrip() + "".join(unmatched)


def _is_quoted(before: str) -> bool:
    """Whether the text stops inside a quotation or code."""
    line = before.rpartition("\n")[2]
    is_odd = before.count("```") % 2 or line.count("`") % 2 or before.count('"') % 2
    return bool(is_odd) or any(before.count(opening) > before.count(closing) for opening, closing in _QUOTES)


def _is_said_out(before: str, *, is_stopped: bool) -> bool:
    """Whether what stands before the marker is whole without it."""
    said = before.rstrip(" \t\u200b")
    if not said.strip() or said.endswith("\n"):
        return True
    if _OVER.search(said):
        return True
    if is_stopped or said.endswith((",", "=", "-", "/")):
        return False
    last = re.split(r"\s+", said)[-1].lower().lstrip("(['\"")
    return last not in _OPEN_WORDS and not last.endswith(_OPEN_ENDINGS)
