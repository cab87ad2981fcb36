"""Intent of one item, 0 to 5: the table's own score where it is valid, a judge's, or a stated heuristic."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal, Protocol, get_args

from arena.asking import Asked

Origin = Literal["csv", "judge", "heuristic", "missing"]
ORIGINS: tuple[Origin, ...] = get_args(Origin)

_SCORE = re.compile(r"[0-5](\.\d+)?")
_FAILED_STATUS = re.compile(
    r"fail|error|time\s*-?out|pending|skip|cancel|not[ _]?(scored|run)|실패|오류|에러|대기|미평가|미채점|건너",
    re.IGNORECASE,
)
_WORD = re.compile(r"[가-힣]{2,}|[a-z0-9]{2,}")
# Words that ask rather than name what is asked for.
_ASKING = re.compile(
    r"(싶|해줘|해주|알려|보여|찾아|가줘|가고|이동|어디|어떻|있어|있나|있을|하는|하고|하려|좀|please|show|open|"
    r"take|where|how|what|want|the|to|me|my|is|can|find|go|do|you)"
)
_REFUSING = re.compile(
    r"죄송|찾을 수 없|찾지 못|수 없습니다|지원하지 않|제공하지 않|이해하지 못|알 수 없|"
    r"\bsorry\b|\bcannot\b|\bcan't\b|\bunable\b|not found|don't understand|not support",
    re.IGNORECASE,
)
_STEPS = ((1.0, 5), (0.75, 4), (0.5, 3), (0.25, 2))


class IntentJudge(Protocol):
    """Whoever scores the intent of an item that has no valid score of its own: an endpoint, a person, a rule."""

    async def __call__(self, query: str, expected: str, response: str) -> Asked[int | None]:
        """The value of what is answered is 0 to 5; every other state says why there is none."""
        ...


def csv_score(cell: str, status: str = "") -> float | None:
    """The score in a cell, or None where it is no number from 0 to 5 or its status says that scoring failed."""
    text = cell if cell.isascii() else unicodedata.normalize("NFKC", cell)
    if not _SCORE.fullmatch(text.strip()) or (status and _FAILED_STATUS.search(status)):
        return None
    score = float(text)
    return score if score <= 5 else None


def heuristic_score(query: str, response: str) -> int | None:
    """Share of the query's naming words found in the response: all 5, from 3/4 4, 1/2 3, 1/4 2, any 1, none 0.

    A word of Hangul counts as found by its stem (all but its last two syllables, at least two), since endings
    change. A response that declines gets 1 at most, an empty one 0. None where the query names nothing. It
    stands in for a judgment and is no better than that: it can't tell a right answer from a parroted question.
    """
    if not response.strip():
        return 0
    words = {word for word in _WORD.findall(_plain(query)) if not _ASKING.match(word)}
    if not words:
        return None
    text = _plain(response)
    share = sum(_stem(word) in text for word in words) / len(words)
    score = next((score for least, score in _STEPS if share >= least), 1 if share > 0 else 0)
    return min(score, 1) if _REFUSING.search(response) else score


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _stem(word: str) -> str:
    return word[: max(2, len(word) - 2)] if "가" <= word[0] <= "힣" else word
