"""Agreement on everything that was scored: among judges, among people, and of the judges' mean with people's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from arena.agreement.report import report
from arena.agreement.rows import AgreementRow, MeasureRow
from arena.agreement.table import Rating, Scale, from_rows
from arena.rubrics.rubric import Rubric
from arena.scoring.combine import Combined
from arena.scoring.tables import Measure, measures

LARGEST_SCALE = 20
JUDGES, PEOPLE = "judges (mean)", "people (mean)"
ELEMENT_RESAMPLES = 200
Get = Callable[[Combined], float | None]


@dataclass(frozen=True, slots=True)
class AgreementWishes:
    """How agreement is reported. ``by``: columns whose values get figures of their own, on areas and total."""

    reference: str | None = None
    resamples: int = 1000
    seed: int = 0
    by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Agreed:
    """Three questions apart: persons are no judges. ``people`` and ``against`` are empty where nobody scored.

    ``against`` has two raters a measure, the mean of the judges and the mean of the people on each session.
    """

    judges: list[MeasureRow]
    people: list[MeasureRow]
    against: list[MeasureRow]


def agreements(rubric: Rubric, rows: Sequence[Combined], wishes: AgreementWishes = AgreementWishes()) -> Agreed:
    """All three. A reference who is a person is compared with each judge in the ``pairs`` of ``judges``."""
    judges, people = ([row for row in rows if row.person is person] for person in (False, True))
    names = {row.judge for row in judges}
    inside = wishes if wishes.reference in names else replace(wishes, reference=None)
    among = agreement(rubric, judges, inside)
    if wishes.reference is not None and wishes.reference not in names:
        beside = agreement(rubric, [*judges, *(row for row in people if row.judge == wishes.reference)], wishes)
        among = [
            own.model_copy(update={"pairs": other.pairs, "reference": other.reference})
            for own, other in zip(among, beside, strict=True)
        ]
    alone = agreement(rubric, people, replace(inside, reference=None, by=())) if people else []
    return Agreed(among, alone, _against(rubric, judges, people) if judges and people else [])


def _against(rubric: Rubric, judges: Sequence[Combined], people: Sequence[Combined]) -> list[MeasureRow]:
    measure_rows: list[MeasureRow] = []
    for measure in _ordered(rubric):
        ratings = [*_means(judges, measure.get, JUDGES), *_means(people, measure.get, PEOPLE)]
        table = from_rows(ratings, source=measure.name)
        row = report(table, measurement="interval", reference=PEOPLE).row()
        measure_rows.append(MeasureRow(measure=measure.name, kind=measure.kind, **dict(row)))
    return measure_rows


def _means(rows: Sequence[Combined], get: Get, name: str) -> Iterator[Rating]:
    given: dict[str, list[float]] = {}
    for row in rows:
        value = get(row)
        given.setdefault(row.session, []).extend([] if value is None else [value])
    for session, values in given.items():
        yield Rating(session, name, fmean(values) if values else None)


def agreement(
    rubric: Rubric, rows: Sequence[Combined], wishes: AgreementWishes = AgreementWishes()
) -> list[MeasureRow]:
    """Agreement on total, areas, items and elements: the measures of ``agreement.json``.

    Sums are interval data; an item is interval data on its declared scale; an element is nominal, 0 or 1, and
    gets at most 200 resamples: there are many.
    """
    scores = [_on_measure(rows, measure, wishes) for measure in _ordered(rubric)]
    return [*scores, *_on_elements(rubric, rows, wishes)]


def _ordered(rubric: Rubric) -> list[Measure]:
    order = {"total": 0, "area": 1, "item": 2}
    return sorted(measures(rubric), key=lambda measure: order[measure.kind])


def _on_measure(rows: Sequence[Combined], measure: Measure, wishes: AgreementWishes) -> MeasureRow:
    ratings = _ratings(rows, measure.get)
    scale = _scale(measure, ratings)

    def reported(by: str | None, resamples: int) -> AgreementRow:
        table = from_rows(ratings, source=measure.name, scale=scale, by=by)
        agreement = report(
            table, measurement="interval", reference=wishes.reference, resamples=resamples, seed=wishes.seed
        )
        return agreement.row()

    row = MeasureRow(measure=measure.name, kind=measure.kind, **dict(reported(None, wishes.resamples)))
    if measure.kind == "item":
        return row
    few = min(wishes.resamples, ELEMENT_RESAMPLES)
    groups = tuple(group for column in wishes.by for group in reported(column, few).groups)
    return row.model_copy(update={"groups": groups})


def _on_elements(rubric: Rubric, rows: Sequence[Combined], wishes: AgreementWishes) -> Iterator[MeasureRow]:
    for item in rubric.items:
        for slot in () if item.scale else item.slots:
            name = f"{item.name}.{slot}"
            ratings = _ratings(rows, lambda row, key=item.key, slot=slot: row.values[key][slot])
            agreement = report(
                from_rows(ratings, source=name, scale=Scale((0.0, 1.0))),
                measurement="nominal",
                reference=wishes.reference,
                resamples=min(wishes.resamples, ELEMENT_RESAMPLES),
                seed=wishes.seed,
            )
            yield MeasureRow(measure=name, kind="element", **dict(agreement.row()))


def _ratings(rows: Iterable[Combined], get: Get) -> list[Rating]:
    return [Rating(row.session, row.judge, get(row), columns=row.columns) for row in rows]


def _scale(measure: Measure, ratings: Sequence[Rating]) -> Scale | None:
    """The declared scale of an item, where every rating is one of its whole numbers (a median may not be)."""
    low, high = measure.bounds
    numbers = [low, high, *(float(rating.value) for rating in ratings if rating.value is not None)]
    if (
        measure.kind != "item"
        or high - low > LARGEST_SCALE
        or not all(number == int(number) for number in numbers)
    ):
        return None
    return Scale(tuple(float(value) for value in range(int(low), int(high) + 1)))
