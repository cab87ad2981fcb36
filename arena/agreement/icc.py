"""Intraclass correlation: the six forms of Shrout & Fleiss (1979), each with its interval and its full name.

Complete tables: mean squares and F intervals as in Shrout & Fleiss (1979) and McGraw & Wong (1996, table 7).
Tables with gaps: variance components by fitting constants (Henderson 1953, method III), which gives the same
figures where nothing is missing; average forms then count the harmonic mean of ratings per item (ten Hove,
Jorgensen & van der Ark 2022).

F intervals presume normal ratings. With gaps, fewer than five values, one value for more than half of the ratings,
more than half of the items rated alike by all, or a skewness beyond 1 (0.7 below ten items), the interval is a
jackknife over items (:mod:`arena.agreement.jackknife`), for these raters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import fdtri

from arena.agreement.jackknife import FEWEST_CLUSTERS, groups, interval, mode_of
from arena.agreement.result import FloatArray, Statistic, missing, settle

FORMS = ("1", "2", "3")
_MODELS = {
    "1": "one-way random, absolute agreement",
    "2": "two-way random, absolute agreement",
    "3": "two-way mixed, consistency",
}
_NOISE = 1e-10
_FEWEST_VALUES, _COMMONEST_SHARE, _ALIKE_SHARE = 5, 0.5, 0.5
_MOST_SKEW, _MOST_SKEW_OF_FEW = 1.0, 0.7


@dataclass(frozen=True)
class Components:
    """Variance components of one table or of many resamples of it (every field has shape (resamples,)).

    ``target_one_way`` and ``within`` belong to the one-way model, the others to the two-way model.
    """

    target_one_way: FloatArray
    within: FloatArray
    target: FloatArray
    rater: FloatArray
    residual: FloatArray
    connected: FloatArray

    def single(self, form: str) -> FloatArray:
        """The single-rater coefficient of a form; NaN where its denominator is not positive."""
        top = self.target_one_way if form == "1" else self.target
        rest = {"1": self.within, "2": self.rater + self.residual, "3": self.residual}[form]
        whole = top + rest
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(whole > 0, top / whole, np.nan)


def components(ratings: FloatArray, weights: FloatArray | None = None) -> Components:
    """Variance components of items x raters with NaN for gaps; ``weights`` (resamples x items) repeat the items.

    Sums of squares follow Henderson's method III for the additive two-way model with at most one rating a cell,
    where the coefficients of the components are N - items and N - raters.
    """
    there = np.isfinite(ratings)
    M = there.astype(np.float64)
    Y = np.where(there, ratings, 0.0)
    W = np.ones((1, len(Y))) if weights is None else weights
    n, s = M.sum(axis=1), Y.sum(axis=1)
    R, N = W.sum(axis=1), W @ n
    rows = W @ (s**2 / n)
    within = np.maximum(W @ (np.square(Y).sum(axis=1) - s**2 / n), 0.0)
    column_n, column_s = W @ M, W @ Y
    k = (column_n > 0).sum(axis=1).astype(np.float64)
    columns = np.divide(column_s**2, column_n, out=np.zeros_like(column_s), where=column_n > 0).sum(axis=1)
    adjusted, rank = _raters_given_items(M, Y, W)
    with np.errstate(divide="ignore", invalid="ignore"):
        residual = np.maximum(within - adjusted, 0.0) / (N - R - k + 1)
        residual = np.where(N - R - k + 1 > 0, residual, np.nan)
        rater = (adjusted - (k - 1) * residual) / (N - R)
        target = (rows + adjusted - columns - (R - 1) * residual) / (N - k)
        between = (rows - column_s.sum(axis=1) ** 2 / N) / (R - 1)
        k0 = (N - (W @ n**2) / N) / (R - 1)
        one_way = (between - within / (N - R)) / k0
    return Components(one_way, within / (N - R), target, rater, residual, (rank == k - 1).astype(np.float64))


def _raters_given_items(M: FloatArray, Y: FloatArray, W: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sum of squares of raters after items, and the rank of its equations (raters - 1 where all are connected)."""
    n = M.sum(axis=1, keepdims=True)
    per_item = -(M[:, :, None] * M[:, None, :]) / n[:, :, None]
    diagonal = range(M.shape[1])
    per_item[:, diagonal, diagonal] += M
    C = np.tensordot(W, per_item, axes=1)
    q = W @ (M * (Y - Y.sum(axis=1, keepdims=True) / n))
    values, vectors = np.linalg.eigh(C)
    alive = values > 1e-9 * np.maximum(values[:, -1:], 1.0)
    loads = np.einsum("bij,bi->bj", vectors, q) ** 2
    return np.divide(loads, values, out=np.zeros_like(loads), where=alive).sum(axis=1), alive.sum(axis=1)


