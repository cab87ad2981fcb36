"""A model that reads moves in a tutor's utterance. Only where its quote stands in the text does a label count.

The utterance is hostile: it stands between fences, an object that it holds is never the labeller's answer, and
nothing that it claims about the student or about labels changes anything without a quoted move.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast, get_args

from arena.asking import Reading, ask_judge, fence
from arena.prompted import Prompted
from arena.reading import read_object
from arena.rubrics.evidence import quote_found
from gateway.errors import CallFailed
from gateway.prompt import Ask, Message, Prompt, Schema
from knowledge.topic import MOVES, Topic
from runstore.student_records import MoveLabel, MoveName

SCHEMA = Schema(
    "moves",
    {
        "type": "object",
        "properties": {
            "labels": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "component": {"type": "string"},
                        "move": {"type": "string", "enum": list(MOVES)},
                        "target": {"type": ["string", "null"]},
                        "quote": {"type": "string"},
                    },
                    "required": ["component", "move", "target", "quote"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["labels"],
        "additionalProperties": False,
    },
)
SHORTEST_QUOTE = 4
_NOBODY = ("", "null", "none")
"""How models write that a move is aimed at nothing."""
_MOVES: tuple[MoveName, ...] = get_args(MoveName)
Read = tuple[MoveLabel, ...]


class ModelLabeller(Prompted):
    """An endpoint that labels."""

    PROMPT = "moves"

    def prompt(self, topic: Topic, before: str, said: str) -> Prompt:
        """What is sent; no tutor's name is in it."""
        components = "\n".join(f"- {component.id}: {component.states}" for component in topic.components)
        misconceptions = "\n".join(
            f"- {misconception.id}, {misconception.of}: {misconception.says}"
            for misconception in topic.misconceptions
        )
        content = self.text.fill(
            components=components,
            misconceptions=misconceptions,
            before=before,
            said=said,
            fence=fence(before, said),
        )
        return Prompt(role="judge", messages=(Message("user", content),), schema=SCHEMA)

    async def __call__(
        self, ask: Ask, topic: Topic, before: str, said: str, *, node: str, repeat: int, stage: str = "student"
    ) -> Sequence[MoveLabel]:
        """The labels of one utterance, none where it does nothing.

        Raises CallFailed where no reply came, or none from which every label can be read: no label is made up.
        """

        def read(raw: str, finish: str) -> Reading[Read]:
            return read_labels(
                topic, raw, said, finish=finish, node=node, labeller=self.name, quoted=(before, said)
            )

        prompt = self.prompt(topic, before, said)
        asked = await ask_judge(ask, self.name, prompt, read, stage=stage, item=node, repeat=repeat)
        if asked.failure is not None:
            raise asked.failure
        if asked.state != "answered":
            kind = "truncated" if asked.state == "cut off" else "unexpected"
            raise CallFailed(self.name, kind, f"no labels: {asked.reason or asked.state}", 1, asked.raw)
        return asked.value or ()


def read_labels(
    topic: Topic, raw: str, said: str, *, finish: str, node: str, labeller: str, quoted: Sequence[str] = ()
) -> Reading[Read]:
    """The labels of a labeller's reply. One that names what the topic lacks makes the reply unreadable."""
    reply = read_object(raw, finish=finish, keys=("labels",), quoted=quoted)
    rows: object = reply.value.get("labels") if reply.value is not None else None
    if not isinstance(rows, list):
        return Reading((), is_readable=False, reason=reply.reason or "no list of labels")
    labels: list[MoveLabel] = []
    for row in cast("list[object]", rows):
        label = _label(topic, row, said, node, labeller)
        if label is None:
            return Reading((), is_readable=False, reason=f"a label that is none: {row!r:.80}")
        labels.append(label)
    return Reading(tuple(labels), is_readable=True)


def _label(topic: Topic, row: object, said: str, node: str, labeller: str) -> MoveLabel | None:
    if not isinstance(row, dict):
        return None
    given = cast("dict[str, Any]", row)
    component, move, target, quote = (given.get(key) for key in ("component", "move", "target", "quote"))
    move = move.strip().casefold() if isinstance(move, str) else move
    target = None if isinstance(target, str) and target.strip().casefold() in _NOBODY else target
    if not isinstance(component, str) or component not in topic.component:
        return None
    if move not in _MOVES or not isinstance(quote, str):
        return None
    if target is not None and not (isinstance(target, str) and target in topic.misconception):
        return None
    is_long = sum(character.isalnum() for character in quote) >= SHORTEST_QUOTE
    return MoveLabel(
        node=node, component=component, move=move, target=target, quote=quote,
        found=is_long and quote_found(quote, said), labeller=labeller,
    )  # fmt: skip
