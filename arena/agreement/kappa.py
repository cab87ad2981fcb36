"""Chance-corrected agreement on categories: Cohen, weighted kappa, Fleiss, Gwet's AC1 and AC2, percent agreement.

Weights and Gwet's coefficients depend on the scale that was *declared*, not on the labels that happened to occur.
Categories are numbers here; labels are coded by :mod:`arena.agreement.table`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from arena.agreement.result import FloatArray, Statistic, clipped, missing, paired, settle

Weights = Literal["none", "linear", "quadratic"]
WeightMatrix = FloatArray | Sequence[Sequence[float]]

_FEWEST_FOR_LARGE_SAMPLE = 10
_NO_WIDTH = "no interval: complete agreement leaves no variance to build it on"


def disagreement(weights: Weights | WeightMatrix, positions: Sequence[float] | FloatArray) -> FloatArray:
    """Disagreement weights, categories x categories, 0 on the diagonal.

    Named weights use the distances between ``positions``: 0, 1, 2 ... counts steps along a declared scale.
    A matrix is used as it is. Raises ValueError for an unknown name or a matrix that does not fit.
    """
    if isinstance(weights, str):
        at = np.asarray(positions, dtype=np.float64)
        gaps = np.abs(at[:, None] - at[None, :])
        named = {"none": (gaps > 0).astype(np.float64), "linear": gaps, "quadratic": gaps**2}
        if weights not in named:
            raise ValueError(f"weights are {weights!r}, not none, linear, quadratic or a matrix")
        return named[weights]
    matrix = np.asarray(weights, dtype=np.float64)
    if matrix.shape != (len(positions), len(positions)):
        raise ValueError(f"weights of shape {matrix.shape} for {len(positions)} categories")
    if (matrix < 0).any() or matrix.diagonal().any() or not np.isfinite(matrix).all():
        raise ValueError("disagreement weights must be finite, at least 0, and 0 on the diagonal")
    return matrix


def cohen_kappa(
    x: ArrayLike,
    y: ArrayLike,
    *,
    scale: Sequence[float] | None = None,
    weights: Weights | WeightMatrix = "none",
    level: float = 0.95,
) -> Statistic:
    """Cohen's (weighted) kappa of two raters; NaN = no rating. Raises ValueError for a value outside the scale.

    Without a declared scale, linear and quadratic weights take the distance between the numbers themselves,
    which is what any evenly spaced scale gives; a weight matrix then has no meaning and is refused.
    """
    first, second, n = paired(x, y)
    first, second = settle(first), settle(second)
    categories = _categories(np.concatenate([first, second]), scale)
    counts = np.zeros((len(categories), len(categories)))
    np.add.at(counts, (np.searchsorted(categories, first), np.searchsorted(categories, second)), 1.0)
    if scale is not None:
        kind = weights if isinstance(weights, str) else "custom"
        return kappa_from_counts(counts, weights=_on_scale(weights, scale), level=level, n=n, kind=kind)
    if not isinstance(weights, str):
        raise ValueError("a weight matrix needs the declared scale")  # noqa: TRY004 - its type is right
    named = disagreement(weights, categories)
    result = kappa_from_counts(counts, weights=named, level=level, n=n, kind=weights)
    note = () if weights == "none" else ("no scale declared: weights are distances between the values",)
    return replace(result, notes=note)


def _on_scale(weights: Weights | WeightMatrix, scale: Sequence[float]) -> FloatArray:
    """Weights by steps along the declared scale in its own order, rearranged to the counts' ascending order."""
    order = np.argsort(np.asarray(scale, dtype=np.float64))
    return disagreement(weights, range(len(scale)))[np.ix_(order, order)]


