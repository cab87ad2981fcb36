"""The analysis of a study with two conditions: the results table, its tests, agreement, strata and money.

Every figure counts what it used out of what there was. Means, standard deviations (ddof 1) and medians are over
ratings; tests are over pairs (a rater's, or a document's, mean in each condition). Differences are second minus
first condition.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import mean, median, stdev
from typing import Literal

import numpy as np

from arena.agreement.alpha import krippendorff
from arena.agreement.effects import d_av, d_z, letter, pooled_d
from arena.agreement.holm import holm
from arena.agreement.paired import wilcoxon
from arena.agreement.result import SignificanceTest, Statistic
from arena.human.forms import NOT_APPLICABLE, Question, say
from arena.human.ratings import Rating, Scored, scored
from arena.human.study import Document, Study

Pairing = Literal["rater", "document"]
STARS = ((0.01, "**"), (0.05, "*"))


@dataclass(frozen=True, slots=True)
class Cell:
    """One condition's ratings: ``n`` with a number ``of`` all ratings there are."""

    n: int
    of: int
    mean: float | None
    sd: float | None
    median: float | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """One row: both conditions, the test over pairs, effect sizes, and the p value after Holm's correction.

    ``documents`` were rated at all, ``documents_in_both`` of them in both conditions: where none was, the
    difference of the conditions is also one of the documents.
    """

    key: str
    label: str
    group: str
    pairing: Pairing
    first: Cell
    second: Cell
    test: SignificanceTest
    effects: tuple[Statistic, ...]
    documents: int
    documents_in_both: int
    holm_p: float | None = None

    @property
    def effect(self) -> Statistic:
        """The one of the table: pooled d over ratings, as in the protocol."""
        return self.effects[0]

    @property
    def stars(self) -> str:
        """``*`` p < .05, ``**`` p < .01, and never one that so few pairs could not reach."""
        p, least = self.test.p_value, self.test.smallest_p
        if p is None or least is None:
            return ""
        return next((stars for level, stars in STARS if p < level and least < level), "")

    @property
    def size(self) -> str | None:
        """N below 0.2, S below 0.5, M to 0.8, L above."""
        return letter(self.effect.value)

    def as_json(self) -> dict[str, object]:
        plain = ("key", "label", "group", "pairing", "first", "second", "holm_p", "stars", "size")
        return {
            **{name: getattr(self, name) for name in (*plain, "documents", "documents_in_both")},
            "test": self.test.row(),
            "effects": [effect.row() for effect in self.effects],
        }


@dataclass(frozen=True, slots=True)
class Bands:
    """Relative errors of the system's estimates against the raters' amounts, in one condition."""

    condition: str
    bands: tuple[tuple[str, int], ...]
    n: int
    of: int
    no_estimate: int
    no_amount: int
    median_error: float | None


@dataclass(frozen=True, slots=True)
class Analysis:
    """Everything ``analysis.json`` says about ratings."""

    conditions: tuple[tuple[str, str], ...]
    table: tuple[Comparison, ...]
    items: tuple[Comparison, ...]
    agreement: tuple[tuple[str, str, Statistic], ...]
    strata: tuple[tuple[str, str, str, Cell], ...]
    choices: tuple[tuple[str, str, dict[str, int]], ...]
    money: tuple[Bands, ...]
    seconds: tuple[tuple[str, str, Cell], ...]
    answered: tuple[tuple[str, str, int, int, int], ...]

    def as_json(self) -> dict[str, object]:
        return {
            "conditions": [{"id": key, "name": name} for key, name in self.conditions],
            "difference": "second minus first condition",
            "table": [row.as_json() for row in self.table],
            "questions": [row.as_json() for row in self.items],
            "agreement": [{"group": g, "of": key, "unit": "document x condition", **agreed.row().to_json()}
                          for g, key, agreed in self.agreement],
            "strata": [{"metric": m, "stratum": s, "condition": c, "cell": cell} for m, s, c, cell in self.strata],
            "choices": [{"question": q, "condition": c, "counts": n} for q, c, n in self.choices],
            "money": list(self.money),
            "seconds": [{"group": g, "condition": c, "cell": cell} for g, c, cell in self.seconds],
            "answers": [
                {"group": g, "question": q, "answered": n, "not_applicable": na, "of": of}
                for g, q, n, na, of in self.answered
            ],
        }  # fmt: skip


