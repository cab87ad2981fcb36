"""A model's thinking where its server left it at the start of a reply, and the text without it.

Servers leak in one place: from the start of the reply to the mark that closes the thinking. What looks the same
anywhere else was said, and stays.
"""

from __future__ import annotations

import re
from itertools import islice

_NAMES = r"(?:\w{1,20}:|(?:ant|longcat)_)?(?:ant)?(?:think|thinking|thought|thoughts|reasoning|scratchpad)"
_OPEN = (
    rf"(?:<\s*\|?{_NAMES}\|?\s*>|\[THINK(?:ING)?\]|◁think▷|<\|START_THINKING\|>|<\|begin_of_thought\|>"
    r"|<\|channel>\s*thought\b|<unused94>\s*thought\b|<\|inner_prefix\|>)"
)
_CLOSE = (
    rf"(?:<\s*\|?/\s*{_NAMES}\|?\s*>|<{_NAMES}\s*/>|\[/THINK(?:ING)?\]|◁/think▷|<\|END_THINKING\|>|<\|end_of_thought\|>"
    r"|<channel\|>|<unused95>|<\|inner_suffix\|>)"
)
EDGE = r"[\s\u200b-\u200f\u2060\ufeff]*+"
"""Blanks and what cannot be seen, before or behind what was said."""
_STARTS_OPEN = re.compile(EDGE + _OPEN, re.IGNORECASE)
_MARK = re.compile(rf"(?P<open>{_OPEN})|(?P<close>{_CLOSE})", re.IGNORECASE)
_HARMONY = re.compile(
    rf"{EDGE}(?:<\|start\|>\s*assistant\s*)?<\|channel\|>\s*(?P<channel>analysis|commentary|final)"
    r"(?:[^<\n]*(?:<\|constrain\|>[^<]*)?<\|message\|>)?"
)
_HARMONY_NEXT = re.compile(
    r"(?:<\|(?:end|call)\|>\s*)?(?:<\|start\|>\s*assistant[^<]*)?(?=<\|channel\|>)|<\|end\|>"
)
_TOLD = (
    (re.compile(r"\s*+(?:assistant)?(?:analysis|commentary)"), re.compile("assistantfinal")),
    (
        re.compile(r"\s*+(?:<\|im_start\|>\s*)?assistant/think\b"),
        re.compile(r"<\|im_end\|>\s*(?=<\|im_start\|>\s*assistant\b(?!/))"),
    ),
    (re.compile(r"\s*+(?:<\|begin\|>\s*assistant\s*)?<\|think\|>"), re.compile(r"<\|end\|>\s*(?=<\|begin\|>)")),
    (
        re.compile(r"\s*+Here(?: is|['’]s) my thought process:"),
        re.compile(r"\n\s*+Here(?: is|['’]s) my response:"),
    ),
)
_STARTS_TOLD = re.compile("|".join(begins.pattern for begins, _ in _TOLD))
SPOKEN_OF = (
    r"(?-i:[^\S\n]+(?:is|are|was|means|stands|marks|opens|closes|begins|ends|tags?|and|or|in)\b"
    r"|[^\S\n]+(?:태그|요소|토큰|표시|기호)|[^\S\n]*(?:[은는가을를]|이?란|이?라는)[^\S\n])"
)
"""What goes on behind a mark in a sentence about it: nobody's server left the mark there."""
_GOES_ON = re.compile(SPOKEN_OF)
_SUBJECT = re.compile(
    r"[^\S\n]*[,;:?!)\]”’\"'—–]"
    r"|[^\S\n]+(?:ha[sd]|have|do|does|did|can|could|will|would|shall|should|must|may|might|never|cannot|on|without"
    r"|(?:is|are|was|were|do|does|did|has|can|could|would|should)n['’]t"
    r"|(?!(?:this|its|yes|always|sometimes|perhaps|besides|students|kids)\b)[a-z]{3,}(?<![su])s)\b"
)
"""Behind a tag that nothing closes: a sentence of which the tag is the subject, as no thought begins."""
_BLANK_LINE = re.compile(r"[^\S\n]*+\n\s*\n")
_BLANKS = re.compile(r"\s*+")
_SENTENCE_END = tuple(".!?…。！？)]}*")
_PAIRS = ('""', "''", "“”", "‘’", "「」", "«»")
_QUOTES = ("`", '"', "'", "“", "‘", "「", "«")

_HINTS = ("HOUGHT", "hought", "HINK", "hink", "reasoning>", "scratchpad>", "channel|>", "assistantfinal")
_TAG = re.compile(rf"{_OPEN}|{_CLOSE}|\[/?thinking\]|<\|channel\|>|assistantfinal", re.IGNORECASE)
_HEADING = re.compile(
    r"^(?:[^\S\n]|[*_#\[(])*+(?:THOUGHTS?|Thoughts?|THINKING|Thinking)[*_\])]*\s*:|\Athought\s*\n", re.MULTILINE
)


LONGEST_LOOKED_AT = 200_000
"""Characters in which thinking is looked for, some 50,000 tokens: what is larger must not hold others up."""
MOST_BRACKETS = 20_000
"""Opening brackets in them; where there are more, no further characters than that are looked at."""
MOST_MARKS = 300
"""Marks in them that are looked at: more of them are no thinking, and no reply."""


