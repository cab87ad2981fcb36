"""The frozen records that stages hand to each other. Field by field they are the lines of a run's files.

A newcomer follows one dialogue through them: Persona and SeedQuestion -> Dialogue -> Subset -> Reply ->
Judgment -> Verdict. *Unreadable*, *invalid*, *failed* and *missing* are states of their own, never a number.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
)

from runstore.languages import known_language

Role = Literal["student", "teacher"]
Language = Annotated[str, AfterValidator(known_language)]
"""The code of a language there are files of, such as ``en``."""
Act = Literal["follow_up", "clarification", "new_question", "irrelevant_question", "right_answer", "wrong_answer"]
Realised = Literal["yes", "no", "unknown"]
End = Literal["turns reached", "student ended", "context limit", "empty student reply", "failure"]
Outcome = Literal["win", "tie", "unreadable"]
VerdictOutcome = Literal["win", "tie", "invalid"]
Agreement = Literal["unanimous", "majority", "split"]

ACTS: tuple[Act, ...] = (
    "follow_up",
    "clarification",
    "new_question",
    "irrelevant_question",
    "right_answer",
    "wrong_answer",
)


DIFFICULTIES = ("middling", "hard")


class Record(BaseModel):
    """Base of all records: frozen; unknown fields in a file (somebody else's columns) are left out on reading."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Persona(Record):
    """A student: one combination of levels, and the text that tells a model how such a student writes.

    ``opens``: the difficulties of the questions this student opens with (none named: any). ``leaves_early``: the
    text has this student give up soon.
    """

    id: str
    levels: dict[str, str]
    language: Language = "en"
    opens: tuple[str, ...] = ()
    leaves_early: bool = False
    text: str


class SeedQuestion(Record):
    """The concrete opening question of a dialogue. ``levels``: per factor, those of the students it is for."""

    id: str
    subject: str
    difficulty: str = "middling"
    levels: dict[str, tuple[str, ...]] = {}
    tags: tuple[str, ...] = ()
    language: Language = "en"
    text: str


class Steered(Record):
    """What an utterance's typing was steered to: words and traits, of so many candidates the one chosen (from 0),
    and what was done to its text by code."""

    words: int
    traits: dict[str, bool] = {}
    of: int = 1
    chosen: int = 0
    edits: tuple[str, ...] = ()


def _is_none(value: object) -> bool:
    return value is None


def _is_nothing(count: int | None) -> bool:
    return not count


class Utterance(Record):
    """One thing one speaker says. ``act`` is the kind of student utterance that was asked for, where one was.

    The rest does not stand in the record where there is nothing to say. ``state`` is what a student knew when
    saying it (component -> state), where the simulation keeps account of it; ``realised`` whether the act was
    done, where that was looked at; ``steered`` how its typing was steered, ``clean`` the text before that.
    """

    role: Role
    text: str
    act: Act | None = None
    state: dict[str, str] | None = Field(default=None, exclude_if=_is_none)
    realised: Realised | None = Field(default=None, exclude_if=_is_none)
    steered: Steered | None = Field(default=None, exclude_if=_is_none)
    clean: str | None = Field(default=None, exclude_if=_is_none)


class Removed(Record):
    """The beginning of what a reading rule took off a raw text of this speaker's (see ``simulator.speech``)."""

    rule: str
    role: Role
    text: str


class Dialogue(Record):
    """Persona, seed question, utterances, and why it ended.

    ``turns`` counts finished exchanges (a student utterance and its reply); ``notes`` counts what the reading
    rules did to the speakers' raw text (see ``simulator.speech``), and ``removed`` has what they took off.
    ``asked``: the seed question's text, where the student opens with it in other words.
    """

    id: str
    persona: str
    levels: dict[str, str] = {}
    question: str
    asked: str | None = None
    subject: str
    language: Language = "en"
    turns: int
    utterances: tuple[Utterance, ...]
    end: End
    end_detail: str | None = None
    complete: bool
    notes: dict[str, int] = {}
    removed: tuple[Removed, ...] = ()


class Subset(Record):
    """A dialogue cut so that its last utterance is the student's.

    ``cut`` is the number of utterances of the dialogue kept, ``first`` the index of the first one kept (0 unless
    the history was limited to its last turns), ``depth`` the number of the student's turns in the dialogue up
    to the cut.
    """

    id: str
    dialogue: str
    persona: str
    levels: dict[str, str] = {}
    question: str
    subject: str
    language: Language = "en"
    cut: int
    first: int = 0
    depth: int
    history: tuple[Utterance, ...]


class Usage(Record):
    """Tokens as the provider counted them; None where it did not say.

    ``input`` includes ``cached``, what was read from the provider's prompt cache, and what was written to it for
    five minutes (``cache_written``) or an hour (``cache_written_1h``): each has a price of its own, and stands in
    a record only where there was any.
    """

    input: int | None = None
    output: int | None = None
    thinking: int | None = None
    cached: int | None = None
    cache_written: int | None = Field(default=None, exclude_if=_is_nothing)
    cache_written_1h: int | None = Field(default=None, exclude_if=_is_nothing)

    @classmethod
    def of(cls, counts: Iterable[int | None]) -> Usage:
        """The counts in the order of the fields, as the journal has them; those left out at the end are None."""
        return cls(**dict(zip(_COUNTED, counts, strict=False)))

    def counts(self) -> tuple[int | None, ...]:
        """What :meth:`of` takes: the first four, and the cache writes where there are any."""
        written = (self.cache_written, self.cache_written_1h)
        return (self.input, self.output, self.thinking, self.cached, *(written if any(written) else ()))


_COUNTED = tuple(Usage.model_fields)


class Reply(Record):
    """One endpoint's answer to one subset.

    ``latency_s`` is of the attempt that answered, as the journal has it (None for a batch's answer), and
    ``cost_usd`` what that attempt cost, None where the price is not known.
    """

    subset: str
    dialogue: str
    endpoint: str
    text: str
    finish: str
    usage: Usage
    latency_s: float | None
    cost_usd: float | None
    warnings: tuple[str, ...] = ()
    removed: tuple[Removed, ...] = ()


class Judgment(Record):
    """What one round said. The letter is what the judge wrote; the winner is a name, mapped once, here."""

    subset: str
    dialogue: str
    judge: str
    criterion: str
    round: int
    slot_a: str
    slot_b: str
    letter: Literal["a", "b", "c"] | None
    outcome: Outcome
    winner: str | None
    reason: str | None
    raw: str


class Vote(Record):
    """One round's outcome as it enters a verdict."""

    judge: str
    round: int
    outcome: Outcome
    winner: str | None


class Verdict(Record):
    """The majority of a match's rounds: more than half of the rounds asked, or it is a tie or invalid."""

    subset: str
    dialogue: str
    endpoints: tuple[str, str]
    criterion: str
    outcome: VerdictOutcome
    winner: str | None
    agreement: Agreement
    votes: tuple[Vote, ...]


class Sheet(Record):
    """One judge's (or person's) filled-in rubric for one session; None is a value that is missing.

    ``flags``: the declared yes-or-no fields that floor rules depend on. ``not_applicable``: element keys by item
    key that the judge set aside (their value is None too). ``readable``: whether any value could be read;
    ``reason``: why values are missing. ``raw`` is the first reply, ``asked_again`` those that only missing
    values were asked of. ``rubric`` is its name, version and content hash.
    """

    subject: str
    judge: str
    repeat: int
    values: dict[str, dict[str, int | None]]
    evidence: dict[str, dict[str, str]] = {}
    evidence_found: dict[str, dict[str, bool | None]] = {}
    flags: dict[str, int | None] = {}
    not_applicable: dict[str, tuple[str, ...]] = {}
    readable: bool
    repair: str | None = None
    reason: str | None = None
    raw: str
    asked_again: tuple[str, ...] = ()
    rubric: str = ""


class Failure(Record):
    """Something that was asked for and did not come, beside the results: never a score, a tie or a loss."""

    stage: str
    item: str
    endpoint: str
    kind: str
    message: str
    attempts: int = 1


JsonObject = dict[str, Any]