def analyse(
    study: Study, ratings: Sequence[Rating], documents: Iterable[Document], language: str = "en"
) -> Analysis:
    """Analyse ratings of the groups whose material comes in the study's conditions."""
    own = [row for row in scored(ratings) if row.condition in study.conditions]
    names = list(study.conditions)
    table: list[Comparison] = []
    items: list[Comparison] = []
    if len(names) == 2:
        table = [
            compare(
                _asked(study, own, row.questions),
                row.metric,
                say(row.label, language),
                row.questions,
                row.pairing,
                names,
            )
            for row in study.table
        ]
        items = [
            compare(_asked(study, own, (q.id,)), q.id, say(q.text, language), (q.id,), "rater", names)
            for q in likert(study)
        ]
    return Analysis(
        conditions=tuple((key, condition.label or condition.name) for key, condition in study.conditions.items()),
        table=_corrected(table),
        items=_corrected(items),
        agreement=tuple(agreement(study, own)),
        strata=tuple(_strata(study, own)),
        choices=tuple(_choices(study, own)),
        money=tuple(money_bands(study, own, {document.id: document for document in documents})),
        seconds=tuple(_seconds(study, own)),
        answered=tuple(_answered(study, scored(ratings))),
    )


def _asked(study: Study, rows: Sequence[Scored], questions: Sequence[str]) -> list[Scored]:
    """Items of the groups whose form has one of these questions, whether they were answered or not."""
    forms = {name for name, form in study.forms.items() if any(q.id in questions for q in form.questions)}
    groups = {name for name, group in study.groups.items() if group.form in forms}
    return [row for row in rows if row.group in groups]


def likert(study: Study) -> list[Question]:
    """Every Likert question of any form, once."""
    asked = {q.id: q for form in study.forms.values() for q in form.questions}
    return [question for question in asked.values() if question.kind == "likert"]


def describe(values: Sequence[float | None]) -> Cell:
    """Count, mean, standard deviation and median of what is there."""
    there = [value for value in values if value is not None]
    return Cell(
        n=len(there),
        of=len(values),
        mean=mean(there) if there else None,
        sd=stdev(there) if len(there) > 1 else None,
        median=median(there) if there else None,
    )


def compare(
    rows: Sequence[Scored], key: str, label: str, questions: Sequence[str], pairing: Pairing, names: Sequence[str]
) -> Comparison:
    """The second condition against the first: Wilcoxon over pairs, effect sizes over ratings and pairs.

    ``rows`` are all items that were asked these questions.
    """
    values = {name: [row.mean(questions) for row in rows if row.condition == name] for name in names}
    first, second = paired_means(rows, questions, pairing, names)
    numbers = [[value for value in values[name] if value is not None] for name in names]
    seen = [
        {row.document for row in rows if row.condition == name and row.mean(questions) is not None}
        for name in names
    ]
    return Comparison(
        key=key,
        label=label,
        group=", ".join(sorted({row.group for row in rows})),
        pairing=pairing,
        first=describe(values[names[0]]),
        second=describe(values[names[1]]),
        test=wilcoxon(second, first),
        effects=(pooled_d(numbers[1], numbers[0]), d_av(second, first), d_z(second, first)),
        documents=len(seen[0] | seen[1]),
        documents_in_both=len(seen[0] & seen[1]),
    )


def paired_means(
    rows: Sequence[Scored], questions: Sequence[str], pairing: Pairing, names: Sequence[str]
) -> tuple[list[float], list[float]]:
    """Per rater (or document) the mean in each condition; NaN where one condition has none."""
    means: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        value = row.mean(questions)
        if value is not None:
            means[row.rater if pairing == "rater" else row.document][row.condition].append(value)
    columns = [
        [mean(scores[name]) if scores[name] else float("nan") for _, scores in sorted(means.items())]
        for name in names
    ]
    return columns[0], columns[1]


def _corrected(rows: Sequence[Comparison]) -> tuple[Comparison, ...]:
    adjusted = holm([row.test.p_value for row in rows])
    return tuple(replace(row, holm_p=p) for row, p in zip(rows, adjusted, strict=True))


