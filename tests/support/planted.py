"""Tutor utterances whose moves are known, in both languages: made of a topic's own phrases, or spoken freely.

The spoken ones (``tutor_utterances.LANGUAGE.tsv``) were written from what the components and misconceptions say,
as a tutor would put it, and labelled by hand, without a look at any topic's phrases. Those of every other topic
are held: no detector may be changed because of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from csv import QUOTE_NONE, DictReader
from dataclasses import dataclass
from pathlib import Path

from knowledge import load_topics
from knowledge.topic import Topic

Moves = Mapping[str, tuple[str, str | None]]
TEMPLATES: Mapping[str, Mapping[str, str]] = {
    "en": {
        "told": "{states}.",
        "told by phrase": "{states}: {phrase}.",
        "asked": "Is it because of this: {phrase}?",
        "asked to think": "Suppose it were so: {phrase}. What would follow?",
        "denied": "It is not the case that {phrase}.",
        "ascribed": "You said before: {phrase}.",
        "wrong": "{says}.",
        "refuted": "It is a mistake to think that {says}.",
        "generic": "What do you think, and why would that be so? Tell me more.",
    },
    "ko": {
        "told": "{states}.",
        "told by phrase": "{states}: {phrase}.",
        "asked": "혹시 이것 때문일까, {phrase}?",
        "asked to think": "이렇다고 상상해 봐: {phrase}. 그럼 어떻게 될까?",
        "denied": "{phrase}, 이건 아니야.",
        "ascribed": "아까 네가 {phrase}라고 말했어.",
        "wrong": "{says}.",
        "refuted": "{says}고 생각하는 건 잘못이야.",
        "generic": "어떻게 생각해? 왜 그럴까? 더 말해 줄래?",
    },
}


@dataclass(frozen=True, slots=True)
class Planted:
    """``moves`` are what it does, ``states`` the components whose truth it gives away."""

    topic: Topic
    kind: str
    text: str
    moves: Moves
    states: frozenset[str]


def planted(topic: Topic) -> Iterator[Planted]:
    """Each way of bringing up each component and misconception of a topic, and its scripts."""
    said = TEMPLATES[topic.language]
    nothing: Moves = {}
    for one in topic.taught:
        fields = {"states": one.states[0].upper() + one.states[1:], "phrase": one.key_phrases[0]}
        for kind in ("told", "told by phrase"):
            yield Planted(topic, kind, said[kind].format(**fields), {one.id: ("tell", None)}, frozenset({one.id}))
        for kind in ("asked", "asked to think"):
            yield Planted(topic, kind, said[kind].format(**fields), {one.id: ("hint", None)}, frozenset())
        for kind in ("denied", "ascribed"):
            yield Planted(topic, kind, said[kind].format(**fields), nothing, frozenset())
    for one in topic.misconceptions:
        says = one.says[0].upper() + one.says[1:]
        yield Planted(topic, "wrong", said["wrong"].format(says=says), {one.of: ("wrong", one.id)}, frozenset())
        yield Planted(topic, "refuted", said["refuted"].format(says=one.says), nothing, frozenset())
        aimed = {one.of: ("contrast", one.id)}
        yield Planted(topic, "contrast", topic.scripts.contrast[one.id], aimed, frozenset())
    yield Planted(topic, "generic", said["generic"], nothing, frozenset())
    leak = topic.scripts.leak
    yield Planted(topic, "leak", leak.text, leak.moves(), frozenset(topic.answer))


def spoken(language: str, *, held: bool | None = None) -> Iterator[Planted]:
    """Utterances as people would speak them; ``held``: those kept apart, or (False) those to work with."""
    topics = load_topics(language=language).topics
    kept = sorted(topics)[1::2]
    path = Path(__file__).with_name(f"tutor_utterances.{language}.tsv")
    with path.open(encoding="utf-8", newline="") as file:
        for row in DictReader(file, delimiter="\t", quoting=QUOTE_NONE):
            if held is None or held == (row["question"] in kept):
                moves = {
                    one.split("=")[0].strip(): _move(one.split("=")[1]) for one in row["moves"].split(";") if one
                }
                told = frozenset(component for component, (move, _) in moves.items() if move == "tell")
                yield Planted(topics[row["question"]], "spoken", row["says"], moves, told)


def _move(text: str) -> tuple[str, str | None]:
    move, _, target = text.strip().partition(":")
    return move, target or None
