"""What the student and the teacher are sent: each sees its own lines as its own, the other's as the user's.

Providers want a chat to begin with the user, and the student speaks first; so the student's chat opens with a
fixed message that asks for the opening question, and the question stays where it belongs, as its own first line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gateway import prompts
from gateway.prompt import Message, Prompt
from runstore.records import Act, Language, Persona, Utterance

PACKAGE = "simulator"
SIMPLE = "simple"
"""The style that is told least: who was coached on what judges look for would not be compared fairly."""


@dataclass(frozen=True, slots=True)
class Roles:
    """The prompt texts of one language, loaded once. ``hashes`` name every file that was used."""

    language: Language
    student: prompts.PromptFile
    opening: prompts.PromptFile
    planned: prompts.PromptFile
    acts: dict[str, str]
    teachers: dict[str, prompts.PromptFile]
    hashes: dict[str, str]

    @classmethod
    def load(
        cls,
        language: Language = "en",
        folder: Path | None = None,
        styles: Sequence[str] = (SIMPLE,),
    ) -> Roles:
        """The shipped prompts, or the user's own out of ``folder``. Raises Problem, InputProblem."""
        student, opening, planned = (
            prompts.load(PACKAGE, name, language, folder)
            for name in ("student", "student_opening", "student_planned")
        )
        table = prompts.load_table(PACKAGE, "student_acts", language, folder)
        like = f"teacher.{SIMPLE}"
        teachers = {
            style: prompts.load(PACKAGE, f"teacher.{style}", language, folder, like=like) for style in styles
        }
        files = [student, opening, planned, table, *teachers.values()]
        hashes = {f"{file.name}.{file.language}": file.hash for file in files}
        return cls(language, student, opening, planned, table.texts, teachers, hashes)

    def student_prompt(
        self,
        persona: Persona,
        history: Sequence[Utterance],
        act: Act | None,
        fields: dict[str, str],
        direction: str | None = None,
    ) -> Prompt:
        """The student's next utterance. ``act``: the kind asked for, or None where the model chooses.

        ``direction``: what exactly is to be said, in place of the kind's own description.
        """
        messages = [
            Message("system", self.student.fill(persona=persona.text)),
            Message("user", self.opening.text),
            *_chat(history, own="student"),
        ]
        if act is not None:
            last = messages.pop()
            planned = self.planned.fill(act=direction or self.acts[act])
            messages.append(Message(last.role, f"{last.content}\n\n{planned}"))
        return Prompt(
            role="student",
            messages=tuple(messages),
            transcript=tuple(history),
            fields={**fields, "persona": persona.text, "act": act or ""},
        )

    def teacher_prompt(
        self, history: Sequence[Utterance], style: str, fields: dict[str, str], system: str | None = None
    ) -> Prompt:
        """The teacher's reply to a history that ends with the student. ``system`` replaces the style's text."""
        text = system if system is not None else self.teachers[style].text
        return Prompt(
            role="teacher",
            messages=(Message("system", text), *_chat(history, own="teacher")),
            transcript=tuple(history),
            fields={**fields, "style": style},
        )


def _chat(history: Sequence[Utterance], own: str) -> list[Message]:
    return [Message("assistant" if utterance.role == own else "user", utterance.text) for utterance in history]
