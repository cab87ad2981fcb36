"""One persona and one seed question -> one dialogue of *t* turns.

The student speaks first, with the seed question; the teacher has the last word. So a full dialogue of *t* turns
costs *t* teacher calls and *t* - 1 student calls, and one more where the student words the opening.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from gateway.errors import CallFailed
from gateway.prompt import Answer, Ask, Prompt
from runstore.ids import content_id, hashed_number, pick_weighted
from runstore.records import (
    ACTS,
    Act,
    Dialogue,
    End,
    Failure,
    Persona,
    Realised,
    Removed,
    SeedQuestion,
    Utterance,
)
from simulator.acts import ActReader, realised
from simulator.knowledge.knowing import Knowing
from simulator.knowledge.step import Step
from simulator.roles import SIMPLE, Roles
from simulator.speech import Speech, read_speech
from simulator.style.steering import Steering
from simulator.style.target import Spot, Target

ActWeights = Mapping[Act, float]

_BEST_FIRST: tuple[Realised, ...] = ("yes", "unknown", "no")
EVEN_ACTS: ActWeights = dict.fromkeys(ACTS, 1.0)


@dataclass(frozen=True, slots=True)
class Conversation:
    """How dialogues are held. ``weights``: per level (``factor-level``) or ``*``, the share of each act.

    ``stays``: exactly ``turns`` turns, whoever would rather leave; ``rephrases``: the student says the opening
    question in its own words. ``steering``: how its typing is steered. ``act_retries``: how often a message is
    asked for again that does not do the planned act; ``reader`` names acts where rules can't tell.
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
    steering: Steering | None = None
    act_retries: int = 0
    reader: ActReader | None = None
    seed: int = 0

    @property
    def candidates(self) -> int:
        """Messages asked for where one is used."""
        return 1 if self.steering is None else self.steering.candidates


@dataclass(frozen=True, slots=True)
class Held:
    """A dialogue as far as it went, and the failure that ended it, if one did."""

    dialogue: Dialogue
    failure: Failure | None


