"""A student's next message beside a person's: read by a judge who doesn't know which is whose, and measured.

The dimensions are those of arXiv 2601.04025: act, correctness, error, knowledge, wording, and the tutor's reply.
Knowledge and the tutor's reply need models that are not here, and are null with their reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log2
from pathlib import Path
from typing import cast

import numpy as np

from arena.asking import Asked, Reading, ask_judge, fence
from arena.reading import read_object
from gateway import prompts
from gateway.prompt import Ask, Message, Prompt, Schema
from runstore.ids import draw, draw_seed, hashed_number
from runstore.records import ACTS, Act, Language, Record, Utterance

RESAMPLES = 500
NO_TRACING = "needs a model that traces knowledge through the dialogue"
NO_TUTOR = "needs the probabilities of a tutor model"
_ERRORS = ("yes", "no", "none")
_SCHEMA = Schema(
    "beside",
    {
        "type": "object",
        "properties": {
            "act_a": {"type": "string", "enum": list(ACTS)},
            "act_b": {"type": "string", "enum": list(ACTS)},
            "same_error": {"type": "string", "enum": list(_ERRORS)},
        },
        "required": ["act_a", "act_b", "same_error"],
        "additionalProperties": False,
    },
)


class Pair(Record):
    """One turn: what the person said, and what the student said to the same history; acts where read."""

    talk: str
    turn: int
    person: str
    student: str
    act_person: Act | None = None
    act_student: Act | None = None
    same_error: str | None = None
    state: str = "not read"


@dataclass(frozen=True, slots=True)
class BesideReader:
    """An endpoint that reads both messages, in drawn order."""

    name: str
    text: prompts.PromptFile
    seed: int

    @classmethod
    def load(cls, endpoint: str, language: Language, folder: Path | None, seed: int) -> BesideReader:
        """With the shipped prompt, or the user's own out of ``folder``. Raises Problem, InputProblem."""
        return cls(endpoint, prompts.load("arena", "beside", language, folder), seed)

    async def read(self, ask: Ask, history: Sequence[Utterance], pair: Pair) -> Pair:
        """The pair with acts and error, as far as they could be read. Raises Stopped."""
        person_first = draw(self.seed, "beside", pair.talk, pair.turn) < 0.5
        a, b = (pair.person, pair.student) if person_first else (pair.student, pair.person)
        before = "\n".join(f"{each.role}: {each.text}" for each in history)
        content = self.text.fill(before=before, a=a, b=b, fence=fence(before, a, b))
        prompt = Prompt(role="judge", messages=(Message("user", content),), schema=_SCHEMA)

        def read(raw: str, finish: str) -> Reading[tuple[Act, Act, str] | None]:
            return read_pair(raw, finish, quoted=(before, a, b))

        asked: Asked[tuple[Act, Act, str] | None] = await ask_judge(
            ask, self.name, prompt, read,
            stage="quality", item=pair.talk, repeat=hashed_number(pair.talk, pair.turn, "beside"),
        )  # fmt: skip
        if asked.state != "answered" or asked.value is None:
            return pair.model_copy(update={"state": asked.state})
        one, other, error = asked.value
        person, student = (one, other) if person_first else (other, one)
        told = {"act_person": person, "act_student": student, "same_error": error, "state": "answered"}
        return pair.model_copy(update=told)


def read_pair(raw: str, finish: str, quoted: Sequence[str] = ()) -> Reading[tuple[Act, Act, str] | None]:
    """Both acts and the error that a reply names; nothing where one of them is missing."""
    reply = read_object(raw, finish=finish, keys=("act_a", "act_b", "same_error"), quoted=quoted)
    value = reply.value or {}
    acts = [next((act for act in ACTS if act == value.get(name)), None) for name in ("act_a", "act_b")]
    error = next((word for word in _ERRORS if word == value.get("same_error")), None)
    if acts[0] is None or acts[1] is None or error is None:
        return Reading(None, is_readable=False, reason=reply.reason or "an act or the error is missing")
    return Reading(cast("tuple[Act, Act, str] | None", (acts[0], acts[1], error)), is_readable=True)


def measured(pairs: Sequence[Pair], seed: int) -> dict[str, object]:
    """Each dimension with its interval over conversations drawn again; null with a reason where unknown."""
    answers = {"right_answer": "right", "wrong_answer": "wrong"}

    def correctness(pair: Pair) -> float | None:
        if pair.act_person is None or pair.act_student is None:
            return None
        return float(answers.get(pair.act_person, "none") == answers.get(pair.act_student, "none"))

    def act(pair: Pair) -> float | None:
        return None if pair.act_person is None else float(pair.act_person == pair.act_student)

    def error(pair: Pair) -> float | None:
        return float(pair.same_error == "yes") if pair.same_error in ("yes", "no") else None

    def length(pair: Pair) -> float:
        return log2(max(1, len(pair.student.split()))) - log2(max(1, len(pair.person.split())))

    unread = "no judge read the acts"
    return {
        "turns": len(pairs),
        "conversations": len({pair.talk for pair in pairs}),
        "read": sum(pair.state == "answered" for pair in pairs),
        "same_act": _mean(pairs, act, seed, "act", unread),
        "same_correctness": _mean(pairs, correctness, seed, "correctness", unread),
        "same_error": _mean(pairs, error, seed, "error", "no turn where both are wrong"),
        "length": _mean(pairs, length, seed, "length", "no turns"),
        "wording": _mean(pairs, lambda pair: rouge_l(pair.person, pair.student), seed, "wording", "no turns"),
        "knowledge": {"value": None, "reason": NO_TRACING},
        "tutor_reply": {"value": None, "reason": NO_TUTOR},
        "acts_person": dict(Counter(pair.act_person for pair in pairs if pair.act_person)),
        "acts_student": dict(Counter(pair.act_student for pair in pairs if pair.act_student)),
    }


def _mean(
    pairs: Sequence[Pair], of: Callable[[Pair], float | None], seed: int, name: str, reason: str
) -> dict[str, object]:
    by_talk: dict[str, list[float]] = {}
    for pair in pairs:
        if (value := of(pair)) is not None:
            by_talk.setdefault(pair.talk, []).append(value)
    if not by_talk:
        return {"value": None, "reason": reason}
    sums = np.asarray([[sum(values), len(values)] for values in by_talk.values()], dtype=np.float64)
    value, turns = float(sums[:, 0].sum() / sums[:, 1].sum()), int(sums[:, 1].sum())
    row: dict[str, object] = {"value": value, "turns": turns, "lower": None, "upper": None, "reason": None}
    if len(sums) < 2:
        return {**row, "reason": "one conversation: no interval"}
    generator = np.random.default_rng(draw_seed(seed, "beside", name))
    drawn = sums[generator.integers(len(sums), size=(RESAMPLES, len(sums)))].sum(axis=1)
    lower, upper = np.quantile(drawn[:, 0] / drawn[:, 1], [0.025, 0.975])
    return {**row, "lower": float(lower), "upper": float(upper)}


def rouge_l(one: str, other: str) -> float:
    """F1 of the longest common subsequence of words (Lin 2004)."""
    a, b = one.casefold().split(), other.casefold().split()
    row = [0] * (len(b) + 1)
    for word in a:
        before = 0
        for at, known in enumerate(b, 1):
            before, row[at] = row[at], before + 1 if word == known else max(row[at], row[at - 1])
    return 2 * row[-1] / (len(a) + len(b)) if a and b else 0.0
