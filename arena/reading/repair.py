r"""An object that no strict parser takes, set right sign by sign, to be read again by the strict rules.

Only what can mean one thing is set right: commas too many, or missing where a key begins a line, single or curly
quotation marks, keys without any, ``True False None``, full-width signs, comments, line breaks and quotation marks
in strings, backslashes of formulas. What a string says, its legal escapes and every value stay as written; nothing
is completed. What still does not parse is unreadable.
"""

from __future__ import annotations

import json
import re
import unicodedata

from arena.reading.escapes import escaped_string, has_illegal_escape, without_apostrophe_escapes

_CLOSING = {'"': '"', "'": "'", "“": "”", "‘": "’", "＂": "＂"}
_AFTER_STRING = re.compile(r"\s*(?:[,:}\]，：｝］\"'“‘＂]|/[/*]|\Z)")
_COMMENT = re.compile(r"(?<![\w.])//[^\n{}]*$|/\*[^{}]*?\*/", re.MULTILINE)
_COLON = re.compile(r"\s*[:：]")
_PLAIN = re.compile(r"[\s0-9,:{}\[\].+-]+")
_OTHER_BLANK = re.compile(r"[^\S \t\r\n]")
_PLAIN_INSIDE = re.compile(r"[^\\\"'”’＂]+")
_BARE_KEY = re.compile(r"[A-Za-z_][\w-]*(?=\s*[:：])")
_WORD = re.compile(r"[A-Za-z_][\w-]*")
_LITERALS = {"True": "true", "False": "false", "None": "null"}
_CONTROL = re.compile(r"[\x00-\x1f]")
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_PYTHON_ESCAPE = re.compile(r"\\(?:x([0-9a-f]{2})|U(000[0-9a-f]{5}|0010[0-9a-f]{4}))")
_COMMAS = re.compile(r",(?:\s*,)+")
_LAST_COMMA = re.compile(r",(\s*[}\]])")
_NO_COMMA = re.compile(r"[^\s{,][^\S\n]*\n\s*\Z")


def repaired(text: str) -> str:
    """The text as JSON where it can be made JSON, else something that does not parse. Never raises."""
    parts: list[str] = []
    between: list[str] = []
    at = depth = 0
    unescaped = escaped_string if has_illegal_escape(text) else without_apostrophe_escapes
    while at < len(text):
        # What stands behind the object is no comment of it.
        if depth > 0 and (comment := _COMMENT.match(text, at)):
            between.append(" ")
            at = comment.end()
            continue
        token, at, is_string = _token(text, at)
        if not is_string:
            between.append(token)
            depth += token.count("{") - token.count("}")
            continue
        signs = _commas_set_right("".join(between))
        before = f'"{signs}' if parts else signs  # a string ends before these signs
        if _COLON.match(text, at) and _NO_COMMA.search(before):
            signs = f"{signs},"
        parts.extend((signs, unescaped(token)))
        between = []
    return "".join((*parts, _commas_set_right("".join(between))))


def _token(text: str, at: int) -> tuple[str, int, bool]:
    """A string or key, a word or a sign that begins at ``at``; where it ends; whether it is a string."""
    if text[at] in _CLOSING:
        return _string(text, at)
    if key := _BARE_KEY.match(text, at):
        return f'"{key[0]}"', key.end(), True
    if word := _WORD.match(text, at):
        return _LITERALS.get(word[0], word[0]), word.end(), False
    if plain := _PLAIN.match(text, at):
        return _OTHER_BLANK.sub(" ", plain[0]), plain.end(), False
    sign = text[at]
    if unicodedata.category(sign) == "Cf":
        return " ", at + 1, False
    return unicodedata.normalize("NFKC", sign) if "！" <= sign <= "～" else sign, at + 1, False


def _string(text: str, start: int) -> tuple[str, int, bool]:
    closing = _CLOSING[text[start]]
    inside: list[str] = []
    at, has_bare_quote = start + 1, False
    while at < len(text):
        if plain := _PLAIN_INSIDE.match(text, at):
            inside.append(plain[0])
            at = plain.end()
            continue
        sign = text[at]
        if written := _PYTHON_ESCAPE.match(text, at):
            inside.append(json.dumps(chr(int(written[1] or written[2], 16)))[1:-1])
            at = written.end()
        elif sign == "\\":
            inside.append(text[at : at + 2])
            at += 2
        elif sign == closing and _AFTER_STRING.match(text, at + 1):
            if has_bare_quote and _COLON.match(text, at + 1):
                break  # no key has quotation marks in it: one of these is not where it was
            return f'"{_without_control("".join(inside))}"', at + 1, True
        else:
            has_bare_quote |= sign == closing
            inside.append('\\"' if sign == '"' else sign)
            at += 1
    return text[start:], len(text), True


def _without_control(text: str) -> str:
    return _CONTROL.sub(lambda sign: _ESCAPES.get(sign[0], f"\\u{ord(sign[0]):04x}"), text)


def _commas_set_right(signs: str) -> str:
    return _LAST_COMMA.sub(r"\1", _COMMAS.sub(",", signs))