def without_thinking(text: str) -> str:
    """The text without the thinking that it starts with; the very same text where it starts with none.

    Thinking is a block of tags (nested ones too), all before a closing tag that nothing opened (some servers
    swallow the opening one), and every harmony channel but the final one. What never closes is thinking to its
    end, but for one in square brackets. A mark with a sentence about it behind (``<thought> is a tag``) is spoken
    of, and so is a tag in a sentence, in quotes or in code: it ends nothing, and where nothing else does either,
    the one at the start was spoken of too.
    """
    if not ("<" in text or "[" in text or "◁" in text or _STARTS_TOLD.match(text)):
        return text  # nearly every reply
    head = text[:LONGEST_LOOKED_AT]
    if head.count("<") > MOST_BRACKETS:
        head = head[:MOST_BRACKETS]
    marks: list[re.Match[str]] | None = None
    start = place = 0
    for _ in range(MOST_MARKS):
        if start >= len(head):
            break
        if (end := _end_of_channel(head, start)) is None:
            marks = list(islice(_MARK.finditer(head), MOST_MARKS)) if marks is None else marks
            while place < len(marks) and marks[place].start() < start:
                place += 1
            end = _end_of_tags(head, start, marks, place)
        if end is None:
            break
        start = _blanks_end(text, len(text) if end >= len(head) else end)
    return text[start:]


def _blanks_end(text: str, start: int) -> int:
    blanks = _BLANKS.match(text, start)
    return blanks.end() if blanks else start


def _end_of_channel(text: str, start: int) -> int | None:
    """Where a harmony channel that stands at ``start`` ends, or None where none does."""
    header = _HARMONY.match(text, start)
    if header and not _GOES_ON.match(text, header.end()):
        if header["channel"] == "final":
            return header.end()
        following = _HARMONY_NEXT.search(text, header.end())
        if following is None and _SUBJECT.match(text, header.end()):
            return None
        return following.end() if following else len(text)
    for begins, ends in _TOLD:
        if (told := begins.match(text, start)) and (final := ends.search(text, told.end())):
            return final.end()
    return None


def _end_of_tags(text: str, start: int, marks: list[re.Match[str]], place: int) -> int | None:
    """Where thinking in tags that stands at ``start`` ends, or None; ``marks[place]`` is the first from there."""
    if opening := _STARTS_OPEN.match(text, start):
        # A word in square brackets heads a task on a worksheet too, until something closes it.
        is_said = opening[0].endswith("]") or _GOES_ON.match(text, opening.end()) is not None
        end = _end_of_block(text, marks, place, is_said=is_said or _SUBJECT.match(text, opening.end()) is not None)
        return None if end and _GOES_ON.match(text, end) and "\n" not in text[start:end].strip() else end
    if place == len(marks) or marks[place]["open"] or _is_spoken_of(text, start, marks[place]):
        return None
    return marks[place].end()


def _end_of_block(text: str, marks: list[re.Match[str]], place: int, *, is_said: bool) -> int | None:
    """The end of a block with as many closing tags as opening ones, else of its first closing tag, else all.

    A tag in quotes or in code closes nothing. One that nothing closes is no thinking where somebody said it, or
    where others are quoted.
    """
    depth, first = 0, None
    for mark in islice(marks, place, None):
        if depth and _is_quoted(text, mark):
            is_said = True
            continue
        depth += 1 if mark["open"] else -1
        first = first or (mark.end() if mark["close"] else None)
        if depth == 0:
            return mark.end()
    return first or (None if is_said else len(text))


def _is_quoted(text: str, mark: re.Match[str]) -> bool:
    """Whether a mark stands in quotes or in code, between two of the same signs."""
    before = text[text.rfind("\n", 0, mark.start()) + 1 : mark.start()]
    after = text[mark.end() :].partition("\n")[0]
    pair = before[-1:] + after[:1]
    return (before.count("`") % 2 == 1 and "`" in after) or pair in _PAIRS


def _is_spoken_of(text: str, start: int, mark: re.Match[str]) -> bool:
    """Whether a closing tag, the first from ``start``, stands as servers never leave it."""
    before, after = text[start : mark.start()], text[mark.end() : mark.end() + 1]
    line = before.rpartition("\n")[2]
    if before.count("```") % 2 or line.count("`") % 2 or re.sub(r"\\.", "", line).count('"') % 2:
        return True
    is_indented_code = not before.strip() and line.startswith(("    ", "\t"))
    if line.endswith(_QUOTES) or is_indented_code or (not before.strip() and _GOES_ON.match(text, mark.end())):
        return True
    said = line.rstrip()
    stands_alone = not said or said.endswith(_SENTENCE_END) or _BLANK_LINE.match(text, mark.end()) is not None
    glued = bool(line) and not line[-1].isspace() and (not after or not after[0].isspace())
    return not (stands_alone or glued)


def looks_like_thinking(text: str) -> bool:
    """Whether a tag, a heading or a channel of private reasoning is in the text."""
    text = text[:LONGEST_LOOKED_AT]
    if not any(hint in text for hint in _HINTS):
        return False
    return bool(_TAG.search(text) or _HEADING.search(text))