def icc(ratings: ArrayLike, *, level: float = 0.95) -> tuple[Statistic, ...]:
    """All six coefficients of a table items x raters (NaN = no rating), keys ``icc_1_1`` ... ``icc_3_k``.

    Items with fewer than two ratings say nothing about agreement and are left out of "n used of n".
    """
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"ratings must be items x raters, not {table.ndim}-dimensional")
    n, raters = table.shape
    table = table[np.isfinite(table).sum(axis=1) >= 2]
    table = table[:, np.isfinite(table).any(axis=0)] if len(table) else table[:, :0]
    reason = _unusable(table)
    if reason:
        return tuple(missing(key, name, reason, len(table), n) for key, name in _names(raters, None))
    centred = settle(table)
    centred = centred - np.nanmean(centred)
    parts = components(centred)
    gaps = int(np.isnan(centred).sum())
    average = len(centred) / float((1 / np.isfinite(centred).sum(axis=1)).sum())
    bounds = _intervals(centred, parts, level)
    singles = {form: _single(form, parts, float(np.nanvar(centred))) for form in FORMS}
    notes = (f"{gaps} of {table.size} ratings missing; all ratings given are used",) if gaps else ()
    out: list[Statistic] = []
    for key, name in _names(table.shape[1], average if gaps else None):
        form, unit = key[4], key[6]
        value, why = singles[form]
        if value is None:
            out.append(missing(key, name, why, len(table), n, notes=notes))
            continue
        k = average if unit == "k" else 1.0
        stepped, method = _stepped_limits(*bounds[form], k, table.shape[1])
        out.append(
            Statistic(
                key, name, _stepped(value, k), len(table), n,
                interval=stepped, level=level if stepped else None, interval_method=method, notes=notes,
            )
        )  # fmt: skip
    return tuple(out)


def _names(raters: int, average: float | None) -> list[tuple[str, str]]:
    many = (
        f"average of k = {raters} raters" if average is None else f"average of k = {average:.2f} ratings an item"
    )
    units = (("1", "single rater"), ("k", many))
    return [(f"icc_{f}_{u}", f"ICC({f},{u}) {_MODELS[f]}, {text}") for u, text in units for f in FORMS]


def _unusable(table: FloatArray) -> str | None:
    if table.shape[1] < 2:
        return "fewer than two raters rated the same item"
    if len(table) < 2:
        return "fewer than two items were rated twice"
    settled = settle(table)
    if np.nanmax(settled) == np.nanmin(settled):
        return "no variance: all ratings are equal"
    if bool((np.nanmax(settled, axis=0) == np.nanmin(settled, axis=0)).all()):
        return "no variance: every rater gives one value throughout"
    return None


def _single(form: str, parts: Components, variance: float) -> tuple[float | None, str]:
    """The single-rater coefficient, or None and why."""
    if form != "1" and not parts.connected[0]:
        return None, "items and raters fall into groups that share no rater"
    if form != "1" and not np.isfinite(parts.residual[0]):
        return None, "too few ratings: nothing is left to estimate the error from"
    target = float((parts.target_one_way if form == "1" else parts.target)[0])
    if target < -_NOISE * variance:
        return None, "negative, not meaningful: items differ less than the raters' disagreement would make them"
    value = float(parts.single(form)[0])
    if not np.isfinite(value):
        return None, "no variance between items"
    return (1.0 if value > 1 - _NOISE else max(value, 0.0)), ""


def _stepped(single: float, k: float) -> float:
    """Spearman-Brown: the reliability of the mean of k ratings."""
    return k * single / (1 + (k - 1) * single)


def _stepped_limits(
    limits: tuple[float, float] | None, method: str, k: float, raters: int
) -> tuple[tuple[float, float] | None, str]:
    """The single-rater limits stepped up to the mean of k ratings; no correlation lies below -1 / (raters - 1)."""
    if limits is None:
        return None, method
    lower, upper = max(limits[0], -1 / (raters - 1)), min(limits[1], 1.0)
    if k > 1 and 1 + (k - 1) * lower < 1e-9:
        return None, "no interval: the single-rater limit is at or below -1 / (k - 1), where a mean of k has none"
    return (_stepped(lower, k), _stepped(upper, k)), method


Bounds = dict[str, tuple[tuple[float, float] | None, str]]


