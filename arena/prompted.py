"""An endpoint that reads for us, with the one prompt that it is asked by."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

from gateway import prompts
from runstore.records import Language


@dataclass(frozen=True, slots=True)
class Prompted:
    """``PROMPT`` names the prompt's file: the shipped one, or the user's own."""

    PROMPT: ClassVar[str]
    name: str
    text: prompts.PromptFile

    @classmethod
    def load(cls, endpoint: str, language: Language = "en", folder: Path | None = None) -> Self:
        """With the shipped prompt, or the user's own out of ``folder``. Raises Problem, InputProblem."""
        return cls(endpoint, prompts.load("arena", cls.PROMPT, language, folder))

    @property
    def hashes(self) -> dict[str, str]:
        return {f"{self.text.name}.{self.text.language}": self.text.hash}
