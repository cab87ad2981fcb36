"""Moves read by a topic's own phrases and words: no call, the same every time, and blind to most of what is free.

Sentence by sentence: a phrase of a component that is stated is told, in a question it is a hint; a misconception's
cue that is stated is wrong, in a question it is a contrast. What is denied, or set up as a case to think about, is
not stated. Where a sentence has no phrase, it is what it shares enough words with (:mod:`knowledge.wording`). The
same rule tells who said a component first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from arena.rubrics.evidence import quote_found
from gateway.prompt import Ask
from knowledge.topic import Misconception, Topic
from runstore.student_records import MoveLabel, MoveName

NAME = "phrases"
Manner = Literal["states", "asks", "denies"]

_SENTENCE = re.compile(r".+?(?:[.!?。？！…]+(?=[\s\"”’)]|$)|\n|$)", re.DOTALL)
_CLAUSE = re.compile(r"[,;:—–]|\bso\b|\bbut\b|(?<=니까)\s|(?<=지만)\s|(?<=는데)\s")
_ASKS = re.compile(
    r"[?？]|^\W*(?:suppose|imagine|think (?:about|of)|consider|what if|picture|look at|follow|take|try|explain)\b"
    r"|상상해|가정해|(?:생각해|따져|설명해|말해)\s*(?:봐|보자|보세요|볼까|줘|보면)?\W*$|해 봐\W*$|해 보자\W*$"
    r"|(?:(?<!니)까|나요|니|가요|을지|는지)\W*$",
    re.IGNORECASE,
)
_DENIES = re.compile(
    r"\b(?:not|wrong|false|incorrect|mistake|myth|untrue|unlike|instead of|rather than)\b|n't\b"
    r"|아니|않|틀렸|틀린|잘못|오해",
    re.IGNORECASE,
)
_ASCRIBES = re.compile(
    r"\b(?:you|they|some|many|people) (?:\w+ )?(?:said|wrote|claim|say|think|believe)"
    r"|it is often said|the idea that"
    r"|(?:이건|그건|이게|그게|그런 게|그렇지) ?(?:아니|않|틀)"
    r"|라고 (?:했|말했|썼)|다고 (?:했|말했|썼|생각하|생각했|믿)|(?:라는|다는) (?:말|생각|주장)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class PhraseLabeller:
    """The labeller that needs no model."""

    name: str = NAME

    async def __call__(
        self,
        ask: Ask,  # noqa: ARG002 - nobody is asked
        topic: Topic,
        before: str,  # noqa: ARG002 - a phrase is told by itself
        said: str,
        *,
        node: str,
        repeat: int,  # noqa: ARG002 - no draw
        stage: str = "student",  # noqa: ARG002 - no call
    ) -> Sequence[MoveLabel]:
        return labels_of(topic, said, node)


def labels_of(topic: Topic, said: str, node: str = "") -> list[MoveLabel]:
    """One label a component and manner, in the order of the text."""
    labels: dict[tuple[str, MoveName, str | None], MoveLabel] = {}
    parts = sentences(said)
    for sentence, following in zip(parts, [*parts[1:], ""], strict=True):
        for component, move, target, quote in _moves(topic, sentence, is_asked=bool(_ASKS.search(following))):
            label = MoveLabel(node=node, component=component, move=move, target=target, quote=quote, found=True,
                              labeller=NAME)  # fmt: skip
            labels.setdefault((component, move, target), label)
    return list(labels.values())


def sentences(text: str) -> list[str]:
    """The sentences of a text, each with its end."""
    return [match.group().strip() for match in _SENTENCE.finditer(text) if match.group().strip()]


def manner(sentence: str, phrase: str) -> Manner:
    """How a sentence brings up a phrase that stands in it. What the phrase itself denies is not denied."""
    if _ASKS.search(sentence):
        return "asks"
    if _ASCRIBES.search(sentence):
        return "denies"
    clauses = [part for part in _CLAUSE.split(sentence) if quote_found(phrase, part)] or [sentence]
    rests = [re.sub(re.escape(phrase), " ", clause, flags=re.IGNORECASE) for clause in clauses]
    return "denies" if all(_DENIES.search(rest) for rest in rests) else "states"


def said_of(topic: Topic, text: str) -> Iterator[tuple[str, str]]:
    """(component, words of the text) that a text states."""
    for sentence in sentences(text):
        for component, move, _, quote in _moves(topic, sentence, is_asked=False):
            if move == "tell" and topic.component[component].level != "untouched":
                yield component, quote


_OF_MISCONCEPTION: dict[Manner, MoveName] = {"states": "wrong", "asks": "contrast", "denies": "mention"}
_OF_COMPONENT: dict[Manner, MoveName] = {"states": "tell", "asks": "hint", "denies": "mention"}


def _moves(topic: Topic, sentence: str, *, is_asked: bool) -> Iterator[tuple[str, MoveName, str | None, str]]:
    """``is_asked``: a question follows, so that a misconception in this sentence is a case to think about."""
    aimed: set[str] = set()
    is_known = False
    for misconception in topic.misconceptions:
        if cue := _phrase(misconception.cues, sentence):
            is_known = True
            aimed.add(misconception.of)
            yield _against(misconception, manner(sentence, cue), cue, is_asked=is_asked)
    for component in topic.components:
        phrase = _phrase(component.key_phrases, sentence)
        if phrase and component.id not in aimed:
            is_known = True
            yield component.id, _OF_COMPONENT[manner(sentence, phrase)], None, phrase
    near = None if is_known else topic.wording.nearest(sentence)
    if isinstance(near, Misconception):
        yield _against(near, _manner_of(sentence, near.says), sentence, is_asked=is_asked)
    elif near is not None:
        yield near.id, _OF_COMPONENT[_manner_of(sentence, near.states)], None, sentence


def _against(
    misconception: Misconception, how: Manner, quote: str, *, is_asked: bool
) -> tuple[str, MoveName, str | None, str]:
    how = "asks" if how == "states" and is_asked else how
    return misconception.of, _OF_MISCONCEPTION[how], misconception.id if how != "denies" else None, quote


def _manner_of(sentence: str, meant: str) -> Manner:
    """How a sentence brings up something that it puts in other words. What is meant may itself deny something."""
    if _ASKS.search(sentence):
        return "asks"
    is_denied = _DENIES.search(sentence) and not _DENIES.search(meant)
    return "denies" if _ASCRIBES.search(sentence) or is_denied else "states"


def _phrase(phrases: Iterable[str], sentence: str) -> str | None:
    """The first of the phrases that stands in the sentence, whatever case, blanks and signs."""
    return next((phrase for phrase in phrases if quote_found(phrase, sentence)), None)
