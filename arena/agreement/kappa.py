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

from arena.agreement.jackknife import (
    FEWEST_CLUSTERS,
    Clusters,
    Groups,
    Ints,
    groups,
    interval,
    mode_of,
    units_of,
)
from arena.agreement.result import FloatArray, Statistic, missing, paired, settle
from arena.agreement.shares import share_limits

Weights = Literal["none", "linear", "quadratic"]
WeightMatrix = FloatArray | Sequence[Sequence[float]]

FEWEST_FOR_AC2 = 30
"""Of weighted agreement over three categories or more: fewer items miss the rare large disagreements."""

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
    clusters: Clusters | None = None,
) -> Statistic:
    """Cohen's (weighted) kappa of two raters; NaN = no rating. Raises ValueError for a value outside the scale.

    Without a declared scale, linear and quadratic weights take the distance between the numbers themselves,
    which is what any evenly spaced scale gives; a weight matrix then has no meaning and is refused. ``clusters``
    names the cluster of each pair, where pairs come in clusters.
    """
    both = np.column_stack([np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)])
    first, second, n = paired(x, y)
    if clusters is not None:
        clusters = np.asarray(clusters, dtype=str)[np.isfinite(both).all(axis=1)]
    first, second = settle(first), settle(second)
    categories = _categories(np.concatenate([first, second]), scale)
    codes = np.searchsorted(categories, first), np.searchsorted(categories, second)
    if scale is not None:
        kind = weights if isinstance(weights, str) else "custom"
        return _kappa(codes, _on_scale(weights, scale), n, kind, level, clusters)
    if not isinstance(weights, str):
        raise ValueError("a weight matrix needs the declared scale")  # noqa: TRY004 - its type is right
    result = _kappa(codes, disagreement(weights, categories), n, weights, level, clusters)
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
) -> Statistic:
    """Kappa of a square table of counts (rater 1 x rater 2) over all categories of the scale, in its order."""
    table = np.asarray(counts, dtype=np.int64)
    kind = weights if isinstance(weights, str) else "custom"
    codes = np.nonzero(table)
    repeated = np.repeat(codes[0], table[codes]), np.repeat(codes[1], table[codes])
    used = int(table.sum())
    return _kappa(repeated, disagreement(weights, range(len(table))), used if n is None else n, kind, level, None)


def kappa_name(kind: str) -> tuple[str, str]:
    """Key and full name of Cohen's kappa with weights of this kind."""
    if kind == "none":
        return "cohen_kappa", "Cohen's kappa, unweighted"
    return f"weighted_kappa_{kind}", f"Cohen's weighted kappa, {kind} weights"


def _kappa(
    codes: tuple[Ints, Ints], D: FloatArray, n: int, kind: str, level: float, clusters: Clusters | None
) -> Statistic:
    """Cohen (1960, 1968) from the (pairs,) categories of both raters and the categories' disagreement weights."""
    key, name = kappa_name(kind)
    x, y = codes
    used, q = len(x), len(D)
    if used == 0:
        return missing(key, name, "no item was rated by both", 0, n, unit="pairs")
    W = 1 - D / D.max() if D.any() else np.ones_like(D)
    agree = W[x, y]
    rows, columns = np.bincount(x, minlength=q) / used, np.bincount(y, minlength=q) / used
    po, pe = float(agree.mean()), float(rows @ W @ columns)
    if pe > 1 - 1e-12:
        reason = "no variance: both raters give one and the same category throughout"
        return missing(key, name, reason, used, n, unit="pairs")
    if po > 1 - 1e-12:
        return Statistic(key, name, 1.0, used, n, unit="pairs", interval_method=_NO_WIDTH)
    value = (po - pe) / (1 - pe)
    among = groups(used, clusters, np.column_stack(codes).astype(np.float64))
    left = _kappas_left(codes, agree, W, among)
    mode = mode_of(np.concatenate(codes), np.tile(units_of(used, clusters), 2))
    limits, method = interval(value, left, among, level, mode=mode, is_never_equal=po < 1e-12)
    return Statistic(
        key, name, value, used, n, unit="pairs",
        interval=limits, level=level if limits else None, interval_method=method,
    )  # fmt: skip


