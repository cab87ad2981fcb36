# ruff: noqa: RUF012 - defaults of frozen pydantic models are copied, not shared
"""The study file: who rates what, in which conditions, with which forms, for how long and for how much.

TOML or YAML. Every text may be one string or ``{ ko = "…", en = "…" }``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self, cast

import yaml
from pydantic import Field, ValidationError, model_validator

from arena.human.forms import Form, Id, Question, Strict, Text
from runstore.expected import expected_of
from runstore.ids import shuffled
from runstore.problems import InputProblem, nearest
from runstore.records import Language, Role
from runstore.tables import read_table

Count = Annotated[int, Field(ge=1, le=100_000)]
Minutes = Annotated[float, Field(ge=0, le=10_000)]
Money = Annotated[float, Field(ge=0)]


class Condition(Strict):
    """One condition. ``name`` is known to the organiser alone; ``mask`` are more words that would give it away.

    ``label`` heads its column in the results.
    """

    name: str
    label: str = ""
    mask: tuple[str, ...] = ()


class Group(Strict):
    """Raters of one kind.

    ``balanced``: each rater gets ``items`` documents of the material. ``common``: all raters rate the same
    ``items``, so that agreement can be computed. ``full``: every rater rates every document, in Williams order.

    ``both_conditions``: each document is rated in both conditions, the second time after all the others; half of
    its raters begin with the other condition. ``same_documents_as``: a common set is that of another group, from
    which this one has a task of its own (``task``: what its raters are told theirs is).
    """

    label: Text
    size: Count
    items: Count
    form: Id
    assignment: Literal["balanced", "common", "full"] = "balanced"
    material: Id = "main"
    both_conditions: bool = False
    same_documents_as: Id | None = None
    task: Text | None = None
    ratings_per_document: Count | None = None
    min_ratings_per_cell: Annotated[int, Field(ge=0)] = 1
    fee: Money = 0.0


class TimePlan(Strict):
    """Minutes: training and closing survey once, the parts of an item once per item."""

    training: Minutes = 0
    per_item: dict[str, Minutes] = {}
    survey: Minutes = 0
    too_fast_seconds: Annotated[float, Field(ge=0)] = 20


class Cost(Strict):
    """A cost beside the raters' fees."""

    label: Text
    amount: Money


class Stage(Strict):
    """A step of the schedule, in days."""

    label: Text
    days: Annotated[float, Field(gt=0)]


class Consent(Strict):
    """What the participant is told, paragraph by paragraph, and what they give about themselves."""

    paragraphs: Annotated[tuple[Text, ...], Field(min_length=1)]
    personal: tuple[Literal["name", "email", "phone"], ...] = ()


class Recruitment(Strict):
    """Participants whom a panel sends: under which name their id comes, and where they go when they are done.

    ``attention``: the expected answer of questions that only ask whether somebody reads.
    """

    parameter: Annotated[str, Field(pattern=r"^[A-Za-z0-9_]{1,40}$")] = "PROLIFIC_PID"
    completion: Annotated[str, Field(pattern=r"^(https://\S+)?$")] = ""
    screened: Annotated[str, Field(pattern=r"^(https://\S+)?$")] = ""
    code: str = ""
    attention: dict[Id, str] = {}


class Example(Strict):
    """A training item: rated like the others, never counted. ``explanation`` stands above it."""

    title: Text
    original: Text
    reply: Text
    reply_right: Text | None = None
    explanation: Text | None = None
    groups: tuple[Id, ...] = ()


class Screen(Strict):
    """A closed question before consent: who gives an answer of ``accept`` may take part. Nothing is stored."""

    question: Question
    accept: Annotated[tuple[str, ...], Field(min_length=1)]
    groups: tuple[Id, ...] = ()

    @model_validator(mode="after")
    def _possible(self) -> Self:
        known = self.question.answers()
        if strangers := [answer for answer in self.accept if answer not in known]:
            raise ValueError(
                f"{self.question.id}: no answer {strangers[0]!r}; there are {', '.join(known) or 'none'}"
            )
        return self


class Row(Strict):
    """A row of the results table: the mean of ``questions`` per rating, compared over ``pairing``."""

    metric: Id
    label: Text
    questions: Annotated[tuple[Id, ...], Field(min_length=1)]
    pairing: Literal["rater", "document"] = "rater"


class MoneyCheck(Strict):
    """The system's estimate (of the documents file) against the expert's, in relative error bands."""

    question: Id
    bands: tuple[float, ...] = (0.05, 0.10, 0.30, 0.50)


class Matches(Strict):
    """Pairwise material: matches of a run. ``endpoints`` empty means every pair the run has replies for.

    Their names are masked in what raters see, and so are the words of ``mask`` (models, companies).
    """

    run: str
    endpoints: tuple[str, ...] = ()
    mask: tuple[str, ...] = ()
    matches: Count | None = None
    material: Id = "matches"