def kappa_from_counts(
    counts: ArrayLike,
    *,
    weights: Weights | WeightMatrix = "none",
    level: float = 0.95,
    n: int | None = None,
    kind: str | None = None,
) -> Statistic:
    """Kappa of a square table of counts (rater 1 x rater 2) over all categories of the scale, in its order.

    Cohen (1960, 1968); large-sample interval of Fleiss, Cohen & Everitt (1969).
    """
    table = np.asarray(counts, dtype=np.float64)
    kind = kind or (weights if isinstance(weights, str) else "custom")
    key = "cohen_kappa" if kind == "none" else f"weighted_kappa_{kind}"
    name = "Cohen's kappa, unweighted" if kind == "none" else f"Cohen's weighted kappa, {kind} weights"
    used = round(float(table.sum()))
    n = used if n is None else n
    if used == 0:
        return missing(key, name, "no item was rated by both", 0, n, unit="pairs")
    D = disagreement(weights, range(len(table)))
    W = 1 - D / D.max() if D.any() else np.ones_like(D)
    P = table / used
    rows, columns = P.sum(axis=1), P.sum(axis=0)
    po, pe = float((P * W).sum()), float(rows @ W @ columns)
    if pe > 1 - 1e-12:
        reason = "no variance: both raters give one and the same category throughout"
        return missing(key, name, reason, used, n, unit="pairs")
    value = (po - pe) / (1 - pe)
    if po > 1 - 1e-12:
        return Statistic(key, name, 1.0, used, n, unit="pairs", interval_method=_NO_WIDTH)
    spread = W - ((W @ columns)[:, None] + (rows @ W)[None, :]) * (1 - value)
    variance = (float((P * spread**2).sum()) - (value - pe * (1 - value)) ** 2) / (used * (1 - pe) ** 2)
    half = float(stats.norm.ppf((1 + level) / 2)) * float(np.sqrt(max(variance, 0.0)))
    if used < _FEWEST_FOR_LARGE_SAMPLE:
        why = f"no interval: fewer than {_FEWEST_FOR_LARGE_SAMPLE} pairs for a large-sample interval"
        return Statistic(key, name, value, used, n, unit="pairs", interval_method=why)
    if half < 1e-6:
        return Statistic(key, name, value, used, n, unit="pairs", interval_method="no interval: its variance is 0")
    return Statistic(
        key, name, value, used, n, unit="pairs", interval=clipped(value - half, value + half), level=level,
        interval_method="large sample, Fleiss, Cohen & Everitt 1969",
    )  # fmt: skip


def category_counts(ratings: ArrayLike, scale: Sequence[float] | None = None) -> tuple[FloatArray, FloatArray]:
    """(items x categories counts, ascending categories) of items x raters with NaN = no rating.

    Raises ValueError for a value that is not on the declared scale.
    """
    table = settle(ratings)
    there = np.isfinite(table)
    categories = _categories(table[there], scale)
    counts = np.zeros((len(table), len(categories)))
    np.add.at(counts, (np.nonzero(there)[0], np.searchsorted(categories, table[there])), 1.0)
    return counts, categories


def _categories(values: FloatArray, scale: Sequence[float] | None) -> FloatArray:
    used = np.unique(values)
    if scale is None:
        return used
    declared = np.unique(settle(scale))
    if len(declared) != len(scale):
        raise ValueError("a category stands twice on the declared scale")
    outside = used[~np.isin(used, declared)]
    if len(outside):
        raise ValueError(f"value {outside[0]:g} is not on the declared scale")
    return declared


def percent_agreement(counts: ArrayLike, *, level: float = 0.95) -> Statistic:
    """Share of agreeing pairs of ratings within items, from items x categories counts.

    Two raters: Wilson interval. More: t interval over the items, whose pairs are not independent.
    """
    table = np.asarray(counts, dtype=np.float64)
    key, name = "percent_agreement", "Percent agreement (share of pairs of ratings that agree)"
    n, per_item = len(table), table.sum(axis=1)
    table, per_item = table[per_item >= 2], per_item[per_item >= 2]
    used = len(table)
    if not used:
        return missing(key, name, "no item has two ratings", 0, n)
    shares = (table * (table - 1)).sum(axis=1) / (per_item * (per_item - 1))
    value = float(shares.mean())
    if (per_item == 2).all():
        found = stats.binomtest(round(float(shares.sum())), used).proportion_ci(level, method="wilson")
        interval: tuple[float, float] | None = (float(found.low), float(found.high))
        method = "Wilson"
    elif used > 1 and shares.std() > 0:
        half = float(stats.t.ppf((1 + level) / 2, used - 1) * shares.std(ddof=1) / np.sqrt(used))
        interval, method = clipped(value - half, value + half, 0.0), "t over items"
    else:
        interval, method = None, "no interval: every item agrees to the same extent"
    return Statistic(
        key, name, value, used, n,
        interval=interval, level=level if interval else None, interval_method=method,
    )  # fmt: skip


