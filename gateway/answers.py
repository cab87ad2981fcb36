"""What counts as an answer: one definition, asked where a call ends and before it is written as answered."""

from __future__ import annotations

import html
import re
from functools import lru_cache

from gateway.errors import TRANSIENT, Fault
from gateway.prompt import Answer
from gateway.thinking import without_thinking
from runstore.publish import clean_unicode, has_visible
from runstore.records import Usage

_LONGEST_OF_NOTHING = 400
_OF_A_TEMPLATE = re.compile(
    r"<\|(?:im_start|start_header_id|start)\|>\s*(?:assistant|model)\b|<\|[\w ]{1,40}\|>"
    r"|<(?:pad|eos|bos|end_of_turn|start_of_turn)>|</?s>|\[/?INST\]|```\w*|</?(?:br|p|div)\s*/?>|[\ufffc\ufffd]"
)
"""Marks of chat templates that a server let through where it should have stopped, and forms without a content,
and what stands for bytes or objects that could not be shown."""
_BRACKETS = ("<", "[", "◁")
"""One of these is in every mark of thinking but one: a harmony header whose marks were taken off."""


@lru_cache(maxsize=1)
def says_something(text: str) -> bool:
    """Whether any mark on paper is left of a reply when its thinking and marks of its template are taken out."""
    if not has_visible(text):
        return False
    if len(text) < _LONGEST_OF_NOTHING and not has_visible(_OF_A_TEMPLATE.sub("", html.unescape(text))):
        return False
    # Nearly every reply: looking for all marks of thinking takes longer than all else that is done with it.
    may_think = any(bracket in text for bracket in _BRACKETS) or text.lstrip().startswith("analysis")
    return not may_think or has_visible(without_thinking(text))


def decided(answer: object) -> Answer | Fault:
    """What an adapter gave, as the answer that it is or the fault that stands for it."""
    if not isinstance(answer, Answer) or type(answer.text) is not str:
        return Fault("unexpected", f"the adapter gave {type(answer).__name__}, not an answer with a text")
    named = answer.request_id
    if named is not None and not named.isascii():
        answer = answer._replace(request_id=clean_unicode(named))
    return answer if says_something(answer.text) else empty(answer.usage, answer.request_id)


def empty(usage: Usage, request_id: str | None = None) -> Fault:
    """The fault of a reply that says nothing; it may say something the next time."""
    message = "the reply has no text that could be read"
    return Fault("empty", message, TRANSIENT, usage=usage, request_id=request_id)