class Dialogues(Strict):
    """Whole dialogues of a run, to be scored with a rubric's form."""

    run: str
    dialogues: Count | None = None
    material: Id = "dialogues"


class Study(Strict):
    """A whole study file.

    ``draw_documents``: the documents file is a pool, of which each stratum's count is drawn.
    """

    id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,40}$")]
    title: Text
    languages: tuple[Language, ...] = ("en",)
    seed: int = 0
    currency: Text = {"any": ""}
    ethics_approval: str = ""
    contact: str = ""
    retention_years: Annotated[float, Field(gt=0)] = 3
    mask_names: bool = True
    documents: str | None = None
    draw_documents: bool = False
    strata: dict[Id, Count] = {}
    conditions: dict[Id, Condition] = {}
    matches: Matches | None = None
    dialogues: Dialogues | None = None
    groups: Annotated[dict[Id, Group], Field(min_length=1)]
    forms: Annotated[dict[Id, Form], Field(min_length=1)]
    screening: tuple[Screen, ...] = ()
    training: tuple[Example, ...] = ()
    survey: tuple[Question, ...] = ()
    time: TimePlan = TimePlan()
    costs: tuple[Cost, ...] = ()
    schedule: tuple[Stage, ...] = ()
    consent: Consent
    recruitment: Recruitment | None = None
    table: tuple[Row, ...] = ()
    money: MoneyCheck | None = None

    @model_validator(mode="before")
    @classmethod
    def _with_included_questions(cls, data: Any) -> Any:
        """A form's ``include`` names forms whose questions it asks before its own."""
        forms = cast("dict[str, Any]", data).get("forms") if isinstance(data, dict) else None
        if not isinstance(forms, dict):
            return cast("Any", data)
        known = cast("dict[str, Any]", forms)
        return {
            **cast("dict[str, Any]", data),
            "forms": {name: _including(name, form, known) for name, form in known.items()},
        }

    @model_validator(mode="after")
    def _references(self) -> Self:
        owner: dict[str, str] = {}
        asked: dict[str, Question] = {}
        for name, form in self.forms.items():
            for question in form.questions:
                if asked.setdefault(question.id, question) != question:
                    raise ValueError(f"question {question.id} is in the forms {owner[question.id]} and {name}")
                owner.setdefault(question.id, name)
        for name, group in self.groups.items():
            if group.form not in self.forms:
                raise ValueError(f"groups.{name}.form: no form is called {group.form!r}")
            self._check_panel(name, group)
        if self.draw_documents and (self.documents is None or not self.strata):
            raise ValueError("draw_documents: needs a documents file and the strata's counts")
        wanted = [question for row in self.table for question in row.questions]
        wanted += [self.money.question] if self.money else []
        for question in wanted:
            if question not in owner:
                raise ValueError(f"no form has a question {question!r}")
        return self

    def _check_panel(self, name: str, group: Group) -> None:
        if group.same_documents_as is None:
            return
        base = self.groups.get(group.same_documents_as)
        alike = ("items", "assignment", "material", "both_conditions")
        if base is None or base.same_documents_as is not None:
            raise ValueError(f"groups.{name}.same_documents_as: no group {group.same_documents_as!r} with its own")
        if group.assignment != "common" or any(getattr(group, key) != getattr(base, key) for key in alike):
            raise ValueError(f"groups.{name}: a common set with the same {', '.join(alike)} is shared")

    def told(self, group: str) -> list[Text]:
        """What a rater of the group reads before consent, paragraph by paragraph; their task last."""
        task = self.groups[group].task
        return [*self.consent.paragraphs, *([task] if task else [])]

    def screens(self, group: str) -> list[Question]:
        """The questions that decide whether somebody may take part in the group."""
        return [screen.question for screen in self.screening if not screen.groups or group in screen.groups]

    def admits(self, group: str, values: Mapping[str, str]) -> bool:
        """Whether these answers to the screening questions let somebody take part."""
        wanted = {screen.question.id: screen.accept for screen in self.screening}
        return all(values.get(question.id) in wanted[question.id] for question in self.screens(group))

    def panel(self, name: str) -> list[str]:
        """The groups that rate the set of documents of group ``name``, itself first."""
        return [name, *(other for other, group in self.groups.items() if group.same_documents_as == name)]

    def question(self, name: str) -> Question | None:
        """The question of this id in any form."""
        for form in self.forms.values():
            for question in form.questions:
                if question.id == name:
                    return question
        return None


