"""An endpoint as the judge of intent: fenced material out, one whole number from 0 to 5 back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from arena.asking import Asked, Reading, ask_judge, fence
from arena.reading import read_integer, read_object
from gateway import prompts
from gateway.prompt import Ask, Message, Prompt, Schema
from runstore.ids import content_id
from runstore.records import Language

STAGE = "intent"
SCHEMA = Schema(
    STAGE,
    {
        "type": "object",
        "properties": {"reason": {"type": "string"}, "score": {"type": "integer", "minimum": 0, "maximum": 5}},
        "required": ["reason", "score"],
        "additionalProperties": False,
    },
)


def question_id(query: str, expected: str, response: str) -> str:
    """What is asked about an item, by what it holds: alike questions are one."""
    return content_id("i", query, expected, response)


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

    async def __call__(self, query: str, expected: str, response: str) -> Asked[int | None]:
        """Raises Stopped where the run is stopping."""
        texts = [query, expected, response]
        content = self.text.fill(query=query, expected=expected, response=response, fence=fence(*texts))
        prompt = Prompt(role="score", messages=(Message("user", content),), schema=SCHEMA)

        def read(raw: str, finish: str) -> Reading[int | None]:
            reply = read_object(raw, finish=finish, keys=("score",), quoted=texts)
            if reply.value is None:
                return Reading(None, is_readable=False, reason=reply.reason)
            given = reply.value.get("score")
            score = read_integer(given, 0, 5)
            is_missing = given is None
            return Reading(score.value, score.value is not None or is_missing, not is_missing, score.reason)

        return await ask_judge(self.ask, self.endpoint, prompt, read, stage=STAGE, item=question_id(*texts))
