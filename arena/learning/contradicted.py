"""What a simulated student says against its own state: read by the topic's own phrases, without a call.

knows_too_much   states what is true of a component it lacks or has wrong, and nobody said so before
unlearns         states a misconception about a component that it has understood
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from arena.learning.phrases import labels_of, said_of
from knowledge.topic import ABSENT, MISCONCEIVED, UNDERSTOOD, Topic
from runstore.records import Utterance

Against = Literal["knows_too_much", "unlearns"]


def contradictions(topic: Topic, said: Sequence[Utterance]) -> Iterator[tuple[int, Against]]:
    """(place, kind) of every student utterance with a state that its words contradict; each place once.

    As rare or as common as the phrases allow: what is said in other words is not seen.
    """
    heard: set[str] = set()
    for at, each in enumerate(said):
        if each.role == "student" and at and each.state is not None:
            against = _against(topic, each.state, each.text, heard)
            if against is not None:
                yield at, against
        heard |= {component for component, _ in said_of(topic, each.text)}


def _against(topic: Topic, state: Mapping[str, str], text: str, heard: set[str]) -> Against | None:
    for label in labels_of(topic, text):
        if not label.found or label.component is None:
            continue
        held = state.get(label.component, ABSENT).partition(":")[0]
        if label.move == "tell" and held in (ABSENT, MISCONCEIVED) and label.component not in heard:
            return "knows_too_much"
        if label.move == "wrong" and held == UNDERSTOOD:
            return "unlearns"
    return None