def _kappas_left(codes: tuple[Ints, Ints], agree: FloatArray, W: FloatArray, among: Groups) -> FloatArray:
    """(groups,) kappa without each group."""
    q = len(W)
    kept = among.rest(np.ones(len(agree)))
    margins: list[FloatArray] = []
    for code in codes:
        own = np.zeros((among.count, q))
        np.add.at(own, (among.of, code), 1.0)
        margins.append(own.sum(axis=0) - own)
    with np.errstate(divide="ignore", invalid="ignore"):
        po, pe = among.rest(agree) / kept, ((margins[0] @ W) * margins[1]).sum(axis=1) / kept**2
        return np.where((kept > 0) & (pe < 1 - 1e-12), (po - pe) / (1 - pe), np.nan)


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


def agreeing_pairs(ratings: ArrayLike) -> FloatArray:
    """(items,) how many pairs of an item's ratings agree, from items x raters with NaN = no rating."""
    table = settle(ratings)
    there = np.isfinite(table)
    values, code = np.unique(table[there], return_inverse=True)
    keys, counts = np.unique(np.nonzero(there)[0] * max(len(values), 1) + code, return_counts=True)
    pairs = np.asarray(counts * (counts - 1) / 2, dtype=np.float64)
    return np.bincount(keys // max(len(values), 1), pairs, len(table)).astype(np.float64)


def percent_agreement(ratings: ArrayLike, *, level: float = 0.95, clusters: Clusters | None = None) -> Statistic:
    """Share of all pairs of ratings of an item that agree, from items x raters with NaN = no rating.

    Wilson's interval for as many independent pairs as the items (or clusters of items) are worth, see
    :func:`arena.agreement.shares.share_limits`.
    """
    per_item = np.isfinite(np.asarray(ratings, dtype=np.float64)).sum(axis=1).astype(np.float64)
    key, name = "percent_agreement", "Percent agreement (share of pairs of ratings that agree)"
    n, there = len(per_item), per_item >= 2
    used = int(there.sum())
    if not used:
        return missing(key, name, "no item has two ratings", 0, n)
    hits, pairs = agreeing_pairs(ratings)[there], per_item[there] * (per_item[there] - 1) / 2
    of = round(float(pairs.sum()))
    value = float(hits.sum()) / of
    note = (f"{hits.sum():.0f} of {of} pairs of ratings",)
    own = None if clusters is None else np.asarray(clusters, dtype=str)[there]
    off = np.bincount(units_of(used, own), hits - value * pairs).astype(np.float64)
    if len(off) < 2:
        why = "no interval: a single " + ("item" if clusters is None else "cluster")
        return Statistic(key, name, value, used, n, interval_method=why, notes=note)
    spread = value * (1 - value) * of / max(of - 1, 1)
    limits = share_limits(value, of, spread, off, level)
    method = f"Wilson for clustered pairs, t over {len(off)} {'items' if clusters is None else 'clusters'}"
    return Statistic(key, name, value, used, n, interval=limits, level=level, interval_method=method, notes=note)


def mean_item_agreement(ratings: ArrayLike) -> Statistic:
    """Mean over items of the share of their pairs that agree: what Fleiss' and Gwet's coefficients start from.

    Differs from :func:`percent_agreement` where items have different numbers of ratings.
    """
    per_item = np.isfinite(np.asarray(ratings, dtype=np.float64)).sum(axis=1).astype(np.float64)
    key, name = "mean_item_agreement", "Mean over items of their share of agreeing pairs"
    there = per_item >= 2
    used = int(there.sum())
    if not used:
        return missing(key, name, "no item has two ratings", 0, len(per_item))
    shares = agreeing_pairs(ratings)[there] / (per_item[there] * (per_item[there] - 1) / 2)
    why = "no interval: percent agreement has it"
    return Statistic(key, name, float(shares.mean()), used, len(per_item), interval_method=why)


def fleiss_kappa(counts: ArrayLike, *, level: float = 0.95, clusters: Clusters | None = None) -> Statistic:
    """Fleiss' kappa from items x categories counts; items may have different numbers of ratings (Gwet 2014)."""
    return _multi_rater(counts, None, "fleiss_kappa", "Fleiss' kappa", level, clusters)


def gwet_ac1(counts: ArrayLike, *, level: float = 0.95, clusters: Clusters | None = None) -> Statistic:
    """Gwet's AC1 (2008) from items x categories counts over the declared scale."""
    return _multi_rater(counts, "none", "gwet_ac1", "Gwet's AC1", level, clusters)


def gwet_ac2(
    counts: ArrayLike,
    weights: Weights | WeightMatrix,
    *,
    positions: Sequence[float] | FloatArray | None = None,
    level: float = 0.95,
    clusters: Clusters | None = None,
) -> Statistic:
    """Gwet's AC2 from items x categories counts; ``weights`` and ``positions`` as in :func:`disagreement`.

    Without positions, named weights count steps between the columns of the counts.
    """
    table = np.asarray(counts, dtype=np.float64)
    kind = weights if isinstance(weights, str) else "custom"
    matrix = disagreement(weights, range(table.shape[1]) if positions is None else positions)
    return _multi_rater(table, matrix, f"gwet_ac2_{kind}", f"Gwet's AC2, {kind} weights", level, clusters)


def _multi_rater(
    counts: ArrayLike,
    weights: Weights | WeightMatrix | None,
    key: str,
    name: str,
    level: float,
    clusters: Clusters | None,
) -> Statistic:
    """Gwet (2014), Handbook of Inter-Rater Reliability, ch. 2-5. ``weights`` None: Fleiss' chance agreement."""
    table = np.asarray(counts, dtype=np.float64)
    n, per_item = len(table), table.sum(axis=1)
    there = per_item >= 2
    own = None if clusters is None else np.asarray(clusters, dtype=str)[there]
    table, per_item = table[there], per_item[there]
    used, q = table.shape
    if not used:
        return missing(key, name, "no item has two ratings", 0, n)
    D = disagreement("none" if weights is None else weights, range(q))
    W = 1 - D / D.max() if D.any() else np.ones_like(D)
    if weights is not None and q < 2:
        return missing(key, name, "only one category occurs and no scale is declared", used, n)
    shares: FloatArray = table / per_item[:, None]
    agree = np.asarray((table * (table @ W - 1)).sum(axis=1) / (per_item * (per_item - 1)), dtype=np.float64)
    value = float(_corrected(agree.mean(keepdims=True), shares.mean(axis=0)[None], W, gwet=weights is not None)[0])
    if not np.isfinite(value):
        return missing(key, name, "no variance: all ratings are equal", used, n)
    if value > 1 - 1e-12:
        return Statistic(key, name, 1.0, used, n, interval_method=_NO_WIDTH)
    among = groups(used, own, table)
    with np.errstate(divide="ignore", invalid="ignore"):
        kept = among.rest(np.ones(len(table)))
        left = _corrected(
            among.rest(agree) / kept, among.rest(shares) / kept[:, None], W, gwet=weights is not None
        )
    fewest = FEWEST_FOR_AC2 if q > 2 and weights is not None and not isinstance(weights, str) else FEWEST_CLUSTERS
    item, code = np.nonzero(table)
    times = table[item, code].astype(np.int64)
    mode = mode_of(np.repeat(code, times), np.repeat(units_of(used, own)[item], times))
    limits, method = interval(
        value, left, among, level,
        fewest=fewest, mode=mode if weights is None else None, is_never_equal=bool(agree.max() < 1e-12),
    )  # fmt: skip
    return Statistic(
        key, name, value, used, n, interval=limits, level=level if limits else None, interval_method=method
    )


def _corrected(agree: FloatArray, prevalence: FloatArray, W: FloatArray, *, gwet: bool) -> FloatArray:
    """(sets,) coefficients from mean agreement (sets,) and prevalence (sets, categories); NaN without variance."""
    q = len(W)
    if gwet:
        pe = float(W.sum()) / (q * (q - 1)) * (prevalence * (1 - prevalence)).sum(axis=1)
    else:
        pe = ((prevalence @ W) * prevalence).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(pe < 1 - 1e-12, (agree - pe) / (1 - pe), np.nan)


def prevalence_note(counts: ArrayLike) -> str | None:
    """A warning where most agree yet chance-corrected figures must be low because one category prevails."""
    table = np.asarray(counts, dtype=np.float64)
    per_item, total = table.sum(axis=1), float(table.sum())
    pairs = float((per_item * (per_item - 1)).sum())
    if not pairs:
        return None
    agreement = float((table * (table - 1)).sum()) / pairs
    largest = float(table.sum(axis=0).max()) / total
    if largest < 0.8 or agreement < 0.8 or largest == 1:  # of one value throughout each figure says so itself
        return None
    return (
        f"{agreement:.1%} of pairs agree and one category holds {largest:.1%} of the ratings: kappa and alpha are "
        "then near 0 or unstable because of this prevalence, not because raters disagree; read AC1 beside them"
    )
