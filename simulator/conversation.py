"""One persona and one seed question -> one dialogue of *t* turns.

The student speaks first, with the seed question; the teacher has the last word. So a full dialogue of *t* turns
costs *t* teacher calls and *t* - 1 student calls, and one more where the student words the opening.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from gateway.errors import CallFailed
from gateway.prompt import Answer, Ask, Prompt
from runstore.ids import content_id, hashed_number, pick_weighted
from runstore.records import ACTS, Act, Dialogue, End, Failure, Persona, Removed, SeedQuestion, Utterance
from simulator.knowledge.knowing import Knowing
from simulator.knowledge.step import Step
from simulator.roles import SIMPLE, Roles
from simulator.speech import read_speech

ActWeights = Mapping[Act, float]

EVEN_ACTS: ActWeights = dict.fromkeys(ACTS, 1.0)


@dataclass(frozen=True, slots=True)
class Conversation:
    """How dialogues are held. ``weights``: per level (``factor-level``) or ``*``, the share of each act.

    ``stays``: exactly ``turns`` turns, whoever would rather leave; ``rephrases``: the student says the opening
    question in its own words.
    """

    student: str
    teacher: str
    turns: int = 4
    acts: Literal["free", "planned", "knowledge"] = "free"
    weights: Mapping[str, ActWeights] = field(default_factory=lambda: {"*": EVEN_ACTS})
    style: str = SIMPLE
    stays: bool = False
    rephrases: bool = False
    blank_retries: int = 2
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Held:
    """A dialogue as far as it went, and the failure that ended it, if one did."""

    dialogue: Dialogue
    failure: Failure | None


class _Ended(Exception):
    def __init__(self, end: End, detail: str | None = None, failure: CallFailed | None = None) -> None:
        super().__init__(end)
        self.end: End = end
        self.detail, self.failure = detail, failure


async def converse(
    ask: Ask,
    persona: Persona,
    question: SeedQuestion,
    how: Conversation,
    roles: Roles,
    *,
    copy: int = 0,
    knowing: Knowing | None = None,
) -> Held:
    """Hold one dialogue. ``copy`` tells apart dialogues of the same persona and question.

    ``knowing``: the student has a state of knowledge, and what it does follows from it.

    Never raises for what a model does: a failure ends the dialogue and is named in it. Raises Stopped when the
    run is stopped, so that a half-held dialogue is never taken for a finished one.
    """
    talk = _Talk(ask, persona, question, how, roles, dialogue_id(persona, question, how, copy), knowing)
    end, detail, failure = await talk.hold()
    dialogue = Dialogue(
        id=talk.id,
        persona=persona.id,
        levels=persona.levels,
        question=question.id,
        asked=question.text if how.rephrases else None,
        subject=question.subject,
        language=question.language,
        turns=sum(utterance.role == "teacher" for utterance in talk.said),
        utterances=tuple(talk.said),
        end=end,
        end_detail=detail,
        complete=end in ("turns reached", "student ended"),
        notes=dict(sorted(talk.notes.items())),
        removed=tuple(talk.removed),
    )
    return Held(dialogue, failure.record("simulate", talk.id) if failure is not None else None)


def dialogue_id(persona: Persona, question: SeedQuestion, how: Conversation, copy: int) -> str:
    return content_id("d", persona.id, question.id, question.language, how.seed, copy)


class _Talk:
    def __init__(
        self,
        ask: Ask,
        persona: Persona,
        question: SeedQuestion,
        how: Conversation,
        roles: Roles,
        name: str,
        knowing: Knowing | None,
    ) -> None:
        self.ask, self.persona, self.question = ask, persona, question
        self.how, self.roles, self.id = how, roles, name
        self.knowing = knowing
        state = None if knowing is None else knowing.first(question.id, persona.levels, how.seed, name)
        self.said = [Utterance(role="student", text=question.text, state=state)]
        self.notes: Counter[str] = Counter()
        self.removed: list[Removed] = []
        self.fields = {"dialogue_id": name, "topic": question.subject}

    async def hold(self) -> tuple[End, str | None, CallFailed | None]:
        try:
            if self.how.rephrases:
                await self._student_opens()
            for turn in range(1, self.how.turns + 1):
                await self._teacher_speaks(turn)
                if turn < self.how.turns:
                    await self._student_speaks(turn + 1)
        except _Ended as ended:
            return ended.end, ended.detail, ended.failure
        return "turns reached", None, None

    async def _teacher_speaks(self, turn: int) -> None:
        prompt = self.roles.teacher_prompt(self.said, self.how.style, self.fields)
        for attempt in range(self.how.blank_retries + 1):
            answer = await self._answer(self.how.teacher, prompt, turn, attempt)
            speech = read_speech(answer.text, "teacher")
            self.notes.update(speech.notes)
            self.removed.extend(speech.removed)
            if not speech.is_blank:
                self.said.append(Utterance(role="teacher", text=speech.text))
                return
            self.notes["blank"] += 1
        message = f"only blank replies in {self.how.blank_retries + 1} tries"
        raise _Ended(
            "failure", message, CallFailed(self.how.teacher, "empty", message, self.how.blank_retries + 1)
        )

    async def _student_opens(self) -> None:
        """The opening question as the student words it. The end marker is no part of it."""
        self.said.clear()
        prompt = self.roles.opening_prompt(self.persona, self.question.text, self.fields)
        await self._student_says(prompt, 1, None, may_end=False)

    async def _student_speaks(self, turn: int) -> None:
        step, direction = await self._considered()
        act = self._planned_act(turn) if step is None else step.meant.act
        prompt = self.roles.student_prompt(self.persona, self.said, act, self.fields, direction)
        await self._student_says(prompt, turn, act, may_end=not self.how.stays, step=step)

    async def _student_says(
        self, prompt: Prompt, turn: int, act: Act | None, *, may_end: bool, step: Step | None = None
    ) -> None:
        for attempt in range(self.how.blank_retries + 1):
            answer = await self._answer(self.how.student, prompt, turn, attempt)
            speech = read_speech(answer.text, "student")
            self.notes.update(speech.notes)
            self.removed.extend(speech.removed)
            if not speech.is_blank:
                state = None if step is None else step.spoken(speech.text)[1]
                self.said.append(Utterance(role="student", text=speech.text, act=act, state=state))
            if speech.ended and may_end:
                raise _Ended("student ended")
            if not speech.is_blank:
                return
            self.notes["blank"] += 1
        tries = self.how.blank_retries + 1
        message = f"only blank replies in {tries} tries"
        unopened = CallFailed(self.how.student, "empty", message, tries) if not self.said else None
        raise _Ended("empty student reply", message, unopened)

    async def _considered(self) -> tuple[Step | None, str | None]:
        """What a student with a state makes of the tutor's last utterance."""
        if self.knowing is None:
            return None, None
        try:
            return await self.knowing.next(
                self.ask, self.question.id, self.said, self.persona.levels, self.how.seed, self.id
            )
        except CallFailed as failed:
            raise _Ended("failure", f"{failed.kind}: {failed.message}", failed) from None

    async def _answer(self, endpoint: str, prompt: Prompt, turn: int, attempt: int) -> Answer:
        """Every dialogue's calls are its own samples, even where two of them send the same text."""
        repeat = hashed_number(self.id, turn, attempt)
        try:
            answer = await self.ask(endpoint, prompt, repeat=repeat, stage="simulate", item=self.id)
        except CallFailed as failed:
            if failed.kind == "context_length":
                raise _Ended("context limit", f"context length: {failed.message}", failed) from None
            if failed.kind == "empty" and prompt.role == "student":
                self.notes["blank"] += failed.attempts
                raise _Ended("empty student reply", failed.message, failed) from None
            raise _Ended("failure", f"{failed.kind}: {failed.message}", failed) from None
        self.notes.update(f"warning: {warning}" for warning in answer.warnings)
        if blanks := answer.retried.count("empty"):
            self.notes["blank"] += blanks
        return answer

    def _planned_act(self, turn: int) -> Act | None:
        if self.how.acts != "planned":
            return None
        weights = weights_of(self.how, self.persona)
        return pick_weighted([(act, weights[act]) for act in ACTS], self.how.seed, "act", self.id, turn)


def weights_of(how: Conversation, persona: Persona) -> dict[Act, float]:
    """The product of the tables that fit the persona's levels, each act's share in each."""
    combined: dict[Act, float] = dict.fromkeys(ACTS, 1.0)
    names = ["*", *(f"{factor}-{level}" for factor, level in persona.levels.items())]
    for table in (how.weights[name] for name in names if name in how.weights):
        combined = {act: share * table.get(act, 1.0) for act, share in combined.items()}
    return combined
