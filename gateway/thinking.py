"""A model's thinking where its server left it inside the text: what it looks like, and the text without it."""

from __future__ import annotations

import re

_NAMES = "think|thinking|thought|thoughts|reasoning|scratchpad"
_OPEN = rf"(?:<(?:{_NAMES})>|\[THINK\]|◁think▷)"
_CLOSE = rf"(?:</(?:{_NAMES})>|\[/THINK\]|◁/think▷)"
_BLOCK = re.compile(rf"{_OPEN}.*?{_CLOSE}", re.DOTALL | re.IGNORECASE)
_UNOPENED = re.compile(rf"\A.*?^[ \t]*{_CLOSE}[ \t]*$", re.DOTALL | re.IGNORECASE | re.MULTILINE)
_UNCLOSED = re.compile(rf"^[ \t]*{_OPEN}.*\Z", re.DOTALL | re.IGNORECASE | re.MULTILINE)
_HINTS = ("HOUGHT", "hought", "HINK", "hink", "reasoning>", "scratchpad>", "channel|>", "assistantfinal")
_TAG = re.compile(rf"{_OPEN}|{_CLOSE}|\[/?thinking\]|<\|channel\|>|assistantfinal", re.IGNORECASE)
_HEADING = re.compile(
    r"^[\s*_#\[(]*(?:THOUGHTS?|Thoughts?|THINKING|Thinking)[*_\])]*\s*:|\Athought\s*\n", re.MULTILINE
)


def without_thinking(text: str) -> str:
    """The text without its thinking blocks.

    A pair of thinking tags goes with all that is between; a closing tag alone on a line takes all before it (some
    servers swallow the opening one); an opening tag that starts a line and never closes takes all after it.
    """
    return _UNCLOSED.sub("", _UNOPENED.sub("", _BLOCK.sub("", text), count=1))


def looks_like_thinking(text: str) -> bool:
    """Whether a tag, a heading or a channel of private reasoning is in the text."""
    if not any(hint in text for hint in _HINTS):
        return False
    return bool(_TAG.search(text) or _HEADING.search(text))