def _including(name: str, form: Any, forms: dict[str, Any]) -> Any:
    if not isinstance(form, dict) or "include" not in form:
        return cast("Any", form)
    own = cast("dict[str, Any]", form)
    questions: list[Any] = []
    for other in own["include"]:
        included = forms.get(other)
        if not isinstance(included, dict) or "include" in included or "questions" not in included:
            raise ValueError(f"forms.{name}.include: no form {other!r} with questions of its own")
        questions += cast("dict[str, Any]", included)["questions"]
    rest = {key: value for key, value in own.items() if key != "include"}
    return {**rest, "questions": [*questions, *own.get("questions", [])]}


class Document(Strict):
    """One thing to rate: the original, and per condition the reply to it (for pairwise items a left and a right).

    ``turns`` are a dialogue's utterances, ``source`` what it is in its run (for the organiser alone).
    ``estimates`` holds the system's figure per condition where the study checks money. An empty ``original``
    means that the document was planned by number only and has no text yet.
    """

    id: str
    stratum: str = "all"
    material: str = "main"
    title: Text = {"any": ""}
    original: Text = {"any": ""}
    replies: dict[str, Text] = {}
    right: dict[str, Text] = {}
    turns: tuple[tuple[Role, str], ...] = ()
    estimates: dict[str, float] = {}
    source: dict[str, str] = {}


def load_study(path: Path) -> Study:
    """Raises InputProblem naming the field; an unknown key is answered with the nearest known one."""
    try:
        raw = path.read_text(encoding="utf-8-sig")
        data: Any = tomllib.loads(raw) if path.suffix == ".toml" else yaml.safe_load(raw)
    except OSError as error:
        raise InputProblem(path, "a study file", found=error.strerror or str(error)) from error
    except (tomllib.TOMLDecodeError, yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputProblem(path, "TOML (.toml) or YAML", found=str(error)) from error
    return parse_study(data, path)


def parse_study(data: object, path: Path | str) -> Study:
    """A study out of parsed TOML, YAML or JSON. Raises InputProblem."""
    try:
        return Study.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            near = nearest(str(first["loc"][-1]), _known_keys())
            told = "it belongs elsewhere" if near == first["loc"][-1] else f"did you mean {near!r}?"
            expected = f"a known key ({told})" if near else "a known key"
            raise InputProblem(path, expected, found=str(first["loc"][-1]), field=field) from error
        found = first.get("input") if first["type"] not in ("missing", "value_error") else None
        raise InputProblem(path, expected_of(first), found=found, field=field) from error


def _known_keys() -> list[str]:
    models: list[type[Strict]] = [Study, Group, Screen, Condition, TimePlan, Cost, Stage, Consent, Example, Row]
    models += [MoneyCheck, Matches, Dialogues, Form, Question]
    return sorted({name for model in models for name in model.model_fields})


def load_documents(study: Study, folder: Path, seed: int | None = None) -> list[Document]:
    """The documents file of a study, beside the study file, or numbered documents from its strata.

    Of a pool (``draw_documents``) each stratum's count is drawn by the documents' ids and ``seed`` (default: the
    study's), and those drawn keep the order of the file.

    Raises InputProblem: a repeated id, a stratum or condition that the study does not have, or other counts per
    stratum than the study declares.
    """
    if study.documents is None:
        strata = [stratum for stratum, count in study.strata.items() for _ in range(count)]
        width = max(2, len(str(len(strata))))
        return [Document(id=f"d{n:0{width}d}", stratum=stratum) for n, stratum in enumerate(strata, 1)]
    path = folder / study.documents
    documents: dict[str, Document] = {}
    for line, row in read_table(path).rows:
        document = parse_document(row, path, line)
        if document.id in documents:
            raise InputProblem(path, "each document once", found=document.id, line=line, field="id")
        _check_document(study, document, path, line)
        documents[document.id] = document
    for stratum, count in study.strata.items():
        mine = [(name, name) for name, document in documents.items() if document.stratum == stratum]
        if len(mine) < count or (len(mine) > count and not study.draw_documents):
            expected = f"{count} documents of stratum {stratum}" + (" or more" if study.draw_documents else "")
            raise InputProblem(path, expected, found=str(len(mine)))
        used = study.seed if seed is None else seed
        for name in shuffled(mine, used, "human", "pool", study.id, stratum)[count:]:
            del documents[name]
    return list(documents.values())


def parse_document(row: object, path: Path | str, line: int | None = None) -> Document:
    """One document out of parsed JSON. Raises InputProblem."""
    try:
        return Document.model_validate(row)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        found = None if first["type"] == "missing" else first.get("input")
        raise InputProblem(path, expected_of(first), found=found, line=line, field=field) from error


def _check_document(study: Study, document: Document, path: Path, line: int) -> None:
    if study.strata and document.material == "main" and document.stratum not in study.strata:
        raise InputProblem(path, f"one of {', '.join(study.strata)}", found=document.stratum, line=line)
    missing = [name for name in study.conditions if name not in document.replies]
    if missing and document.material == "main":
        raise InputProblem(path, f"a reply for {', '.join(missing)}", found="none", line=line, field="replies")
