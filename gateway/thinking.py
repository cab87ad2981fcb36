"""A model's thinking where its server left it at the start of a reply, and the text without it.

Servers leak in one place: from the start of the reply to the mark that closes the thinking. What looks the same
anywhere else was said, and stays.
"""

from __future__ import annotations

import re

_NAMES = r"(?:\w+:)?(?:think|thinking|thought|thoughts|reasoning|scratchpad)"
_OPEN = (
    rf"(?:<\s*{_NAMES}\s*>|\[THINK\]|◁think▷|<\|START_THINKING\|>|<\|begin_of_thought\|>"
    r"|<\|channel>\s*thought\b)"
)
_CLOSE = (
    rf"(?:<\s*/\s*{_NAMES}\s*>|\[/THINK\]|◁/think▷|<\|END_THINKING\|>|<\|end_of_thought\|>"
    r"|<channel\|>)"
)
_EDGE = r"[\s\u200b-\u200f\u2060\ufeff]*"
_STARTS_OPEN = re.compile(_EDGE + _OPEN, re.IGNORECASE)
_MARK = re.compile(rf"(?P<open>{_OPEN})|(?P<close>{_CLOSE})", re.IGNORECASE)
_HARMONY = re.compile(
    rf"{_EDGE}(?:<\|start\|>\s*assistant\s*)?<\|channel\|>\s*(?P<channel>analysis|commentary|final)"
    r"(?:[^<\n]*(?:<\|constrain\|>[^<]*)?<\|message\|>)?"
)
_HARMONY_NEXT = re.compile(
    r"(?:<\|(?:end|call)\|>\s*)?(?:<\|start\|>\s*assistant[^<]*)?(?=<\|channel\|>)|<\|end\|>"
)
_STRIPPED_HARMONY = re.compile(r"\s*analysis(?=\S).*?assistantfinal", re.DOTALL)
_SENTENCE_END = tuple(".!?…。！？)]}*")
_SPOKEN_OF = ("`", '"', "'", "“", "‘", "「", "«")

_HINTS = ("HOUGHT", "hought", "HINK", "hink", "reasoning>", "scratchpad>", "channel|>", "assistantfinal")
_TAG = re.compile(rf"{_OPEN}|{_CLOSE}|\[/?thinking\]|<\|channel\|>|assistantfinal", re.IGNORECASE)
_HEADING = re.compile(
    r"^[\s*_#\[(]*(?:THOUGHTS?|Thoughts?|THINKING|Thinking)[*_\])]*\s*:|\Athought\s*\n", re.MULTILINE
)


def without_thinking(text: str) -> str:
    """The text without the thinking that it starts with; the very same text where it starts with none.

    Thinking is a block of tags (nested ones too), all before a closing tag that nothing opened (some servers
    swallow the opening one), and every harmony channel but the final one. What never closes is thinking to its
    end. A tag in a sentence, in quotes or in code is spoken of, and ends nothing.
    """
    rest = text
    while (end := _end_of_thinking(rest)) is not None:
        rest = rest[end:].lstrip()
    return rest


def _end_of_thinking(text: str) -> int | None:
    """Where the thinking that the text starts with ends, or None where it starts with none."""
    if not text:
        return None
    if header := _HARMONY.match(text):
        if header["channel"] == "final":
            return header.end()
        following = _HARMONY_NEXT.search(text, header.end())
        return following.end() if following else len(text)
    if stripped := _STRIPPED_HARMONY.match(text):
        return stripped.end()
    if _STARTS_OPEN.match(text):
        return _end_of_block(text)
    return _end_of_unopened(text)


def _end_of_block(text: str) -> int:
    """The end of a block with as many closing tags as opening ones, else of its first closing tag, else all."""
    depth, first = 0, None
    for mark in _MARK.finditer(text):
        depth += 1 if mark["open"] else -1
        first = first or (mark.end() if mark["close"] else None)
        if depth == 0:
            return mark.end()
    return first or len(text)


def _end_of_unopened(text: str) -> int | None:
    """The end of a first tag that closes what nothing opened, where it stands as servers leave it."""
    mark = _MARK.search(text)
    if mark is None or mark["open"] or _is_spoken_of(text, mark):
        return None
    return mark.end()


def _is_spoken_of(text: str, mark: re.Match[str]) -> bool:
    before, after = text[: mark.start()], text[mark.end() :]
    line = before.rpartition("\n")[2]
    if before.count("```") % 2 or line.count("`") % 2 or re.sub(r"\\.", "", line).count('"') % 2:
        return True
    if line.endswith(_SPOKEN_OF):
        return True
    said = line.rstrip()
    stands_alone = not said or said.endswith(_SENTENCE_END) or re.match(r"[^\S\n]*\n\s*\n", after) is not None
    glued = bool(line) and not line[-1].isspace() and (not after or not after[0].isspace())
    return not (stands_alone or glued)


def looks_like_thinking(text: str) -> bool:
    """Whether a tag, a heading or a channel of private reasoning is in the text."""
    if not any(hint in text for hint in _HINTS):
        return False
    return bool(_TAG.search(text) or _HEADING.search(text))
