"""A judge that reads what a student wrote, and nothing of who the student was told to be, and guesses the levels.

It sees the student's messages after the opener, in order, and each factor with its levels in drawn order. Texts of
personas, prompts and the tutor's lines are never sent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.asking import Asked, Reading, ask_judge, fence
from arena.reading import read_object
from gateway import prompts
from gateway.prompt import Ask, Message, Prompt, Schema
from runstore.ids import hashed_number, shuffled
from runstore.records import Language, Record


class Guess(Record):
    """What a judge made of one dialogue's student: the level of each factor it could be read of."""

    dialogue: str
    judge: str
    state: str
    levels: dict[str, str | None]
    truth: dict[str, str]
    raw: str = ""


@dataclass(frozen=True, slots=True)
class BlindJudge:
    """An endpoint that guesses, with its prompt; ``factors``: the levels there are of each."""

    name: str
    text: prompts.PromptFile
    factors: Mapping[str, Sequence[str]]
    seed: int = 0

    @classmethod
    def load(
        cls,
        endpoint: str,
        factors: Mapping[str, Sequence[str]],
        language: Language,
        folder: Path | None,
        seed: int,
    ) -> BlindJudge:
        """With the shipped prompt, or the user's own out of ``folder``. Raises Problem, InputProblem."""
        return cls(endpoint, prompts.load("arena", "blind", language, folder), factors, seed)

    def prompt(self, dialogue: str, said: Sequence[str]) -> Prompt:
        """What is sent of one dialogue."""
        lines: list[str] = []
        for name, levels in self.factors.items():
            drawn = shuffled(((level, level) for level in levels), self.seed, "blind", dialogue, name)
            lines.append(f"- {name.replace('_', ' ')} ({name}): {' | '.join(drawn)}")
        content = self.text.fill(factors="\n".join(lines), said="\n".join(said), fence=fence(*said))
        properties = {name: {"type": "string", "enum": list(levels)} for name, levels in self.factors.items()}
        schema = {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }
        return Prompt(role="judge", messages=(Message("user", content),), schema=Schema("levels", schema))

    async def guess(self, ask: Ask, dialogue: str, said: Sequence[str], truth: Mapping[str, str]) -> Guess:
        """One dialogue's guess; a level that could not be read is None. Raises Stopped."""

        def read(raw: str, finish: str) -> Reading[dict[str, str | None]]:
            return read_levels(self.factors, raw, finish, quoted=said)

        asked: Asked[dict[str, str | None]] = await ask_judge(
            ask, self.name, self.prompt(dialogue, said), read,
            stage="quality", item=dialogue, repeat=hashed_number(dialogue, "blind"),
        )  # fmt: skip
        levels = asked.value if asked.state in ("answered", "missing values") and asked.value else {}
        known = {name: levels.get(name) for name in self.factors}
        return Guess(
            dialogue=dialogue, judge=self.name, state=asked.state, levels=known, truth=dict(truth), raw=asked.raw
        )


def read_levels(
    factors: Mapping[str, Sequence[str]], raw: str, finish: str, quoted: Sequence[str] = ()
) -> Reading[dict[str, str | None]]:
    """The levels that a reply names; one that there is not counts as missing."""
    reply = read_object(raw, finish=finish, keys=tuple(factors), quoted=quoted)
    if reply.value is None:
        return Reading({}, is_readable=False, reason=reply.reason)
    told = {name: _level(levels, reply.value.get(name)) for name, levels in factors.items()}
    missing = [name for name, level in told.items() if level is None]
    return Reading(
        told, is_readable=len(missing) < len(told), is_whole=not missing, reason=", ".join(missing) or None
    )


def _level(levels: Sequence[str], value: object) -> str | None:
    said = str(value).strip().casefold() if isinstance(value, (str, int)) else None
    return next((level for level in levels if level.casefold() == said), None)
