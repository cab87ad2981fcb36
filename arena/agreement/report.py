"""Everything sensible about one table of ratings: over all raters, pair by pair, and per value of a column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from arena.agreement.alpha import MEASUREMENTS, Measurement, cronbach, krippendorff
from arena.agreement.bland_altman import bland_altman
from arena.agreement.correlation import kendall, pearson, spearman
from arena.agreement.icc import icc
from arena.agreement.kappa import (
    Weights,
    category_counts,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac2,
    kappa_name,
    mean_item_agreement,
    percent_agreement,
    prevalence_note,
)
from arena.agreement.result import FloatArray, Statistic, find, missing
from arena.agreement.rows import AgreementRow, Cells, GroupRow, LevelRow
from arena.agreement.table import Ratings
from runstore.problems import Problem

MOST_CATEGORIES = 20
MOST_RATERS_IN_PAIRS = 10


@dataclass(frozen=True)
class Settings:
    """What was declared: ``measurement`` of the values, their ``scale`` (codes), and the ``level`` of intervals.

    ``resamples`` and ``seed`` are kept in the file and draw nothing: no interval is a bootstrap's any more.
    ``not_categories`` says why the values are no categories; None: decided by how many different ones there are.
    """

    measurement: Measurement = "interval"
    scale: tuple[float, ...] | None = None
    level: float = 0.95
    resamples: int = 1000
    seed: int = 0
    not_categories: str | None = None


@dataclass(frozen=True)
class Pair:
    """Two raters; differences are first - second."""

    first: str
    second: str
    statistics: tuple[Statistic, ...]


@dataclass(frozen=True)
class Block:
    """Agreement within one set of units."""

    label: str
    raters: tuple[str, ...]
    units: int
    cells: Cells
    statistics: tuple[Statistic, ...]
    pairs: tuple[Pair, ...]
    notes: tuple[str, ...]

    @property
    def rated(self) -> int:
        """How many of the cells hold a rating."""
        return self.cells.rated

    def statistic(self, key: str) -> Statistic:
        """The statistic over all raters with this key; KeyError if there is none."""
        return find(self.statistics, key)

    def row(self) -> GroupRow:
        """The set as it stands in files."""
        return GroupRow.taken_from(self)


@dataclass(frozen=True)
class AgreementReport:
    """All of a table, then each value of the column ``by``."""

    source: str
    settings: Settings
    scale: str | None
    by: str | None
    reference: str | None
    rows: int
    missing_rows: int
    overall: Block
    groups: tuple[Block, ...]

    def row(self) -> AgreementRow:
        """The content of ``agreement.json``."""
        return AgreementRow(
            source=self.source,
            measurement=self.settings.measurement,
            scale=self.scale,
            level=self.settings.level,
            resamples=self.settings.resamples,
            seed=self.settings.seed,
            by=self.by,
            reference=self.reference,
            rows=self.rows,
            rows_with_missing_value=self.missing_rows,
            **dict(self.overall.row()),
            groups=tuple(LevelRow(column=self.by, value=g.label, **dict(g.row())) for g in self.groups),
        )


def report(
    table: Ratings,
    *,
    measurement: Measurement | None = None,
    reference: str | None = None,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> AgreementReport:
    """Everything about a table. Without ``measurement``: labels are nominal, labels on a declared scale ordinal,
    numbers interval. Raises Problem for a reference that rated nothing, or an order that was never declared.
    """
    kind = measurement or ("interval" if table.labels is None else "ordinal" if table.scale else "nominal")
    if not table.numeric and kind != "nominal":
        raise Problem(f"{table.source}: labels have no {kind} order; declare it with --scale")
    if reference is not None and reference not in table.raters:
        raise Problem(f"{table.source}: no rater {reference!r}; there are {', '.join(table.raters)}")
    settings = Settings(kind, table.scale.values if table.scale else None, level, resamples, seed)
    # decided once, lest a small group show kappas that the whole table has not
    settings = replace(settings, not_categories=_not_categories(table.matrix, settings))
    overall = agree(table.matrix, table.raters, settings, label="all", reference=reference)
    values = sorted({group for group in table.groups if group is not None})
    groups: list[Block] = []
    for value in values:
        rows = table.matrix[[group == value for group in table.groups]]
        took_part = np.flatnonzero(np.isfinite(rows).sum(axis=0)).tolist()
        raters = [table.raters[i] for i in took_part]
        kept = reference if reference in raters else None
        groups.append(agree(rows[:, took_part], raters, settings, label=value, reference=kept))
    blank = sum(group is None for group in table.groups) if table.by else 0
    if blank:
        note = f"{blank} of {len(table.items)} units have no value in column {table.by} and are in no group"
        overall = replace(overall, notes=(*overall.notes, note))
    shown = str(table.scale) if table.scale else None
    return AgreementReport(
        table.source, settings, shown, table.by, reference, table.rows, table.missing_rows, overall, tuple(groups)
    )


def agree(
    matrix: FloatArray,
    raters: Sequence[str],
    settings: Settings = Settings(),
    *,
    label: str = "all",
    reference: str | None = None,
) -> Block:
    """Agreement of units x raters (NaN = missing), and of every pair, or of each rater with the reference."""
    counts = _categories(matrix, settings)
    pairs, note = _chosen_pairs(raters, reference)
    notes = [text for text in (prevalence_note(counts) if isinstance(counts, np.ndarray) else None, note) if text]
    made = tuple(Pair(raters[i], raters[j], _pair(matrix[:, [i, j]], settings)) for i, j in pairs)
    rated = int(np.isfinite(matrix).sum())
    return Block(
        label,
        tuple(raters),
        len(matrix),
        Cells(rated=rated, missing=matrix.size - rated, of=matrix.size),
        tuple(_over_all(matrix, counts, settings)),
        made,
        tuple(notes),
    )


def _chosen_pairs(raters: Sequence[str], reference: str | None) -> tuple[list[tuple[int, int]], str | None]:
    if reference is not None:
        r = list(raters).index(reference)
        return [(i, r) for i in range(len(raters)) if i != r], None
    if len(raters) > MOST_RATERS_IN_PAIRS:
        return [], f"{len(raters)} raters: pairs are listed up to {MOST_RATERS_IN_PAIRS}, or against a reference"
    return list(combinations(range(len(raters)), 2)), None


def _not_categories(matrix: FloatArray, settings: Settings) -> str | None:
    if settings.not_categories or settings.scale is not None or settings.measurement == "nominal":
        return settings.not_categories
    distinct = len(np.unique(matrix[np.isfinite(matrix)]))
    if distinct <= MOST_CATEGORIES:
        return None
    return f"{distinct} different values and no declared scale: these are not categories"


def _categories(matrix: FloatArray, settings: Settings) -> FloatArray | str:
    """Counts of categories, or why the values are not categories."""
    return _not_categories(matrix, settings) or category_counts(matrix, settings.scale)[0]


def _over_all(matrix: FloatArray, counts: FloatArray | str, settings: Settings) -> Iterable[Statistic]:
    level, n = settings.level, len(matrix)
    paired_up = int((np.isfinite(matrix).sum(axis=1) >= 2).sum())
    yield percent_agreement(matrix, level=level)
    yield mean_item_agreement(matrix)

    def categorical(key: str, name: str, make: Callable[[FloatArray], Statistic]) -> Statistic:
        return missing(key, name, counts, paired_up, n) if isinstance(counts, str) else make(counts)

    used = np.unique(matrix[np.isfinite(matrix)]) if settings.scale is None else None
    yield categorical("fleiss_kappa", "Fleiss' kappa", lambda c: fleiss_kappa(c, level=level))
    yield _undeclared(settings, categorical("gwet_ac1", "Gwet's AC1", lambda c: gwet_ac1(c, level=level)))
    for weights in ("linear", "quadratic"):
        weighted = categorical(
            f"gwet_ac2_{weights}",
            f"Gwet's AC2, {weights} weights",
            lambda c, w=weights: gwet_ac2(c, w, positions=used, level=level),
        )
        yield _undeclared(settings, _fitting(weighted, "ordinal", settings))
    for kind in MEASUREMENTS:
        if kind == "nominal" and isinstance(counts, str):
            yield missing("krippendorff_nominal", "Krippendorff's alpha, nominal", counts, paired_up, n)
        else:
            yield _fitting(krippendorff(matrix, kind, level=level), kind, settings)
    for statistic in icc(matrix, level=level):
        yield _fitting(statistic, "interval", settings)
    yield _fitting(cronbach(matrix, level=level), "interval", settings)


def _pair(both: FloatArray, settings: Settings) -> tuple[Statistic, ...]:
    x, y, level = both[:, 0], both[:, 1], settings.level
    counts = _categories(both, settings)
    out = [percent_agreement(both, level=level)]
    kinds: tuple[Weights, ...] = ("none", "linear", "quadratic")
    for weights in kinds:
        if isinstance(counts, str):
            complete = int(np.isfinite(both).all(axis=1).sum())
            out.append(missing(*kappa_name(weights), counts, complete, len(both), unit="pairs"))
            continue
        kappa = cohen_kappa(x, y, scale=settings.scale, weights=weights, level=level)
        out.append(kappa if weights == "none" else _fitting(kappa, "ordinal", settings))
    if isinstance(counts, np.ndarray):
        out.append(_undeclared(settings, gwet_ac1(counts, level=level)))
    out.append(_fitting(pearson(x, y, level=level), "interval", settings))
    out.append(_fitting(spearman(x, y, level=level), "ordinal", settings))
    out.append(_fitting(kendall(x, y, level=level), "ordinal", settings))
    coefficients = icc(both, level=level)
    out.extend(_fitting(find(coefficients, key), "interval", settings) for key in ("icc_2_1", "icc_3_1"))
    out.extend(
        _fitting(statistic, "interval", settings) for statistic in bland_altman(x, y, level=level).statistics
    )
    return tuple(out)


def _fitting(statistic: Statistic, needs: Measurement, settings: Settings) -> Statistic:
    """Names have no amounts; a figure that assumes more than was declared says so."""
    declared = settings.measurement
    if MEASUREMENTS.index(needs) <= MEASUREMENTS.index(declared):
        return statistic
    if declared == "nominal":
        reason = f"values are nominal; this needs {needs} data"
        return missing(statistic.key, statistic.name, reason, statistic.n_used, statistic.n, unit=statistic.unit)
    return replace(statistic, notes=(*statistic.notes, f"assumes {needs} data; declared {declared}"))


def _undeclared(settings: Settings, statistic: Statistic) -> Statistic:
    if settings.scale is not None or statistic.value is None:
        return statistic
    return replace(
        statistic, notes=(*statistic.notes, "no scale declared: only categories that occur are counted")
    )
