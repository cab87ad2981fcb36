"""What is taken off a reply before anything is read from it: thinking, invisible characters, width variants."""

from __future__ import annotations

import re
import unicodedata

STOPPED = frozenset({"stop", "end_turn", "stop_sequence", "eos"})
CUT_OFF = "the reply was cut off or blocked"

_NAMES = "think|thinking|thought|thoughts|reasoning|scratchpad"
_OPEN = rf"(?:<(?:{_NAMES})>|\[THINK\]|◁think▷)"
_CLOSE = rf"(?:</(?:{_NAMES})>|\[/THINK\]|◁/think▷)"
_BLOCK = re.compile(rf"{_OPEN}.*?{_CLOSE}", re.DOTALL | re.IGNORECASE)
_UNOPENED = re.compile(rf"\A.*?^[ \t]*{_CLOSE}[ \t]*$", re.DOTALL | re.IGNORECASE | re.MULTILINE)
_UNCLOSED = re.compile(rf"^[ \t]*{_OPEN}.*\Z", re.DOTALL | re.IGNORECASE | re.MULTILINE)
_WIDTH_TAGS = ("<wide>", "<narrow>", "<small>")
_PARENTHESISED = str.maketrans({"⒜": "(a)", "⒝": "(b)", "⒞": "(c)"})


def finished(finish: str) -> bool:
    """Whether the endpoint ended its reply of its own accord."""
    return finish.lower() in STOPPED


def own_text(raw: str) -> str:
    """The reply without its thinking blocks.

    A pair of thinking tags goes with all that is between; a closing tag alone on a line takes all before it (some
    servers swallow the opening one); an opening tag that starts a line and never closes takes all after it.
    """
    text = _BLOCK.sub("", raw)
    text = _UNOPENED.sub("", text, count=1)
    return _UNCLOSED.sub("", text)


def plain_text(text: str) -> str:
    """Full-width forms as ASCII, invisible characters gone, every kind of line end as one line feed."""
    shown: list[str] = []
    for character in text.replace("\r\n", "\n").translate(_PARENTHESISED):
        if character.isascii():
            shown.append("\n" if character in "\r\v\f" else character)
        elif character in "\u2028\u2029\x85":
            shown.append("\n")
        elif _invisible(character):
            continue
        elif unicodedata.decomposition(character).startswith(_WIDTH_TAGS):
            shown.append(unicodedata.normalize("NFKC", character))
        else:
            shown.append(" " if character.isspace() else character)
    return "".join(shown)


def _invisible(character: str) -> bool:
    return unicodedata.category(character) in {"Cf", "Cc"} or "\ufe00" <= character <= "\ufe0f"


def folded(text: str) -> str:
    """Text for looking one passage up in another: compatibility forms joined, no case, blanks or emphasis."""
    kept = unicodedata.normalize("NFKC", plain_text(text)).casefold()
    return "".join(character for character in kept if not character.isspace() and character not in "*_`~")
