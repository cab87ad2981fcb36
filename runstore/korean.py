"""Korean particles by the last sound of the word before them: 은/는, 이/가, 을/를, 와/과, (으)로, (이)라.

A text writes both forms after a field (``{name}이(가)``); :func:`with_particles` keeps the one that fits what
is filled in. What a reader says aloud decides: letters of an abbreviation by their names (GPT: 지피티), digits as
Korean numbers (7: 칠), an English word by how its end is heard in Korean. Quotes are passed over, and so is what
stands in brackets behind a word: the particle belongs to the word before them.
"""

from __future__ import annotations

import re
import unicodedata

_PAIRS = {
    "이(가)": ("이", "가"),
    "은(는)": ("은", "는"),
    "을(를)": ("을", "를"),
    "와(과)": ("과", "와"),
    "(으)로": ("으로", "로"),
    "(이)라": ("이라", "라"),
}
"""As written: the form after a final consonant, the form after a vowel."""
_MARK = re.compile(r"(?P<between>[\"'”’»〉》」』\])}*`]*)(?P<pair>" + "|".join(map(re.escape, _PAIRS)) + ")")
_BRACKETED = re.compile(r"(?<=\S)\s*(\([^()]*\)|\[[^\[\]]*\]|（[^（）]*）)$")
_DIGITS = {"0": "ㅇ", "1": "ㄹ", "3": "ㅁ", "6": "ㄱ", "7": "ㄹ", "8": "ㄹ"}
_LETTERS = {"l": "ㄹ", "m": "ㅁ", "n": "ㄴ", "r": "ㄹ"}
"""The letters whose Korean names end in a consonant: 엘, 엠, 엔, 알."""
_ENGLISH = (
    (re.compile(r"[^aeiou]le$|[aeiouy]le$|l$"), "ㄹ"),
    (re.compile(r"[aeiouy]me$|m$"), "ㅁ"),
    (re.compile(r"[aeiouy]ne$|n$"), "ㄴ"),
    (re.compile(r"ng$"), "ㅇ"),
    (re.compile(r"(?:^|[^aeiouy])[aeiouy](?:b|p|t|k|c|ck)$"), "ㄱ"),
)
"""How the end of an English word is heard: a stop closes it only behind one short vowel (bot, but not test)."""


def final_consonant(word: str) -> str:
    """The consonant that ``word`` ends in when read aloud in Korean; empty after a vowel or an unknown sign."""
    text = unicodedata.normalize("NFC", word).rstrip()
    while (shorter := _BRACKETED.sub("", text)) != text:
        text = shorter
    text = re.sub(r"[^\w%℃]+$", "", text).rstrip("_")
    if not text:
        return ""
    last = text[-1]
    if "가" <= last <= "힣":
        final = (ord(last) - ord("가")) % 28
        return "" if final == 0 else "ㄹ" if final == 8 else "ㄱ"
    if last in _DIGITS:
        return _DIGITS[last]
    latin = re.search(r"[A-Za-z]+$", text)
    if latin is None:
        return ""
    if latin[0].isupper() or len(latin[0]) == 1:
        return _LETTERS.get(latin[0][-1].lower(), "")
    return next((sound for end, sound in _ENGLISH if end.search(latin[0].lower())), "")


def particle(word: str, pair: str) -> str:
    """The form of ``pair`` (one of 이(가), 은(는), 을(를), 와(과), (으)로, (이)라) that stands after ``word``.

    Raises KeyError for another pair.
    """
    closed, opened = _PAIRS[pair]
    final = final_consonant(word)
    if not final or (pair == "(으)로" and final == "ㄹ"):
        return opened
    return closed


def with_particles(before: str, text: str) -> str:
    """``text`` with the pair it begins with, if it does, as it stands after ``before``.

    Only the beginning is looked at: what was filled in is data, and a pair inside it stays as it is.
    """
    mark = _MARK.match(text)
    if mark is None:
        return text
    return mark["between"] + particle(before + mark["between"], mark["pair"]) + text[mark.end() :]
