"""What raters are asked: questions, and the one place that reads their answers.

An answer is kept as a short text: the number of a Likert point, the id of an option, a plain decimal, or what
was written. ``NA`` is "does not apply", which is neither missing nor a number. A question that is shown only
under a condition has no answer while the condition does not hold.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal, Self, cast

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from arena.rubrics.rubric import Rubric, load_rubric
from runstore.languages import known_language, languages, words
from runstore.records import Language
from runstore.tables import strict_number, whole_number, width_folded

NOT_APPLICABLE = "NA"
FLAGS = "flags"  # where a rubric's item stands in the id of a question about one of its flags
Kind = Literal["likert", "choice", "text", "number", "vote"]
VOTES = ("left", "right", "both_good", "both_bad")
MAX_TEXT = 4000


class Strict(BaseModel):
    """Base of everything in a study file: frozen, and an unknown key is a mistake."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _languages(value: object) -> object:
    return {"any": value} if isinstance(value, str) else value


def _known(texts: dict[str, str]) -> dict[str, str]:
    for code in texts:
        if code != "any":
            known_language(code)
    return texts


Text = Annotated[dict[str, str], BeforeValidator(_languages), AfterValidator(_known), Field(min_length=1)]
Id = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,79}$")]


def say(text: Mapping[str, str] | None, language: str) -> str:
    """The text in this language; else the one written for any language; else whichever there is."""
    if not text:
        return ""
    return text.get(language) or text.get("any") or next(iter(text.values()))


class Option(Strict):
    """One choice of a multiple-choice question."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_]{1,32}$")]
    text: Text


class ShownIf(Strict):
    """The question is asked only if another question has this answer."""

    question: Id
    answer: str


class Question(Strict):
    """One question. ``anchors`` name every point of a Likert scale, or its two ends."""

    id: Id
    kind: Kind
    text: Text
    section: Text | None = None
    points: Annotated[int, Field(ge=2, le=11)] = 5
    anchors: tuple[Text, ...] = ()
    not_applicable: Text | None = None
    options: tuple[Option, ...] = ()
    unit: Text | None = None
    minimum: float | None = None
    maximum: float | None = None
    max_length: Annotated[int, Field(ge=1, le=MAX_TEXT)] = 2000
    required: bool | None = None
    shown_if: ShownIf | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.kind == "likert" and len(self.anchors) not in (2, self.points):
            raise ValueError(
                f"{self.id}: expected 2 anchors (the ends) or {self.points}, found {len(self.anchors)}"
            )
        if (self.kind == "choice") != bool(self.options):
            raise ValueError(f"{self.id}: a choice has options, and nothing else has")
        return self

    @property
    def needed(self) -> bool:
        """Whether an item is finished only with an answer: as ``required`` says, else all but free texts."""
        return self.kind != "text" if self.required is None else self.required

    def label(self, point: int) -> Text | None:
        """The anchor of a Likert point, where it has one."""
        if len(self.anchors) == self.points:
            return self.anchors[point - 1]
        return {1: self.anchors[0], self.points: self.anchors[-1]}.get(point)

    def answers(self) -> tuple[str, ...]:
        """Every possible answer of a closed question, in the order shown; empty for open ones."""
        closed: tuple[str, ...] = ()
        if self.kind == "likert":
            closed = tuple(str(point) for point in range(1, self.points + 1))
        elif self.kind == "choice":
            closed = tuple(option.id for option in self.options)
        elif self.kind == "vote":
            closed = VOTES
        return (*closed, NOT_APPLICABLE) if self.not_applicable else closed


class Form(Strict):
    """The questions that one group answers about each item: its own, or those of a rubric (name or YAML file)."""

    questions: Annotated[tuple[Question, ...], Field(min_length=1)]
    rubric: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_rubric(cls, data: Any) -> Any:
        if isinstance(data, dict) and "rubric" in data and "questions" not in data:
            named = cast("dict[str, object]", data)
            return {**named, "questions": rubric_questions(load_rubric(str(named["rubric"])))}
        return cast("Any", data)

    @model_validator(mode="after")
    def _references(self) -> Self:
        known: dict[str, Question] = {}
        for question in self.questions:
            if question.id in known:
                raise ValueError(f"question {question.id} occurs twice")
            condition = question.shown_if
            if condition and condition.question not in known:
                raise ValueError(f"{question.id} depends on {condition.question}, which does not come before it")
            if condition and condition.answer not in known[condition.question].answers():
                raise ValueError(f"{question.id}: {condition.question} has no answer {condition.answer!r}")
            known[question.id] = question
        return self


def rubric_questions(rubric: Rubric) -> tuple[Question, ...]:
    """A rubric's form: its flags, then every element (met or not) or scale, as questions ``item__element``."""
    yes, no = Option(id="1", text=_in_every_language("met")), Option(id="0", text=_in_every_language("not_met"))
    # A flag's question speaks of 0 and 1, and asks whether something is so, not whether it is met.
    flags = Option(id="1", text=_in_every_language("flag_yes")), Option(id="0", text=_in_every_language("flag_no"))
    questions = [
        Question(id=f"{FLAGS}__{flag.key}", kind="choice", text=_any(flag.question), options=flags,
                 required=not flag.optional)
        for flag in rubric.flags
    ]  # fmt: skip
    for item in rubric.items:
        section = _any(item.title)
        for element in item.elements:
            no_case = _in_every_language("not_applicable") if element.not_applicable else None
            name, text = f"{item.key}__{element.key}", _any(element.question)
            questions.append(
                Question(
                    id=name, kind="choice", text=text, section=section, options=(yes, no), not_applicable=no_case
                )
            )
        if item.scale:
            points = range(item.scale.low, item.scale.high + 1)
            options = tuple(
                Option(id=str(n), text=_any(item.scale.anchors[n]) if n in item.scale.anchors else {"any": str(n)})
                for n in points
            )
            questions.append(
                Question(id=f"{item.key}__score", kind="choice", text=section, section=section, options=options)
            )
    return tuple(questions)