def agreement(study: Study, rows: Sequence[Scored]) -> Iterable[tuple[str, str, Statistic]]:
    """(group, question or metric, ordinal alpha). A unit is a document in a condition, raters are columns.

    Groups that share their documents are one panel, under the name of its first: who was not asked a question has
    no value there.
    """
    for group, settings in study.groups.items():
        if settings.same_documents_as is not None:
            continue
        panel = study.panel(group)
        mine = [row for row in rows if row.group in panel]
        asked = {q.id: q for name in panel for q in study.forms[study.groups[name].form].questions}
        wanted = [(q.id, (q.id,)) for q in asked.values() if q.kind == "likert"]
        wanted += [(row.metric, row.questions) for row in study.table if row.questions[0] in asked]
        for key, questions in wanted:
            if mine:
                yield group, key, krippendorff(alpha_table(mine, questions), "ordinal")


def alpha_table(
    rows: Sequence[Scored], questions: Sequence[str]
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Units (document x condition) by raters; NaN where a rater did not rate a unit."""
    units = {unit: number for number, unit in enumerate(sorted({(row.document, row.condition) for row in rows}))}
    raters = {rater: number for number, rater in enumerate(sorted({row.rater for row in rows}))}
    table = np.full((len(units), len(raters)), np.nan)
    for row in rows:
        value = row.mean(questions)
        if value is not None:
            table[units[row.document, row.condition], raters[row.rater]] = value
    return table


def _strata(study: Study, rows: Sequence[Scored]) -> Iterable[tuple[str, str, str, Cell]]:
    for metric in study.table:
        asked = _asked(study, rows, metric.questions)
        for stratum in dict.fromkeys([*study.strata, *sorted({row.stratum for row in asked})]):
            for condition in study.conditions:
                mine = [row for row in asked if (row.stratum, row.condition) == (stratum, condition)]
                yield metric.metric, stratum, condition, describe([row.mean(metric.questions) for row in mine])


def _choices(study: Study, rows: Sequence[Scored]) -> Iterable[tuple[str, str, dict[str, int]]]:
    for question in {q.id: q for form in study.forms.values() for q in form.questions}.values():
        if question.kind == "choice":
            for condition in study.conditions:
                given = Counter(row.answers.get(question.id) for row in rows if row.condition == condition)
                yield question.id, condition, {answer: given[answer] for answer in question.answers()}


def money_bands(study: Study, rows: Sequence[Scored], documents: dict[str, Document]) -> Iterable[Bands]:
    """|estimate - amount| / amount, the amount being the rater's; edges belong to the smaller band."""
    if study.money is None:
        return
    edges = study.money.bands
    names = [f"up to {edge:.0%}" for edge in edges] + [f"more than {edges[-1]:.0%}"]
    for condition in study.conditions:
        counts: Counter[str] = Counter()
        errors: list[float] = []
        no_estimate = no_amount = 0
        asked = [row for row in rows if row.condition == condition and study.money.question in row.answers]
        for row in asked:
            amount = row.number(study.money.question)
            document = documents.get(row.document)
            estimate = document.estimates.get(condition) if document else None
            if not amount:
                no_amount += 1
            elif estimate is None:
                no_estimate += 1
            else:
                error = abs(estimate - amount) / amount
                errors.append(error)
                counts[next((n for n, e in zip(names, edges, strict=False) if error <= e + 1e-12), names[-1])] += 1
        yield Bands(
            condition, tuple((name, counts[name]) for name in names), len(errors), len(asked), no_estimate,
            no_amount, median(errors) if errors else None,
        )  # fmt: skip


def _seconds(study: Study, rows: Sequence[Scored]) -> Iterable[tuple[str, str, Cell]]:
    for group in study.groups:
        for condition in study.conditions:
            mine = [row.seconds for row in rows if (row.group, row.condition) == (group, condition)]
            if mine:
                yield group, condition, describe(mine)


def _answered(study: Study, rows: Sequence[Scored]) -> Iterable[tuple[str, str, int, int, int]]:
    """(group, question, answered, not applicable, items in which it was asked)."""
    for name, group in study.groups.items():
        mine = [row for row in rows if row.group == name]
        for question in study.forms[group.form].questions:
            need = question.shown_if
            asked = [row for row in mine if need is None or row.answers.get(need.question) == need.answer]
            given = Counter(
                row.answers.get(question.id) == NOT_APPLICABLE for row in asked if question.id in row.answers
            )
            yield name, question.id, given[False], given[True], len(asked)
