"""What the templates show: questions and material in one language, without anything that names a condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from arena.human.forms import NOT_APPLICABLE, Filled, Question, say
from arena.human.study import Document, Example
from frontdesk.report.untrusted import visible
from frontdesk.web.pages import texts

Sections = list[tuple[str, list["QuestionView"]]]


@dataclass(frozen=True, slots=True)
class QuestionView:
    """One question as it is drawn. ``depends`` is (question, answer, the answer's words)."""

    id: str
    number: str
    kind: str
    text: str
    value: str
    options: tuple[tuple[str, str], ...]
    layout: str
    ends: tuple[str, str] | None
    not_applicable: str
    unit: str
    max_length: int
    optional: bool
    depends: tuple[str, str, str] | None
    complaint: str


@dataclass(frozen=True, slots=True)
class Shown:
    """The material of an item in one language. Which condition it is, is not here."""

    title: str
    original: str
    reply: str
    reply_right: str
    turns: tuple[tuple[str, str], ...]


def show_document(document: Document, condition: str, language: str) -> Shown:
    """One cell of the design as the rater sees it."""
    return Shown(
        title=visible(say(document.title, language)),
        original=visible(say(document.original, language)),
        reply=visible(say(document.replies.get(condition), language)),
        reply_right=visible(say(document.right.get(condition), language)),
        turns=tuple((role, visible(said)) for role, said in document.turns),
    )


def show_example(example: Example, language: str) -> Shown:
    return Shown(
        title=visible(say(example.title, language)),
        original=visible(say(example.original, language)),
        reply=visible(say(example.reply, language)),
        reply_right=visible(say(example.reply_right, language)),
        turns=(),
    )


def show_questions(
    questions: Sequence[Question],
    language: str,
    given: Mapping[str, str],
    filled: Filled | None = None,
    conflicts: Mapping[str, str] | None = None,
) -> Sections:
    """Questions under their sections' headings; ``filled`` adds complaints about what is missing or wrong.

    ``conflicts``: by question what another page has stored, which is shown beside what was sent.
    """
    by_id = {question.id: question for question in questions}
    sections: Sections = []
    counted = follow = 0
    for question in questions:
        # Follow-up questions are lettered (7a), so that hiding one leaves no gap in the numbers.
        counted, follow = (counted, follow + 1) if question.shown_if else (counted + 1, 0)
        number = f"{counted}{'abcdefghijklmnopqrstuvwxyz'[(follow - 1) % 26] if follow else ''}"
        heading = say(question.section, language)
        if not sections or sections[-1][0] != heading:
            sections.append((heading, []))
        view = _view(question, number, by_id, language, given, filled)
        if question.id in (conflicts or {}):
            view = replace(view, complaint=_both(question, language, (conflicts or {})[question.id]))
        sections[-1][1].append(view)
    return sections


def _both(question: Question, language: str, stored: str) -> str:
    text = texts(language)
    said = dict(options(question, language)).get(stored, stored) or text["no_answer"]
    return text["stored_elsewhere"].format(answer=said)


def _view(
    question: Question,
    number: str,
    by_id: Mapping[str, Question],
    language: str,
    given: Mapping[str, str],
    filled: Filled | None,
) -> QuestionView:
    text = texts(language)
    complaint = ""
    if filled and question.id in filled.wrong:
        complaint = text[f"wrong_{filled.wrong[question.id]}"]
    elif filled and question.id in filled.missing:
        complaint = text["missing"]
    condition = question.shown_if
    depends = None
    if condition:
        answer = dict(options(by_id[condition.question], language)).get(condition.answer, condition.answer)
        depends = (condition.question, condition.answer, answer)
    ends = question.kind == "likert" and len(question.anchors) == 2
    return QuestionView(
        id=question.id,
        number=number,
        kind=question.kind,
        text=say(question.text, language),
        value=given.get(question.id, ""),
        options=options(question, language),
        layout="points"
        if ends
        else "row"
        if question.kind in ("likert", "vote") or len(question.options) in (2, 3)
        else "",
        ends=(say(question.anchors[0], language), say(question.anchors[1], language)) if ends else None,
        not_applicable=say(question.not_applicable, language) or "",
        unit=say(question.unit, language),
        max_length=question.max_length,
        optional=not question.needed and question.kind != "text",
        depends=depends,
        complaint=complaint,
    )


def options(question: Question, language: str) -> tuple[tuple[str, str], ...]:
    """(answer, its words) of a closed question, without "does not apply"."""
    if question.kind == "vote":
        text = texts(language)
        return tuple((vote, text[vote]) for vote in question.answers() if vote != NOT_APPLICABLE)
    if question.kind == "choice":
        return tuple((option.id, say(option.text, language)) for option in question.options)
    if question.kind != "likert":
        return ()
    ends = len(question.anchors) == 2
    labels = [question.label(point) for point in range(1, question.points + 1)]
    return tuple(
        (str(point), str(point) if ends else f"{point} {say(label, language)}")
        for point, label in enumerate(labels, 1)
    )


def fields(data: Any) -> dict[str, str]:
    """Form fields as texts; files and empty fields are left out.

    Of a repeated field the last counts, but what was typed wins over "does not apply".
    """
    result: dict[str, str] = {}
    for key, value in data.items():
        typed = isinstance(value, str) and value.strip()
        if typed and not (key in result and value == NOT_APPLICABLE):
            result[str(key)] = value
    return result
