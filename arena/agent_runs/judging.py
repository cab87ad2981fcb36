"""An endpoint as the judge of intent: fenced material out, one whole number from 0 to 5 back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from arena.judge import fence
from arena.reading import read_integer, read_object
from gateway import prompts
from gateway.errors import CallFailed
from gateway.prompt import Ask, Message, Prompt, Schema
from runstore.records import Language

SCHEMA = Schema(
    "intent",
    {
        "type": "object",
        "properties": {"reason": {"type": "string"}, "score": {"type": "integer", "minimum": 0, "maximum": 5}},
        "required": ["reason", "score"],
        "additionalProperties": False,
    },
)


@dataclass(frozen=True, slots=True)
class EndpointJudge:
    """An ``IntentJudge`` over the gateway's ``ask``. Calls are journalled there, so a second run asks nothing."""

    ask: Ask
    endpoint: str
    text: prompts.PromptFile

    @classmethod
    def load(cls, ask: Ask, endpoint: str, language: Language = "ko", folder: Path | None = None) -> EndpointJudge:
        """With the shipped prompt ``intent``, or the user's own out of ``folder``. Raises Problem."""
        return cls(ask, endpoint, prompts.load("arena", "intent", language, folder))

    async def __call__(self, query: str, expected: str, response: str) -> int | None:
        """None where the call failed, was cut off, or its answer is no whole number from 0 to 5.

        Raises Stopped where the run is stopping.
        """
        material = {"query": query, "expected": expected, "response": response}
        content = self.text.fill(**material, fence=fence(*material.values()))
        prompt = Prompt(role="score", messages=(Message("user", content),), schema=SCHEMA)
        try:
            answer = await self.ask(self.endpoint, prompt, stage="intent")
        except CallFailed:
            return None
        found = read_object(answer.text, finish=answer.finish, keys=("score",), quoted=list(material.values()))
        return None if found.value is None else read_integer(found.value.get("score"), 0, 5).value
