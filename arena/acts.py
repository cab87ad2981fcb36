"""A model that names what a student's message does, in place of rules that can't tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from arena.asking import Reading, ask_judge, fence
from arena.prompted import Prompted
from arena.reading import read_object
from gateway.prompt import Ask, Message, Prompt, Schema
from runstore.records import ACTS, Act, Utterance

SCHEMA = Schema(
    "act",
    {
        "type": "object",
        "properties": {"act": {"type": "string", "enum": list(ACTS)}},
        "required": ["act"],
        "additionalProperties": False,
    },
)


class ModelActReader(Prompted):
    """An endpoint that names acts. It never learns which act was planned."""

    PROMPT = "act"

    def prompt(self, history: Sequence[Utterance], text: str) -> Prompt:
        """What is sent: the conversation before, and the message."""
        before = "\n".join(f"{each.role}: {each.text}" for each in history)
        content = self.text.fill(before=before, said=text, fence=fence(before, text))
        return Prompt(role="judge", messages=(Message("user", content),), schema=SCHEMA)

    async def __call__(
        self, ask: Ask, history: Sequence[Utterance], text: str, *, item: str, repeat: int, stage: str = "simulate"
    ) -> Act | None:
        """The act, or None where no answer came or none could be read. Raises Stopped."""

        def read(raw: str, finish: str) -> Reading[Act | None]:
            return read_act(raw, finish, quoted=(text,))

        prompt = self.prompt(history, text)
        asked = await ask_judge(ask, self.name, prompt, read, stage=stage, item=item, repeat=repeat)
        return asked.value if asked.state == "answered" else None


def read_act(raw: str, finish: str, quoted: Sequence[str] = ()) -> Reading[Act | None]:
    """The act that a reply names; nothing where it names none of the six."""
    reply = read_object(raw, finish=finish, keys=("act",), quoted=quoted)
    named: object = None if reply.value is None else reply.value.get("act")
    act_named: Act | None = next((act for act in ACTS if act == named), None)
    if act_named is None:
        return Reading(None, is_readable=False, reason=reply.reason or f"no act: {named!r:.40}")
    return Reading(cast("Act | None", act_named), is_readable=True)