def _any(text: Mapping[Language, str]) -> Text:
    return {**text}


def _in_every_language(key: str) -> Text:
    return {language: words("arena", "forms", language)(key) for language in languages()}


@dataclass(frozen=True, slots=True)
class Filled:
    """A form as it was read: the answers, what is missing, and what is wrong (see :func:`read_answer`)."""

    values: dict[str, str]
    missing: tuple[str, ...]
    wrong: dict[str, str]

    @property
    def complete(self) -> bool:
        return not self.missing and not self.wrong


def read_form(questions: Sequence[Question], data: Mapping[str, str]) -> Filled:
    """Answers out of raw form fields. Questions whose condition does not hold have none, whatever was sent."""
    values: dict[str, str] = {}
    missing: list[str] = []
    wrong: dict[str, str] = {}
    for question in questions:
        condition = question.shown_if
        if condition and values.get(condition.question) != condition.answer:
            continue
        value, complaint = read_answer(question, data.get(question.id, ""))
        if complaint:
            wrong[question.id] = complaint
        elif value:
            values[question.id] = value
        elif question.needed:
            missing.append(question.id)
    return Filled(values, tuple(missing), wrong)


_GROUPED = re.compile(r"[+-]?\d{1,3}(?:[, ]\d{3})+(?:\.\d+)?")


def read_answer(question: Question, raw: str) -> tuple[str, str | None]:
    """(answer, None), ("", None) if missing, or ("", complaint): ``option``, ``number``, ``range``, ``long``."""
    text = raw.replace("\r\n", "\n").strip()
    if not text:
        return "", None
    if question.kind == "text":
        return ("", "long") if len(text) > question.max_length else (text, None)
    if question.not_applicable and text.upper() in {"NA", "N/A"}:
        return NOT_APPLICABLE, None
    if question.kind == "number":
        return _read_number(question, text)
    if text not in question.answers():
        text = whole_number(text) or text
    return (text, None) if text in question.answers() else ("", "option")


def _read_number(question: Question, text: str) -> tuple[str, str | None]:
    plain = width_folded(text)
    for unit in (question.unit or {}).values():
        plain = plain.removesuffix(unit)
    plain = plain.strip()
    if _GROUPED.fullmatch(plain):
        plain = re.sub("[, ]", "", plain)
    if strict_number(plain) is None or len(plain) > 20:
        return "", "number"
    number = Decimal(plain)
    if abs(number) >= Decimal(10) ** 15:
        return "", "number"
    low, high = question.minimum, question.maximum
    if (low is not None and number < Decimal(str(low))) or (high is not None and number > Decimal(str(high))):
        return "", "range"
    shown = format(number.normalize(), "f")
    return ("0" if shown == "-0" else shown), None