def _intervals(table: FloatArray, parts: Components, level: float) -> Bounds:
    complete = bool(np.isfinite(table).all())
    if complete and _may_be_normal(table):
        return _f_intervals(table, parts, level)
    where = " where ratings can't be normal" if complete else " where ratings are missing"
    among = groups(len(table), None, table)
    kept = np.ones((among.count, len(table)))
    kept[among.of, np.arange(len(table))] = 0
    left_out = components(table, kept)
    there = np.isfinite(table)
    mode = mode_of(np.unique(table[there], return_inverse=True)[1].astype(np.int64), np.nonzero(there)[0])
    out: Bounds = {}
    for form in FORMS:
        connected = (form == "1") | (left_out.connected > 0)
        without = np.where(connected, left_out.single(form), np.nan)
        out[form] = interval(float(parts.single(form)[0]), without, among, level, mode=mode, where=where)
    return out


def _skewness(table: FloatArray) -> float:
    away = table - table.mean()
    return float((away * away * away).mean() / (away * away).mean() ** 1.5)


def _may_be_normal(table: FloatArray) -> bool:
    """Whether limits may presume normal ratings: enough values, none too often, not heaped at one end, and errors
    that most items show (where raters mostly agree, the few disagreements are no normal error).
    """
    counts = np.unique(table, return_counts=True)[1]
    most_skew = _MOST_SKEW if len(table) >= FEWEST_CLUSTERS else _MOST_SKEW_OF_FEW
    alike = float((table.max(axis=1) == table.min(axis=1)).mean())
    return (
        len(counts) >= _FEWEST_VALUES
        and counts.max() <= _COMMONEST_SHARE * table.size
        and alike <= _ALIKE_SHARE
        and abs(_skewness(table)) <= most_skew
    )


def mean_squares(table: ArrayLike) -> dict[str, float]:
    """MSB (items), MSW (within items), MSJ (raters), MSE (residual) of a complete table items x raters."""
    x = np.asarray(table, dtype=np.float64)
    n, k = x.shape
    items, raters, grand = x.mean(axis=1), x.mean(axis=0), x.mean()
    residual = x - items[:, None] - raters[None, :] + grand
    return {
        "MSB": float(k * np.square(items - grand).sum() / (n - 1)),
        "MSW": float(np.square(x - items[:, None]).sum() / (n * (k - 1))),
        "MSJ": float(n * np.square(raters - grand).sum() / (k - 1)),
        "MSE": float(np.square(residual).sum() / ((n - 1) * (k - 1))),
    }


def _f_intervals(table: FloatArray, parts: Components, level: float) -> Bounds:
    n, k = table.shape
    ms = mean_squares(table)
    floor = _NOISE * float(table.var())
    flat = (None, "no interval: raters leave no residual variance to build it on")
    out: Bounds = {}
    for form, error, df in (("1", ms["MSW"], n * (k - 1)), ("3", ms["MSE"], (n - 1) * (k - 1))):
        out[form] = (
            flat if error <= floor else (_f_interval(ms["MSB"] / error, n - 1, df, k, level), "F distribution")
        )
    if max(ms["MSJ"], ms["MSE"]) <= floor:
        out["2"] = flat
    else:
        bounds = _agreement_interval(ms, n, k, float(parts.single("2")[0]), level)
        out["2"] = (bounds, "F distribution, Satterthwaite's degrees of freedom")
    return out


def _f_interval(F: float, df1: int, df2: int, k: int, level: float) -> tuple[float, float]:
    tail = (1 + level) / 2
    low, high = F / float(fdtri(df1, df2, tail)), F * float(fdtri(df2, df1, tail))
    return (low - 1) / (low + k - 1), (high - 1) / (high + k - 1)


def _agreement_interval(ms: dict[str, float], n: int, k: int, rho: float, level: float) -> tuple[float, float]:
    """McGraw & Wong (1996), table 7, ICC(A,1); a and b are multiplied by n (1 - rho), so rho = 1 is no pole."""
    a, b = k * rho * ms["MSJ"], (n * (1 - rho) + k * rho * (n - 1)) * ms["MSE"]
    v = (a + b) ** 2 / (a**2 / (k - 1) + b**2 / ((n - 1) * (k - 1))) if a or b else 1.0
    tail = (1 + level) / 2
    F_low, F_high = float(fdtri(n - 1, v, tail)), float(fdtri(v, n - 1, tail))
    rest = k * ms["MSJ"] + (k * n - k - n) * ms["MSE"]
    lower = n * (ms["MSB"] - F_low * ms["MSE"]) / (F_low * rest + n * ms["MSB"])
    upper = n * (F_high * ms["MSB"] - ms["MSE"]) / (rest + n * F_high * ms["MSB"])
    return lower, upper