@dataclass(frozen=True, slots=True)
class _Message:
    """What a student's next message is to be: ``prompts`` by candidate; ``spot``, ``wanted`` of steered typing."""

    prompts: Sequence[Prompt]
    turn: int
    act: Act | None
    may_end: bool
    step: Step | None = None
    spot: Spot | None = None
    wanted: Target | None = None


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
    place: int | None = None,
    knowing: Knowing | None = None,
) -> Held:
    """Hold one dialogue. ``copy`` tells apart dialogues of the same persona and question.

    ``place``: where the dialogue stands in its run's plan, which spreads what its messages are steered to evenly.
    ``knowing``: the student has a state of knowledge, and what it does follows from it.

    Never raises for what a model does: a failure ends the dialogue and is named in it. Raises Stopped when the
    run is stopped, so that a half-held dialogue is never taken for a finished one.
    """
    talk = _Talk(ask, persona, question, how, roles, dialogue_id(persona, question, how, copy), knowing, place)
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
        place: int | None,
    ) -> None:
        self.ask, self.persona, self.question = ask, persona, question
        self.how, self.roles, self.id = how, roles, name
        self.knowing, self.place = knowing, place
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
        await self._student_says(_Message([prompt], 1, None, may_end=False))

    async def _student_speaks(self, turn: int) -> None:
        step, direction = await self._considered()
        act = self._planned_act(turn) if step is None else step.meant.act
        steering, style, spot, wanted = self.how.steering, None, None, None
        fields = self.fields
        if steering is not None:
            spot = Spot(self.how.seed, self.id, turn, self.place)
            wanted = steering.target(self.persona.levels, spot, act)
            style = steering.told(wanted, spot)
            fields = {**fields, **steering.fields(wanted)}
        prompts = [
            self.roles.student_prompt(
                self.persona, self.said, act, {**fields, "sample": str(at)} if at else fields, direction, style
            )
            for at in range(self.how.candidates)
        ]
        may_end = not self.how.stays
        await self._student_says(_Message(prompts, turn, act, may_end, step, spot, wanted))

    async def _student_says(self, message: _Message) -> None:
        """Candidates until one says something and does what was planned, as often as either may be asked again."""
        blanks, again = 0, 0
        while True:
            speeches = await self._candidates(message, blanks + again)
            if all(speech.is_blank for speech in speeches) and not (speeches[0].ended and message.may_end):
                self.notes["blank"] += 1
                blanks += 1
                self._count(speeches[0])
                if blanks > self.how.blank_retries:
                    break
                continue
            chosen, realised_as = await self._chosen(message, speeches, blanks + again)
            if realised_as == "no" and again < self.how.act_retries and not speeches[chosen].ended:
                again += 1
                self.notes["act_asked_again"] += 1
                continue
            self._count(speeches[chosen])
            self._say(message, speeches[chosen], len(speeches), chosen, realised_as)
            return
        tries = self.how.blank_retries + 1
        text = f"only blank replies in {tries} tries"
        unopened = CallFailed(self.how.student, "empty", text, tries) if not self.said else None
        raise _Ended("empty student reply", text, unopened)

    def _count(self, speech: Speech) -> None:
        self.notes.update(speech.notes)
        self.removed.extend(speech.removed)

    def _say(self, message: _Message, speech: Speech, of: int, chosen: int, realised_as: Realised | None) -> None:
        if not speech.is_blank:
            text, clean, steered = speech.text, None, None
            steering = self.how.steering
            if steering is not None and message.spot is not None and message.wanted is not None:
                text, clean, steered = steering.typed(
                    text, self.question.language, message.wanted, message.spot, of=of, chosen=chosen
                )
            state = None if message.step is None else message.step.spoken(speech.text)[1]
            self.said.append(
                Utterance(
                    role="student", text=text, act=message.act, state=state, realised=realised_as, steered=steered,
                    clean=clean,
                )
            )  # fmt: skip
        if speech.ended and message.may_end:
            raise _Ended("student ended")

    async def _candidates(self, message: _Message, attempt: int) -> list[Speech]:
        """What the model says, once for each prompt, in their order; those that failed are left out.

        The first one decides whether the student leaves, so that choosing among several changes nothing in that:
        others that disagree are left out too. Raises _Ended where all fail.
        """
        asked = [
            self._answer(self.how.student, prompt, message.turn, attempt, at)
            for at, prompt in enumerate(message.prompts)
        ]
        if len(asked) == 1:
            return [read_speech((await asked[0]).text, "student")]
        answers = await asyncio.gather(*asked, return_exceptions=True)
        wrong = [answer for answer in answers if isinstance(answer, BaseException)]
        for error in wrong:
            if not isinstance(error, _Ended) or len(wrong) == len(answers):
                raise error
        self.notes.update({"candidate_failed": len(wrong)} if wrong else {})
        said = [read_speech(each.text, "student") for each in answers if not isinstance(each, BaseException)]
        agreed = [speech for speech in said if speech.ended == said[0].ended]
        return [speech for speech in agreed if not speech.is_blank] or agreed[:1]

    async def _chosen(
        self, message: _Message, speeches: Sequence[Speech], attempt: int
    ) -> tuple[int, Realised | None]:
        """The place of the candidate that is used, and whether it does what was planned.

        Those that do come before those of which it is not known, and these before those that don't.
        """
        steering, act = self.how.steering, message.act
        states: Sequence[Realised | None] = [None] * len(speeches)
        if act is not None and self.how.acts == "planned":
            states = [realised(act, each.text, self.said, self.question.language) for each in speeches]
        best: Realised | None = next((state for state in _BEST_FIRST if state in states), None)
        among = [at for at, state in enumerate(states) if state == best]
        chosen = among[0]
        if len(among) > 1 and steering is not None and message.spot is not None and message.wanted is not None:
            texts = [speeches[at].text for at in among]
            chosen = among[steering.choose(texts, self.question.language, message.wanted, message.spot)]
        if best == "unknown" and self.how.reader is not None and act is not None:
            repeat = hashed_number(self.id, message.turn, attempt, "act")
            self.notes["act_read"] += 1
            named = await self.how.reader(self.ask, self.said, speeches[chosen].text, item=self.id, repeat=repeat)
            return chosen, "unknown" if named is None else "yes" if named == act else "no"
        return chosen, best

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

    async def _answer(self, endpoint: str, prompt: Prompt, turn: int, attempt: int, candidate: int = 0) -> Answer:
        """Every dialogue's calls are its own samples, even where two of them send the same text."""
        own = (candidate,) if candidate else ()
        repeat = hashed_number(self.id, turn, attempt, *own)
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
