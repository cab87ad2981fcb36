"""What the student and the teacher are sent: each sees its own lines as its own, the other's as the user's.

Providers want a chat to begin with the user, and the student speaks first; so the student's chat opens with a
fixed message that asks for the opening question, and the question stays where it belongs, as its own first line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
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
    subject: str | None = None
    stay: prompts.PromptFile | None = None
    rephrase: prompts.PromptFile | None = None

    @classmethod
    def load(
        cls,
        language: Language = "en",
        folder: Path | None = None,
        styles: Sequence[str] = (SIMPLE,),
        *,
        domain: str | None = None,
        stays: bool = False,
        rephrases: bool = False,
    ) -> Roles:
        """The shipped prompts, or the user's own out of ``folder``. Raises Problem, InputProblem.

        ``domain`` is what is taught; ``stays`` keeps students to the planned turns, ``rephrases`` has them put
        the opening question into their own words.
        """
        student, opening, planned = (
            prompts.load(PACKAGE, name, language, folder)
            for name in ("student", "student_opening", "student_planned")
        )
        table = prompts.load_table(PACKAGE, "student_acts", language, folder)
        like = f"teacher.{SIMPLE}"
        teachers = {
            style: prompts.load(PACKAGE, f"teacher.{style}", language, folder, like=like) for style in styles
        }
        wanted = {"subject": domain is not None, "student_stay": stays, "student_rephrase": rephrases}
        more = {name: prompts.load(PACKAGE, name, language, folder) for name, asked in wanted.items() if asked}
        files = [student, opening, planned, table, *teachers.values(), *more.values()]
        hashes = {f"{file.name}.{file.language}": file.hash for file in files}
        subject = more["subject"].fill(domain=domain) if domain is not None else None
        stay, rephrase = more.get("student_stay"), more.get("student_rephrase")
        return cls(language, student, opening, planned, table.texts, teachers, hashes, subject, stay, rephrase)

    def opening_prompt(self, persona: Persona, question: str, fields: dict[str, str]) -> Prompt:
        """The opening question in the student's own words. Raises ValueError where the prompt was not loaded."""
        if self.rephrase is None:
            raise ValueError("roles were loaded without the prompt that rephrases openings")
        wanted = Utterance(role="student", text=question)
        return Prompt(
            role="student",
            messages=(
                Message("system", self._student_system(persona)),
                Message("user", self.rephrase.fill(question=question)),
            ),
            transcript=(wanted,),
            fields={**fields, "persona": persona.text, "act": ""},
        )

    def _student_system(self, persona: Persona) -> str:
        stay = self.stay.text if self.stay is not None else None
        parts = [self.subject, self.student.fill(persona=persona.text), stay]
        return "\n\n".join(part for part in parts if part is not None)

    def student_prompt(
        self,
        persona: Persona,
        history: Sequence[Utterance],
        act: Act | None,
        fields: dict[str, str],
        direction: str | None = None,
        style: str | None = None,
    ) -> Prompt:
        """The student's next utterance. ``act``: the kind asked for, or None where the model chooses.

        ``direction``: what exactly is to be said, in place of the kind's own description; ``style``: how it is
        typed. Both end the last message, so that all before them begins the next prompt too.
        """
        turns = turns_of(history)
        messages = [
            Message("system", self._student_system(persona)),
            Message("user", self.opening.text),
            *_chat(turns, own="student"),
        ]
        told = [] if act is None else [self.planned.fill(act=direction or self.acts[act])]
        if told or style is not None:
            last = messages.pop()
            parts = [last.content, *told, *([] if style is None else [style])]
            messages.append(Message(last.role, "\n\n".join(parts)))
        return Prompt(
            role="student",
            messages=tuple(messages),
            transcript=turns,
            fields={**fields, "persona": persona.text, "act": act or ""},
        )

    def teacher_prompt(
        self, history: Sequence[Utterance], style: str, fields: dict[str, str], system: str | None = None
    ) -> Prompt:
        """The teacher's reply to a history that ends with the student. ``system`` replaces all of our own text."""
        told = "\n\n".join(part for part in (self.teachers[style].text, self.subject) if part is not None)
        text, turns = system if system is not None else told, turns_of(history)
        return Prompt(
            role="teacher",
            messages=(Message("system", text), *_chat(turns, own="teacher")),
            transcript=turns,
            fields={**fields, "style": style},
        )


def turns_of(history: Sequence[Utterance]) -> tuple[Utterance, ...]:
    """The same, speakers in turn as endpoints and trainers want it: utterances of one that follow are joined."""
    if all(one.role != other.role for one, other in pairwise(history)):
        return tuple(history)  # as nearly always, and this is asked for with every utterance
    grouped = (tuple(turn) for _, turn in groupby(history, key=lambda utterance: utterance.role))
    return tuple(
        turn[0] if len(turn) == 1 else turn[0].model_copy(update={"text": "\n\n".join(each.text for each in turn)})
        for turn in grouped
    )


def _chat(turns: Sequence[Utterance], own: str) -> list[Message]:
    return [Message("assistant" if turn.role == own else "user", turn.text) for turn in turns]
