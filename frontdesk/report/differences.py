"""Two texts side by side: what stands in one alone."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from markupsafe import Markup

from frontdesk.report.untrusted import html

MOST_WORDS = 1500
_PARTS = re.compile(r"\w+(?:[\u200c\u200d]\w+)*|\s+|[^\w\s]\ufe0f?(?:\u200d[^\w\s]\ufe0f?)*")
"""Words, white space, signs; what a joiner holds together stays together."""


def marked(first: str, second: str) -> tuple[Markup, Markup] | None:
    """Both texts, literally, with the runs of words marked that the other one has not in this order.

    By the longest common runs (difflib); None where either has more than ``MOST_WORDS`` words and signs.
    """
    ours, theirs = _PARTS.findall(first), _PARTS.findall(second)
    if max(len(ours), len(theirs)) > MOST_WORDS:
        return None
    blocks = SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks()
    return (
        _marked(ours, [(block.a, block.size) for block in blocks]),
        _marked(theirs, [(block.b, block.size) for block in blocks]),
    )


def _marked(parts: list[str], shared: list[tuple[int, int]]) -> Markup:
    made, at = Markup(""), 0
    for start, size in shared:
        own = "".join(parts[at:start])
        if own:
            made += Markup("<mark>{}</mark>").format(html(own)) if own.strip() else html(own)
        made += html("".join(parts[start : start + size]))
        at = start + size
    return made
