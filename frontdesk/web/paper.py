"""Forms on paper and as CSV: a consent sheet and every item of a rater, and the file to type the answers into."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files

from arena.human.certificate import Assignment
from arena.human.folder import StudyFolder
from arena.human.forms import NOT_APPLICABLE, Question, say
from arena.human.returned import SURVEY
from arena.human.study import Document, Study
from frontdesk.report.writers.html import environment
from frontdesk.web.chromium import print_pdf
from frontdesk.web.database import for_owner_alone
from frontdesk.web.pages import texts
from frontdesk.web.store import Store
from frontdesk.web.views import options, show_document, show_questions
from runstore.publish import Cell, safe_name, write_csv, write_text

FORM_HEADER = ("rater", "position", "document", "question", "text", "answers", "value", "submitted_at")


def write_forms(folder: StudyFolder, *, language: str | None, pdf: bool) -> tuple[int, int]:
    """``forms/<rater>.html``, ``.csv`` and, if asked and possible, ``.pdf``. Returns (raters, PDFs made)."""
    study, documents, target = folder.study(), folder.documents(), folder.path / "forms"
    tongue = language or study.languages[0]
    target.mkdir(parents=True, exist_ok=True)
    write_text(target / "form.css", files("frontdesk.web").joinpath("static", "form.css").read_text("utf-8"))
    rows: dict[str, list[Assignment]] = {}
    for row in folder.rows():
        rows.setdefault(row.rater, []).append(row)
    store = Store(folder)
    try:
        codes = {rater: code for rater, _, code in store.links()}
    finally:
        store.close()
    made = 0
    for rater, mine in rows.items():
        path = target / f"{safe_name(rater)}.html"
        write_text(path, _page(study, documents, mine, codes.get(rater, ""), tongue))
        write_csv(path.with_suffix(".csv"), FORM_HEADER, _csv_rows(study, mine, tongue))
        for_owner_alone(path, path.with_suffix(".csv"))
        made += pdf and print_pdf(path, path.with_suffix(".pdf"))
    return len(rows), made


def _page(study: Study, documents: dict[str, Document], rows: list[Assignment], code: str, language: str) -> str:
    questions = study.forms[study.groups[rows[0].group].form].questions
    return environment("frontdesk.web").get_template("paper.html.j2").render(
        title=say(study.title, language),
        language=language,
        words=texts(language),
        rater=rows[0].rater,
        code=code,
        paragraphs=[say(paragraph, language) for paragraph in study.told(rows[0].group)],
        ethics=study.ethics_approval,
        sections=show_questions(questions, language, {}),
        screening=show_questions(study.screens(rows[0].group), language, {}),
        survey=show_questions(study.survey, language, {}),
        items=[
            (row.position, show_document(documents[row.document], row.condition, language)) for row in rows
        ],
        total=len(rows),
    )  # fmt: skip


def _csv_rows(study: Study, rows: list[Assignment], language: str) -> Iterator[list[Cell]]:
    questions = study.forms[study.groups[rows[0].group].form].questions
    for row in rows:
        for question in questions:
            # The position is the rater's own number of the item; which document it is stays with the plan.
            yield _line(row.rater, row.position, question, language)
    for question in study.survey:
        yield _line(rows[0].rater, SURVEY, question, language)


def _line(rater: str, position: int | str, question: Question, language: str) -> list[Cell]:
    return [rater, position, "", question.id, say(question.text, language), _choices(question, language), "", ""]


def _choices(question: Question, language: str) -> str:
    listed = [
        answer if answer == text or text.startswith(f"{answer} ") else f"{answer} = {text}"
        for answer, text in options(question, language)
    ]
    if question.not_applicable:
        listed.append(f"{NOT_APPLICABLE} = {say(question.not_applicable, language)}")
    return " / ".join(listed)