def fleiss_kappa(counts: ArrayLike, *, level: float = 0.95) -> Statistic:
    """Fleiss' kappa from items x categories counts; items may have different numbers of ratings (Gwet 2014)."""
    return _multi_rater(np.asarray(counts, dtype=np.float64), None, level, "fleiss_kappa", "Fleiss' kappa")


def gwet_ac1(counts: ArrayLike, *, level: float = 0.95) -> Statistic:
    """Gwet's AC1 (2008) from items x categories counts over the declared scale."""
    return _multi_rater(np.asarray(counts, dtype=np.float64), "none", level, "gwet_ac1", "Gwet's AC1")


def gwet_ac2(
    counts: ArrayLike,
    weights: Weights | WeightMatrix,
    *,
    positions: Sequence[float] | FloatArray | None = None,
    level: float = 0.95,
) -> Statistic:
    """Gwet's AC2 from items x categories counts; ``weights`` and ``positions`` as in :func:`disagreement`.

    Without positions, named weights count steps between the columns of the counts.
    """
    table = np.asarray(counts, dtype=np.float64)
    kind = weights if isinstance(weights, str) else "custom"
    matrix = disagreement(weights, range(table.shape[1]) if positions is None else positions)
    return _multi_rater(table, matrix, level, f"gwet_ac2_{kind}", f"Gwet's AC2, {kind} weights")


def _multi_rater(
    table: FloatArray, weights: Weights | WeightMatrix | None, level: float, key: str, name: str
) -> Statistic:
    """Gwet (2014), Handbook of Inter-Rater Reliability, ch. 2-5: point, and variance by linearisation over items.

    ``weights`` None means Fleiss' chance agreement, anything else Gwet's.
    """
    n, per_item = len(table), table.sum(axis=1)
    table, per_item = table[per_item >= 2], per_item[per_item >= 2]
    used, q = table.shape
    if not used:
        return missing(key, name, "no item has two ratings", 0, n)
    D = disagreement("none" if weights is None else weights, range(q))
    W = 1 - D / D.max() if D.any() else np.ones_like(D)
    shares = table / per_item[:, None]
    prevalence = shares.mean(axis=0)
    agree = (table * (table @ W - 1)).sum(axis=1) / (per_item * (per_item - 1))
    if weights is None:
        pe = float(prevalence @ W @ prevalence)
        pe_item = shares @ (W @ prevalence)
    elif q < 2:
        return missing(key, name, "only one category occurs and no scale is declared", used, n)
    else:
        chance = float(W.sum()) / (q * (q - 1))
        pe = chance * float((prevalence * (1 - prevalence)).sum())
        pe_item = chance * (shares * (1 - prevalence)).sum(axis=1)
    if pe > 1 - 1e-12:
        return missing(key, name, "no variance: all ratings are equal", used, n)
    value = (float(agree.mean()) - pe) / (1 - pe)
    linear = (agree - pe) / (1 - pe) - 2 * (1 - value) * (pe_item - pe) / (1 - pe)
    spread = float(linear.std(ddof=1)) if used > 1 else 0.0
    if spread < 1e-12:
        method = _NO_WIDTH if value > 1 - 1e-12 else "no interval: the items show no spread"
        return Statistic(key, name, min(value, 1.0), used, n, interval_method=method)
    half = float(stats.t.ppf((1 + level) / 2, used - 1)) * spread / float(np.sqrt(used))
    return Statistic(
        key, name, value, used, n, interval=clipped(value - half, value + half), level=level,
        interval_method="linearised over items, t (Gwet 2014)",
    )  # fmt: skip


def prevalence_note(counts: ArrayLike) -> str | None:
    """A warning where most agree yet chance-corrected figures must be low because one category prevails."""
    table = np.asarray(counts, dtype=np.float64)
    agreement = percent_agreement(table).value
    total = float(table.sum())
    if agreement is None or not total:
        return None
    largest = float(table.sum(axis=0).max()) / total
    if largest < 0.8 or agreement < 0.8:
        return None
    return (
        f"{agreement:.1%} of pairs agree and one category holds {largest:.1%} of the ratings: kappa and alpha are "
        "then near 0 or unstable because of this prevalence, not because raters disagree; read AC1 beside them"
    )
